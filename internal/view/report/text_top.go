package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
)

const (
	topFrom  = 6 // connections: fewer need no choice
	topShown = 3
)

// top writes who sent the most, and who lost the most time, where there are many connections.
func (t *text) top() {
	type ranked struct {
		c   *agent.Connection
		end int
		by  uint64
	}
	if len(t.res.Connections) < topFrom {
		return
	}
	var traffic, stalled []ranked // no more than are shown, the most first
	add := func(list *[]ranked, r ranked) {
		k := len(*list)
		for k > 0 && (*list)[k-1].by < r.by {
			k--
		}
		if k < topShown {
			*list = slices.Insert(*list, k, r)
			*list = (*list)[:min(len(*list), topShown)]
		}
	}
	total := uint64(0)
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			e := &c.Ends[k]
			total += e.Bytes
			if e.Bytes > 0 {
				add(&traffic, ranked{c, k, e.Bytes})
			}
			if x := troubleOf(e); x != nil && x.Lost > 0 {
				add(&stalled, ranked{c, k, uint64(x.Lost * 1e9)})
			}
		}
	}
	tab := newTable("", "from", "to", ">payload", ">of all", ">payload/s", ">stalled", ">of its time")
	row := func(lead string, r ranked) {
		e, peer := &r.c.Ends[r.end], &r.c.Ends[1-r.end]
		rate, lost, part := "–", "–", "–"
		d := time.Duration(e.Last - r.c.First)
		if d > 0 && e.Bytes > 0 {
			rate = size(uint64(float64(e.Bytes) / d.Seconds()))
		}
		if x := troubleOf(e); x != nil && x.Lost > 0 {
			lost = least(e) + span(time.Duration(x.Lost*1e9))
			if whole := t.res.Last - r.c.First; whole > 0 {
				part = share(uint64(x.Lost*1e9), uint64(whole))
			}
		}
		tab.add(lead, e.Addr.String()+" "+qp(e.QPN, e.QPNKnown), peer.Addr.String()+" "+qp(peer.QPN, peer.QPNKnown), size(e.Bytes), share(e.Bytes, total), rate, lost, part)
	}
	lead := "sent most"
	for _, r := range traffic {
		row(lead, r)
		lead = ""
	}
	lead = "lost most time"
	for _, r := range stalled {
		row(lead, r)
		lead = ""
	}
	if len(tab.rows) == 0 {
		return
	}
	t.heading("Most traffic, most trouble")
	tab.fit(t.Width-2, ">of its time", ">payload/s", ">of all")
	t.lines(tab.lines("  ", t.dim))
}

// least marks how long an end made no progress as a bound where packets were lost before the tap: one that comes as the next PSN when it is retransmitted does not show that.
func least(e *agent.End) string {
	if k := e.Trouble; k != nil && k.Sum.Before+k.Asked.Before > 0 {
		return "≥ "
	}
	return ""
}

// share writes a part of a whole in percent.
func share(part, whole uint64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
