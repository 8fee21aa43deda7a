package organize

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note/template"
	"lore/internal/tool"
	"lore/internal/tool/schema"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// CreateFromTemplate: Create a note from a template of the vault. Fills in
// {{title}}, {{date}}, {{time}} and your values; template code never runs.
type CreateFromTemplate struct {
	// Name in the templates folder, or a path.
	Template string `json:"template"`
	// Path of the new note.
	Path string `json:"path"`
	// Title; default the file name.
	Title string `json:"title,omitempty"`
	// Values for {{name}}.
	Values map[string]string `json:"values,omitempty"`
}

// Help is the text for people.
func (CreateFromTemplate) Help() tool.Help {
	return tool.Help{
		Short: "Create a note from a template",
		Long: "Templates are in the folder that Obsidian's settings name, else in Templates. These are filled in: {{title}}, {{date}},\n" +
			"{{time}}, {{date:FORMAT}}, {{name}} for your values, and the dates, titles and folders of Templater. Code never runs.",
		Flags: map[string]string{
			"template": "name of the template, or its path",
			"path":     "path of the new note",
			"title":    "title of the new note (default: its file name)",
			"values":   "value for a {{name}} in the template",
		},
		Examples: []string{
			`Daily/2026-04-05 Tastings/Spring`,
			`Daily/2026-04-05 Tastings/Summer --title "Summer teas" --values guest=Ada`,
		},
	}
}

// TemplatedNote is a note that was made from a template.
type TemplatedNote struct {
	Path string `json:"path"`
	// Template that it was made from.
	Template string `json:"template"`
	Hash     string `json:"hash"`
	// Text of the note.
	Text string `json:"text"`
	// Warnings name what was left out or has no value.
	Warnings []string `json:"warnings,omitempty"`
}

// Plan fills in the template.
func (in CreateFromTemplate) Plan(ctx context.Context, env Env) (TemplatedNote, change.Set, error) {
	f, err := env.template(ctx, in.Template)
	if err != nil {
		return TemplatedNote{}, nil, err
	}
	p, err := toolkit.NewNotePath("path", in.Path)
	if err != nil {
		return TemplatedNote{}, nil, err
	}
	switch _, err := env.Vault.Stat(ctx, p); {
	case err == nil:
		return TemplatedNote{}, nil, &fault.Report{Kind: fault.Conflict, Field: "path", Message: p + " already exists", Fix: "choose another path"}
	case fault.Of(err) != fault.NotFound:
		return TemplatedNote{}, nil, err
	}
	fields := template.Fields{Title: strings.TrimSpace(in.Title), Folder: strings.TrimSuffix(path.Dir(p), "."), Now: tool.Moment(ctx), Values: in.Values}
	if fields.Now.IsZero() {
		fields.Now = env.Now()
	}
	if fields.Title == "" {
		fields.Title = strings.TrimSuffix(path.Base(p), path.Ext(p))
	}
	filled := template.Fill(string(f.Data), fields)
	out := TemplatedNote{Path: p, Template: f.Path, Text: filled.Text, Warnings: filled.Warnings}
	out.Hash = vault.Sum([]byte(out.Text)).String()
	return out, change.Set{change.Create(p, out.Text)}, nil
}

// templateFolders are the folders that templates are in: those of Obsidian's
// settings, else Templates.
func (env Env) templateFolders(ctx context.Context) ([]string, error) {
	var core struct {
		Folder string `json:"folder"`
	}
	var templater struct {
		Folder string `json:"templates_folder"`
	}
	if err := toolkit.ObsidianSetting(ctx, env.Vault, ".obsidian/templates.json", &core); err != nil {
		return nil, err
	}
	if err := toolkit.ObsidianSetting(ctx, env.Vault, ".obsidian/plugins/templater-obsidian/data.json", &templater); err != nil {
		return nil, err
	}
	var out []string
	for _, f := range []string{core.Folder, templater.Folder} {
		if f = strings.Trim(f, "/"); f != "" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		out = []string{"Templates"}
	}
	return out, nil
}

// template reads the template that name means: by its path below a templates
// folder, by its path, or by its file name below a templates folder.
func (env Env) template(ctx context.Context, name string) (vault.File, error) {
	name = strings.Trim(strings.TrimSpace(name), "/")
	if name == "" {
		return vault.File{}, fault.Field("template", "name a template", "is empty")
	}
	file := name
	if vault.KindOf(file) != vault.Note {
		file += ".md"
	}
	folders, err := env.templateFolders(ctx)
	if err != nil {
		return vault.File{}, err
	}
	var tries []string
	for _, dir := range folders {
		tries = append(tries, dir+"/"+file)
	}
	for _, p := range append(tries, file) {
		f, err := env.Vault.Read(ctx, p)
		if err == nil || fault.Of(err) != fault.NotFound {
			return f, fault.Rename(err, "path", "template")
		}
	}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Kinds: []index.Kind{index.KindNote}, Folders: folders}})
	if err != nil {
		return vault.File{}, err
	}
	var known, same []string
	for _, r := range rows {
		base := strings.TrimSuffix(path.Base(r.File.Path), path.Ext(r.File.Path))
		known = append(known, base)
		if strings.EqualFold(base, name) || strings.EqualFold(r.Title, name) {
			same = append(same, r.File.Path)
		}
	}
	switch len(same) {
	case 0:
		return vault.File{}, noTemplate(name, known, folders)
	case 1:
		return env.Vault.Read(ctx, same[0])
	}
	return vault.File{}, &fault.Report{
		Kind: fault.Ambiguous, Field: "template", Message: fmt.Sprintf("%q matches several templates: %s", name, strings.Join(same, ", ")), Fix: "give the path",
	}
}

// noTemplate says that a template does not exist, with those that do.
func noTemplate(name string, known, folders []string) error {
	r := &fault.Report{Kind: fault.NotFound, Field: "template", Message: fmt.Sprintf("no template %q", name)}
	const most = 20
	near := schema.Nearest(name, known, 3)
	switch {
	case len(near) > 0:
		r.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	case len(known) > 0:
		r.Fix = "templates: " + strings.Join(known[:min(len(known), most)], ", ")
		if len(known) > most {
			r.Fix += fmt.Sprintf(" and %d more", len(known)-most)
		}
	default:
		r.Fix = "put templates into the folder " + folders[0]
	}
	return r
}

// Preview says what is made.
func (n TemplatedNote) Preview() tool.Preview {
	return tool.Preview{
		Summary: fmt.Sprintf("Create %s from the template %s", n.Path, n.Template), Warnings: n.Warnings,
		Details: map[string]any{"path": n.Path, "template": n.Template},
	}
}

// View shows the note.
func (n TemplatedNote) View() tool.View {
	return tool.View{Text: n.Text, Foot: strings.Join(append([]string{"created " + n.Path}, n.Warnings...), "; ")}
}
