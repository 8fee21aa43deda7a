// Package settings knows what a person can decide about Lore: which settings
// there are, what the file, the environment and flags say about them, and which
// of these is in force. Nothing inside a vault can change them.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/machine/tomledit"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// A Place is where settings come from, beside flags.
type Place struct {
	Env func(string) string
	// Tools are those that can be switched.
	Tools func() []*tool.Tool
	// CheckModel refuses the name of a language model that cannot be used; may be
	// nil.
	CheckModel func(id string) error
}

// Home is where things lie for whoever runs the program.
func (p Place) Home() home.Home { return home.Home{Env: p.Env} }

// Flags are the settings that a command line can give.
type Flags struct {
	Vault    string
	LogLevel string
}

// A Setting is one value in force.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "file", "environment", "flag"
	Doc    string `json:"doc"`
	// Choices are the values that it can have, where there are only some.
	Choices []string `json:"choices,omitempty"`
}

// A scalar is a value that people write with or without quotes.
type scalar string

// UnmarshalText takes a number as it is written.
func (s *scalar) UnmarshalText(text []byte) error {
	*s = scalar(text)
	return nil
}

// A File is the configuration file.
type File struct {
	Vault string `toml:"vault,omitempty" doc:"default vault"`
	Model string `toml:"model,omitempty"`
	// Prices are dollars for a million tokens, "in/out", by "provider/model".
	Prices   map[string]string `toml:"prices,omitempty"`
	LogLevel string            `toml:"log_level,omitempty" doc:"log level: debug, info, warn, error"`
	Embed    struct {
		Model   string `toml:"model,omitempty" doc:"builtin, none, ollama:MODEL or openai:MODEL"`
		BaseURL string `toml:"base_url,omitempty" doc:"address of the embedding server"`
		KeyEnv  string `toml:"key_env,omitempty" doc:"environment variable that holds the API key for the embedding server"`
	} `toml:"embed,omitempty"`
	Web struct {
		Search  string `toml:"search,omitempty" doc:"web search engine: off, searxng, brave, google or tavily"`
		BaseURL string `toml:"base_url,omitempty" doc:"where it answers; may be on a private network"`
		KeyEnv  string `toml:"key_env,omitempty" doc:"the environment variable that holds its key"`
		Engine  string `toml:"engine,omitempty" doc:"which of your search engines Google asks: its cx"`
		Allow   string `toml:"allow,omitempty" doc:"private hosts that pages may be fetched from"`
	} `toml:"web,omitempty"`
	Approve struct {
		Create string `toml:"create,omitempty"`
		Share  string `toml:"share,omitempty"`
		Many   scalar `toml:"many,omitempty"`
	} `toml:"approve,omitempty"`
	Files struct {
		HardLinks string `toml:"hard_links,omitempty"`
		Folder    string `toml:"folder,omitempty"`
	} `toml:"files,omitempty"`
	Protect struct {
		Instructions string `toml:"instructions,omitempty"`
	} `toml:"protect,omitempty"`
	Nodes struct {
		Folder string `toml:"folder,omitempty"`
	} `toml:"nodes,omitempty"`
	Automation struct {
		Folder string `toml:"folder,omitempty"`
		Tools  string `toml:"tools,omitempty"`
		Hosts  string `toml:"hosts,omitempty"`
	} `toml:"automation,omitempty"`
	Chats  Chats `toml:"chats,omitempty"`
	Limits struct {
		Calls   scalar `toml:"calls,omitempty"`
		Changes scalar `toml:"changes,omitempty"`
		Wait    scalar `toml:"wait,omitempty"`
	} `toml:"limits,omitempty"`
	Tools        map[string]string   `toml:"tools,omitempty"`
	Instructions map[string]string   `toml:"instructions,omitempty"`
	Vaults       map[string]Vault    `toml:"vaults,omitempty"`
	Providers    map[string]Provider `toml:"providers,omitempty"`
}

// A value is a setting with its default and the environment variable that
// overrides the file.
type value struct {
	key, doc, def, env string
	at                 func(*File) *string
	check              func(string) error
	flag               func(Flags) string // nil when no flag sets it
}

func values() []value { return slices.Concat(general(), files(), chats(), automation(), web()) }

