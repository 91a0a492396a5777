package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
)

// classSpared is the commands of an opcode or procedure, none of which was late.
type classSpared struct {
	name    string
	answers uint64
	longest time.Duration
}

// spare adds a class of a connection: those of which some were late are taken out in the end.
func (l *lateCommands) spare(k *agent.Class) {
	n := slices.IndexFunc(l.spared, func(s classSpared) bool { return s.name == k.Name })
	if n < 0 {
		n = len(l.spared)
		l.spared = append(l.spared, classSpared{name: k.Name})
	}
	s := &l.spared[n]
	s.answers, s.longest = s.answers+k.Answers, max(s.longest, k.Longest)
}

// notOf says of which opcode or procedure none was late, though many were answered; "": that is so of none.
func (l *lateCommands) notOf() string {
	var names []string
	n, longest := uint64(0), time.Duration(0)
	for _, s := range l.spared {
		names = append(names, s.name)
		n, longest = n+s.answers, max(longest, s.longest)
	}
	if len(names) == 0 || len(names) > mostClassNames {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("; %s %s, whatever they work on, took at most %s", number(n), enumerate(names), span(int64(longest)))
}
