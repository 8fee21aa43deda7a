package rest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/surface/http/rest"
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

// TestMeantUndo: what a person undoes on the page is undone at once, even where
// that removes a note; nobody else can say so.
func TestMeantUndo(t *testing.T) {
	w := open(t)
	if r := w.do("person", "POST", rest.Prefix+"/tools/write_note?meant=1", create); r.status != http.StatusOK {
		t.Fatal(r.text)
	}
	list, _ := w.do("person", "GET", rest.Prefix+"/activity?tool=write_note", "").json["activity"].([]any)
	entry, _ := list[0].(map[string]any)
	op, _ := entry["operation_id"].(string)
	at := rest.Prefix + "/operations/" + op
	if r := w.do("full", "POST", at+"/undo?meant=1", "{}"); r.status != http.StatusForbidden || w.file("New.md") == "" {
		t.Errorf("a token: %d %s", r.status, r.text)
	}
	if r := w.do("person", "POST", at+"/undo", "{}"); r.status != http.StatusAccepted || w.file("New.md") == "" {
		t.Errorf("not meant: %d %s", r.status, r.text)
	}
	if r := w.do("person", "POST", at+"/undo?meant=1", "{}"); r.status != http.StatusOK || w.file("New.md") != "" {
		t.Errorf("meant: %d %s", r.status, r.text)
	}
	if r := w.do("person", "POST", at+"/redo?meant=1", "{}"); r.status != http.StatusOK || w.file("New.md") != "hello\n" {
		t.Errorf("redo: %d %s", r.status, r.text)
	}
}

// TestToolsAreKept: who has the list gets it again only when it changed, and
// packed where they take it so.
func TestToolsAreKept(t *testing.T) {
	w := open(t)
	const at = rest.Prefix + "/tools"
	whole, brief := w.do("person", "GET", at, ""), w.do("person", "GET", at+"?brief=1", "")
	if strings.Contains(brief.text, "output_schema") || !strings.Contains(brief.text, "input_schema") || len(brief.text) > len(whole.text)*2/3 {
		t.Errorf("%d of %d bytes: %.300s", len(brief.text), len(whole.text), brief.text)
	}
	if r := w.do("person", "GET", at+"?brief=yes", ""); r.status != http.StatusBadRequest {
		t.Errorf("misspelled: %d", r.status)
	}
	with := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	tag := whole.header.Get("ETag")
	for held, want := range map[string]int{tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, `"other"`: 200, brief.header.Get("ETag"): 200} {
		if r := w.do("person", "GET", at, "", with("If-None-Match", held)); r.status != want || want == 304 && r.text != "" {
			t.Errorf("%s: %d, want %d", held, r.status, want)
		}
	}
	if r := w.do("", "GET", at, "", with("If-None-Match", tag)); r.status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", r.status)
	}
	packed := w.do("person", "GET", at, "", with("Accept-Encoding", "gzip"))
	z, err := gzip.NewReader(strings.NewReader(packed.text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil || string(b) != whole.text || packed.header.Get("Content-Encoding") != "gzip" || packed.header.Get("Vary") != "Accept-Encoding" || len(packed.text)*3 > len(b) {
		t.Errorf("packed: %v, %d of %d bytes, %v", err, len(packed.text), len(b), packed.header)
	}
	if r := w.do("person", "GET", rest.Prefix+"/status", "", with("Accept-Encoding", "gzip")); r.header.Get("Content-Encoding") != "" {
		t.Error("a short answer is packed")
	}
}
