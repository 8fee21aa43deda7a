package search

import "lore/internal/index"

// Weights are all the numbers that decide a ranking. Each is measured: the
// tables in bench/README.md show what changing it costs.
type Weights struct {
	// Columns weigh where a word stands, for BM25.
	Columns [index.Columns]float64
	// Words and Meaning weigh the two rankings. A note gets its share of each:
	// its score between the lowest and the highest of the ranking.
	Words, Meaning float64
	// Sure is the cosine from which a passage may have all the points of
	// Meaning. When even the nearest one is farther, meaning says little.
	Sure float64
	// Faint is the cosine below which two texts have nothing to do with each
	// other: such a passage is not an answer at all.
	Faint float64
	// Depth is how many notes each ranking gives to the whole.
	Depth int
	// Name is added for a note that is called exactly what was asked.
	Name float64
	// Similar is added for a note whose name is what was asked but for a typing
	// mistake.
	Similar float64
	// Linked weighs what a note gets from the best notes that link to it or
	// mention it by name; Sources is how many of the best notes give.
	Linked  float64
	Sources int
}

// DefaultWeights are the measured ones.
func DefaultWeights() Weights {
	return Weights{
		Columns: [index.Columns]float64{index.ColTitle: 2, index.ColNames: 1, index.ColHeadings: 0.5, index.ColTags: 1, index.ColBody: 1},
		Words:   1, Meaning: 0.8, Sure: 0.5, Faint: 0.1,
		Depth: 100,
		Name:  0.5, Similar: 0.4,
		Linked: 0.6, Sources: 3,
	}
}

func (w Weights) orDefault() Weights {
	if w == (Weights{}) {
		return DefaultWeights()
	}
	return w
}

// stopWords are too common in English to tell notes apart. They are left out
// of a question that has other words; phrases keep them.
var stopWords = wordSet(`a about am an and are as at be been but by can could did do does for from had has have how i if in
	into is it its me my no not of on or our should so such than that the their them then there these they this those to was we
	were what when where which who whom why will with would you your`)
