package bert

// attend computes what each token takes from the others of its text: for every
// head, softmax(q·k) · v. The queries are scaled already, in their weights. It
// writes tokens rows of width numbers to dst, and whatever to the rest of the
// last tile.
func (m *Model) attend(ws *workspace, dst, qkv []float32, tokens int) {
	k, width := m.kernel, m.file.Width
	head := width / m.file.Heads
	padded := up(tokens, k.cols)
	block := k.rows * queryTiles
	scores := ws.scores.grow(block * padded)
	keys := ws.keys.grow(padded * head)
	values := ws.values.grow(tokens * head)
	for h := 0; h < width; h += head {
		packKeys(keys, qkv[width+h:], tokens, head, 3*width, k.cols)
		packValues(values, qkv[2*width+h:], tokens, head, 3*width, k.cols)
		for from := 0; from < tokens; from += block {
			m.attendBlock(scores, dst[from*width+h:], qkv[from*3*width+h:], keys, values, min(block, tokens-from), tokens)
		}
	}
}

// queryTiles is how many tiles of queries are compared with all keys before
// their scores are used: so few that the scores stay in the nearest cache.
const queryTiles = 2

func (m *Model) attendBlock(scores, dst, queries, keys, values []float32, rows, tokens int) {
	k, width := m.kernel, m.file.Width
	head, padded := width/m.file.Heads, up(tokens, k.cols)
	for c := 0; c < padded; c += k.cols {
		for r := 0; r < rows; r += k.rows {
			k.gemm(head, &queries[r*3*width], 3*width, &keys[c*head], &scores[r*padded+c], padded, 0)
		}
	}
	for r := range rows {
		row := scores[r*padded : (r+1)*padded]
		for c := tokens; c < padded; c++ {
			row[c] = -1e30 // no weight for what is only there to fill the tile
		}
		k.softmax(row)
	}
	for c := 0; c < head; c += k.cols {
		for r := 0; r < rows; r += k.rows {
			k.gemm(tokens, &scores[r*padded], padded, &values[c*tokens], &dst[r*width+c], width, 0)
		}
	}
}

// packKeys turns rows of keys into columns, in stripes of cols tokens.
func packKeys(dst, src []float32, tokens, head, stride, cols int) {
	for stripe := 0; stripe < tokens; stripe += cols {
		out := dst[stripe*head : (stripe+cols)*head]
		if stripe+cols > tokens {
			clear(out)
		}
		for t := stripe; t < min(tokens, stripe+cols); t++ {
			at := t - stripe
			for _, v := range src[t*stride : t*stride+head] {
				out[at] = v
				at += cols
			}
		}
	}
}

// packValues copies rows of values, in stripes of cols numbers.
func packValues(dst, src []float32, tokens, head, stride, cols int) {
	for stripe := 0; stripe < head; stripe += cols {
		for t := range tokens {
			copy(dst[stripe*tokens+t*cols:][:cols], src[t*stride+stripe:])
		}
	}
}

func up(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
