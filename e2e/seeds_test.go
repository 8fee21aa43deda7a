package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/http/serve/servetest"
	"lore/internal/workspace/process/ptytest"
)

// The tests TestSeed… walk through the documents that Lore grew from, requirement
// by requirement. Each document has one vault and one server, and its rows run one
// after the other.

// A row is one requirement in our words, what is done, and what must come of it.
// A want is a regular expression; with a "!" before it nothing may match.
type row struct {
	says  string
	how   deed
	wants []string
}

// A deed does something and returns all that can be seen of it.
type deed func(w *seedWorld) string

func r(says string, how deed, wants ...string) row { return row{says, how, wants} }

// A seedWorld is a vault behind a server, a program that calls tools there, and the
// person whose vault it is.
type seedWorld struct {
	*testing.T
	vault  string
	base   string
	token  string
	person *http.Client
	last   string // the approval that was asked for last
}

// walk runs the rows.
func walk(t *testing.T, files map[string]string, rows []row, settings ...string) {
	if testing.Short() {
		t.Skip("one call after the other tells nothing to a race detector")
	}
	w := newSeedWorld(t, files, settings...)
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.says] {
			t.Errorf("%s: twice", row.says)
		}
		seen[row.says] = true
		got := row.how(w)
		for _, want := range row.wants {
			if !holds(want, got) {
				t.Errorf("%s\nwant %s\ngot  %s", row.says, want, got)
			}
		}
		if len(row.wants) == 0 {
			t.Errorf("%s: nothing is wanted; it is\n%s", row.says, got)
		}
	}
	t.Logf("%d requirements", len(rows))
}

// holds reports whether a text is as it is wanted.
func holds(want, got string) bool {
	pattern, not := strings.CutPrefix(want, "!")
	return regexp.MustCompile(`(?s)`+pattern).MatchString(got) != not
}

func newSeedWorld(t *testing.T, files map[string]string, settings ...string) *seedWorld {
	t.Helper()
	w := &seedWorld{T: t, vault: home(t)}
	t.Setenv("LORE_EMBED_MODEL", "none")
	t.Setenv("LORE_LIMITS_CALLS", "100000")
	t.Setenv("LORE_LIMITS_CHANGES", "100000")
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		t.Setenv(name, value)
	}
	for name, text := range files {
		p := filepath.Join(w.vault, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.CommandContext(t.Context(), "lore", "serve", w.vault, "--listen", "127.0.0.1:0", "--json", "--hold", "0s")
	var said bytes.Buffer
	server.Stderr = &said
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt) // it may have ended
		_ = server.Wait()
		if t.Failed() {
			t.Logf("on standard error:\n%s", said.String())
		}
	})
	var where struct{ Address string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		t.Fatal(err, said.String())
	}
	w.base = where.Address
	w.person = servetest.SignIn(t, strings.TrimSpace(w.run("login")))
	w.token, _, _ = strings.Cut(w.run("token", "create", "--yes", "--name", "program", "--scope", "read,write,destroy,egress,exec"), "\n")
	return w
}

// run is a command of the program, and all that it says.
func (w *seedWorld) run(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "lore", append([]string{"--vault", w.vault}, args...)...)
	if ptytest.Needs(args) {
		r := ptytest.Run(w.T, cmd)
		return r.Out + r.Err
	}
	out, _ := cmd.CombinedOutput() // what it says is judged, not how it ends
	return string(out)
}

// send makes a request, as the person or as the program.
func (w *seedWorld) send(person bool, method, path, body string) string {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	c := http.DefaultClient
	if person {
		c = w.person
	} else {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	res, err := c.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	var waits struct {
		ID string `json:"pending_operation_id"`
	}
	if json.Unmarshal(b, &waits) == nil && waits.ID != "" {
		w.last = waits.ID
	}
	return string(b)
}

// ask is a call of the program; what needs a person waits.
func ask(tool, args string) deed {
	return func(w *seedWorld) string { return w.send(false, http.MethodPost, "/api/v1/tools/"+tool, args) }
}

// do is the same, and the person approves it, as often as it is asked about.
func do(tool, args string) deed {
	return func(w *seedWorld) string {
		got := ask(tool, args)(w)
		for n := 0; n < 3 && strings.Contains(got, `"requires_confirmation":true`) && strings.Contains(got, `"pending_operation_id"`); n++ {
			got = answer(`"approve":true`)(w)
		}
		return got
	}
}

// answer is the person's answer to what was asked last.
func answer(words string) deed {
	return func(w *seedWorld) string {
		var q struct{ Revision json.Number }
		if err := json.Unmarshal([]byte(w.send(true, http.MethodGet, "/api/v1/approvals/"+w.last, "")), &q); err != nil {
			w.Fatal(err)
		}
		return w.send(true, http.MethodPost, "/api/v1/approvals/"+w.last+"/answer", `{"revision":`+q.Revision.String()+`,`+words+`}`)
	}
}

// page is a request of the person's page.
func page(method, path, body string) deed {
	return func(w *seedWorld) string { return w.send(true, method, "/api/v1"+path, body) }
}

// get is a request of the program.
func get(path string) deed {
	return func(w *seedWorld) string { return w.send(false, http.MethodGet, "/api/v1"+path, "") }
}

// until makes a request again until its answer is as it is wanted: a server looks at
// some files every two seconds.
func until(path, want string) deed {
	return func(w *seedWorld) string {
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for range 600 {
			if got := get(path)(w); holds(want, got) {
				return got
			}
			<-again.C
		}
		return "never " + want
	}
}

// typed is a command.
func typed(args ...string) deed { return func(w *seedWorld) string { return w.run(args...) } }

// file is what stands in a file; "absent" when there is none.
func file(path string) deed {
	return func(w *seedWorld) string {
		b, err := os.ReadFile(filepath.Join(w.vault, filepath.FromSlash(path)))
		if err != nil {
			return "absent"
		}
		return string(b)
	}
}

// all does several things and returns what all of them came to, one below the other.
func all(steps ...deed) deed {
	return func(w *seedWorld) string {
		var out []string
		for _, s := range steps {
			out = append(out, s(w))
		}
		return strings.Join(out, "\n")
	}
}

// mcpTools are the names of the tools that a client of the Model Context Protocol
// can be offered.
func mcpTools(w *seedWorld) string {
	var names []string
	for _, t := range overMCP(w) {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// mcpDescription is what such a client is told about a tool.
func mcpDescription(w *seedWorld, name string) string {
	for _, t := range overMCP(w) {
		if t.Name == name {
			return t.Description
		}
	}
	w.Fatalf("%s is not offered", name)
	return ""
}

func overMCP(w *seedWorld) []*sdk.Tool {
	w.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "seed", Version: "1"}, nil).Connect(w.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.base + "/mcp/x/all", HTTPClient: &http.Client{Transport: withToken(w.token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list, err := s.ListTools(w.Context(), nil)
	if err != nil {
		w.Fatal(err)
	}
	return list.Tools
}

// withToken sends a token with every request.
type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}
