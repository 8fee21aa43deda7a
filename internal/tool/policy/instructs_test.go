package policy

import (
	"testing"

	"lore/internal/vault/pattern"
)

func TestInstructs(t *testing.T) {
	more, err := pattern.Compile([]string{"rules-*.md", "prompts/**"})
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Instructions: more}
	for _, p := range []string{
		"AGENTS.md", "sub/deep/agents.MD", "AGENTS.override.md", "Agent.md", "CLAUDE.md", "claude.local.md", "CLAUDE-team.md", "GEMINI.md", "QWEN.md", "WARP.md", "CRUSH.md", "crush.local.md",
		"CONVENTIONS.md", "copilot-instructions.md", "Copilot.md", "x.instructions.md", "go.prompt.md", "skills/tea/SKILL.md", "llms.txt", "LLMS-full.txt",
		".cursorrules", ".windsurfrules", ".clinerules", ".clinerules/a.md", ".goosehints", ".aider.conf.yml", ".rules", ".mcp.json", "a/.mcp.json",
		".cursor/rules/x.mdc", "x/.claude/commands/y.md", ".codex/a.md", ".gemini/x", ".qwen/x", ".github/copilot-instructions.md", "x/.github/instructions/a.md", ".github/prompts/x.md",
		"ＡＧＥＮＴＳ.md", "agentſ.md", "AGENTS.md.", "a\u200dgents.md", "agents.md/x.md", "RULES-of-mine.md", "Prompts/a/b.md",
	} {
		if !s.instructs(p) {
			t.Errorf("%q is not protected", p)
		}
	}
	for _, p := range []string{"Tea.md", "My agents.md", "Agents/Smith.md", "Gemini twins.md", "Crush on tea.md", "rules.md", "notes/warped.md", "Skills.md", "x/prompts.md", ".github/workflows/x.md"} {
		if s.instructs(p) {
			t.Errorf("%q is protected", p)
		}
	}
	if (Settings{}).instructs("RULES-of-mine.md") {
		t.Error("the settings of another vault hold")
	}
}
