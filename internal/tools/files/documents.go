package files

import (
	"context"
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/tools/files/doctext"
	"lore/internal/tools/files/grep"
	"lore/internal/tools/files/jail"
	"lore/internal/vault"
	"lore/internal/vault/pattern"
)

// Limits of reading documents.
const (
	documentTime = 20 * time.Second // for one
	maxDocument  = 64 << 20         // bytes of one
	maxDocuments = 2000             // that one search reads
	maxPicture   = 16 << 20
	pictureTime  = 60 * time.Second
	maxOCR       = 1 << 20 // bytes of text of one picture
)

// readDocument reads the text of a document.
func readDocument(ctx context.Context, kind doctext.Kind, data []byte) (doctext.Text, error) {
	limited, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	d, err := doctext.Read(limited, kind, data)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return doctext.Text{}, fault.New(fault.TooLarge, "it takes too long to read")
	}
	return d.Lines(), err
}

// searchDocuments searches the text of PDF and office files below a folder.
func (env Env) searchDocuments(ctx context.Context, folder string, m *grep.Matcher, globs pattern.List, o grep.Options) (found grep.Found, pages map[string]doctext.Text, err error) {
	at, _, err := env.openFolder(folder)
	if err != nil {
		return found, nil, err
	}
	defer at.Close()
	env.only(ctx, folder, globs, &o)
	may := o.File
	o.File = func(p string) bool { return doctext.IsName(p) && may(p) }
	o.MaxFile = maxDocument
	var mu sync.Mutex
	pages = map[string]doctext.Text{}
	seen := 0
	read, err := grep.Read(ctx, at, o, func(p string, data []byte, _ fs.FileMode) {
		mu.Lock()
		seen++
		many := seen > maxDocuments
		mu.Unlock()
		kind := doctext.KindOf(p, data)
		var one grep.Found
		var d doctext.Text
		var failed error
		if many || kind == "" {
			failed = fault.New(fault.Invalid, "not read")
		} else if d, failed = readDocument(ctx, kind, data); failed == nil {
			one = grep.Text(vault.Key(path.Join(folder, p)), []byte(d.Text), m, o)
		}
		mu.Lock()
		defer mu.Unlock()
		if failed != nil {
			found.Skipped++
			return
		}
		found.Searched++
		found.Files += one.Files
		found.Total += one.Total
		found.Matches = append(found.Matches, one.Matches...)
		if one.Total > 0 {
			d.Text = ""
			pages[one.Matches[0].Path] = d
		}
	})
	found.Skipped += read.Skipped
	return found, pages, err
}

// Tesseract reads the text in a picture with the program of that name, in the
// sandbox. The error is of the kind [fault.Unavailable] when it is not installed.
func Tesseract(ctx context.Context, name string, data []byte) (string, error) {
	if _, err := exec.LookPath("tesseract"); err != nil {
		return "", fault.Fix(fault.Unavailable, "install it to read text in images", "tesseract is not installed")
	}
	limits := jail.DefaultLimits()
	limits.Time = pictureTime
	file := "picture" + strings.ToLower(path.Ext(name))
	var out []byte
	o, err := jail.Run(ctx, jail.Command{Argv: []string{"tesseract", file, "stdout"}, Files: []jail.File{{Path: file, Data: data}}, Limits: limits}, func(s jail.Stream, b []byte) {
		if s == jail.Stdout {
			out = append(out, b[:min(len(b), maxOCR-len(out))]...)
		}
	})
	switch {
	case err != nil:
		return "", err
	case o.Exit != 0 || o.Stopped != "":
		return "", fault.New(fault.Invalid, "tesseract could not read the image")
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(out), "\uFFFD")), nil
}

// pictureText is the text in a picture, or why there is none.
func (env Env) pictureText(ctx context.Context, f vault.File) (text, why string) {
	if env.PictureText == nil {
		return "", "this is an image; it has no text"
	}
	if f.Truncated || len(f.Data) > maxPicture {
		return "", "this is an image; it is too large to read text in it"
	}
	text, err := env.PictureText(ctx, f.Path, f.Data)
	switch {
	case err != nil:
		return "", "this is an image; " + err.Error()
	case text == "":
		return "", "this is an image; no text was found in it"
	}
	return text, "text that tesseract recognized in the image; it may contain errors"
}
