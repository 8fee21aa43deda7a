package settings

import "strings"

// choices are the values that a setting can have, where there are only some.
func choices(key string) []string {
	switch key {
	case "chats.tools", "chats.stream", "chats.titles", "chats.agents_file":
		return []string{"on", "off"}
	case "files.hard_links":
		return []string{"refuse", "allow"}
	case "approve.create":
		return []string{"ask", "allow"}
	case "approve.share":
		return []string{"ask", "allow", "never"}
	case "log_level":
		return []string{"debug", "info", "warn", "error"}
	case "web.search":
		return []string{"off", "searxng", "brave", "google", "tavily"}
	}
	group, rest, _ := strings.Cut(key, ".")
	if group == "tools" {
		return []string{"on", "off", "ask", "allow"}
	}
	if group == "providers" {
		switch rest[strings.LastIndexByte(rest, '.')+1:] {
		case "kind":
			return []string{"openai", "anthropic", "gemini", "ollama"}
		case "api":
			return []string{"chat", "responses"}
		case "local":
			return []string{"yes", "no"}
		}
	}
	return nil
}
