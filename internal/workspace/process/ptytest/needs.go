package ptytest

import (
	"slices"
	"strings"
)

// Needs reports whether a command of Lore asks the person at the terminal, so
// that it has to be run with [Run].
func Needs(args []string) bool {
	has := func(words ...string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(args, w) })
	}
	return has("approvals", "approve") || has("approvals", "deny") || has("approvals", "edit") || has("approvals", "--forget") || has("approvals", "pin") ||
		has("login") || has("sessions", "end") ||
		has("config", "set") && slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "approve.") })
}