func general() []value {
	return []value{
		{
			"vault", "default vault", "", "LORE_VAULT",
			func(c *File) *string { return &c.Vault }, nil, func(g Flags) string { return g.Vault },
		},
		{
			"model", "default model: provider/name; auto uses your newest Ollama model if Ollama runs on this computer, else quote; quote returns passages without a model", "auto", "LORE_MODEL",
			func(c *File) *string { return &c.Model }, CheckModel, nil,
		},
		{
			"log_level", "log level: debug, info, warn, error", "warn", "LORE_LOG_LEVEL",
			func(c *File) *string { return &c.LogLevel }, CheckLevel, func(g Flags) string { return g.LogLevel },
		},
		{
			"embed.model", "embedding model for semantic search: builtin, none, ollama:MODEL or openai:MODEL", "builtin", "LORE_EMBED_MODEL",
			func(c *File) *string { return &c.Embed.Model }, checkModel, nil,
		},
		{
			"embed.base_url", "address of the embedding server", "", "LORE_EMBED_BASE_URL",
			func(c *File) *string { return &c.Embed.BaseURL }, checkURL("embed.base_url", "use http://host:port or https://host/v1"), nil,
		},
		{
			"embed.key_env", "environment variable that holds the API key for the embedding server", "", "LORE_EMBED_KEY_ENV",
			func(c *File) *string { return &c.Embed.KeyEnv }, checkVariable("embed.key_env", "OPENAI_API_KEY"), nil,
		},
		{
			"approve.create", "whether creating a note needs approval: ask or allow", "ask", "LORE_APPROVE_CREATE",
			func(c *File) *string { return &c.Approve.Create }, checkVerdict("approve.create"), nil,
		},
		{
			"approve.share", "whether remote models and apps may read notes: ask asks you once for each of them, allow shares everything you have not limited, never shares nothing", "allow", "LORE_APPROVE_SHARE",
			func(c *File) *string { return &c.Approve.Share }, checkShare, nil,
		},
		{
			"approve.many", "treat changes to more than this many files as destructive", "20", "LORE_APPROVE_MANY",
			func(c *File) *string { return (*string)(&c.Approve.Many) }, checkNumber("approve.many"), nil,
		},
		{
			"nodes.folder", "folder for new nodes in the knowledge graph, with a subfolder for each type", "Nodes", "LORE_NODES_FOLDER",
			func(c *File) *string { return &c.Nodes.Folder }, checkFolder("nodes.folder"), nil,
		},
		{
			"limits.calls", "maximum number of calls per minute, for each app or model", "300", "LORE_LIMITS_CALLS",
			func(c *File) *string { return (*string)(&c.Limits.Calls) }, checkNumber("limits.calls"), nil,
		},
		{
			"limits.changes", "maximum number of changes per minute, for each app or model", "60", "LORE_LIMITS_CHANGES",
			func(c *File) *string { return (*string)(&c.Limits.Changes) }, checkNumber("limits.changes"), nil,
		},
		{
			"limits.wait", "seconds that a search waits for the index when files have changed, before it answers from the index as it is", "1", "LORE_LIMITS_WAIT",
			func(c *File) *string { return (*string)(&c.Limits.Wait) }, checkNumber("limits.wait"), nil,
		},
	}
}

// web are the settings of searching the web.
func web() []value {
	return []value{
		{
			"web.search", "web search engine: off, searxng, brave, google or tavily", "off", "LORE_WEB_SEARCH",
			func(c *File) *string { return &c.Web.Search }, checkWebSearch, nil,
		},
		{
			"web.base_url", "address of the web search engine; required for searxng; may be on a private network", "", "LORE_WEB_BASE_URL",
			func(c *File) *string { return &c.Web.BaseURL }, checkWebURL, nil,
		},
		{
			"web.key_env", "environment variable that holds the API key for the web search engine", "", "LORE_WEB_KEY_ENV",
			func(c *File) *string { return &c.Web.KeyEnv }, checkVariable("web.key_env", "BRAVE_API_KEY"), nil,
		},
		{
			"web.engine", "ID of your Google search engine (cx)", "", "LORE_WEB_ENGINE",
			func(c *File) *string { return &c.Web.Engine }, nil, nil,
		},
		{
			"web.allow", "hosts on this computer or a private network that download_url may reach, such as wiki.local:8080, separated by commas", "", "LORE_WEB_ALLOW",
			func(c *File) *string { return &c.Web.Allow }, checkWebAllow, nil,
		},
	}
}

