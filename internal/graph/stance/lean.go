package stance

import (
	"math"
	"strconv"
)

// Reach, in words, and weights of the sum of feelings. They were chosen on the
// train split of IBM's claim stance set; bench/README.md has what they are worth
// on the other. Values near to them do as well.
const (
	negationReach = 5
	lessenReach   = 4
	robReach      = 5
	minorFeeling  = 0.3 // what hinders or solves counts itself
	sideFeeling   = 0.5 // a word that takes a side and is neither good nor bad
	negated       = 0.8 // "not good" is less than bad
)

// feelings adds up what a sentence feels about its subject: good words minus bad
// ones, turned by what stands before them. Words for which skip holds are the
// subject itself. The words that counted are returned as well.
func feelings(s sentence, skip map[string]bool) (sum float64, words []string) {
	var neg, less, rob int // words left in reach
	for _, t := range s {
		turn := 1.0
		if neg > 0 {
			turn = -negated
		}
		v := 0.0
		switch {
		case t.feel == negates:
			if neg > 0 {
				neg = 0 // twice is not at all
			} else {
				neg = negationReach
			}
			words = append(words, t.text)
			continue
		case t.feel == lessens, t.feel == hinders, t.feel == solves:
			switch t.feel {
			case hinders:
				v = -minorFeeling
			case solves:
				v = minorFeeling
			}
			sum += turn * v
			less, rob = lessenReach, 0
			words = append(words, t.text)
			neg--
			continue
		case skip[t.root]:
		case t.feel == good:
			v = 1
		case t.feel == bad:
			v = -1
		default:
			v = sideFeeling * float64(t.side)
		}
		if v != 0 {
			if less > 0 || rob > 0 && v > 0 {
				v = -v
			}
			sum += turn * v
			words = append(words, t.text)
		}
		neg, less, rob = neg-1, less-1, rob-1
		if t.robs && (t.feel == bad || t.side < 0) {
			rob = robReach - 1
		}
	}
	return sum, words
}

// position is the side that a statement takes toward its subject: the words
// that take one multiplied ("not allow", "right to restrict"), or its feelings
// where there are none. It is 1 and not told when it takes none.
func position(s sentence) (side float64, words []string, told bool) {
	side = 1
	for _, t := range s {
		v := float64(t.side)
		if t.feel == negates {
			v = -1
		}
		if v != 0 {
			side *= v
			words = append(words, t.text)
			told = told || t.side != 0 || t.text == "never"
		}
	}
	if !told {
		sum, felt := feelings(s, nil)
		switch {
		case sum < 0:
			return -1, felt, true
		case sum > 0:
			return 1, felt, true
		}
	}
	return side, words, told
}

// isOpinion reports whether a statement says what somebody thinks of something,
// or what should be done: it has a word that demands or believes, or says that
// something is good or bad. What describes or asks has no side that praise or
// blame could take.
func isOpinion(s sentence) bool {
	if isQuestion(s) {
		return false
	}
	is := 0 // words left in which "is" looks for a judgement
	for _, t := range s {
		if demands[t.text] || is > 0 && (t.feel == good || t.feel == bad) {
			return true
		}
		switch is--; {
		case being[t.text]:
			is = 3
		case t.text == "a", t.text == "an": // "is a free browser" describes
			is = 0
		}
	}
	return false
}

func isQuestion(s sentence) bool { return len(s) > 0 && s[len(s)-1].asks }

// squash brings any sum between -1 and 1.
func squash(x float64) float64 { return math.Tanh(x / 2) }

// quoted puts words in quotation marks, three at the most.
func quoted(words []string) string {
	out := ""
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || len(seen) == 3 {
			continue
		}
		if seen[w] = true; out != "" {
			out += ", "
		}
		out += strconv.Quote(w)
	}
	return out
}
