package token_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

// A clock that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func open(t *testing.T, dir string, c *clock) *token.Store {
	t.Helper()
	f := state.In(dir)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return token.New(f, c.now)
}

func start() *clock { return &clock{time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)} }

func TestCheck(t *testing.T) {
	c := start()
	s := open(t, t.TempDir(), c)
	made, secret, err := s.Create(t.Context(), "script", []access.Scope{access.Write, access.Read, access.Read}, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if want := []access.Scope{access.Read, access.Write}; !slices.Equal(made.Scopes, want) {
		t.Errorf("scopes %v, want %v", made.Scopes, want)
	}
	got, err := s.Check(t.Context(), secret)
	if err != nil || got.ID != made.ID {
		t.Fatalf("the right secret: %+v, %v", got, err)
	}
	last := secret[len(secret)-1]
	wrong := secret[:len(secret)-1] + string(rune('a'+(last-'a'+1)%26))
	_, other, err := s.Create(t.Context(), "other", []access.Scope{access.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	mixed := secret[:len("lore_")+9] + other[len("lore_")+9:]
	for name, bad := range map[string]string{
		"empty": "", "null": "null", "mark": "lore_", "the id alone": secret[:len("lore_")+9], "cut": secret[:len(secret)-1],
		"longer": secret + "a", "one letter": wrong, "upper case": strings.ToUpper(secret), "two halves": mixed, "space": " " + secret,
		"unknown id": "lore_aaaaaaaa_" + secret[14:], "quotes": "lore_' OR 1--_x",
	} {
		if _, err := s.Check(t.Context(), bad); fault.Of(err) != fault.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.at = c.at.Add(24 * time.Hour)
	if _, err := s.Check(t.Context(), secret); fault.Of(err) != fault.Denied {
		t.Errorf("expired: %v", err)
	}
	if _, err := s.Check(t.Context(), other); err != nil {
		t.Errorf("one without an end: %v", err)
	}
}

// Another process revokes; this one knows at once.
func TestRevokeIsSeenElsewhere(t *testing.T) {
	dir, c := t.TempDir(), start()
	here, there := open(t, dir, c), open(t, dir, c)
	made, secret, err := here.Create(t.Context(), "script", []access.Scope{access.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := there.Check(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Revoke(t.Context(), "scirpt"); fault.Of(err) != fault.NotFound || !strings.Contains(err.Error(), "script") {
		t.Errorf("a wrong name: %v", err)
	}
	if _, err := here.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Check(t.Context(), secret); fault.Of(err) != fault.Denied {
		t.Errorf("revoked: %v", err)
	}
	if _, err := here.Revoke(t.Context(), made.ID); fault.Of(err) != fault.NotFound {
		t.Errorf("twice: %v", err)
	}
	// The name is free again.
	if _, _, err := there.Create(t.Context(), "script", []access.Scope{access.Read}, 0); err != nil {
		t.Error(err)
	}
}

func TestCreateRefuses(t *testing.T) {
	s := open(t, t.TempDir(), start())
	read := []access.Scope{access.Read}
	if _, _, err := s.Create(t.Context(), "twice", read, 0); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		name   string
		scopes []access.Scope
		life   time.Duration
		kind   fault.Kind
	}{
		"approve":  {"a", []access.Scope{access.Read, access.Approve}, 0, fault.Invalid},
		"admin":    {"a", []access.Scope{access.Admin}, 0, fault.Invalid},
		"unknown":  {"a", []access.Scope{"root"}, 0, fault.Invalid},
		"nothing":  {"a", nil, 0, fault.Invalid},
		"no name":  {" ", read, 0, fault.Invalid},
		"long":     {strings.Repeat("n", 65), read, 0, fault.Invalid},
		"escapes":  {"a\x1b[2J", read, 0, fault.Invalid},
		"the past": {"a", read, -1, fault.Invalid},
		"twice":    {"twice", read, 0, fault.Conflict},
	} {
		if _, _, err := s.Create(t.Context(), c.name, c.scopes, c.life); fault.Of(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLastUse(t *testing.T) {
	c := start()
	s := open(t, t.TempDir(), c)
	_, secret, err := s.Create(t.Context(), "script", []access.Scope{access.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := c.at
	for _, step := range []struct {
		after time.Duration
		want  time.Time
	}{{0, first}, {30 * time.Second, first}, {31 * time.Second, first.Add(61 * time.Second)}} {
		c.at = c.at.Add(step.after)
		if _, err := s.Check(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context())
		if err != nil || len(list) != 1 || !list[0].Used.Equal(step.want) {
			t.Errorf("after %v: %+v, %v; want %v", step.after, list, err, step.want)
		}
	}
}

// TestSecretIsNowhere looks for the secret in every file of the store.
func TestSecretIsNowhere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, start())
	_, secret, err := s.Create(t.Context(), "script", []access.Scope{access.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(secret[14:])) {
			t.Errorf("%s holds the secret", f)
		}
	}
}

// TestNoRoomToSaySo: when a token was used last cannot be written on a full disk,
// which is no reason to turn away whoever only reads.
func TestNoRoomToSaySo(t *testing.T) {
	c, f := start(), state.In(t.TempDir())
	t.Cleanup(func() { _ = f.Close() })
	s := token.New(f, c.now)
	made, secret, err := s.Create(t.Context(), "script", []access.Scope{access.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.DB(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write.ExecContext(t.Context(), `CREATE TRIGGER full BEFORE UPDATE ON token BEGIN SELECT RAISE(ABORT, 'no room'); END`); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Check(t.Context(), secret); err != nil || got.ID != made.ID {
		t.Errorf("%+v, %v", got, err)
	}
}