// toolSetting is the switch of one tool or toolset: tools.write_note.
func toolSetting(name string) value {
	return value{
		key: "tools." + name, doc: "on, off, ask or allow", def: "on",
		at: func(c *File) *string { s := c.Tools[tool.CurrentSets([]string{name})[0]]; return &s }, check: CheckSwitch,
	}
}

// Tool tells what the file decides about a tool: "on", "off", "ask" or "allow",
// and whether it says so of the tool ("file"), of its set ("set") or not at all
// ("default"). What is said of one tool goes before what is said of its set, but
// for a set that is off. To ask about a whole set is to ask about what it changes.
// A tool that is off by default is turned on by its own name alone.
func (c *File) Tool(t *tool.Tool) (state, from string) {
	state, from = DefaultState(t), "default"
	switch s := c.Tools[t.Set]; {
	case s == "off":
		return s, "set"
	case t.Off:
	case s == "allow" || s == "ask" && t.Effect != access.Reads:
		state, from = s, "set"
	}
	for _, name := range append([]string{t.Name}, t.Aliases...) {
		if s := c.Tools[name]; s != "" && (state != "off" || from == "default") {
			state, from = s, "file"
		}
	}
	return state, from
}

// DefaultState is what a tool is while nothing is set for it: "on" or "off".
func DefaultState(t *tool.Tool) string {
	if t.Off {
		return "off"
	}
	return "on"
}

// instruction is what models are told about one tool: instructions.write_note.
func instruction(name string) value {
	return value{
		key: "instructions." + name, doc: "custom instructions for models about this tool, instead of Lore's",
		at: func(c *File) *string { s := c.Instructions[name]; return &s },
	}
}

// externalTool are the names that tools of other servers have, which come and go.
var externalTool = regexp.MustCompile(`^(` + tool.ExternalPrefix + `|` + tool.OwnPrefix + `)[A-Za-z0-9_-]+$`)

// setting finds the value of a key.
func (p Place) setting(key string) (value, error) {
	var keys []string
	for _, v := range values() {
		if v.key == key {
			return v, nil
		}
		keys = append(keys, v.key)
	}
	if strings.HasPrefix(key, "providers.") {
		return providerSetting(key)
	}
	for group, of := range map[string]func(string) value{"tools": toolSetting, "instructions": instruction} {
		name, ok := strings.CutPrefix(key, group+".")
		if !ok {
			continue
		}
		if externalTool.MatchString(name) || (name == tool.External || name == tool.Own) && group == "tools" {
			return of(name), nil
		}
		sets := tool.CurrentSets([]string{name})
		for _, t := range p.Tools() {
			if t.Name == name || slices.Contains(sets, t.Set) && group == "tools" {
				v := of(name)
				if t.Name == name && group == "tools" {
					v.def = DefaultState(t)
				}
				return v, nil
			}
			keys = append(keys, group+"."+t.Name)
		}
	}
	fix := "the settings are " + strings.Join(keys, ", ")
	if near := schema.Nearest(key, keys, 1); len(near) > 0 {
		fix = "did you mean " + near[0] + "?"
	}
	return value{}, fault.Fix(fault.NotFound, fix, "unknown setting %q", key)
}

// Force returns one setting as it is in force, and where it comes from. A value
// that cannot be right is an error that names its place.
func (p Place) Force(c *File, g Flags, key string) (val, from string, err error) {
	v, err := p.setting(key)
	if err != nil {
		return "", "", err
	}
	place := ""
	val, from = v.def, "default"
	if s := *v.at(c); s != "" {
		val, from, place = s, "file", "the settings file"
	}
	if s := p.Env(v.env); v.env != "" && s != "" {
		val, from, place = s, "environment", "$"+v.env
	}
	if v.flag != nil && v.flag(g) != "" {
		val, from, place = v.flag(g), "flag", "--"+strings.ReplaceAll(key, "_", "-")
	}
	if v.check == nil || from == "default" {
		return val, from, nil
	}
	var r *fault.Report
	if err := v.check(val); errors.As(err, &r) {
		r.Message += " (from " + place + ")"
		return "", "", r
	}
	return val, from, nil
}

// Get is [Place.Force] without flags.
func (p Place) Get(c *File, key string) (string, error) {
	val, _, err := p.Force(c, Flags{}, key)
	return val, err
}

