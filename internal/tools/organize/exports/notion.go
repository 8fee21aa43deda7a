package exports

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"
)

const (
	maxRows    = 2_000 // of a table
	maxColumns = 50
)

// notionID is what Notion adds to every name.
var notionID = regexp.MustCompile(` ?([0-9a-f]{32})(_all)?$`)

// notion reads pages and tables. Names lose their ids, and links follow.
func (e *Export) notion(ctx context.Context, files map[string][]byte) error {
	names := sortedKeys(files)
	to := map[string]string{}
	for _, n := range names {
		if whole := wholeTable(n, files); whole == "" {
			to[n] = e.free(notionPath(n))
		}
	}
	for _, n := range names {
		if whole := wholeTable(n, files); whole != "" {
			to[n] = to[whole]
		}
	}
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if wholeTable(n, files) != "" {
			continue
		}
		p := to[n]
		id := notionID.FindStringSubmatch(strings.TrimSuffix(path.Base(n), path.Ext(n)))
		head := front(Notion, append(id, "", "")[1], time.Time{})
		text := ""
		if strings.EqualFold(path.Ext(n), ".csv") {
			text = "# " + strings.TrimSuffix(path.Base(p), ".md") + "\n\n" + table(files[n])
		} else {
			text = relink(string(files[n]), n, p, to)
		}
		delete(e.taken, strings.ToLower(p)) // it was reserved for this one
		if err := e.add(p, head+text); err != nil {
			return err
		}
	}
	return nil
}

// wholeTable is the file with all rows of a table whose file has only some; "" for
// every other file.
func wholeTable(n string, files map[string][]byte) string {
	base, isTable := strings.CutSuffix(n, ".csv")
	if whole := base + "_all.csv"; isTable && files[whole] != nil {
		return whole
	}
	return ""
}

// notionPath is a path without ids. Tables become notes.
func notionPath(n string) string {
	parts := strings.Split(n, "/")
	if len(parts) > 1 && strings.HasPrefix(parts[0], "Export-") {
		parts = parts[1:]
	}
	last := len(parts) - 1
	parts[last] = strings.TrimSuffix(parts[last], path.Ext(parts[last]))
	for i, p := range parts {
		parts[i] = fileName(notionID.ReplaceAllString(p, ""))
	}
	return strings.Join(parts, "/") + ".md"
}

var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// relink lets the links of a page lead to where the pages go.
func relink(text, from, now string, to map[string]string) string {
	return markdownLink.ReplaceAllStringFunc(text, func(m string) string {
		target, err := url.PathUnescape(m[2 : len(m)-1])
		if err != nil {
			return m
		}
		p, ok := to[path.Join(path.Dir(from), target)]
		if !ok {
			return m
		}
		return "](" + (&url.URL{Path: relative(path.Dir(now), p)}).EscapedPath() + ")"
	})
}

// relative is the way from a folder to a path.
func relative(dir, p string) string {
	var from []string
	if dir != "." {
		from = strings.Split(dir, "/")
	}
	to := strings.Split(p, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

// table writes a CSV file as a Markdown table.
func table(data []byte) string {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	var b strings.Builder
	columns := 0
	for n := 0; ; n++ {
		row, err := r.Read()
		if err != nil {
			return b.String()
		}
		if n > maxRows {
			fmt.Fprintf(&b, "\nOnly the first %d rows were imported.\n", maxRows)
			return b.String()
		}
		if n == 0 {
			columns = min(len(row), maxColumns)
		}
		b.WriteString("|")
		for i := range columns {
			cell := ""
			if i < len(row) {
				cell = strings.ReplaceAll(strings.Join(strings.Fields(row[i]), " "), "|", `\|`)
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
		if n == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
}
