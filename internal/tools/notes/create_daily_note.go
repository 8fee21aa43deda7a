package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note/template"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// CreateDailyNote: Create or return the note of a day or other period.
type CreateDailyNote struct {
	// As 2026-06-15; default today.
	Date string `json:"date,omitempty" word:"true"`
	// Period.
	Period string `json:"period,omitempty" default:"daily" enum:"daily,weekly,monthly,quarterly,yearly"`
}

// Help is the text for people.
func (CreateDailyNote) Help() tool.Help {
	return tool.Help{
		Short: "Open today's note, or the note for another day, week, month, quarter or year",
		Long:  "Creates the note if it does not exist, using the vault's Obsidian settings.",
		Flags: map[string]string{
			"date":   "a day in the period, such as 2026-06-15 (default today)",
			"period": "which note",
		},
		Examples: []string{
			"",
			"--date 2026-04-05",
			"--period weekly",
			"--period quarterly --date 2026-04-05",
		},
	}
}

// DailyNote is the note of a day or another period.
type DailyNote struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	Hash    string `json:"hash"`
	// Text of the note.
	Text string `json:"text"`
	// Template that it was made from.
	Template string `json:"template,omitempty"`

	warnings []string
}

// periodic are the settings of one kind of note.
type periodic struct {
	Enabled  *bool  `json:"enabled"`
	Folder   string `json:"folder"`
	Format   string `json:"format"`
	Template string `json:"template"`
}

// Plan finds the note, or makes it from its template.
func (in CreateDailyNote) Plan(ctx context.Context, env Env) (DailyNote, change.Set, error) {
	day, err := env.day(ctx, in.Date)
	if err != nil {
		return DailyNote{}, nil, err
	}
	set, err := env.periodic(ctx, in.Period)
	if err != nil {
		return DailyNote{}, nil, err
	}
	name := template.Moment(day, set.Format)
	p, err := vault.CleanNew(path.Join(strings.Trim(set.Folder, "/"), name) + ".md")
	if err != nil {
		return DailyNote{}, nil, fault.New(fault.Invalid, "the settings for %s notes give an invalid path: %v", in.Period, err)
	}
	f, err := env.Vault.Read(ctx, p)
	if err == nil {
		return DailyNote{Path: f.Path, Hash: f.Hash.String(), Text: string(f.Data)}, nil, nil
	}
	if fault.Of(err) != fault.NotFound {
		return DailyNote{}, nil, err
	}
	out := DailyNote{Path: p, Created: true}
	if set.Template != "" {
		if err := env.fill(ctx, &out, set.Template, day); err != nil {
			return DailyNote{}, nil, err
		}
	}
	out.Hash = vault.Sum([]byte(out.Text)).String()
	return out, change.Set{change.Create(p, out.Text)}, nil
}

// day reads a date; words for near days too.
func (env Env) day(ctx context.Context, s string) (time.Time, error) {
	now := tool.Moment(ctx)
	if now.IsZero() {
		now = env.Now()
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "today":
		return now, nil
	case "yesterday":
		return now.AddDate(0, 0, -1), nil
	case "tomorrow":
		return now.AddDate(0, 0, 1), nil
	}
	t, err := time.ParseInLocation(time.DateOnly, strings.TrimSpace(s), now.Location())
	if err != nil {
		return t, fault.Field("date", "write it as 2026-06-15, or today, yesterday, tomorrow", "%q is not a date", s)
	}
	return t.Add(time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute), nil
}

// periodic reads the settings of Obsidian: its own for daily notes, and those
// of the plugin Periodic Notes.
func (env Env) periodic(ctx context.Context, period string) (periodic, error) {
	set := periodic{Format: map[string]string{"daily": "YYYY-MM-DD", "weekly": "gggg-[W]ww", "monthly": "YYYY-MM", "quarterly": "YYYY-[Q]Q", "yearly": "YYYY"}[period]}
	var plugin map[string]json.RawMessage
	if err := toolkit.ObsidianSetting(ctx, env.Vault, ".obsidian/plugins/periodic-notes/data.json", &plugin); err != nil {
		return set, err
	}
	over := func(raw []byte) error {
		if len(raw) == 0 {
			return nil
		}
		var p periodic
		if err := json.Unmarshal(raw, &p); err != nil {
			return fault.New(fault.Invalid, "the settings for %s notes cannot be read: %v", period, err)
		}
		if p.Enabled != nil && !*p.Enabled {
			return nil
		}
		set.Folder, set.Template = p.Folder, p.Template
		if p.Format != "" {
			set.Format = p.Format
		}
		return nil
	}
	if period == "daily" {
		var own json.RawMessage
		if err := toolkit.ObsidianSetting(ctx, env.Vault, ".obsidian/daily-notes.json", &own); err != nil {
			return set, err
		}
		if err := over(own); err != nil {
			return set, err
		}
	}
	return set, over(plugin[period])
}

// fill takes the text of the template, with its fields filled in.
func (env Env) fill(ctx context.Context, out *DailyNote, name string, day time.Time) error {
	p := strings.Trim(name, "/")
	if vault.KindOf(p) != vault.Note {
		p += ".md"
	}
	f, err := env.Vault.Read(ctx, p)
	switch {
	case fault.Of(err) == fault.NotFound:
		out.warnings = append(out.warnings, "the template "+p+" does not exist; the note will be empty")
		return nil
	case err != nil:
		return err
	}
	title := strings.TrimSuffix(path.Base(out.Path), path.Ext(out.Path))
	filled := template.Fill(string(f.Data), template.Fields{Title: title, Folder: folderOf(out.Path), Now: day})
	out.Template, out.Text, out.warnings = f.Path, filled.Text, append(out.warnings, filled.Warnings...)
	return nil
}

// folderOf is the folder of a note; "" for the top of the vault.
func folderOf(p string) string { return strings.TrimSuffix(path.Dir(p), ".") }

// Preview says what is made.
func (d DailyNote) Preview() tool.Preview {
	p := tool.Preview{Summary: "Create " + d.Path, Warnings: d.warnings, Details: map[string]any{"path": d.Path, "template": d.Template}}
	if !d.Created {
		p.Summary = d.Path + " already exists"
	} else if d.Template != "" {
		p.Summary += " from the template " + d.Template
	}
	return p
}

// View shows the note.
func (d DailyNote) View() tool.View {
	verb := "found"
	if d.Created {
		verb = "created"
	}
	return tool.View{Text: d.Text, Foot: fmt.Sprintf("%s %s", verb, d.Path)}
}
