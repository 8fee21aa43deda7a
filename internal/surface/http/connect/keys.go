package connect

import (
	"net/http"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// Keys are the providers of models, each with where its key lies.
type Keys struct {
	Keys []Key `json:"keys"`
}

// A Key says where the key of a provider lies.
type Key struct {
	Provider string `json:"provider"`
	Place    string `json:"place,omitempty"` // "keyring" or "file"; empty where none is kept
}

func (a *API) listKeys(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	names, err := a.o.Host.Providers()
	if err != nil {
		return err
	}
	where, err := a.o.Host.Keys().Where(names)
	if err != nil {
		return err
	}
	out := Keys{Keys: []Key{}}
	for _, n := range names {
		out.Keys = append(out.Keys, Key{n, where[n]})
	}
	return serve.JSON(w, http.StatusOK, out)
}

// NewKey is a key as it was typed.
type NewKey struct {
	Provider string `json:"provider"`
	Key      string `json:"key"`
}

func (a *API) keepKey(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in NewKey
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	names, err := a.o.Host.Providers()
	if err != nil {
		return err
	}
	if !slices.Contains(names, in.Provider) {
		return fault.Field("provider", "use one of "+strings.Join(names, ", "), "unknown provider %q", in.Provider)
	}
	place, err := a.o.Host.Keys().Set(in.Provider, in.Key)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Key{in.Provider, place})
}

func (a *API) forgetKey(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	name := r.PathValue("provider")
	had, err := a.o.Host.Keys().Remove(name)
	switch {
	case err != nil:
		return err
	case !had:
		return fault.New(fault.NotFound, "no key is stored for %q", name)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
