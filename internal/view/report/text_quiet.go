package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// From how many messages on, for how long, for how many times the mean time between two of them, and on how many hosts, requesters are told to have gone quiet.
const (
	quietMessages = 64
	quietTime     = time.Second
	quietTimes    = 100
	quietHosts    = 3
	quietTold     = 4
)

// quieted tells, where nothing else happened, of several hosts that were busy and went quiet, in the order in which they did: in a ring or a collective the first is what the others wait for, though
// no request waits.
func (t *text) quieted() {
	n, newest := 0, int64(0)
	last := map[packet.Addr]*agent.End{} // of each host the one that sent most
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		if !c.Service.Reliable() || c.Closed.At != 0 || c.Ends[0].Open+c.Ends[1].Open > 0 {
			continue
		}
		quiet := false
		for k := range c.Ends {
			e := &c.Ends[k]
			silent := t.res.Last - max(c.Ends[0].Last, c.Ends[1].Last)
			if e.Messages >= quietMessages && silent >= int64(quietTime) && silent >= quietTimes*(e.Last-c.First)/int64(e.Messages) {
				quiet = true
				if l := last[e.Addr]; l == nil || e.Bytes > l.Bytes {
					last[e.Addr] = e
				}
			}
		}
		if quiet {
			n++
			newest = max(newest, c.Ends[0].Last, c.Ends[1].Last)
		}
	}
	if len(last) < quietHosts || t.res.Clock.Count > 0 {
		return
	}
	list := slices.SortedFunc(maps.Values(last), func(a, b *agent.End) int { return cmp.Or(cmp.Compare(a.Last, b.Last), a.Addr.Compare(b.Addr)) })
	var names []string
	for _, e := range list[:min(len(list), quietTold)] {
		names = append(names, fmt.Sprintf("%v (+%.6f s)", e.Addr, time.Duration(e.Last-t.res.First).Seconds()))
	}
	if more := len(list) - quietTold; more > 0 {
		names = append(names, count(more, "more"))
	}
	t.prose("  ", fmt.Sprintf("Quiet: %s that were busy carry nothing in the last %s, though no request waits for an answer. Each host sent its last request there, where it sent most, in this order: %s. Where one waits for another, as in a ring or a collective, look at the first: its program stopped sending.",
		count(n, "connection"), span(time.Duration(t.res.Last-newest)), enumerate(names)))
}
