package closure

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
)

// text writes the summary for people.
func (s *Summary) text(w io.Writer, opt Options) error {
	if opt.Width == 0 {
		opt.Width = 100
	}
	t := &text{Options: opt}
	t.print("%s", t.bold(s.title()))
	t.print("")
	t.shares(s)
	t.ranking(s)
	t.violated(s)
	t.holes(s)
	t.excluded(s)
	if s.Planned {
		t.print("")
		if n := s.All.Of - s.All.Met; n > 0 {
			t.print("%s", t.red(fmt.Sprintf("The plan is not met: %d of %d items are missing.", n, s.All.Of)))
		} else {
			t.print("%s", t.green("The plan is met."))
		}
	}
	_, err := w.Write(t.out.Bytes())
	return err
}

// title says what is summed up.
func (s *Summary) title() string {
	what := "items"
	if s.Planned {
		what = "planned items"
	}
	return fmt.Sprintf("Coverage of %s: %d of %d %s, %d %%", plural(len(s.Names), "run"), s.All.Met, s.All.Of, what, s.All.Percent())
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

type text struct {
	Options
	out bytes.Buffer
}

func (t *text) print(format string, args ...any) {
	fmt.Fprintf(&t.out, format, args...)
	t.out.WriteByte('\n')
}

func (t *text) ink(s string, a ...color.Attribute) string {
	c := color.New(a...)
	if !t.Color {
		return s
	}
	c.EnableColor()
	return c.Sprint(s)
}

func (t *text) bold(s string) string   { return t.ink(s, color.Bold) }
func (t *text) red(s string) string    { return t.ink(s, color.FgRed, color.Bold) }
func (t *text) green(s string) string  { return t.ink(s, color.FgGreen, color.Bold) }
func (t *text) yellow(s string) string { return t.ink(s, color.FgYellow) }

// pad fills a cell up with blanks, on the left where it is a number.
func pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return space + s
	}
	return s + space
}

// table writes rows below their headings; a heading that begins with ">" is flush right. ink, which may be nil, colours a row.
func (t *text) table(headings []string, rows [][]string, ink func(i int, line string) string) {
	wide, right := make([]int, len(headings)), make([]bool, len(headings))
	line := func(cells []string) string {
		var b strings.Builder
		for i, c := range cells {
			b.WriteString("  " + pad(c, wide[i], right[i]))
		}
		return strings.TrimRight(b.String(), " ")
	}
	for i, h := range headings {
		headings[i], right[i] = strings.CutPrefix(h, ">")
		wide[i] = utf8.RuneCountInString(headings[i])
		for _, r := range rows {
			wide[i] = max(wide[i], utf8.RuneCountInString(r[i]))
		}
	}
	t.print("%s", t.bold(line(headings)))
	for i, r := range rows {
		text := line(r)
		if ink != nil {
			text = ink(i, text)
		}
		t.print("%s", text)
	}
}

// shares is how much of each group is covered.
func (t *text) shares(s *Summary) {
	var rows [][]string
	for i := range s.Groups {
		g := &s.Groups[i]
		rows = append(rows, []string{g.Name, fmt.Sprint(g.Met), fmt.Sprint(g.Of), fmt.Sprintf("%d %%", g.Percent())})
	}
	t.table([]string{"group", ">covered", ">of", ">share"}, rows, func(i int, line string) string {
		if g := &s.Groups[i]; g.Met == g.Of {
			return t.ink(line, color.FgGreen)
		}
		return line
	})
}

// mostRanked is how many runs are listed, unless all are asked for.
const mostRanked = 20

// ranking is what each run adds.
func (t *text) ranking(s *Summary) {
	if len(s.Names) < 2 {
		return
	}
	t.print("\n%s", t.bold("Runs, by what each adds to those above it"))
	var rows [][]string
	for i, k := range s.Rank {
		if i == mostRanked && !t.All {
			break
		}
		rows = append(rows, []string{s.Names[k.Run], fmt.Sprintf("+%d", k.Adds), fmt.Sprint(k.Sum)})
	}
	t.table([]string{"run", ">adds", ">sum"}, rows, nil)
	if n := len(s.Rank) - len(rows); n > 0 {
		t.print("  and %s that add %d (--all lists them)", plural(n, "run"), s.Rank[len(s.Rank)-1].Sum-s.Rank[len(rows)-1].Sum)
	}
	if idle := s.Idle(); len(idle) > 0 {
		list := strings.Join(idle, ", ")
		if len(idle) > mostRanked && !t.All {
			list = strings.Join(idle[:mostRanked], ", ") + fmt.Sprintf(" and %d more", len(idle)-mostRanked)
		}
		adds := "add"
		if len(idle) == 1 {
			adds = "adds"
		}
		t.hanging("  ", fmt.Sprintf("%s %s nothing: %s", plural(len(idle), "run"), adds, list))
	}
}

// violated names the rules that runs have violated.
func (t *text) violated(s *Summary) {
	list := s.Violated()
	if len(list) == 0 {
		return
	}
	var names []string
	for _, v := range list {
		names = append(names, fmt.Sprintf("%s (%d)", strings.TrimPrefix(v.Name, "rule/"), v.Violated))
	}
	t.print("\n%s", t.red("Violated rules"))
	t.hanging("  ", strings.Join(names, ", "))
}

// holes names what is missing: summed up, or each.
func (t *text) holes(s *Summary) {
	list := s.Holes()
	if len(list) == 0 {
		return
	}
	hint := "; --all names each"
	if t.All {
		hint = ""
	}
	t.print("\n%s", t.bold(fmt.Sprintf("Holes (%s%s)", plural(len(list), "item"), hint)))
	if t.All {
		for _, h := range list {
			t.print("  %s", h.Hole())
		}
		return
	}
	gaps := s.Gaps()
	wide := [2]int{}
	for _, g := range gaps {
		wide[0], wide[1] = max(wide[0], len(g.Group)), max(wide[1], len(g.Of))
	}
	before := ""
	for _, g := range gaps {
		name := g.Group
		if name == before {
			name = ""
		}
		before = g.Group
		t.hanging("  "+pad(name, wide[0], false)+"  "+pad(g.Of, wide[1], false)+"  ", g.Text)
	}
}

// excluded names what the plan leaves out, and why: each reason once.
func (t *text) excluded(s *Summary) {
	if len(s.Excluded) == 0 {
		return
	}
	t.print("\n%s", t.bold(fmt.Sprintf("Excluded (%s)", plural(len(s.Excluded), "item"))))
	n, seen := map[string]int{}, []string(nil)
	var reasons []string
	for i := range s.Excluded {
		k := &s.Excluded[i]
		if n[k.Reason]++; n[k.Reason] == 1 {
			reasons = append(reasons, k.Reason)
		}
		if k.Count.Count > 0 {
			seen = append(seen, k.Name)
		}
	}
	for _, r := range reasons {
		t.hanging("  ", fmt.Sprintf("%s: %s", plural(n[r], "item"), r))
	}
	if len(seen) > 0 {
		t.hanging("  ", t.yellow("excluded, and seen all the same: ")+strings.Join(seen, ", "))
	}
}

// hanging writes text after a head, and its further lines below where it began.
func (t *text) hanging(head, text string) {
	width := max(20, t.Width-utf8.RuneCountInString(head))
	line := ""
	flush := func() {
		t.print("%s", strings.TrimRight(head+line, " "))
		head = strings.Repeat(" ", utf8.RuneCountInString(head))
	}
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			flush()
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	flush()
}
