// Package settings knows what a person can decide about Lore: which settings
// there are, what the file, the environment and flags say about them, and which
// of these is in force. Nothing inside a vault can change them.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/home"
	"lore/internal/schema"
	"lore/internal/tomledit"
	"lore/internal/tool"
	"lore/internal/vault"
)

// A Place is where settings come from, beside flags.
type Place struct {
	Env func(string) string
	// Tools are those that can be switched.
	Tools func() []*tool.Tool
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
}

// A File is the configuration file.
type File struct {
	Vault string `toml:"vault,omitempty" doc:"the vault that is opened when no other is named"`
	Model string `toml:"model,omitempty"`
	// Prices are dollars for a million tokens, "in/out", by "provider/model".
	Prices   map[string]string `toml:"prices,omitempty"`
	LogLevel string            `toml:"log_level,omitempty" doc:"what is logged: debug, info, warn, error"`
	Embed    struct {
		Model   string `toml:"model,omitempty" doc:"builtin, none, ollama:MODEL or openai:MODEL"`
		BaseURL string `toml:"base_url,omitempty" doc:"where the embedding server listens"`
		KeyEnv  string `toml:"key_env,omitempty" doc:"the environment variable that holds the server's key"`
	} `toml:"embed,omitempty"`
	Web struct {
		Search  string `toml:"search,omitempty" doc:"the search engine on the web: off, searxng, brave, google or tavily"`
		BaseURL string `toml:"base_url,omitempty" doc:"where it answers; may be on a private network"`
		KeyEnv  string `toml:"key_env,omitempty" doc:"the environment variable that holds its key"`
		Engine  string `toml:"engine,omitempty" doc:"which of your search engines Google asks: its cx"`
	} `toml:"web,omitempty"`
	Approve struct {
		Create string `toml:"create,omitempty"`
		Share  string `toml:"share,omitempty"`
		Many   string `toml:"many,omitempty"`
	} `toml:"approve,omitempty"`
	Files struct {
		HardLinks string `toml:"hard_links,omitempty"`
	} `toml:"files,omitempty"`
	Protect struct {
		Instructions string `toml:"instructions,omitempty"`
	} `toml:"protect,omitempty"`
	Nodes struct {
		Folder string `toml:"folder,omitempty"`
	} `toml:"nodes,omitempty"`
	Chats  Chats `toml:"chats,omitempty"`
	Limits struct {
		Calls   string `toml:"calls,omitempty"`
		Changes string `toml:"changes,omitempty"`
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

func values() []value { return slices.Concat(general(), files(), chats(), web()) }

func general() []value {
	return []value{
		{
			"vault", "the vault that is opened when no other is named", "", "LORE_VAULT",
			func(c *File) *string { return &c.Vault }, nil, func(g Flags) string { return g.Vault },
		},
		{
			"model", "the mind that answers: provider/name; auto is a model of an Ollama on this machine if one runs, else quote; quote gives passages without a model", "auto", "LORE_MODEL",
			func(c *File) *string { return &c.Model }, CheckMind, nil,
		},
		{
			"log_level", "what is logged: debug, info, warn, error", "warn", "LORE_LOG_LEVEL",
			func(c *File) *string { return &c.LogLevel }, CheckLevel, func(g Flags) string { return g.LogLevel },
		},
		{
			"embed.model", "builtin, none, ollama:MODEL or openai:MODEL", "builtin", "LORE_EMBED_MODEL",
			func(c *File) *string { return &c.Embed.Model }, checkModel, nil,
		},
		{
			"embed.base_url", "where the embedding server listens", "", "LORE_EMBED_BASE_URL",
			func(c *File) *string { return &c.Embed.BaseURL }, checkURL("embed.base_url", "write it as http://host:port or https://host/v1"), nil,
		},
		{
			"embed.key_env", "the environment variable that holds the server's key", "", "LORE_EMBED_KEY_ENV",
			func(c *File) *string { return &c.Embed.KeyEnv }, checkVariable("embed.key_env", "OPENAI_API_KEY"), nil,
		},
		{
			"approve.create", "what happens when something wants to make a new note: ask or allow", "ask", "LORE_APPROVE_CREATE",
			func(c *File) *string { return &c.Approve.Create }, checkVerdict("approve.create"), nil,
		},
		{
			"approve.share", "whether remote models and other apps may read notes: ask decides once for each of them, allow shares what you have not limited, never shares nothing", "allow", "LORE_APPROVE_SHARE",
			func(c *File) *string { return &c.Approve.Share }, checkShare, nil,
		},
		{
			"approve.many", "from how many files on a change counts as destructive", "20", "LORE_APPROVE_MANY",
			func(c *File) *string { return &c.Approve.Many }, checkNumber("approve.many"), nil,
		},
		{
			"nodes.folder", "where new nodes of the knowledge graph go, each type into a folder of its own", "Nodes", "LORE_NODES_FOLDER",
			func(c *File) *string { return &c.Nodes.Folder }, checkFolder("nodes.folder"), nil,
		},
		{
			"limits.calls", "how many calls a program or model may make in a minute", "300", "LORE_LIMITS_CALLS",
			func(c *File) *string { return &c.Limits.Calls }, checkNumber("limits.calls"), nil,
		},
		{
			"limits.changes", "how many of them may change something", "60", "LORE_LIMITS_CHANGES",
			func(c *File) *string { return &c.Limits.Changes }, checkNumber("limits.changes"), nil,
		},
	}
}

// web are the settings of searching the web.
func web() []value {
	return []value{
		{
			"web.search", "the search engine on the web: off, searxng, brave, google or tavily", "off", "LORE_WEB_SEARCH",
			func(c *File) *string { return &c.Web.Search }, checkWebSearch, nil,
		},
		{
			"web.base_url", "where it answers; needed for searxng, may be on a private network", "", "LORE_WEB_BASE_URL",
			func(c *File) *string { return &c.Web.BaseURL }, checkWebURL, nil,
		},
		{
			"web.key_env", "the environment variable that holds its key", "", "LORE_WEB_KEY_ENV",
			func(c *File) *string { return &c.Web.KeyEnv }, checkVariable("web.key_env", "BRAVE_API_KEY"), nil,
		},
		{
			"web.engine", "which of your search engines Google asks: its cx", "", "LORE_WEB_ENGINE",
			func(c *File) *string { return &c.Web.Engine }, nil, nil,
		},
	}
}

// CheckMind refuses what cannot be the id of a model.
func CheckMind(s string) error {
	provider, name, ok := strings.Cut(s, "/")
	if s == "quote" || s == "auto" || ok && provider != "" && name != "" {
		return nil
	}
	return fault.Field("model", "write provider/name, like ollama/qwen3:8b, or auto or quote", "%q is no model", s)
}

func checkVerdict(key string) func(string) error {
	return func(s string) error {
		if s != "ask" && s != "allow" {
			return fault.Field(key, "use ask or allow", "%q is neither", s)
		}
		return nil
	}
}

func checkShare(s string) error {
	if !slices.Contains([]string{"ask", "allow", "never"}, s) {
		return fault.Field("approve.share", "use ask, allow or never", "%q is none of them", s)
	}
	return nil
}

// CheckSwitch refuses what is no state of a tool.
func CheckSwitch(s string) error {
	if !slices.Contains([]string{"on", "off", "ask", "allow"}, s) {
		return fault.Field("tools", "use on, off, ask or allow", "%q is none of them", s)
	}
	return nil
}

// checkFolder refuses what is no folder of a vault.
func checkFolder(key string) func(string) error {
	return func(s string) error {
		if _, err := vault.CleanNew(s + "/x.md"); err != nil {
			return fault.Field(key, "give a folder of the vault, like Nodes or Ideas/Nodes", "%q is none", s)
		}
		return nil
	}
}

func checkNumber(key string) func(string) error {
	return func(s string) error {
		if n, err := strconv.Atoi(s); err != nil || n < 1 {
			return fault.Field(key, "give a whole number above 0", "%q is none", s)
		}
		return nil
	}
}

// toolSetting is the switch of one tool or toolset: tools.write_note.
func toolSetting(name string) value {
	return value{
		key: "tools." + name, doc: "on, off, ask or allow", def: "on",
		at: func(c *File) *string { s := c.Tools[name]; return &s }, check: CheckSwitch,
	}
}

// Tool tells what the file decides about a tool: "on", "off", "ask" or "allow",
// and whether it says so of the tool ("file"), of its set ("set") or not at all
// ("default"). What is said of one tool goes before what is said of its set, but
// for a set that is off. To ask about a whole set is to ask about what it changes.
func (c *File) Tool(t *tool.Tool) (state, from string) {
	state, from = "on", "default"
	if s := c.Tools[t.Set]; s == "off" || s == "allow" || s == "ask" && t.Effect != access.Reads {
		state, from = s, "set"
	}
	for _, name := range append([]string{t.Name}, t.Aliases...) {
		if s := c.Tools[name]; s != "" && state != "off" {
			state, from = s, "file"
		}
	}
	return state, from
}

// instruction is what models are told about one tool: instructions.write_note.
func instruction(name string) value {
	return value{
		key: "instructions." + name, doc: "what models are told about it, in place of what Lore says",
		at: func(c *File) *string { s := c.Instructions[name]; return &s },
	}
}

// externalTool are the names that tools of other servers have, which come and go.
var externalTool = regexp.MustCompile(`^` + tool.ExternalPrefix + `[A-Za-z0-9_-]+$`)

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
		if externalTool.MatchString(name) || name == tool.External && group == "tools" {
			return of(name), nil
		}
		for _, t := range p.Tools() {
			if t.Name == name || t.Set == name && group == "tools" {
				return of(name), nil
			}
			keys = append(keys, group+"."+t.Name)
		}
	}
	fix := "the settings are " + strings.Join(keys, ", ")
	if near := schema.Nearest(key, keys, 1); len(near) > 0 {
		fix = "did you mean " + near[0] + "?"
	}
	return value{}, fault.Fix(fault.NotFound, fix, "no setting %q", key)
}

