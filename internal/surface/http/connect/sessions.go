package connect

import (
	"net/http"

	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

// Sessions are the browsers that are signed in, and which of them asks.
type Sessions struct {
	Sessions []token.Session `json:"sessions"`
	Current  string          `json:"current"`
}

func (a *API) listSessions(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	list, err := a.o.Tokens.Sessions(r.Context())
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Sessions{append([]token.Session{}, list...), who.ID})
}

func (a *API) endSession(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if err := a.o.Tokens.SignOut(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// PIN is what a person types before they approve, where one is set.
type PIN struct {
	PIN string `json:"pin"`
}

func (a *API) unlock(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	var in PIN
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if err := a.o.Tokens.Unlock(r.Context(), who.ID, in.PIN); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
