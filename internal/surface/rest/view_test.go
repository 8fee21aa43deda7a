package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/surface/rest"
	"lore/internal/tool"
)

// TestViewBesideTheAnswer: who asks for it gets the answer as people see it, and
// nobody else does.
func TestViewBesideTheAnswer(t *testing.T) {
	w := open(t)
	const call = rest.Prefix + "/tools/read_note"
	if r := w.do("read", "POST", call, `{"path":"Tea.md"}`); r.status != 200 || r.json["view"] != nil {
		t.Errorf("without: %d %s", r.status, r.text)
	}
	r := w.do("read", "POST", call+"?view=1", `{"path":"Tea.md"}`)
	view, _ := r.json["view"].(map[string]any)
	if r.status != 200 || r.json["text"] == nil || !strings.Contains(r.text, `"view":{"text":"`) || view["text"] == "" {
		t.Errorf("with: %d %s", r.status, r.text)
	}
	if r := w.do("read", "POST", call+"?view=yes", `{"path":"Tea.md"}`); r.status != 400 {
		t.Errorf("misspelt: %d %s", r.status, r.text)
	}
	if r := w.do("write", "POST", rest.Prefix+"/tools/write_note?view=1", `{"path":"New.md","content":"x\n"}`); r.status != http.StatusAccepted || r.json["view"] != nil {
		t.Errorf("a question: %d %s", r.status, r.text)
	}
	if r := w.do("read", "GET", rest.Prefix+"/tools", ""); !strings.Contains(r.text, `"roles":["read-note"]`) {
		t.Errorf("the roles are missing: %.300s", r.text)
	}
}

// TestMarksAreCountedAsScriptsCount: bytes become UTF-16 units, and marks that
// lie outside of the text are left away.
func TestMarksAreCountedAsScriptsCount(t *testing.T) {
	text := "ä🍵 tea"
	v := rest.NewView(tool.View{Items: []tool.Item{{Text: text, Marks: []tool.Mark{{Start: 7, End: 10}, {Start: 0, End: 2}, {Start: 2, End: 99}, {Start: 5, End: 1}}}}})
	got := v.Items[0].Marks
	if len(got) != 2 || got[0] != [2]int{4, 7} || got[1] != [2]int{0, 1} {
		t.Errorf("%v", got)
	}
}

// TestVerify: that the record was changed is an answer; that it cannot be looked
// at is not.
func TestVerify(t *testing.T) {
	w := open(t)
	const at = rest.Prefix + "/activity/verify"
	w.do("write", "POST", rest.Prefix+"/tools/write_note", `{"path":"New.md","content":"x\n"}`)
	if r := w.do("person", "GET", at, ""); r.status != 200 || r.json["whole"] != true || r.json["entries"] == 0.0 {
		t.Errorf("%d %s", r.status, r.text)
	}
	if r := w.do("full", "GET", at, ""); r.status != http.StatusForbidden {
		t.Errorf("a token: %d", r.status)
	}
	w.broken = fault.New(fault.Conflict, "entry 3 was changed")
	if r := w.do("person", "GET", at, ""); r.status != 200 || r.json["whole"] != false || !strings.Contains(r.text, "entry 3 was changed") {
		t.Errorf("changed: %d %s", r.status, r.text)
	}
	w.broken = fault.New(fault.Busy, "not now")
	if r := w.do("person", "GET", at, ""); r.status != http.StatusServiceUnavailable {
		t.Errorf("busy: %d %s", r.status, r.text)
	}
}

// TestMeantCalls: what a person says to mean is done at once, unless it destroys;
// nobody else can say so.
func TestMeantCalls(t *testing.T) {
	w := open(t)
	write := rest.Prefix + "/tools/write_note"
	for _, who := range []string{"write", "full"} {
		if r := w.do(who, "POST", write+"?meant=1", create); r.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", who, r.status, r.text)
		}
	}
	if r := w.do("person", "POST", write+"?meant=yes", create); r.status != http.StatusBadRequest || w.file("New.md") != "" {
		t.Errorf("misspelt: %d %s", r.status, r.text)
	}
	if r := w.do("person", "POST", write, create); r.status != http.StatusAccepted {
		t.Errorf("not meant: %d %s", r.status, r.text)
	}
	if r := w.do("person", "POST", write+"?meant=1", create); r.status != http.StatusOK || w.file("New.md") == "" {
		t.Errorf("meant: %d %s", r.status, r.text)
	}
	if r := w.do("person", "POST", rest.Prefix+"/tools/delete_note?meant=1", `{"path":"New.md"}`); r.status != http.StatusAccepted || w.file("New.md") == "" {
		t.Errorf("what destroys: %d %s", r.status, r.text)
	}
}
