package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/installer"
	"lore/internal/surface/cli/install"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// entryName is how clients call the server that Lore is to them.
const entryName = "lore"

// Clients are the programs that can use Lore, and what to paste into any other.
type Clients struct {
	Clients []installer.Status `json:"clients"`
	Snippet string             `json:"snippet"`
}

func (a *API) listClients(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	at, err := a.o.Host.Clients.Place()
	if err != nil {
		return err
	}
	out := Clients{Clients: append([]installer.Status{}, installer.List(at, entryName)...)}
	entry, err := a.o.Host.Clients.Entry(a.o.Vault, false)
	if err != nil {
		return err
	}
	out.Snippet = configfile.Snippet(entryName, entry)
	return serve.JSON(w, http.StatusOK, out)
}

// Joining asks what putting Lore into a client's file would change, or for it.
type Joining struct {
	Remove   bool `json:"remove,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
	// Seen is the digest of the answer that the person agrees to; empty only asks.
	Seen string `json:"seen,omitempty"`
}

// Joined is what would change in a client's file, or did.
type Joined struct {
	Client string `json:"client"`
	Title  string `json:"title"`
	Path   string `json:"path"`
	// State is what the file has of Lore: "new", "same", "ours", "other" or "absent".
	State   installer.State   `json:"state"`
	Changes []tool.FileChange `json:"changes"`
	Digest  string            `json:"digest"`
	Done    bool              `json:"done"`
	Backup  string            `json:"backup,omitempty"`
	// Next is what the person does now, in that program.
	Next string `json:"next,omitempty"`
	// Snippet is what to paste where the file cannot be edited.
	Snippet string `json:"snippet,omitempty"`
}

func (a *API) joinClient(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Joining
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	at, err := a.o.Host.Clients.Place()
	if err != nil {
		return err
	}
	o := installer.Options{Client: r.PathValue("id"), Name: entryName, Remove: in.Remove}
	if !in.Remove {
		if o.Entry, err = a.o.Host.Clients.Entry(a.o.Vault, in.ReadOnly); err != nil {
			return err
		}
	}
	client, err := configfile.ByID(o.Client)
	if err != nil {
		return err
	}
	if !client.Editable() {
		plan, err := installer.Find(at, o)
		if err != nil {
			return err
		}
		return serve.JSON(w, http.StatusOK, Joined{
			Client: client.ID, Title: client.Title, Path: plan.Path, State: installer.New, Changes: []tool.FileChange{}, Snippet: client.Snippet(entryName, o.Entry),
		})
	}
	plan, err := installer.Make(at, o)
	if err != nil {
		return err
	}
	out, err := a.join(plan, in)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, out)
}

// join shows a plan, and carries it out if it is what the person saw.
func (a *API) join(plan *installer.Plan, in Joining) (Joined, error) {
	out := Joined{Client: plan.Client.ID, Title: plan.Client.Title, Path: plan.Path, State: plan.State, Changes: []tool.FileChange{}}
	before := ""
	if plan.Before != nil {
		before = *plan.Before
	}
	sum := sha256.Sum256([]byte(plan.Path + "\x00" + before + "\x00" + plan.After))
	out.Digest = hex.EncodeToString(sum[:])
	if plan.State == installer.Same || plan.State == installer.Absent {
		return out, nil // nothing is to be done
	}
	out.Changes = append(out.Changes, install.Shown(plan))
	switch in.Seen {
	case "":
		return out, nil
	case out.Digest:
		var err error
		out.Backup, err = plan.Write(a.o.Host.Now())
		if !in.Remove {
			out.Next = plan.Client.Next
		}
		out.Done = err == nil
		return out, err
	}
	return out, fault.Fix(fault.Conflict, "review it again", "%s changed in the meantime", plan.Path)
}
