// Package prefs is the part of the HTTP interface at which a person sees and
// changes settings. No token reaches it: what is decided here is what holds the
// programs that have one. Keys of providers are no settings and never pass here.
package prefs

import (
	"maps"
	"net/http"
	"reflect"
	"strings"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/settings"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
	"lore/internal/tool"
)

// Options say whose settings they are.
type Options struct {
	Place settings.Place
	Flags settings.Flags // that the program was started with
	// Vault is the folder that is served.
	Vault string
	// Tools are all that can be switched, those of other servers too.
	Tools func() ([]*tool.Tool, error)
}

// An API is the interface to the settings of one place.
type API struct {
	place settings.Place
	o     Options
}

// New makes the interface.
func New(o Options) *API { return &API{o.Place, o} }

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
		{Route: at(http.MethodGet, "", a.list), ID: "listSettings", Summary: "The settings, what is in force and where it comes from (persons)", Out: "Settings", Status: http.StatusOK},
		{Route: at(http.MethodPost, "", a.set), ID: "setSetting", Summary: "Change one setting; an empty value goes back to the default (persons)", In: "Decision", Out: "Setting", Status: http.StatusOK},
		{Route: at(http.MethodGet, "/tools", a.tools), ID: "listToolSettings", Summary: "Every tool: whether it is on, asks or is allowed, and what models are told about it; changed by the settings tools.NAME and instructions.NAME (persons)", Out: "ToolSettings", Status: http.StatusOK},
		{Route: at(http.MethodGet, "/paths", a.paths), ID: "showPaths", Summary: "What of the vault Lore must not see, and what only a person may change (persons)", Out: "Paths", Status: http.StatusOK},
		{Route: at(http.MethodPost, "/paths", a.setPaths), ID: "setPaths", Summary: "Change both (persons)", In: "Paths", Out: "Paths", Status: http.StatusOK},
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

func (a *API) set(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Decision
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if in.Key == "" {
		return fault.Field("key", "name a setting, such as model", "there is no key")
	}
	// A line that breaks off would be another setting for who reads the file; what
	// models are told is prose.
	prose := in.Key == "chats.system" || strings.HasPrefix(in.Key, "instructions.")
	if len(in.Value) > most || strings.ContainsFunc(in.Value, func(c rune) bool { return c < ' ' && !(prose && (c == '\n' || c == '\t')) || c == 0x7f }) {
		return fault.Field("value", "write it in one line", "this is no value of a setting")
	}
	s, err := a.place.Set(in.Key, in.Value)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, s)
}
