package workflow

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Draw is the workflow as text: its inputs, one line for each step, its outputs.
func (w *Workflow) Draw() string {
	var b strings.Builder
	if !w.On.IsEmpty() {
		fmt.Fprintf(&b, "runs    %s\nallow   %s\n", w.On, w.Allow)
	}
	for _, in := range w.Inputs {
		fmt.Fprintf(&b, "input   %s (%s)", in.Name, in.Type)
		if !in.Required {
			fmt.Fprintf(&b, " = %s", Text(plain(in.Default)))
		}
		b.WriteString("\n")
	}
	for i, s := range w.Steps {
		fmt.Fprintf(&b, "%-7d %s: %s", i+1, s.ID, s.Tool)
		if s.ForEach != nil {
			fmt.Fprintf(&b, ", for each of %s (at most %d)", s.ForEach, s.Max)
		}
		if s.If != nil {
			fmt.Fprintf(&b, ", if %s", s.If)
		}
		b.WriteString("\n")
		if len(s.Arguments) > 0 {
			fmt.Fprintf(&b, "        %s\n", written(s.Arguments))
		}
	}
	for _, o := range w.Outputs {
		fmt.Fprintf(&b, "output  %s = %s\n", o.Name, strings.Trim(written(o.Value), `"`))
	}
	return b.String()
}

func written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Mermaid is the workflow as a flowchart.
func (w *Workflow) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n  start([" + label(w.Name) + "])\n")
	from := "start"
	for i, s := range w.Steps {
		id := fmt.Sprintf("s%d", i+1)
		text := s.ID + ": " + s.Tool
		if s.ForEach != nil {
			text += fmt.Sprintf("<br>for each of %s, at most %d", clean(s.ForEach.String()), s.Max)
		}
		fmt.Fprintf(&b, "  %s[%s]\n", id, label(text))
		if s.If == nil {
			fmt.Fprintf(&b, "  %s --> %s\n", from, id)
			from = id
			continue
		}
		fmt.Fprintf(&b, "  c%d{%s}\n  %s --> c%d\n  c%d -->|yes| %s\n", i+1, label(s.If.String()), from, i+1, i+1, id)
		fmt.Fprintf(&b, "  j%d(( ))\n  %s --> j%d\n  c%d -->|no| j%d\n", i+1, id, i+1, i+1, i+1)
		from = fmt.Sprintf("j%d", i+1)
	}
	fmt.Fprintf(&b, "  %s --> done([Done])\n", from)
	return b.String()
}

// label is a text in quotes, without what Mermaid would read as something else.
func label(s string) string {
	parts := strings.Split(s, "<br>")
	for i := range parts {
		parts[i] = clean(parts[i])
	}
	return `"` + strings.Join(parts, "<br>") + `"`
}

func clean(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ").Replace(s)
}
