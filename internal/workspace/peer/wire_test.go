package peer

import (
	"encoding/json"
	"reflect"
	"testing"

	"lore/internal/tool"
)

// TestNothingIsLeftOut fills every field of a result and looks whether all of
// them arrive: one that is new in the type must be new on the wire.
func TestNothingIsLeftOut(t *testing.T) {
	var r tool.Result
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Interface:
			f.Set(reflect.ValueOf(map[string]any{"a": 1.0}))
		default:
			t.Fatalf("%s: a kind that this test does not know", v.Type().Field(i).Name)
		}
	}
	r.Tool.Name = "x"
	packed, err := pack(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(packed)
	if err != nil {
		t.Fatal(err)
	}
	var back result
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	got := reflect.ValueOf(back.unpack())
	for i := range got.NumField() {
		// The page of a question is for the surface to know that has one.
		if name := got.Type().Field(i).Name; got.Field(i).IsZero() && name != "Page" {
			t.Errorf("%s is lost on the way", name)
		}
	}
}
