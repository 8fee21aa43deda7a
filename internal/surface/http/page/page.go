// Package page is what `lore serve` shows people in a browser: the application
// that was built from the folder web, or, in a program without it, a page that
// says so.
//
// It owns how that is served and nothing else. Its files hold nothing of the
// vault, so everybody who reaches the server gets them: they are how a person
// signs in. Everything else the application asks of the REST interface, with the
// secret that it keeps for its origin.
package page

import (
	"bytes"
	_ "embed" // the page of a problem
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// Options say what the pages stand on.
type Options struct {
	// App is the application as it was built; nil shows that there is none.
	App fs.FS
}

// Pages are the pages of one server.
type Pages struct {
	app   *application   // nil is none
	links *http.ServeMux // knows the places that other sites may link to; nil is none
}

// New makes the pages. An application that cannot be read is an error.
func New(o Options) (*Pages, error) {
	if o.App == nil {
		return &Pages{}, nil
	}
	app, err := load(o.App)
	p := &Pages{app: app, links: http.NewServeMux()}
	for _, place := range places() {
		if place != "/login" {
			p.links.Handle("GET "+place, http.NotFoundHandler())
		}
	}
	return p, err
}

// Path is where the page of a question lies.
func Path(id string) string { return "/approvals/" + id }

//go:embed page.html
var source string

var templates = template.Must(template.New("page").Funcs(template.FuncMap{"line": oneLine}).Parse(source))

// Routes lists what the shell serves.
func (p *Pages) Routes() []serve.Route {
	get := func(pattern string, h serve.Handle) serve.Route {
		return serve.Route{Method: http.MethodGet, Pattern: pattern, Scope: access.Read, Anyone: true, Handle: h, Plain: p.Refused}
	}
	if p.app == nil {
		return []serve.Route{get("/{$}", p.absent), get("/login", p.absent), get("/approvals", p.absent), get("/approvals/{id}", p.absent)}
	}
	out := []serve.Route{get("/assets/{name}", p.app.file), get("/frame/diagram.html", p.app.draws)}
	for _, name := range atRoot {
		out = append(out, get("/"+name, p.app.rootFile(name)))
	}
	for _, place := range places() {
		out = append(out, get(place, p.open))
	}
	return out
}

// open shows the application.
func (p *Pages) open(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	p.app.show(w, r)
	return nil
}

// absent says that this program was built without the application.
func (p *Pages) absent(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	return show(w, r, http.StatusOK, "absent", nil)
}

// Refused tells a person in plain words why there is nothing to see. Who followed
// a link of another site can go on by a click that is their own.
func (p *Pages) Refused(w http.ResponseWriter, r *http.Request, pr serve.Problem) {
	if err := show(w, r, pr.Status, "refused", map[string]any{"Problem": pr, "Onward": p.onward(r, pr.Status)}); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// onward is the place in the application that a link of another site leads to, or
// "". Signing in is none: nobody is signed in by what another site sent.
func (p *Pages) onward(r *http.Request, status int) string {
	if p.links == nil || status != http.StatusForbidden || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Dest") != "document" {
		return ""
	}
	to := url.URL{Path: path.Clean(r.URL.Path), RawQuery: r.URL.RawQuery}
	if _, pattern := p.links.Handler(&http.Request{Method: http.MethodGet, URL: &to}); pattern == "" {
		return ""
	}
	return to.String()
}

// show draws a page whole before any of it is sent. It may fetch nothing.
func show(w http.ResponseWriter, r *http.Request, status int, name string, with map[string]any) error {
	nonce := serve.Nonce(r)
	data := map[string]any{"Nonce": nonce}
	maps.Copy(data, with)
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	serve.Write(w, "text/html; charset=utf-8", status, b.Bytes())
	return nil
}

// oneLine is for what must not look like several things.
func oneLine(s string) string { return draw.Revealed(draw.OneLine(s)) }
