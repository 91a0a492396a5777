package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// equivalents names changes that change nothing that anybody could see, with the reason: the place, by file and line of code, then changes as the report has
// them, then why.
//
//go:embed equivalent.txt
var equivalents string

// place is a change by its file, its line of code and what it is: it stays the same when code before it comes or goes.
type place struct{ file, line, what string }

func (s *site) place() place {
	at := s.from - s.file.base
	from := strings.LastIndexByte(string(s.file.src[:at]), '\n') + 1
	line, _, _ := strings.Cut(string(s.file.src[from:]), "\n")
	return place{s.file.name, spaced(line), s.what}
}

// spaced is a line of code without the spaces by which it is aligned with others.
func spaced(line string) string { return strings.Join(strings.Fields(line), " ") }

// excuse marks the changes that are known to change nothing. It fails where a place in files whose name matches is no longer there, or known anyhow.
func excuse(sites []*site, matches func(file string) bool) error {
	why, seen := parseEquivalents(equivalents), map[place]bool{}
	for _, s := range sites {
		k := s.place()
		seen[k] = true
		switch {
		case why[k] == "":
		case s.equivalent != "":
			return fmt.Errorf("equivalent.txt need not have this: %s: %s\n\t%s\n\tbecause %s", k.file, k.line, k.what, s.equivalent)
		default:
			s.equivalent = why[k]
		}
	}
	for k := range why {
		if matches(k.file) && !seen[k] {
			return fmt.Errorf("equivalent.txt: no such change any more: %s: %s\n\t%s", k.file, k.line, k.what)
		}
	}
	return nil
}

// parseEquivalents returns the reasons by place.
func parseEquivalents(text string) map[place]string {
	list := map[place]string{}
	var file, line string
	var open []place
	for row := range strings.Lines(text) {
		row = strings.TrimSuffix(row, "\n")
		change, inner := strings.CutPrefix(row, "\t")
		switch reason, ok := strings.CutPrefix(change, "because "); {
		case row == "" || row[0] == '#':
		case !inner:
			file, line, _ = strings.Cut(row, ": ")
			line = spaced(line)
		case ok:
			for _, p := range open {
				list[p] = reason
			}
			open = nil
		default:
			open = append(open, place{file, line, change})
		}
	}
	return list
}
