package token_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

// A clock that tests set.
type clockAt struct{ at time.Time }

func opened(t *testing.T) (*token.Store, *clockAt, *state.File) {
	t.Helper()
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	c := &clockAt{time.Unix(1_000_000, 0)}
	return token.New(file, func() time.Time { return c.at }), c, file
}

func signedIn(t *testing.T, s *token.Store, line []access.Process) (token.Session, token.Secrets) {
	t.Helper()
	code, err := s.NewCode(t.Context(), line)
	if err != nil {
		t.Fatal(err)
	}
	in, sec, err := s.SignIn(t.Context(), code, "Firefox on Linux")
	if err != nil || in == nil {
		t.Fatal(in, err)
	}
	return *in, sec
}

func TestCodesForBrowsers(t *testing.T) {
	s, c, _ := opened(t)
	code, err := s.NewCode(t.Context(), nil)
	if err != nil || len(code) != 52 {
		t.Fatal(code, err)
	}
	late, err := s.NewCode(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		code string
		want bool
	}{{"", false}, {code[1:], false}, {strings.ToUpper(code), false}, {code, true}, {code, false}} {
		if in, _, err := s.SignIn(t.Context(), try.code, ""); err != nil || (in != nil) != try.want {
			t.Errorf("%q: %v, %v", try.code, in, err)
		}
	}
	c.at = c.at.Add(11 * time.Minute)
	if in, _, err := s.SignIn(t.Context(), late, ""); err != nil || in != nil {
		t.Errorf("too late: %v, %v", in, err)
	}
}

func TestSessions(t *testing.T) {
	s, c, file := opened(t)
	line := []access.Process{{PID: 7, Start: 9, Name: "bash"}}
	in, sec := signedIn(t, s, line)
	_, other := signedIn(t, s, nil)
	if got, err := s.Session(t.Context(), sec.Cookie, sec.Word); err != nil || got.ID != in.ID || len(got.Principal().Line) != 1 || !got.Principal().May(access.Approve) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, try := range map[string][2]string{
		"the cookie alone": {sec.Cookie, ""}, "the word alone": {"", sec.Word}, "the word of another": {sec.Cookie, other.Word}, "swapped": {sec.Word, sec.Cookie},
		"the key of files": {sec.Cookie, sec.Files}, "nothing": {"", ""},
	} {
		if got, err := s.Session(t.Context(), try[0], try[1]); fault.Of(err) != fault.Denied || got.ID != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, f := range []string{"state.db", "state.db-wal"} { // what a browser holds is nowhere
		b, err := os.ReadFile(filepath.Join(file.Dir(), f))
		if err != nil {
			continue
		}
		for _, secret := range []string{sec.Cookie, sec.Word} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s holds a secret", f)
			}
		}
	}
	// Another process, after a restart of this one.
	again := token.New(file, func() time.Time { return c.at })
	c.at = c.at.Add(29 * 24 * time.Hour)
	if _, err := again.Session(t.Context(), sec.Cookie, sec.Word); err != nil {
		t.Error("after a restart: ", err)
	}
	c.at = c.at.Add(29 * 24 * time.Hour)
	if _, err := again.Session(t.Context(), sec.Cookie, sec.Word); err != nil {
		t.Error("it was used: ", err)
	}
	if _, err := again.Session(t.Context(), other.Cookie, other.Word); err == nil {
		t.Error("58 days without use, and it lives")
	}
	if list, err := s.Sessions(t.Context()); err != nil || len(list) != 1 || list[0].Browser != "Firefox on Linux" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.SignOut(t.Context(), in.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Session(t.Context(), sec.Cookie, sec.Word); fault.Of(err) != fault.Denied {
		t.Errorf("signed out: %v", err)
	}
	if err := s.SignOut(t.Context(), in.ID); fault.Of(err) != fault.NotFound {
		t.Errorf("twice: %v", err)
	}
}

func TestManySessions(t *testing.T) {
	s, c, _ := opened(t)
	var first token.Secrets
	for i := range 101 {
		c.at = c.at.Add(time.Second)
		_, sec := signedIn(t, s, nil)
		if i == 0 {
			first = sec
		}
	}
	if _, err := s.Session(t.Context(), first.Cookie, first.Word); fault.Of(err) != fault.Denied {
		t.Errorf("the oldest does not give way: %v", err)
	}
	if list, err := s.Sessions(t.Context()); err != nil || len(list) != 100 {
		t.Error(len(list), err)
	}
}

