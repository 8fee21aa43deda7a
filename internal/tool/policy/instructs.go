package policy

import (
	"strings"

	"lore/internal/note/invisible"
	"lore/internal/vault/pattern"
)

// instructions are the files from which programs that act for a person take
// what they are told to do, at any depth. A model that may write there could
// give itself, or its successor, orders.
var instructions = mustCompile(
	"agents.md", "agents.*.md", "agent.md", "claude*.md", "gemini.md", "gemini.*.md", "qwen.md", "qwen.*.md", "warp.md", "crush.md", "crush.*.md", "conventions.md",
	"copilot*.md", "*.instructions.md", "*.prompt.md", "*.chatmode.md", "*.agent.md", "skill.md", "llms.txt", "llms-full.txt",
	".cursorrules*", ".windsurfrules*", ".clinerules*", ".roorules*", ".kilocoderules*", ".goosehints*", ".aider*", ".rules*", ".mcp.json", "mcp.json",
	".cursor", ".claude", ".codex", ".gemini", ".qwen", ".windsurf", ".clinerules", ".roo", ".kilocode", ".continue", ".amazonq", ".junie", ".kiro", ".crush", ".opencode", ".aider", ".goose", ".agents",
	"**/.github/copilot*", "**/.github/instructions", "**/.github/prompts", "**/.github/chatmodes", "**/.github/agents",
)

func mustCompile(list ...string) pattern.List {
	out, err := pattern.Compile(list)
	if err != nil {
		panic(err) // the list above is wrong
	}
	return out
}

// instructs reports whether programs take instructions from a file, in whatever
// spelling a disk can take for its name.
func (s Settings) instructs(p string) bool {
	names := strings.Split(p, "/")
	for i := range names {
		names[i] = invisible.Fold(names[i])
	}
	folded := strings.Join(names, "/")
	return instructions.Covers(folded) || s.Instructions.Covers(folded) || s.Instructions.Covers(strings.ToLower(p))
}
