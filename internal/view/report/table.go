package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// table aligns cells in columns two spaces apart. A column whose heading begins with ">" is flush right.
type table struct {
	headings []string
	rows     [][]string
}

func newTable(headings ...string) *table { return &table{headings: headings} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// width is how many columns of the terminal the table takes.
func (t *table) width() int {
	total := 0
	for i, h := range t.headings {
		w := utf8.RuneCountInString(strings.TrimPrefix(h, ">"))
		for _, row := range t.rows {
			w = max(w, utf8.RuneCountInString(row[i]))
		}
		total += w + 2
	}
	return max(0, total-2)
}

// fit drops columns, in the order of their headings, until the table is no wider than width.
func (t *table) fit(width int, headings ...string) {
	for _, h := range headings {
		if t.width() <= width {
			return
		}
		t.drop(h)
	}
}

// drop takes out the column with a heading, where there is one.
func (t *table) drop(heading string) {
	i := slices.Index(t.headings, heading)
	if i < 0 {
		return
	}
	t.headings = slices.Delete(slices.Clone(t.headings), i, i+1)
	for k := range t.rows {
		t.rows[k] = slices.Delete(t.rows[k], i, i+1)
	}
}

// lines renders the table; ink colours the line of headings. A table without headings has none.
func (t *table) lines(indent string, ink func(...any) string) []string {
	right := make([]bool, len(t.headings))
	headings := make([]string, len(t.headings))
	wide := make([]int, len(t.headings))
	titled := false
	for i, h := range t.headings {
		headings[i], right[i] = strings.CutPrefix(h, ">")
		wide[i] = utf8.RuneCountInString(headings[i])
		titled = titled || headings[i] != ""
	}
	for _, row := range t.rows {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	align := func(row []string) string {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			space := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if right[i] {
				b.WriteString(space + cell)
			} else {
				b.WriteString(cell + space)
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	var out []string
	if titled {
		out = append(out, indent+ink(align(headings)))
	}
	for _, row := range t.rows {
		out = append(out, indent+align(row))
	}
	return out
}
