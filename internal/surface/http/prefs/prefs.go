// Package prefs is the part of the HTTP interface for settings. Tokens cannot use
// it, because settings limit what tokens may do. API keys are not settings and
// never pass through it.
package prefs

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"lore/internal/fault"
	"lore/internal/surface"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/workspace/settings"
)

// Options say whose settings they are.
type Options struct {
	Host  surface.Host
	Flags settings.Flags // that the program was started with
	// Vault is the folder that is served.
	Vault string
	// Unlocked is as in [rest.Options].
	Unlocked func(ctx context.Context, session string) (bool, error)
}

// An API is the interface to the settings of one place.
type API struct {
	place settings.Place
	o     Options
}

// New makes the interface.
func New(o Options) *API { return &API{o.Host.Settings, o} }

// Types are those that the routes name, beside those of others.
func Types(others map[string]reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{
		"Settings": reflect.TypeFor[Settings](), "Setting": reflect.TypeFor[settings.Setting](), "Decision": reflect.TypeFor[Decision](),
		"ToolSettings": reflect.TypeFor[ToolSettings](), "ToolSetting": reflect.TypeFor[ToolSetting](), "SetSetting": reflect.TypeFor[SetSetting](), "Paths": reflect.TypeFor[settings.Paths](),
	}
	maps.Copy(out, others)
	return out
}

// Routes lists what there is.
func (a *API) Routes() []rest.Route {
	at := func(method, path string, h serve.Handle) serve.Route {
		return serve.Route{Method: method, Pattern: rest.Prefix + "/settings" + path, Scope: access.Approve, Person: true, Handle: h}
	}
	return []rest.Route{
		{Route: at(http.MethodGet, "", a.list), ID: "listSettings", Summary: "List settings with their values and sources (person only)", Out: "Settings", Status: http.StatusOK},
		{Route: at(http.MethodPost, "", a.set), ID: "setSetting", Summary: "Change a setting; an empty value resets it to the default (person only)", In: "Decision", Out: "Setting", Status: http.StatusOK},
		{Route: at(http.MethodGet, "/tools", a.tools), ID: "listToolSettings", Summary: "List all tools with their permissions and instructions; change them with the settings tools.NAME and instructions.NAME (person only)", Out: "ToolSettings", Status: http.StatusOK},
		{Route: at(http.MethodGet, "/paths", a.paths), ID: "showPaths", Summary: "Get the excluded and the protected paths (person only)", Out: "Paths", Status: http.StatusOK},
		{Route: at(http.MethodPost, "/paths", a.setPaths), ID: "setPaths", Summary: "Change the excluded and the protected paths (person only)", In: "Paths", Out: "Paths", Status: http.StatusOK},
	}
}

// Settings are all of them.
type Settings struct {
	Settings []settings.Setting `json:"settings"`
	// Facts are not decided here: where things lie, and what is written only into
	// the file.
	Facts []settings.Setting `json:"facts"`
}

func (a *API) list(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	all, err := a.place.List(a.o.Flags)
	if err != nil {
		return err
	}
	out := Settings{Settings: []settings.Setting{}, Facts: []settings.Setting{}}
	for _, s := range all {
		if fixed(s.Key) {
			out.Facts = append(out.Facts, s)
		} else {
			out.Settings = append(out.Settings, s)
		}
	}
	return serve.JSON(w, http.StatusOK, out)
}

// fixed reports whether a line of the list is no setting of one value.
func fixed(key string) bool { return strings.HasPrefix(key, "(") || strings.HasPrefix(key, "vaults.") }

// A Decision is a setting as a person wants it.
type Decision struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// most is the longest value: an address, a path, the name of a model, some
// sentences for models.
const most = 8192

// needPIN refuses a change of what is asked about until the PIN was given: it is an
// approval of many calls at once.
func (a *API) needPIN(r *http.Request, who access.Principal) error {
	return rest.NeedPIN(r.Context(), a.o.Unlocked, who, "changes to what needs approval need your PIN")
}

func (a *API) set(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	var in Decision
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if strings.HasPrefix(in.Key, "approve.") || in.Key == "web.allow" || strings.HasPrefix(in.Key, "tools.") {
		if err := a.needPIN(r, who); err != nil {
			return err
		}
	}
	if in.Key == "" {
		return fault.Field("key", "name a setting, such as model", "the key is missing")
	}
	// A line that breaks off would be another setting for who reads the file; what
	// models are told is prose.
	prose := in.Key == "chats.system" || strings.HasPrefix(in.Key, "instructions.")
	if len(in.Value) > most || strings.ContainsFunc(in.Value, func(c rune) bool { return c < ' ' && !(prose && (c == '\n' || c == '\t')) || c == 0x7f }) {
		return fault.Field("value", "use one line", "this value is not valid")
	}
	s, err := a.place.Set(in.Key, in.Value)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, s)
}
