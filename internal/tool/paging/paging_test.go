package paging

import (
	"fmt"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	list := []int{1, 2, 3, 4, 5}
	for _, c := range []struct {
		offset, limit int
		page, more    string
	}{
		{0, 10, "[1 2 3 4 5]", ""},
		{0, 2, "[1 2]", "showing 1 to 2 of 5; call again with offset 2"},
		{3, 2, "[4 5]", "showing 4 to 5 of 5"},
		{9, 2, "[]", "nothing after 5; there are 5 in total"},
		{-3, -1, "[1]", "showing 1 of 5; call again with offset 1"},
	} {
		page, more := Cut(list, c.offset, c.limit)
		if fmt.Sprint(page) != c.page || more != c.more {
			t.Errorf("%d %d: %v %q", c.offset, c.limit, page, more)
		}
	}
	if page, more := Cut([]int(nil), 3, 2); len(page) != 0 || more != "" {
		t.Errorf("an empty list: %v %q", page, more)
	}
}

func TestCutLines(t *testing.T) {
	long := strings.Repeat("茶", MaxText)
	for _, c := range []struct {
		name, text    string
		offset, limit int
		want          Lines
	}{
		{"all", "a\nb\n", 1, 9, Lines{"a\nb\n", 1, 2, ""}},
		{"no last line end", "a\nb", 2, 1, Lines{"b", 2, 2, ""}},
		{"part", "a\nb\nc\n", 1, 2, Lines{"a\nb\n", 1, 3, "lines 1 to 2 of 3; call again with offset 3"}},
		{"past the end", "a\n", 7, 2, Lines{"", 2, 1, "no line 7; the last line is 1"}},
		{"nothing", "", 1, 2, Lines{"", 1, 0, ""}},
		{"too much", "a\n" + long + "\nb\n", 1, 9, Lines{"a\n", 1, 3, "lines 1 to 1 of 3; call again with offset 2"}},
		{"one long line", "a\n" + long + "\nb\n", 2, 9, Lines{long[:MaxText-1], 2, 3, fmt.Sprintf("line 2 has %d bytes, showing the first %d; call again with offset 3 for the lines after it", 3*MaxText+1, MaxText-1)}},
	} {
		if got := CutLines(c.text, c.offset, c.limit); got != c.want {
			t.Errorf("%s: got %d bytes %q from %d of %d", c.name, len(got.Text), got.More, got.First, got.Total)
		}
	}
}