func checkURL(key, fix string) func(string) error {
	return func(s string) error {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fault.Field(key, fix, "%q is no address of a server", s)
		}
		if u.User != nil {
			return fault.Field(key, "keep the key with lore key set, or name its variable in key_env", "an address is shown to whoever looks at the settings: no name or password in it")
		}
		return nil
	}
}

// CheckLevel refuses what is no level of the log.
func CheckLevel(s string) error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s) {
		return fault.Field("log_level", "use debug, info, warn or error", "%q is no level", s)
	}
	return nil
}

func checkModel(s string) error {
	kind, name, _ := strings.Cut(s, ":")
	switch {
	case s == "builtin" || s == "none":
		return nil
	case (kind == "ollama" || kind == "openai") && name != "":
		return nil
	}
	return fault.Field("embed.model", "use builtin, none, ollama:MODEL or openai:MODEL", "%q is no embedding model", s)
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
		out = append(out, Setting{Key: v.key, Value: val, Source: from, Doc: v.doc})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		if c.Tools[name] == "" {
			continue // it was set, and is as it comes again
		}
		out = append(out, Setting{Key: "tools." + name, Value: c.Tools[name], Source: "file", Doc: toolSetting(name).doc})
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
			Source: "file", Doc: "what Lore must not see of this vault",
		}, Setting{
			Key: fmt.Sprintf("vaults.%q.protected", name), Value: strings.Join(c.Vaults[name].Protected, ", "),
			Source: "file", Doc: "what only a person may change",
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
		Setting{Key: "(vault here)", Value: here, Doc: "what a command opens from this folder"},
		Setting{Key: "(settings file)", Value: path, Doc: "where these are kept"},
		Setting{Key: "(data folder)", Value: data, Doc: "conversations, questions, the record and what undoes it; and indexes, which are made again"}), nil
}

// Set changes one line of the configuration file and keeps the others as they
// are, comments too.
func (p Place) Set(key, val string) (Setting, error) {
	v, err := p.setting(key)
	if err != nil {
		return Setting{}, err
	}
	if val, err = v.clean(val); err != nil {
		return Setting{}, err
	}
	err = p.edit(key, func(_ *File, old []byte) ([]byte, error) { return tomledit.Set(old, key, val) })
	if err != nil {
		return Setting{}, err
	}
	c, err := p.Read()
	if err != nil {
		return Setting{}, err
	}
	now, from, err := p.Force(&c, Flags{}, key)
	return Setting{Key: key, Value: now, Source: from, Doc: v.doc}, err
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
		return "", fault.Field("vault", "name the folder that holds your notes", "%q is no folder", val)
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
		return 0, fault.Field(key, "give a whole number", "%q is none", s)
	}
	return n, nil
}