// List tells every setting in force and where it comes from.
func (p Place) List(g Flags) ([]Setting, error) {
	c, err := p.Read()
	if err != nil {
		return nil, err
	}
	path, err := p.Path()
	if err != nil {
		return nil, err
	}
	var out []Setting
	for _, v := range values() {
		val, from, err := p.Force(&c, g, v.key)
		if err != nil {
			return nil, err
		}
		out = append(out, Setting{Key: v.key, Value: val, Source: from, Doc: v.doc, Choices: choices(v.key)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		if c.Tools[name] == "" {
			continue // it was set, and is as it comes again
		}
		out = append(out, Setting{Key: "tools." + name, Value: c.Tools[name], Source: "file", Doc: toolSetting(name).doc, Choices: choices("tools." + name)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Instructions)) {
		if c.Instructions[name] == "" {
			continue
		}
		out = append(out, Setting{Key: "instructions." + name, Value: c.Instructions[name], Source: "file", Doc: instruction(name).doc})
	}
	out = append(out, providerSettings(&c)...)
	for _, name := range slices.Sorted(maps.Keys(c.Vaults)) {
		out = append(out, Setting{
			Key: fmt.Sprintf("vaults.%q.exclude", name), Value: strings.Join(c.Vaults[name].Exclude, ", "),
			Source: "file", Doc: "files that Lore ignores in this vault",
		}, Setting{
			Key: fmt.Sprintf("vaults.%q.protected", name), Value: strings.Join(c.Vaults[name].Protected, ", "),
			Source: "file", Doc: "files that only a person may change",
		})
	}
	data, err := p.Home().Data()
	if err != nil {
		return nil, err
	}
	here, err := p.Home().Vault(g.Vault, c.Vault)
	if err != nil {
		here = "" // no folder of notes; a command that needs one says so
	}
	return append(out,
		Setting{Key: "(current vault)", Value: here, Doc: "vault that commands use in the current folder"},
		Setting{Key: "(settings file)", Value: path, Doc: "location of the settings file"},
		Setting{Key: "(data folder)", Value: data, Doc: "chats, approvals, history and audit log; also indexes, which can be rebuilt"}), nil
}

// Set changes one line of the configuration file and keeps the others as they
// are, comments too.
func (p Place) Set(key, val string) (Setting, error) {
	val, err := p.Check(key, val)
	if err != nil {
		return Setting{}, err
	}
	err = p.edit(key, func(_ *File, old []byte) ([]byte, error) { return tomledit.Set(old, key, val) })
	if err != nil {
		return Setting{}, err
	}
	return p.One(key, Flags{})
}

// Check says why a setting cannot have a value, or how the file writes it.
func (p Place) Check(key, val string) (string, error) {
	v, err := p.setting(key)
	if err != nil {
		return "", err
	}
	if val, err = v.clean(val); err != nil {
		return "", err
	}
	if key == "model" && val != "" && p.CheckModel != nil {
		return val, p.CheckModel(val)
	}
	return val, nil
}

// One is a setting as it is in force.
func (p Place) One(key string, f Flags) (Setting, error) {
	v, err := p.setting(key)
	if err != nil {
		return Setting{}, err
	}
	c, err := p.Read()
	if err != nil {
		return Setting{}, err
	}
	now, from, err := p.Force(&c, f, key)
	return Setting{Key: key, Value: now, Source: from, Doc: v.doc, Choices: choices(key)}, err
}

// clean checks a value that a person wants to keep. A vault is kept by its
// whole path, because the file is read from any folder.
func (v value) clean(val string) (string, error) {
	if val == "" {
		return "", nil // back to the default
	}
	if v.check != nil {
		return val, v.check(val)
	}
	if v.key != "vault" {
		return val, nil
	}
	abs, err := filepath.Abs(home.Expand(val))
	if err != nil {
		return "", fault.Field("vault", "", "%q: %v", val, err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", fault.Field("vault", "give the folder that contains your notes", "%q is not a folder", val)
	}
	return abs, nil
}

// Number is a setting that counts.
func (p Place) Number(c *File, key string) (int, error) {
	s, err := p.Get(c, key)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fault.Field(key, "give a whole number", "%q is not valid", s)
	}
	return n, nil
}
