package draw

import (
	"cmp"
	"fmt"
	"strconv"

	"lore/internal/tool"
	"lore/internal/tool/access"
)

// Requested says in one line who wants a change, with which tool, and why a
// person is asked.
func Requested(q tool.Question) string {
	return OneLine(fmt.Sprintf("Requested by %s (%s); risk: %s; %s", requester(q.Who), q.Tool, q.Risk, q.Reason))
}

// requester is who makes a call, by the name that a person knows. What an app
// calls itself stands in quotes: it could claim to be anybody.
func requester(who access.Principal) string {
	switch who.Kind {
	case access.Person:
		return "you"
	case access.Agent:
		return cmp.Or(who.Name, "the agent")
	case access.MCP, access.Dialog:
		if name := cmp.Or(who.Name, who.Client); name != "" {
			return "the app " + strconv.Quote(name)
		}
		return "an app"
	case access.REST:
		if who.Name != "" {
			return "the program " + strconv.Quote(who.Name)
		}
		return "a program"
	case access.Schedule:
		if who.Name != "" {
			return "the scheduled workflow " + strconv.Quote(who.Name)
		}
		return "a schedule"
	}
	return "an unknown caller"
}
