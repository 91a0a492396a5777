package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
)

const (
	slowedAlike = 1.25 // times as much payload to a command at most
	slowedACKs  = 10   // of what commands take longer, the part in so many that a request waits for its own answer at most
	slowedMost  = 3    // times as long as that its commands take in the mean the longest takes at least that is told beside it
)

// slowed reports whether a server answers the commands of all clients later from a time on, though there are no more of them, nor larger ones, and
// its adapter answers as soon.
func (s *shared) slowed() (ok bool) {
	if !s.commands || s.asks() {
		return false
	}
	var took timing.Rates
	for n := range s.clients {
		var list []float64
		for _, d := range s.clients[n].took {
			list = append(list, float64(d))
		}
		took = append(took, list)
	}
	if s.Shared, ok = s.rates.Slowed(took); !ok {
		return false
	}
	before, after := s.took(s.Changed)
	most := s.longest()
	return most > 0 && slowedACKs*most <= after-before && s.alike()
}

// asks reports whether the server sends commands to another itself, or may.
func (s *shared) asks() bool {
	return slices.ContainsFunc(s.clients, func(x client) bool {
		return slices.ContainsFunc(x.connections, func(c *agent.Connection) bool {
			o := c.Upper.Slowest
			return o == nil || c.Ends[o.From].Addr == s.server
		})
	})
}

// longest is the longest that a request to the server or of it waited for its own answer.
func (s *shared) longest() (most time.Duration) {
	for n := range s.clients {
		for _, c := range s.clients[n].connections {
			most = max(most, c.SlowestMessage())
		}
	}
	return most
}

// alike reports whether the server and its clients sent about as much to a command after that time as before.
func (s *shared) alike() bool {
	at := s.start + int64(s.At)*s.width
	var sent [2][2]float64 // by whom, and when
	for n := range s.clients {
		for _, c := range s.clients[n].connections {
			for k := range c.Ends {
				by := 0
				if c.Ends[k].Addr == s.server {
					by = 1
				}
				x := &c.Timing.Ends[k].Series
				for i := range x.Slots {
					switch from := x.Start + int64(i)*x.Width; {
					case from >= s.start+int64(s.From)*s.width && from+x.Width <= at:
						sent[by][0] += float64(x.Slots[i].Bytes)
					case from >= at+s.width && from+x.Width <= s.start+int64(s.To)*s.width:
						sent[by][1] += float64(x.Slots[i].Bytes)
					}
				}
			}
		}
	}
	before, after := s.sum(nil)
	before, after = before*float64(s.At-s.From), after*float64(s.To-s.At-1)
	for _, b := range sent {
		was, is := b[0]/max(before, 1), b[1]/max(after, 1)
		if max(was, is) > slowedAlike*min(was, is) {
			return false
		}
	}
	return true
}

// began is when it began: as many were answered in that part as fit a change at that time.
func (s *shared) began() int64 {
	before, after, n := 0.0, 0.0, 0.0
	for c := range s.clients {
		was, is := s.rates.Around(&s.Shared, c)
		before, after, n = before+was, after+is, n+s.rates[c][s.At]
	}
	part := min(max((n-after)/max(before-after, 1), 0), 1)
	return s.start + int64((float64(s.At)+part)*float64(s.width))
}

// slowedOf tells of a server that answers later from a time on.
func (t *text) slowedOf(s *shared) string {
	before, after := s.took(s.Changed)
	was, now := s.sum(s.Changed)
	return fmt.Sprintf("Slowed: from about %s on %v takes %s instead of %s in the mean for commands of %s alike (%s, then %s), "+
		"with about %.0f outstanding in all before and %.0f after. No client began or ended then, commands are as large, "+
		"nothing was lost or marked, no pause was seen, and no request waited longer than %s for its own answer: "+
		"it became slower itself. Next: on %v: disks, load and CPU.",
		t.about(s.began()), s.server, span(after), span(before), s.names(s.Changed), s.rate(was), s.rate(now),
		was*before.Seconds(), now*after.Seconds(), span(s.longest()), s.server)
}

// sharedTells reports whether it is told of a server how long the commands of a connection took, and none took much longer.
func (t *text) sharedTells(c *agent.Connection) bool {
	return slices.ContainsFunc(t.shared, func(s shared) bool {
		for _, n := range slices.Concat(s.Changed, s.Others) {
			if slices.Contains(s.clients[n].connections, c) {
				before, after := s.took([]int{n})
				longest := time.Duration(c.Upper.Slowest.Ended - c.Upper.Slowest.Since)
				return ofOneClass(c.Upper) == "" && (longest < commandLongest || longest < slowedMost*max(before, after))
			}
		}
		return false
	})
}
