// Command convert makes a model file for package bert out of a BERT encoder in
// safetensors (float16 or float32) with its config.json and tokenizer.json, or
// out of a file in the form EBM1 with its vocabulary.
//
//	convert -id all-minilm-l6-v2 -in folder -out minilm.lore
//	convert -id lore-embed-22 -ebm model.ebm -vocabulary vocab.txt -heads 12 -tokenizer multilingual -four -out model.lore
//
// The name of the vectors' space ends with a hash of the model.
// The same input gives the same bytes.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"lore/internal/embed/bert"
)

func main() {
	var o options
	flag.StringVar(&o.in, "in", "", "folder with the weights, config.json and tokenizer.json")
	flag.StringVar(&o.weights, "weights", "model.fp16.safetensors", "name of the weights in that folder")
	flag.StringVar(&o.out, "out", "", "file to write")
	flag.StringVar(&o.id, "id", "", "name of the space of the vectors")
	flag.StringVar(&o.source, "source", "", "where the weights came from")
	flag.StringVar(&o.license, "license", "", "license of the weights")
	flag.StringVar(&o.pooling, "pooling", "mean", "mean or first")
	flag.IntVar(&o.tokens, "tokens", 256, "tokens to read of a text")
	flag.IntVar(&o.words, "words", 200, "words of English that is about")
	flag.StringVar(&o.ebm, "ebm", "", "file in the form EBM1, instead of -in")
	flag.StringVar(&o.vocabulary, "vocabulary", "", "pieces of that file, one a line")
	flag.IntVar(&o.heads, "heads", 12, "attention heads of that file")
	flag.StringVar(&o.tokenizer, "tokenizer", "", "multilingual, or nothing for that of an uncased BERT")
	flag.BoolVar(&o.four, "four", false, "keep the embeddings of words in four bits")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

type options struct {
	in, weights, out, id, source, license, pooling string
	tokens, words                                  int
	ebm, vocabulary, tokenizer                     string
	heads                                          int
	four                                           bool
}

func run(o options) error {
	read := readFolder
	if o.ebm != "" {
		read = readEBM
	}
	h, vocabulary, source, err := read(o)
	if err != nil {
		return err
	}
	h.Pooling, h.Tokenizer = o.pooling, o.tokenizer
	h.MaxTokens, h.MaxWords, h.LowerCase = o.tokens, o.words, true
	words := bert.Rows
	if o.four {
		words = bert.Nibbles
	}
	tensors, err := source.arrange(h, words)
	if err != nil {
		return err
	}
	// The name is of everything that decides a vector.
	unnamed, err := bert.Encode(h, vocabulary, tensors)
	if err != nil {
		return err
	}
	h.Model = fmt.Sprintf("%s/%x", o.id, sha256.Sum256(unnamed))[:len(o.id)+13]
	h.Source, h.License = o.source, o.license
	data, err := bert.Encode(h, vocabulary, tensors)
	if err != nil {
		return err
	}
	if _, err := bert.Load(string(data), bert.Options{}); err != nil {
		return fmt.Errorf("the file just made: %w", err)
	}
	return os.WriteFile(o.out, data, 0o644)
}

// readFolder reads a model as Hugging Face keeps it.
func readFolder(o options) (h bert.Header, vocabulary string, source tensors, err error) {
	var config struct {
		Layers  int     `json:"num_hidden_layers"`
		Width   int     `json:"hidden_size"`
		Heads   int     `json:"num_attention_heads"`
		FF      int     `json:"intermediate_size"`
		Epsilon float64 `json:"layer_norm_eps"`
		Act     string  `json:"hidden_act"`
	}
	if err := readJSON(filepath.Join(o.in, "config.json"), &config); err != nil {
		return h, "", nil, err
	}
	if config.Act != "gelu" {
		return h, "", nil, fmt.Errorf("activation %q: only gelu is known", config.Act)
	}
	if vocabulary, err = readVocabulary(filepath.Join(o.in, "tokenizer.json")); err != nil {
		return h, "", nil, err
	}
	raw, err := os.ReadFile(filepath.Join(o.in, o.weights))
	if err != nil {
		return h, "", nil, err
	}
	if source, err = readSafetensors(raw); err != nil {
		return h, "", nil, fmt.Errorf("%s: %w", o.weights, err)
	}
	h = bert.Header{Layers: config.Layers, Width: config.Width, Heads: config.Heads, FF: config.FF, Epsilon: config.Epsilon}
	return h, vocabulary, source, nil
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readVocabulary lists the pieces by their ids, which must have no gaps.
func readVocabulary(path string) (string, error) {
	var t struct {
		Normalizer struct {
			LowerCase bool `json:"lowercase"`
		} `json:"normalizer"`
		Model struct {
			Type  string         `json:"type"`
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := readJSON(path, &t); err != nil {
		return "", err
	}
	if t.Model.Type != "WordPiece" || !t.Normalizer.LowerCase {
		return "", fmt.Errorf("%s: not an uncased WordPiece tokenizer", path)
	}
	pieces := make([]string, 0, len(t.Model.Vocab))
	for p := range t.Model.Vocab {
		pieces = append(pieces, p)
	}
	sort.Slice(pieces, func(i, j int) bool { return t.Model.Vocab[pieces[i]] < t.Model.Vocab[pieces[j]] })
	for i, p := range pieces {
		if t.Model.Vocab[p] != i || strings.Contains(p, "\n") {
			return "", fmt.Errorf("%s: piece %q has id %d, not %d", path, p, t.Model.Vocab[p], i)
		}
	}
	return strings.Join(pieces, "\n") + "\n", nil
}
