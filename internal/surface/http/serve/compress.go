package serve

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// compressFrom is the size in bytes from which an answer is compressed: below it
// one packet carries it anyway.
const compressFrom = 1024

// packers are reused: one takes more memory than most answers.
var packers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is right there
	}
	return z
}}

// compress packs an answer for a client that takes it so, and says so in the
// headers. What does not become smaller stays as it is.
func compress(w http.ResponseWriter, b []byte) []byte {
	c, ok := w.(interface{ takesGzip() bool })
	if !ok || len(b) < compressFrom {
		return b
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if !c.takesGzip() {
		return b
	}
	var out bytes.Buffer
	z := packers.Get().(*gzip.Writer) //nolint:forcetypeassert // nothing else is put there
	defer packers.Put(z)
	z.Reset(&out)
	if _, err := z.Write(b); err != nil || z.Close() != nil || out.Len() >= len(b) {
		return b
	}
	w.Header().Set("Content-Encoding", "gzip")
	return out.Bytes()
}

// AcceptsGzip reports whether a client takes answers that are packed with gzip.
func AcceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.ReplaceAll(strings.TrimSpace(rest), " ", "")
			return strings.TrimRight(q, ".0") != "q=" || q == ""
		}
	}
	return false
}
