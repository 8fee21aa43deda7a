package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// An editor starts `lore acp` as editors do, and keeps what it is told.
type editor struct {
	t     *testing.T
	vault string
	conn  *acp.ClientSideConnection
	end   func() string // closes the program, and is what it wrote to standard error

	mu     sync.Mutex
	said   []string // what was told, in short, in order
	text   string   // of the answers
	asked  []acp.RequestPermissionRequest
	answer func(acp.RequestPermissionRequest) acp.RequestPermissionOutcome
}

func startEditor(t *testing.T, vault string, args ...string) *editor {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "lore", append([]string{"acp", "--vault", vault}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, vault: vault}
	e.conn = acp.NewClientSideConnection(e, in, out)
	e.end = sync.OnceValue(func() string {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("lore acp: %v: %s", err, errs.String())
		}
		return errs.String()
	})
	t.Cleanup(func() { e.end() })
	res, err := e.conn.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &acp.Implementation{Name: "test-editor", Version: "1"}})
	if err != nil || res.ProtocolVersion != acp.ProtocolVersionNumber || !res.AgentCapabilities.LoadSession || res.AgentInfo.Name != "lore" {
		t.Fatalf("%+v, %v", res, err)
	}
	return e
}

func (e *editor) session() acp.NewSessionResponse {
	e.t.Helper()
	s, err := e.conn.NewSession(e.t.Context(), acp.NewSessionRequest{Cwd: e.vault, McpServers: []acp.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

func (e *editor) prompt(id acp.SessionId, parts ...acp.ContentBlock) acp.PromptResponse {
	e.t.Helper()
	res, err := e.conn.Prompt(e.t.Context(), acp.PromptRequest{SessionId: id, Prompt: parts})
	if err != nil {
		e.t.Fatal(err)
	}
	return res
}

// told is what the editor was told since the last time.
func (e *editor) told() (said []string, text string, asked []acp.RequestPermissionRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	said, text, asked = e.said, e.text, e.asked
	e.said, e.text, e.asked = nil, "", nil
	return said, text, asked
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		e.text += u.AgentMessageChunk.Content.Text.Text
	case u.UserMessageChunk != nil:
		e.said = append(e.said, "user: "+u.UserMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		e.said = append(e.said, fmt.Sprintf("call %s %s: %s", u.ToolCall.Kind, u.ToolCall.Status, u.ToolCall.Title))
	case u.ToolCallUpdate != nil:
		e.said = append(e.said, fmt.Sprintf("now %s: %s", *u.ToolCallUpdate.Status, *u.ToolCallUpdate.Title))
	case u.Plan != nil:
		e.said = append(e.said, fmt.Sprintf("plan of %d", len(u.Plan.Entries)))
	}
	return nil
}

func (e *editor) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, r)
	answer := e.answer
	e.mu.Unlock()
	if answer == nil {
		e.t.Errorf("asked for permission: %+v", r)
		return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return acp.RequestPermissionResponse{Outcome: answer(r)}, nil
}

// choose answers with the option of a kind.
func choose(kind acp.PermissionOptionKind) func(acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
	return func(r acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		i := slices.IndexFunc(r.Options, func(o acp.PermissionOption) bool { return o.Kind == kind })
		return acp.NewRequestPermissionOutcomeSelected(r.Options[i].OptionId)
	}
}

// What Lore never asks of an editor: it has hands of its own.
func (e *editor) unasked(what string) error {
	e.t.Errorf("asked the editor to %s", what)
	return acp.NewMethodNotFound(what)
}
func (e *editor) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, e.unasked("read a file")
}
func (e *editor) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, e.unasked("write a file")
}
func (e *editor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, e.unasked("make a terminal")
}
func (e *editor) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, e.unasked("kill a terminal")
}
func (e *editor) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, e.unasked("read a terminal")
}
func (e *editor) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, e.unasked("release a terminal")
}
func (e *editor) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, e.unasked("wait for a terminal")
}

