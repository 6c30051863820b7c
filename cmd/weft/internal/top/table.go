// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// column is a column of a table.
type column struct {
	head  string
	field string // by which the server sorts; empty: the server does not
	right bool   // numbers: the largest come first
	prose bool   // the beginning says most; of names, both ends do
	least int    // columns of the terminal, before columns are dropped; of numbers: always
	most  int    // as long as others need the space; 0: as wide as its texts
	drop  int    // the column with the highest one is dropped first; 0: never
}

// cell is one value of a row.
type cell struct {
	text  string // printable
	by    float64
	style style
}

// row is one row, with the data that it shows.
type row struct {
	key   string // identifies it from one refresh to the next
	cells []cell
	of    any
	style style
}

// table is what a tab shows.
type table struct {
	columns []column
	rows    []row
}

// sorting is the order of a table. Unless it is reversed, texts ascend and numbers descend.
type sorting struct {
	column  int // asServed: the order of the server
	reverse bool
}

const asServed = -1

// descends reports whether the largest value comes first.
func (s sorting) descends(columns []column) bool {
	return (s.column != asServed && columns[s.column].right) != s.reverse
}

// sort sorts rows. Equal rows stay in the order of the server.
func (t *table) sort(s sorting) {
	if s.column == asServed {
		if s.reverse {
			slices.Reverse(t.rows)
		}
		return
	}
	sign := 1
	if s.descends(t.columns) {
		sign = -1
	}
	slices.SortStableFunc(t.rows, func(a, b row) int {
		x, y := a.cells[s.column], b.cells[s.column]
		if t.columns[s.column].right {
			return sign * cmp.Compare(x.by, y.by)
		}
		return sign * cmp.Compare(strings.ToLower(x.text), strings.ToLower(y.text))
	})
}

// keep keeps the rows of which a cell matches.
func (t *table) keep(pattern *regexp.Regexp) {
	if pattern != nil {
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool {
			return !slices.ContainsFunc(r.cells, func(c cell) bool { return pattern.MatchString(c.text) })
		})
	}
}

// natural returns the widths that columns need for all of their texts, but not less than before: columns that grow and shrink with each
// refresh would make a table hard to read.
func (t *table) natural(before []int) []int {
	widths := make([]int, len(t.columns))
	copy(widths, before)
	for i, c := range t.columns {
		widths[i] = max(widths[i], cells(c.head)+1) // and the arrow of the order
		if c.right {
			widths[i] = max(widths[i], c.least)
		}
		for _, r := range t.rows {
			widths[i] = max(widths[i], cells(r.cells[i].text))
		}
	}
	return widths
}

const (
	gap       = 2 // spaces between columns
	narrowest = 3 // column of texts
)

// fit returns the width of each column on a screen; 0: the column is dropped.
func fit(columns []column, natural []int, width int) []int {
	widths, least := make([]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		widths[i], least[i] = natural[i], natural[i]
		if c.most > 0 {
			widths[i] = min(widths[i], c.most)
		}
		if !c.right {
			least[i] = min(widths[i], c.least)
		}
	}
	for sum(least) > width && dropLast(columns, widths, least) {
		continue
	}
	if sum(least) > width { // nothing is left to drop
		for i, c := range columns {
			if !c.right {
				least[i] = min(least[i], narrowest)
			}
		}
	}
	share(widths, least, width-sum(widths))
	for i := range widths { // what is left goes to texts that are cut
		if widths[i] > 0 {
			widths[i] += max(0, min(natural[i]-widths[i], width-sum(widths)))
		}
	}
	return widths
}

// sum is the width of a table with columns of these widths.
func sum(widths []int) (all int) {
	for _, w := range widths {
		if w > 0 {
			all += w + gap
		}
	}
	return max(0, all-gap)
}

// dropLast drops the column that is needed least, and reports whether there was one.
func dropLast(columns []column, widths, least []int) bool {
	last := -1
	for i, c := range columns {
		if widths[i] > 0 && c.drop > 0 && (last < 0 || c.drop > columns[last].drop) {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	widths[last], least[last] = 0, 0
	return true
}

// share takes missing columns of the terminal from the columns that can spare some, the most from those that can spare most.
func share(widths, least []int, missing int) {
	for ; missing < 0; missing++ {
		widest := -1
		for i := range widths {
			if spare := widths[i] - least[i]; spare > 0 && (widest < 0 || spare > widths[widest]-least[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// header shows the heads of the columns, and by which one the rows are sorted.
func (t *table) header(widths []int, by sorting) string {
	var parts []string
	for i, c := range t.columns {
		if widths[i] == 0 {
			continue
		}
		head := c.head
		if i == by.column {
			head += map[bool]string{true: "▼", false: "▲"}[by.descends(t.columns)]
		}
		parts = append(parts, pad(head, widths[i], c.right))
	}
	return strings.Join(parts, strings.Repeat(" ", gap))
}

// line shows a row.
func (t *table) line(r row, widths []int) (spans []span) {
	for i, c := range t.columns {
		if widths[i] == 0 {
			continue
		}
		if len(spans) > 0 {
			spans = append(spans, span{text: strings.Repeat(" ", gap), style: r.style})
		}
		s := r.cells[i].style
		if r.style != plain {
			s = r.style
		}
		shown := r.cells[i].text
		if c.prose {
			shown = cut(shown, widths[i])
		}
		spans = append(spans, span{text: pad(shown, widths[i], c.right), style: s})
	}
	return spans
}
