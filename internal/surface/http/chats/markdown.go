package chats

import (
	"net/http"
	"regexp"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/agent/chat/page"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// A Markdown is a chat as a file, in the form of chats that are saved as notes.
type Markdown struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (a *API) markdown(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	ctx, store := r.Context(), a.o.Agent.Store
	c, err := store.Get(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	messages, err := store.Messages(ctx, c.ID)
	if err != nil {
		return err
	}
	calls := map[string][]chat.Call{}
	for _, m := range messages {
		if _, have := calls[m.Run]; have || m.Run == "" {
			continue
		}
		if calls[m.Run], err = store.Calls(ctx, m.Run); err != nil {
			return err
		}
	}
	return serve.JSON(w, http.StatusOK, Markdown{Name: fileName(c.Title), Text: page.Render(c, messages, calls)})
}

// unfit is what the name of a file had better not have, on any system.
var unfit = regexp.MustCompile(`[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]+`)

// fileName is what a chat is called as a file.
func fileName(title string) string {
	name := strings.Trim(strings.Join(strings.Fields(unfit.ReplaceAllString(title, " ")), " "), ". ")
	if runes := []rune(name); len(runes) > 80 {
		name = strings.TrimSpace(string(runes[:80]))
	}
	if name == "" {
		name = "Chat"
	}
	return name + ".md"
}
