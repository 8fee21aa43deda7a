// Package page is what `lore serve` shows people in a browser: the application
// that was built from the folder web, or, in a program without it, a small front
// of its own: what waits for an answer, one question with its whole diff and two
// buttons, and what was done last.
//
// It owns how that is served and nothing else. It reads through the door of
// tools, answers nothing itself (scripts send the person's answer to the REST
// interface), knows no tool by name, and leaves to serve who may come in: every
// route, the files of the page too, is for a person's session alone.
package page

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/schema"
	"lore/internal/surface/draw"
	"lore/internal/surface/serve"
	"lore/internal/tool"
)

// Options say what the pages stand on.
type Options struct {
	Door  tool.Door
	Vault string // the name of the vault's folder, without where it lies
	// API is where answers are sent: the prefix of the REST interface.
	API string
	// App is the application as it was built; nil shows the small front.
	App fs.FS
}

// Pages are the pages of one vault.
type Pages struct {
	o   Options
	app *application // nil is the small front
}

// New makes the pages. An application that cannot be read is an error.
func New(o Options) (*Pages, error) {
	p := &Pages{o: o}
	if o.App == nil {
		return p, nil
	}
	var err error
	p.app, err = load(o.App)
	return p, err
}

// Path is where the page of a question lies.
func Path(id string) string { return "/approvals/" + id }

// files are looked at by the browser under /page/.
//
//go:embed page.css page.js
var files embed.FS

//go:embed page.html
var source string

var templates = template.Must(template.New("page").Funcs(template.FuncMap{
	"seen": draw.Revealed, "line": oneLine, "path": Path, "at": at, "diff": diffOf, "said": quoted,
}).Parse(source))

// policy lets nothing run or dress the page but our own files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'"

// Routes lists what the shell serves.
func (p *Pages) Routes() []serve.Route {
	get := func(pattern string, h serve.Handle) serve.Route {
		return serve.Route{Method: http.MethodGet, Pattern: pattern, Scope: access.Read, Person: true, Handle: h, Plain: p.Refused}
	}
	if p.app != nil {
		out := []serve.Route{get("/approvals/{id}", p.question), get("/assets/{name}", p.app.file)}
		for _, place := range places() {
			out = append(out, get(place, p.open))
		}
		return out
	}
	return []serve.Route{
		get("/{$}", p.home),
		get("/approvals/{id}", p.approval),
		get("/page/page.css", file("page.css", "text/css; charset=utf-8")),
		get("/page/page.js", file("page.js", "text/javascript; charset=utf-8")),
	}
}

// open shows the application.
func (p *Pages) open(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	p.app.show(w, r)
	return nil
}

// question shows the application at a question, if there is one.
func (p *Pages) question(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	if _, err := p.o.Door.Question(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	return p.open(w, r, who)
}

func file(name, kind string) serve.Handle {
	return func(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
		b, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		serve.Write(w, kind, http.StatusOK, b)
		return nil
	}
}

// show draws a page whole before any of it is sent.
func show(w http.ResponseWriter, status int, policy, name string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", policy)
	serve.Write(w, "text/html; charset=utf-8", status, b.Bytes())
	return nil
}

// Refused tells a person in plain words why there is nothing to see. It names
// no file of the page: who is not let in gets none.
func (p *Pages) Refused(w http.ResponseWriter, r *http.Request, pr serve.Problem) {
	nonce := serve.Nonce(r)
	policy := "default-src 'none'; style-src 'nonce-" + nonce + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if err := show(w, pr.Status, policy, "refused", map[string]any{"Problem": pr, "Nonce": nonce}); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// An entry is one thing that was done.
type entry struct {
	Time      time.Time `json:"time"`
	By        string    `json:"initiated_by"`
	Tool      string    `json:"tool"`
	Summary   string    `json:"result_summary"`
	Operation string    `json:"operation_id"`
}

// How far back the first page looks, and how much of that it shows.
const (
	looked = 200
	shown  = 20
)

func (p *Pages) home(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	waiting, err := p.o.Door.Questions(r.Context(), tool.Pending)
	if err != nil {
		return err
	}
	done, err := p.done(r, who)
	if err != nil {
		return err
	}
	return show(w, http.StatusOK, policy, "home", map[string]any{"Vault": p.o.Vault, "Waiting": waiting, "Done": done, "API": p.o.API})
}

// done is what changed the vault last, newest first. Where no tool tells, there
// is nothing to show.
func (p *Pages) done(r *http.Request, who access.Principal) ([]entry, error) {
	for _, t := range p.o.Door.On() {
		if !slices.Contains(t.Roles, tool.TellsActivity) {
			continue
		}
		// Asking what came "after" the beginning keeps the look itself out of the list.
		args, err := schema.Marshal(map[string]any{"limit": looked, "after": 0})
		if err != nil {
			return nil, err
		}
		res, err := p.o.Door.Call(r.Context(), who, t.Name, args)
		if err != nil {
			return nil, err
		}
		raw, err := schema.Marshal(res.Value)
		if err != nil {
			return nil, err
		}
		var out struct {
			Activity []entry `json:"activity"`
		}
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, err
		}
		out.Activity = slices.DeleteFunc(out.Activity, func(e entry) bool { return e.Operation == "" })
		return out.Activity[:min(shown, len(out.Activity))], nil
	}
	return nil, nil
}

// A card is a question as its page shows it.
type card struct {
	tool.Question
	Vault string
	API   string
	Open  bool   // it can be answered
	Word  string // what the person said
}

func (p *Pages) approval(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	q, err := p.o.Door.Question(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	c := card{Question: q, Vault: p.o.Vault, API: p.o.API, Open: q.State == tool.Pending}
	if q.Answer != nil {
		c.Word = q.Answer.Word
	}
	return show(w, http.StatusOK, policy, "approval", c)
}

func at(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// oneLine is for what must not look like several things.
func oneLine(v any) string {
	s, ok := v.(string)
	if !ok {
		b, err := schema.Marshal(v)
		if err != nil {
			return ""
		}
		s = strings.Trim(string(b), `"`)
	}
	return draw.Revealed(draw.OneLine(s))
}

// saidMost is how much of the caller's own words is shown: what counts is the
// diff.
const saidMost = 2000

// quoted is what the caller said, as it said it.
func quoted(raw json.RawMessage) string {
	var b bytes.Buffer
	text := string(raw)
	if json.Indent(&b, raw, "", "  ") == nil {
		text = b.String()
	}
	text = draw.Revealed(text)
	if r := []rune(text); len(r) > saidMost {
		text = string(r[:saidMost]) + " …"
	}
	return text
}

// A diffLine is one line of a diff; Sort says how it is dressed.
type diffLine struct{ Sort, Text string }

func diffOf(c tool.FileChange) []diffLine {
	var out []diffLine
	for _, l := range draw.DiffLines(c.Diff) {
		sort := map[byte]string{'+': "added", '-': "removed", '@': "place", '\\': "place"}[cmp.Or(l, " ")[0]]
		out = append(out, diffLine{cmp.Or(sort, "same"), l})
	}
	return out
}
