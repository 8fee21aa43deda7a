package settings

import "testing"

// What is offered is accepted, and nothing else is.
func TestChoicesAreWhatTheChecksAccept(t *testing.T) {
	checks := map[string]func(string) error{"tools.x": toolSetting("x").check}
	for _, v := range values() {
		checks[v.key] = v.check
	}
	for field, v := range providerFields() {
		checks["providers.box."+field] = v.check
	}
	offered := 0
	for key, check := range checks {
		list := choices(key)
		if len(list) == 0 {
			continue
		}
		offered++
		for _, c := range list {
			if err := check(c); err != nil {
				t.Errorf("%s offers %q: %v", key, c, err)
			}
		}
		if err := check("nonsense"); err == nil {
			t.Errorf("%s offers choices and accepts anything", key)
		}
	}
	if offered < 12 {
		t.Errorf("%d settings offer choices, want 12 or more", offered)
	}
}
