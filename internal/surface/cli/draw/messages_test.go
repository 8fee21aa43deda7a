package draw

import (
	"bytes"
	"fmt"
	"testing"
)

func TestVoice(t *testing.T) {
	var out bytes.Buffer
	v := &Messages{Out: &out}
	fmt.Fprintln(v, "before")
	var heard []string
	end := v.Redirect(func(line string) { heard = append(heard, line) })
	fmt.Fprint(v, "one\r\ntwo\n")
	end()
	fmt.Fprintln(v, "after")
	if out.String() != "before\nafter\n" || fmt.Sprint(heard) != "[one two]" {
		t.Errorf("%q %q", out.String(), heard)
	}
}
