// Package web is the page that shows a run: its verdict, findings as they come, connections, a ladder of the packets around each finding, and
// which rules were evaluated. It is served over HTTP, or written as one file.
package web

import (
	"fmt"
	"strings"

	"ibwitness/rule"
)

// kind is what the page tells findings apart by: their class, and of violations how grave they are.
type kind uint8

const (
	violation kind = iota
	warning
	note
	unproven
	event

	numKinds
)

var kindNames = [numKinds]string{"violation", "warning", "note", "unproven", "event"}

func (k kind) String() string { return kindNames[k] }

func kindOf(f *rule.Finding) kind {
	switch f.Class {
	case rule.Event:
		return event
	case rule.Unproven:
		return unproven
	}
	switch f.Rule.Row().Severity {
	case rule.Error:
		return violation
	case rule.Warning:
		return warning
	}
	return note
}

// suspect reports whether a finding would be a violation of severity error if it were proven.
func suspect(f *rule.Finding) bool {
	return f.Class == rule.Unproven && f.Rule.Row().Severity == rule.Error
}

// kinds is a set of them.
type kinds [numKinds]bool

// parseKinds reads a list of names; empty: all but events.
func parseKinds(s string) (set kinds, err error) {
	if s == "" {
		return kinds{violation: true, warning: true, note: true, unproven: true}, nil
	}
	for name := range strings.SplitSeq(s, ",") {
		found := false
		for k := range kindNames {
			if kindNames[k] == name {
				set[k], found = true, true
			}
		}
		if !found {
			return set, fmt.Errorf("web: there is no class %q: give some of %s", name, strings.Join(kindNames[:], ","))
		}
	}
	return set, nil
}

// byKind marshals as an object with the names of the kinds.
type byKind [numKinds]uint64

// MarshalJSON writes all kinds.
func (b byKind) MarshalJSON() ([]byte, error) {
	var s strings.Builder
	for k, n := range b {
		fmt.Fprintf(&s, ",%q:%d", kindNames[k], n)
	}
	return []byte("{" + s.String()[1:] + "}"), nil
}
