package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// servedBeside says, of the host of a receiver that was not ready from a time until another, for how long at most it sent other hosts no message
// around that: what serves these was stopped for no longer, if at all.
func (t *teller) servedBeside(i *Incident, c *agent.Connection, from int, at, until int64) {
	if !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return
	}
	host, local := c.Ends[1-from].Addr, c.Ends[from].Addr
	var hosts []packet.Addr
	var sent []timing.Run
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		far, with := farEnd(d, host)
		if !with || far == local {
			continue
		}
		for e := range d.Ends {
			if d.Ends[e].Addr != host || !answersSoon(d, e) {
				continue
			}
			if list := sentAround(&d.Timing.Ends[e], at, until); list != nil {
				if sent = append(sent, list...); !slices.Contains(hosts, far) {
					hosts = append(hosts, far)
				}
			}
		}
	}
	if len(hosts) == 0 {
		return
	}
	slices.SortFunc(sent, func(a, b timing.Run) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End)) })
	var longest timing.Silence
	last := sent[0].End
	for _, r := range sent {
		if s := (timing.Silence{From: last, To: r.Begin}); s.To > at && s.From < until && s.Length() > longest.Length() {
			longest = s
		}
		last = max(last, r.End)
	}
	if n := longest.Length(); n > 0 && n < interruption {
		i.fact("served", fmt.Sprintf("%v went on sending messages to %s, with a pause of %s at most while it refused (from %s to %s): "+
			"what serves these was not stopped for longer", host, sorted(hosts), span(n), t.offset(longest.From), t.offset(longest.To)))
	}
}

// sentAround are the messages of an end, and runs of such, from the last before a time to the first after another; nil: it sent none before or after,
// or that is not known.
func sentAround(e *timing.End, at, until int64) (list []timing.Run) {
	runs, known := e.Runs()
	if known != 0 && known < until {
		return nil
	}
	for _, s := range e.Sent {
		list = append(list, timing.Run{Begin: s.Begin, End: max(s.Begin, s.End)})
	}
	list = append(list, runs...)
	first := -1
	for n := range list {
		if list[n].Begin <= at {
			first = n
		}
		if list[n].Begin >= until {
			if first < 0 {
				return nil
			}
			return list[first : n+1]
		}
	}
	return nil
}
