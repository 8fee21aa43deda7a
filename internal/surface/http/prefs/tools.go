package prefs

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace/settings"
)

// ToolSettings are all tools and the sets that they are in.
type ToolSettings struct {
	Sets  []SetSetting  `json:"sets"`
	Tools []ToolSetting `json:"tools"`
}

// A SetSetting is the switch of a toolset.
type SetSetting struct {
	Name  string `json:"name"`
	State string `json:"state"` // "on", "off", "ask" or "allow"
	Tools int    `json:"tools"`
}

// A ToolSetting is what a person decided about one tool.
type ToolSetting struct {
	Name   string        `json:"name"`
	Set    string        `json:"set"`
	Doc    string        `json:"doc"`
	Effect access.Effect `json:"effect"`
	// Needs is the right that it takes beside its effect; "" is none.
	Needs  access.Scope `json:"needs,omitempty"`
	State  string       `json:"state"`            // "on", "off", "ask" or "allow"
	From   string       `json:"from"`             // "default", "set" or "file"
	Usual  string       `json:"usual"`            // "on" or "off": what it is while nothing is set
	Told   string       `json:"told"`             // what models are told about it beside its description
	Own    bool         `json:"own"`              // the person wrote that
	Server string       `json:"server,omitempty"` // whose it is, if not Lore's
}

func (a *API) tools(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	all, err := a.o.Host.Tools(a.o.Vault)
	if err != nil {
		return err
	}
	c, err := a.place.Read()
	if err != nil {
		return err
	}
	out := ToolSettings{Sets: []SetSetting{}, Tools: []ToolSetting{}}
	for _, t := range all {
		out.Tools = append(out.Tools, toolSetting(&c, t))
		i := slices.IndexFunc(out.Sets, func(s SetSetting) bool { return s.Name == t.Set })
		if i < 0 {
			i = len(out.Sets)
			out.Sets = append(out.Sets, SetSetting{Name: t.Set, State: cmp.Or(c.Tools[t.Set], "on")})
		}
		out.Sets[i].Tools++
	}
	return serve.JSON(w, http.StatusOK, out)
}

// toolSetting tells what is in force for one tool.
func toolSetting(c *settings.File, t *tool.Tool) ToolSetting {
	doc, _, _ := strings.Cut(t.Doc, "\n\n")
	if t.Help.Short != "" {
		doc = t.Help.Short + "."
	}
	own := c.Instructions[t.Name]
	out := ToolSetting{
		Name: t.Name, Set: t.Set, Doc: doc, Effect: t.Effect, Needs: t.Needs, Told: cmp.Or(own, t.Instructions), Own: own != "", Server: t.Source,
	}
	out.State, out.From = c.Tool(t)
	out.Usual = settings.DefaultState(t)
	return out
}

func (a *API) paths(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	c, err := a.place.Read()
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, listed(c.Paths(a.o.Vault)))
}

func (a *API) setPaths(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	var in settings.Paths
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if err := a.needPIN(r, who); err != nil {
		return err
	}
	now, err := a.place.SetPaths(a.o.Vault, in)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, listed(now))
}

// listed has lists where there is nothing.
func listed(p settings.Paths) settings.Paths {
	return settings.Paths{Protected: append([]string{}, p.Protected...), Exclude: append([]string{}, p.Exclude...)}
}
