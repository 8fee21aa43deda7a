package connect

import (
	"net/http"
	"time"

	"lore/internal/fault"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

// Tokens are all that were made, and the rights that one can have.
type Tokens struct {
	Tokens []token.Token  `json:"tokens"`
	Scopes []access.Scope `json:"scopes"`
}

func (a *API) listTokens(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	list, err := a.o.Tokens.List(r.Context())
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Tokens{append([]token.Token{}, list...), token.Scopes()})
}

// NewToken is a token as a person wants it.
type NewToken struct {
	Name   string         `json:"name"`
	Scopes []access.Scope `json:"scopes"`
	Days   int            `json:"days"` // 0 is for ever
}

// MadeToken is a token with what a program calls with. It is told once.
type MadeToken struct {
	Token  token.Token `json:"token"`
	Secret string      `json:"secret"`
}

// mostDays is ten years.
const mostDays = 3653

func (a *API) makeToken(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in NewToken
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if in.Days < 0 || in.Days > mostDays {
		return fault.Field("days", "give 1 to 3653, or 0 for no expiry", "%d is not a valid number of days", in.Days)
	}
	t, secret, err := a.o.Tokens.Create(r.Context(), in.Name, in.Scopes, time.Duration(in.Days)*24*time.Hour)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, MadeToken{t, secret})
}

func (a *API) revokeToken(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	t, err := a.o.Tokens.Revoke(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, t)
}