func text(s string) acp.ContentBlock { return acp.TextBlock(s) }

// TestEditorTalksWithTheAgent: a question without a model, and the chat is there
// again in another editor, and everywhere else.
func TestEditorTalksWithTheAgent(t *testing.T) {
	vault := home(t)
	e := startEditor(t, vault)
	s := e.session()
	if n := len(s.Modes.AvailableModes); s.Modes.CurrentModeId != "ask" || n != 2 {
		t.Errorf("modes without --confirm: %+v", s.Modes)
	}
	if res := e.prompt(s.SessionId, text("how hot should the water be for sencha?")); res.StopReason != acp.StopReasonEndTurn {
		t.Errorf("stopped: %s", res.StopReason)
	}
	said, answer, _ := e.told()
	if !strings.Contains(answer, "[[Notes/") || !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "call search ") }) || !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "now completed: ") }) {
		t.Errorf("%q\n%s", said, answer)
	}
	if _, err := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: "none", Prompt: []acp.ContentBlock{text("x")}}); err == nil || !strings.Contains(err.Error(), "unknown session") {
		t.Errorf("a session that is none: %v", err)
	}
	e.end()

	again := startEditor(t, vault)
	list, err := again.conn.ListSessions(t.Context(), acp.ListSessionsRequest{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != s.SessionId || list.Sessions[0].Cwd != vault {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := again.conn.LoadSession(t.Context(), acp.LoadSessionRequest{SessionId: s.SessionId, Cwd: vault, McpServers: []acp.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	said, replayed, _ := again.told()
	if len(said) < 2 || said[0] != "user: how hot should the water be for sencha?" || strings.TrimSpace(replayed) != strings.TrimSpace(answer) {
		t.Errorf("%q\n%s\nwant\n%s", said, replayed, answer)
	}
	// Beside it, other commands work.
	if out, code := run(t, vault, "read", "Matcha"); code != 0 || !strings.Contains(out, "Matcha") {
		t.Errorf("read: %d %s", code, out)
	}
}

// TestEditorApproves: with --confirm a change is shown with its diff in the editor, and
// made, denied or left as its user says; the activity names the editor.
func TestEditorApproves(t *testing.T) {
	vault := home(t)
	onStage(t, vault, addLine("A line by the model."), act{text: []string{"Added."}}, addLine("Another line."), act{text: []string{"Not added."}}, addLine("A third."), act{text: []string{"Well."}})
	e := startEditor(t, vault, "--confirm")
	e.answer = choose(acp.PermissionOptionKindAllowOnce)
	s := e.session()
	e.prompt(s.SessionId, text("add a line to "), acp.ResourceLinkBlock("Matcha", "file://"+filepath.Join(vault, "Notes/Matcha.md")))
	_, answer, asked := e.told()
	if len(asked) != 1 || !strings.Contains(answer, "Added.") || !strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "A line by the model.") {
		t.Fatalf("%d questions\n%s", len(asked), answer)
	}
	card := asked[0].ToolCall
	i := slices.IndexFunc(card.Content, func(c acp.ToolCallContent) bool { return c.Diff != nil })
	if i < 0 || !strings.Contains(card.Content[i].Diff.NewText, "A line by the model.") || strings.Contains(*card.Content[i].Diff.OldText, "by the model") || card.Content[i].Diff.Path != filepath.Join(vault, "Notes/Matcha.md") {
		t.Errorf("the card: %+v", card)
	}
	e.answer = choose(acp.PermissionOptionKindRejectOnce)
	e.prompt(s.SessionId, text("and another"))
	if _, answer, _ := e.told(); strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "Another line.") || !strings.Contains(answer, "Not added.") {
		t.Errorf("denied: %s", answer)
	}
	e.answer = func(acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	e.prompt(s.SessionId, text("and a third"))
	if strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "A third.") {
		t.Error("a closed dialog approved")
	}
	e.end()
	if out, _ := run(t, vault, "activity", "--json"); !strings.Contains(out, "approved in a dialog shown by test-editor (lore acp)") || strings.Contains(out, "a person approved it") {
		t.Errorf("nobody knows whose dialog it was: %s", out)
	}
}

// TestEditorDoesNotApprove: without --confirm no answer of the editor counts, and what
// destroys is not for its dialog even with it. The person answers elsewhere.
func TestEditorDoesNotApprove(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		act  act
	}{
		{"without leave", nil, addLine("A line by the model.")},
		{"a deletion", []string{"--confirm"}, act{call: "delete_note", args: `{"path":"Notes/Matcha.md"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			vault := home(t)
			onStage(t, vault, c.act, act{text: []string{"The end."}})
			e := startEditor(t, vault, c.args...)
			s := e.session()
			before := fileText(t, vault, "Notes/Matcha.md")
			done := make(chan acp.PromptResponse, 1)
			go func() {
				res, _ := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: s.SessionId, Prompt: []acp.ContentBlock{text("do it")}})
				done <- res
			}()
			id := pendingID(t, vault)
			if fileText(t, vault, "Notes/Matcha.md") != before {
				t.Fatal("done without an answer")
			}
			// A program that the editor starts cannot answer, either: it has no terminal. The person denies elsewhere.
			if out, code := run(t, vault, "approvals", "deny", id); code != 0 {
				t.Fatalf("deny: %s", out)
			}
			select {
			case res := <-done:
				if res.StopReason != acp.StopReasonEndTurn {
					t.Errorf("stopped: %s", res.StopReason)
				}
			case <-t.Context().Done():
			}
			_, answer, asked := e.told()
			if len(asked) != 0 || !strings.Contains(answer, "Waiting for your approval") || fileText(t, vault, "Notes/Matcha.md") != before {
				t.Errorf("%d questions\n%s", len(asked), answer)
			}
		})
	}
}

// pendingID waits for a question.
func pendingID(t *testing.T, vault string) string {
	t.Helper()
	for range 600 {
		out, _ := run(t, vault, "approvals", "--json")
		var list struct {
			Approvals []struct{ ID string }
		}
		if json.Unmarshal([]byte(out), &list) == nil && len(list.Approvals) > 0 {
			return list.Approvals[0].ID
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("nothing is asked")
	return ""
}

// TestEditorModes: read only changes nothing and asks nothing, auto changes without a
// question, cancel ends an answer that never would.
func TestEditorModes(t *testing.T) {
	vault := home(t)
	st := onStage(t, vault, addLine("First."), act{text: []string{"Could not."}}, addLine("Second."), act{text: []string{"Did."}}, act{text: []string{"I begin"}, hold: true})
	e := startEditor(t, vault, "--confirm")
	s := e.session()
	mode := func(id acp.SessionModeId) {
		t.Helper()
		if _, err := e.conn.SetSessionMode(t.Context(), acp.SetSessionModeRequest{SessionId: s.SessionId, ModeId: id}); err != nil {
			t.Fatal(err)
		}
	}
	mode("read")
	e.prompt(s.SessionId, text("add"))
	if strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "First.") {
		t.Error("read only changed a note")
	}
	mode("auto")
	e.prompt(s.SessionId, text("add"))
	if !strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "Second.") {
		t.Error("auto did not change the note")
	}
	if _, err := e.conn.SetSessionMode(t.Context(), acp.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "everything"}); err == nil {
		t.Error("a mode that is none")
	}
	done := make(chan acp.PromptResponse, 1)
	go func() {
		res, _ := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: s.SessionId, Prompt: []acp.ContentBlock{text("for ever")}})
		done <- res
	}()
	for range 600 {
		e.mu.Lock()
		begun := strings.Contains(e.text, "I begin")
		e.mu.Unlock()
		if begun {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := e.conn.Cancel(t.Context(), acp.CancelNotification{SessionId: s.SessionId}); err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.StopReason != acp.StopReasonCancelled {
		t.Errorf("stopped: %s", res.StopReason)
	}
	<-st.ends // the model is not asked any longer
}