func TestSignedFiles(t *testing.T) {
	s, c, _ := opened(t)
	in, sec := signedIn(t, s, nil)
	_, other := signedIn(t, s, nil)
	until := strconv.FormatInt(c.at.Add(time.Hour).Unix(), 10)
	past := strconv.FormatInt(c.at.Add(-time.Hour).Unix(), 10)
	sign := func(key, path, until string) string { return hex.EncodeToString(token.SignFile(key, path, until)) }
	for name, try := range map[string]struct {
		cookie, path, until, signature string
		ok                             bool
	}{
		"as it must be":    {sec.Cookie, "a/b.png", until, sign(sec.Files, "a/b.png", until), true},
		"no cookie":        {"", "a/b.png", until, sign(sec.Files, "a/b.png", until), false},
		"another's cookie": {other.Cookie, "a/b.png", until, sign(sec.Files, "a/b.png", until), false},
		"another path":     {sec.Cookie, "a/c.png", until, sign(sec.Files, "a/b.png", until), false},
		"a longer time":    {sec.Cookie, "a/b.png", until + "0", sign(sec.Files, "a/b.png", until), false},
		"too late":         {sec.Cookie, "a/b.png", past, sign(sec.Files, "a/b.png", past), false},
		"no signature":     {sec.Cookie, "a/b.png", until, "", false},
		"no key":           {sec.Cookie, "a/b.png", until, sign("", "a/b.png", until), false},
		"no time":          {sec.Cookie, "a/b.png", "", sign(sec.Files, "a/b.png", ""), false},
	} {
		got, err := s.FileSession(t.Context(), try.cookie, try.path, try.until, try.signature)
		if (err == nil) != try.ok || try.ok && got.ID != in.ID {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestPIN(t *testing.T) {
	s, c, _ := opened(t)
	ctx := t.Context()
	in, _ := signedIn(t, s, nil)
	if err := s.CheckPIN(ctx, "anything"); err != nil {
		t.Error("without a PIN: ", err)
	}
	for _, bad := range []string{"1", "123", strings.Repeat("x", 129)} {
		if err := s.SetPIN(ctx, bad); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.SetPIN(ctx, "4711"); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Unlocked(ctx, in.ID); err != nil || ok {
		t.Error("it may approve without the PIN: ", ok, err)
	}
	if err := s.Unlock(ctx, in.ID, "0000"); fault.Of(err) != fault.Denied {
		t.Error(err)
	}
	if err := s.Unlock(ctx, in.ID, "4711"); err != nil {
		t.Error(err)
	}
	if ok, err := s.Unlocked(ctx, in.ID); err != nil || !ok {
		t.Error("unlocked: ", ok, err)
	}
	c.at = c.at.Add(token.UnlockTime + time.Second)
	if ok, err := s.Unlocked(ctx, in.ID); err != nil || ok {
		t.Error("it lasts: ", ok, err)
	}
	for i := range 5 {
		if err := s.CheckPIN(ctx, "0000"); fault.Of(err) != fault.Denied {
			t.Errorf("try %d: %v", i, err)
		}
	}
	if err := s.CheckPIN(ctx, "4711"); fault.Of(err) != fault.Busy {
		t.Errorf("the right one, too early: %v", err)
	}
	c.at = c.at.Add(31 * time.Second)
	if err := s.CheckPIN(ctx, "4711"); err != nil {
		t.Errorf("after waiting: %v", err)
	}
	if err := s.SetPIN(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if has, err := s.HasPIN(ctx); err != nil || has {
		t.Error(has, err)
	}
}

// TestManyTriesAtOnce: who tries many PINs at once has tried many.
func TestManyTriesAtOnce(t *testing.T) {
	s, _, _ := opened(t)
	if err := s.SetPIN(t.Context(), "4711"); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 12)
	for range cap(errs) {
		go func() { errs <- s.CheckPIN(t.Context(), "0000") }()
	}
	tried := 0
	for range cap(errs) {
		if err := <-errs; fault.Of(err) == fault.Denied {
			tried++
		} else if fault.Of(err) != fault.Busy {
			t.Error(errors.Join(err))
		}
	}
	if tried > 5 {
		t.Errorf("%d tries counted", tried)
	}
}
