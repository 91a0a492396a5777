package closure

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var page string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": func(s Share) int { return s.Percent() },
}).Parse(page))

// html writes the summary as a page that needs nothing else.
func (s *Summary) html(w io.Writer) error {
	type row struct {
		Name, Text string
		Count      string
		Met        bool
		Runs       []string
		Violated   uint64
	}
	type section struct {
		Share
		Gaps []Gap
		Rows []row
	}
	var sections []section
	gaps := s.Gaps()
	at := 0
	for _, g := range s.Groups {
		k := section{Share: g}
		for _, gap := range gaps {
			if gap.Group == g.Name {
				k.Gaps = append(k.Gaps, gap)
			}
		}
		for range g.Of {
			t := &s.Targets[at]
			at++
			r := row{Name: t.Name, Text: t.Name, Count: fmt.Sprint(t.Count.Count), Met: t.Met(), Violated: t.Violated}
			if t.Item != nil {
				r.Text = t.Item.Text
			}
			if t.Goal > 1 {
				r.Count += fmt.Sprintf(" of %d", t.Goal)
			}
			const most = 5
			for i, n := range t.Runs {
				if i == most {
					r.Runs = append(r.Runs, fmt.Sprintf("and %d more", len(t.Runs)-most))
					break
				}
				r.Runs = append(r.Runs, s.Names[n])
			}
			k.Rows = append(k.Rows, r)
		}
		sections = append(sections, k)
	}
	return pageTemplate.Execute(w, map[string]any{
		"Title": s.title(), "Summary": s, "Sections": sections, "Idle": s.Idle(), "Holes": len(s.Holes()),
	})
}
