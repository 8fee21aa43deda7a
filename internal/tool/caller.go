package tool

import (
	"context"

	"lore/internal/tool/access"
)

type callerKey struct{}

// Caller is who makes the call that a tool runs for; nobody outside of a call.
func Caller(ctx context.Context) access.Principal {
	who, _ := ctx.Value(callerKey{}).(access.Principal)
	return who
}

// SeesAll reports whether a principal may know everything about what others did:
// persons, and what runs for them. Programs know everything about their own calls
// alone. Of those of others they know that there was one: when, of which tool,
// by which kind of caller, and how it ended.
func SeesAll(who access.Principal) bool {
	return who.Kind != access.MCP && who.Kind != access.REST
}

// Sees reports whether who may know everything about what another one did; see
// [SeesAll]. A token is one caller, whichever protocol it speaks.
func Sees(who, other access.Principal) bool {
	if SeesAll(who) {
		return true
	}
	return who.ID != "" && who.ID == other.ID && !SeesAll(other)
}
