package settings

import (
	"strconv"
	"time"

	"lore/internal/fault"
)

// Chats is the section [chats] of the file: what holds for conversations.
type Chats struct {
	Folder string `toml:"folder,omitempty"`
	Tools  string `toml:"tools,omitempty"`
	Stream string `toml:"stream,omitempty"`
	Titles string `toml:"titles,omitempty"`
	System string `toml:"system,omitempty"`
	Agents string `toml:"agents_file,omitempty"`
	Steps  scalar `toml:"steps,omitempty"`
	Time   string `toml:"time,omitempty"`
	Tokens scalar `toml:"tokens,omitempty"`
	Cost   scalar `toml:"cost,omitempty"`
}

// chats are the settings of conversations.
func chats() []value {
	at := func(f func(*Chats) *string) func(*File) *string {
		return func(c *File) *string { return f(&c.Chats) }
	}
	return []value{
		{"chats.tools", "whether models can use tools: on or off", "on", "LORE_CHATS_TOOLS", at(func(c *Chats) *string { return &c.Tools }), checkOn("chats.tools"), nil},
		{"chats.stream", "whether answers appear while they are written: on or off", "on", "LORE_CHATS_STREAM", at(func(c *Chats) *string { return &c.Stream }), checkOn("chats.stream"), nil},
		{"chats.titles", "whether a model names your chats: on or off", "on", "LORE_CHATS_TITLES", at(func(c *Chats) *string { return &c.Titles }), checkOn("chats.titles"), nil},
		{"chats.system", "custom instructions for every chat", "", "LORE_CHATS_SYSTEM", at(func(c *Chats) *string { return &c.System }), nil, nil},
		{"chats.agents_file", "whether models follow the instructions in your vault's AGENTS.md: on or off", "on", "LORE_CHATS_AGENTS_FILE", at(func(c *Chats) *string { return &c.Agents }), checkOn("chats.agents_file"), nil},
		{"chats.steps", "maximum number of steps per request", "25", "LORE_CHATS_STEPS", at(func(c *Chats) *string { return (*string)(&c.Steps) }), checkNumber("chats.steps"), nil},
		{"chats.time", "maximum working time per request; waiting for you does not count", "10m", "LORE_CHATS_TIME", at(func(c *Chats) *string { return &c.Time }), checkTime, nil},
		{"chats.tokens", "maximum number of tokens per request", "200000", "LORE_CHATS_TOKENS", at(func(c *Chats) *string { return (*string)(&c.Tokens) }), checkNumber("chats.tokens"), nil},
		{"chats.cost", "maximum cost per request in US dollars, if the price is known", "1", "LORE_CHATS_COST", at(func(c *Chats) *string { return (*string)(&c.Cost) }), checkCost, nil},
		{"chats.folder", "folder for chats saved as notes", "Chats", "LORE_CHATS_FOLDER", at(func(c *Chats) *string { return &c.Folder }), checkFolder("chats.folder"), nil},
	}
}

func checkOn(key string) func(string) error {
	return func(s string) error {
		if s != "on" && s != "off" {
			return fault.Field(key, "use on or off", "%q is not valid", s)
		}
		return nil
	}
}

func checkTime(s string) error {
	if d, err := time.ParseDuration(s); err != nil || d <= 0 {
		return fault.Field("chats.time", "use a duration such as 90s, 10m or 1h", "%q is not a duration", s)
	}
	return nil
}

func checkCost(s string) error {
	if f, err := strconv.ParseFloat(s, 64); err != nil || !(f > 0) {
		return fault.Field("chats.cost", "give dollars, such as 0.50", "%q is not an amount", s)
	}
	return nil
}
