package rest

import "testing"

func TestOnce(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"seen":"a"}`: true, `{"a":{"b":1},"c":{"b":2}}`: true, `[{"a":1},{"a":2}]`: true, `{"a":"a","b":"a"}`: true,
		`{"seen":"a","seen":"b"}`: false, `{"seen":"a","SEEN":"b"}`: false, `{"seen":"a","\u017feen":"b"}`: false, `{"key":1,"\u212aey":2}`: false, `{"x":[{"a":1,"A":2}]}`: false,
	} {
		if err := once([]byte(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
