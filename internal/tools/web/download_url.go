package web

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/outside/webpage"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// DownloadUrl: Read a web page as Markdown, or another text as it is. The text
// is untrusted. With save_as, save it as a note with its source and date.
type DownloadUrl struct {
	// Address.
	URL string `json:"url" word:"true"`
	// Path of a new note.
	SaveAs string `json:"save_as,omitempty"`
	// Raw keeps a page as it is.
	As string `json:"as,omitempty" default:"markdown" enum:"markdown,raw"`
}

// Help is the text for people.
func (DownloadUrl) Help() tool.Help {
	return tool.Help{
		Short: "Read a web page, or save it as a note",
		Long: "Off by default. Lore asks before it contacts the address, and reaches only the public web. It keeps the main part of the page, without scripts, pictures and hidden text. " +
			"A saved note names its source and is marked as untrusted.",
		Flags: map[string]string{
			"url":     "address of the page",
			"save-as": "path of a new note to save it as",
			"as":      "markdown, or raw for the text as it is",
		},
		Examples: []string{"https://example.org/page", `https://example.org/page --save-as "Inbox/A page.md"`},
	}
}

// Downloaded is what was found at an address. Its text is untrusted.
type Downloaded struct {
	// URL after redirects.
	URL       string `json:"url"`
	Title     string `json:"title,omitempty"`
	Published string `json:"published,omitempty"`
	// Type is the media type.
	Type string `json:"type"`
	// Bytes that were received.
	Bytes int `json:"bytes"`
	// Path of the new note.
	Path string `json:"path,omitempty"`
	Text string `json:"text,omitempty"`
}

// Foresee shows the whole address: it is what leaves this computer.
func (in DownloadUrl) Foresee(_ context.Context, _ Env) (tool.Preview, error) {
	u, err := webpage.Address(in.URL)
	if err != nil {
		return tool.Preview{}, err
	}
	summary := "Download " + u.String()
	if in.SaveAs != "" {
		p, err := in.note()
		if err != nil {
			return tool.Preview{}, err
		}
		summary += " to " + p
	}
	return tool.Preview{Summary: summary, Details: map[string]any{"url": u.String(), "host": u.Hostname(), "save_as": in.SaveAs}}, nil
}

// note is the path of the note that the text is saved as.
func (in DownloadUrl) note() (string, error) {
	p := strings.TrimSpace(in.SaveAs)
	switch ext := path.Ext(p); {
	case ext == "":
		p += ".md"
	case !strings.EqualFold(ext, ".md"):
		return "", fault.Field("save_as", "use a path that ends in .md", "only a note can be marked as untrusted, and %q is not a note", p)
	}
	p, err := vault.CleanNew(p)
	return p, fault.Rename(err, "", "save_as")
}

// Run fetches it.
func (in DownloadUrl) Run(ctx context.Context, env Env) (Downloaded, change.Set, error) {
	var to string
	var err error
	if in.SaveAs != "" {
		if to, err = in.note(); err != nil {
			return Downloaded{}, nil, err
		}
	}
	client, err := env.Client()
	if err != nil {
		return Downloaded{}, nil, err
	}
	p, err := webpage.Fetch(ctx, client, in.URL, in.As == "raw")
	if err != nil {
		return Downloaded{}, nil, err
	}
	out := Downloaded{URL: p.URL, Title: p.Title, Published: p.Published, Type: p.Type, Bytes: p.Bytes, Text: p.Text}
	if to == "" {
		return out, nil, nil
	}
	text, err := saved(ctx, p, in.As == "raw")
	if err != nil {
		return Downloaded{}, nil, err
	}
	out.Path, out.Text = to, ""
	return out, change.Set{change.Create(to, text)}, nil
}

// saved is a page as a note, with where and when it was found.
func saved(ctx context.Context, p webpage.Page, raw bool) (string, error) {
	front := yaml.Node{Kind: yaml.MappingNode}
	for _, kv := range [][2]string{{"title", p.Title}, {"source", p.URL}, {"published", p.Published}, {"retrieved", tool.Moment(ctx).Format(time.DateOnly)}} {
		if kv[1] != "" {
			front.Content = append(front.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: kv[0]}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: kv[1]})
		}
	}
	front.Content = append(front.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "untrusted"}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	b, err := yaml.Marshal(&front)
	if err != nil {
		return "", err
	}
	body := p.Text
	switch {
	case raw || p.Type != "text/html" && p.Type != "text/markdown" && p.Type != "application/xhtml+xml":
		body = fenced(body)
	case p.Title != "" && !strings.HasPrefix(strings.TrimSpace(body), "# "):
		body = "# " + strings.ReplaceAll(toolkit.OneLine(p.Title), "[[", `\[\[`) + "\n\n" + body
	}
	return "---\n" + string(b) + "---\n\n" + strings.TrimSpace(body) + "\n", nil
}

// fenced keeps text as it is, whatever signs stand in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// Preview says what is about to be saved.
func (d Downloaded) Preview() tool.Preview {
	return tool.Preview{Summary: fmt.Sprintf("Save %s to %s", d.URL, d.Path), Details: map[string]any{"url": d.URL, "path": d.Path, "bytes": d.Bytes}}
}

// View shows the text.
func (d Downloaded) View() tool.View {
	foot := d.URL
	if d.Published != "" {
		foot += ", " + d.Published
	}
	if d.Path != "" {
		return tool.View{Text: fmt.Sprintf("saved %s to %s\n", d.URL, d.Path)}
	}
	return tool.View{Text: d.Text, Foot: foot}
}
