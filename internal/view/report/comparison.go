package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ibwitness/expect"
)

// mostDifferent is how many bytes of a payload that differ are shown.
const mostDifferent = 16

// comparison writes the fields of a packet that are not as expected, and their neighbours in the header, one a line.
func (t *text) comparison(c *expect.Comparison) {
	list := beside(c.Fields())
	name, want := len("field"), len("expected")
	for i := range list {
		name = max(name, utf8.RuneCountInString(list[i].Name))
		want = max(want, min(utf8.RuneCountInString(list[i].Expected), 40))
	}
	t.line("        %s", t.dim(fmt.Sprintf("  %-*s  %-*s  %s", name, "field", want, "expected", "actual")))
	for i := range list {
		f := &list[i]
		mark, ink := "  ", t.dim
		if f.Outcome == expect.Differs {
			mark, ink = "≠ ", t.red
		}
		s := fmt.Sprintf("%s%-*s  %-*s  %s", mark, name, f.Name, want, printable(f.Expected), printable(f.Actual))
		if f.Outcome == expect.Follows {
			s += " (follows)"
		}
		t.line("        %s", ink(strings.TrimRight(s, " ")))
	}
	t.different(c)
}

// beside picks the fields that differ and, of the same header, the one before and the one after each.
func beside(all []expect.Field) (list []expect.Field) {
	for i := range all {
		near := all[i].Outcome == expect.Differs
		for _, k := range [...]int{i - 1, i + 1} {
			near = near || k >= 0 && k < len(all) && all[k].Layer == all[i].Layer && all[k].Outcome == expect.Differs
		}
		if near {
			list = append(list, all[i])
		}
	}
	return list
}

// different writes the bytes of the payload that are not as expected.
func (t *text) different(c *expect.Comparison) {
	want, have := c.Payload()
	from, to, n := c.PayloadDiffers()
	if n == 0 {
		return
	}
	end := min(to, from+mostDifferent)
	t.line("        %s", t.dim(fmt.Sprintf("payload from byte %d on, its first is 0:", from)))
	t.line("          expected  % x", want[from:end])
	t.line("          actual    %s", t.red(fmt.Sprintf("% x", have[from:end])))
	marks := make([]byte, 0, 3*mostDifferent)
	for i := from; i < end; i++ {
		mark := "^^ "
		if want[i] == have[i] {
			mark = "   "
		}
		marks = append(marks, mark...)
	}
	t.line("                    %s", t.red(strings.TrimRight(string(marks), " ")))
}
