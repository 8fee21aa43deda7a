package connect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/surface"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// at is where decisions are made: about the vault that is served.
func (a *API) at() surface.Scope { return surface.Scope{Vault: a.o.Vault} }

// Servers are those that files name, and what is wrong with the files.
type Servers struct {
	Servers []surface.Server `json:"servers"`
	Trouble []string         `json:"trouble,omitempty"`
}

func (a *API) listServers(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	list, trouble, err := a.o.Host.Servers.List(r.Context(), a.at(), r.URL.Query().Get("try") == "1")
	if err != nil {
		return err
	}
	a.mu.Lock()
	for i, s := range list {
		if why := a.failed[s.Name]; why != "" && !s.LoggedIn {
			list[i].Why = strings.TrimPrefix(s.Why+"; "+why, "; ")
		}
	}
	a.mu.Unlock()
	return serve.JSON(w, http.StatusOK, Servers{append([]surface.Server{}, list...), trouble})
}

// find is a server as it is named now.
func (a *API) find(ctx context.Context, name string) (surface.Server, error) {
	list, _, err := a.o.Host.Servers.List(ctx, a.at(), false)
	if err != nil {
		return surface.Server{}, err
	}
	i := slices.IndexFunc(list, func(s surface.Server) bool { return s.Name == name })
	if i < 0 {
		return surface.Server{}, fault.New(fault.NotFound, "unknown server %q", name)
	}
	return list[i], nil
}

func (a *API) addServer(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in surface.NewServer
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if err := a.o.Host.Servers.Add(in); err != nil {
		return err
	}
	s, err := a.find(r.Context(), in.Name)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, s)
}

// Trust is a decision about a server as it was seen.
type Trust struct {
	Digest string `json:"digest"`
	Use    bool   `json:"use"`
}

// seen decodes a decision, and finds the server if it is what the person saw.
func (a *API) seen(r *http.Request) (Trust, surface.Server, error) {
	var in Trust
	if err := rest.Decode(r.Body, &in); err != nil {
		return in, surface.Server{}, err
	}
	s, err := a.find(r.Context(), r.PathValue("name"))
	if err == nil && s.Digest != in.Digest {
		err = fault.Fix(fault.Conflict, "review it again", "the server %q changed in the meantime", s.Name)
	}
	return in, s, err
}

func (a *API) removeServer(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	_, s, err := a.seen(r)
	if err != nil {
		return err
	}
	if err := a.o.Host.Servers.Remove(s); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) decideServer(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	in, s, err := a.seen(r)
	if err != nil {
		return err
	}
	decide := a.o.Host.Servers.Deny
	if in.Use {
		decide = a.o.Host.Servers.Allow
	}
	if err := decide(r.Context(), a.at(), s); err != nil {
		return err
	}
	if s, err = a.find(r.Context(), s.Name); err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, s)
}

// ServerTools are the tools of a server.
type ServerTools struct {
	Server surface.Server `json:"server"`
	Tools  []surface.Tool `json:"tools"`
}

func (a *API) serverTools(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	s, list, err := a.o.Host.Servers.Tools(r.Context(), a.at(), r.PathValue("name"), r.URL.Query().Get("try") == "1")
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, ServerTools{s, append([]surface.Tool{}, list...)})
}

// Acceptance lets a tool be used as it was shown.
type Acceptance struct {
	Tool   string `json:"tool"`   // as its server calls it
	Digest string `json:"digest"` // of what it would be
}

func (a *API) acceptTool(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Acceptance
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if err := a.o.Host.Servers.Accept(r.Context(), a.at(), r.PathValue("name"), in.Tool, in.Digest); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Login says where a person logs in. It was opened in a browser of the machine
// that the server runs on, if there is one.
type Login struct {
	Address string `json:"address"`
}

// login answers as soon as the person can go there, and waits for their return
// by itself.
func (a *API) login(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	name := r.PathValue("name")
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	where, failed := make(chan string, 1), make(chan error, 1)
	go func() {
		defer end()
		_, err := a.o.Host.Servers.Login(ctx, a.at(), name, func(address string) {
			select {
			case where <- address:
			default: // it was told already
			}
		})
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.failed, name)
		if err != nil {
			a.failed[name] = "signing in failed: " + err.Error()
		}
		failed <- err
	}()
	go func() {
		select {
		case <-a.o.Closing:
			end()
		case <-ctx.Done():
		}
	}()
	select {
	case address := <-where:
		return serve.JSON(w, http.StatusOK, Login{address})
	case err := <-failed:
		if err == nil {
			return serve.JSON(w, http.StatusOK, Login{}) // it was not needed
		}
		return err
	case <-r.Context().Done():
		end()
		return r.Context().Err()
	}
}

func (a *API) logout(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if _, err := a.o.Host.Servers.Logout(r.Context(), a.at(), r.PathValue("name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Importing asks what copying a client's servers would do, or for it.
type Importing struct {
	Client string `json:"client"`
	// Seen is the digest of the answer that the person agrees to; empty only asks.
	Seen string `json:"seen,omitempty"`
}

func (a *API) importServers(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Importing
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	plan, err := a.o.Host.Servers.Import(in.Client)
	if err != nil {
		return err
	}
	h := sha256.New()
	for _, s := range plan.Servers {
		h.Write([]byte(s.Name + "\x00" + s.Digest + "\x00"))
	}
	plan.Digest = hex.EncodeToString(h.Sum(nil))
	plan.Servers = append([]surface.Server{}, plan.Servers...)
	switch in.Seen {
	case "":
	case plan.Digest:
		if err := plan.Write(); err != nil {
			return err
		}
		plan.Done = true
	default:
		return fault.Fix(fault.Conflict, "review it again", "the servers in %s changed in the meantime", in.Client)
	}
	return serve.JSON(w, http.StatusOK, plan)
}
