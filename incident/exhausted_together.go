package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
)

// A process that posts no receives any more, or a shared receive queue that runs empty, makes several queue pairs of a host refuse what comes at about the same time.

// begunAlike is within which time of one another the requests came that these refuse.
const begunAlike = int64(time.Second)

// exhaustion is a request that a receiver was not ready for until the end.
type exhaustion struct {
	naks    uint32
	last    int64  // when it was refused last
	request string // what it was
	since   int64  // when the receiver's program had sent its last message on the connection; 0: it is not told
	taken   uint64 // messages that the receiver took after that
}

// exhaustedTogether makes incidents one in which a host was not ready for requests on several queue pairs until the end, from about the same time on.
func (t *teller) exhaustedTogether(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != Exhausted || merged[i] || !t.timed() {
			continue
		}
		all := []*Incident{i}
		for m := n + 1; m < len(list); m++ {
			o := &list[m]
			if o.Kind == Exhausted && !merged[o] && o.Peer.Addr == i.Peer.Addr && o.Ongoing == i.Ongoing && max(o.Begin-i.Begin, i.Begin-o.Begin) <= begunAlike {
				all = append(all, o)
			}
		}
		if len(all) < 2 {
			continue
		}
		slices.SortStableFunc(all, func(a, b *Incident) int { return cmp.Compare(a.Begin, b.Begin) })
		t.tellExhausted(all)
		for _, o := range all[1:] {
			merged[o] = true
		}
	}
	return without(list, merged)
}

// tellExhausted has the first of incidents in which a host was not ready until the end tell of all.
func (t *teller) tellExhausted(all []*Incident) {
	i := all[0]
	var each []string
	hosts, naks, last, taken, silent := []packet.Addr(nil), uint64(0), int64(0), uint64(0), true
	for _, o := range all {
		if naks += uint64(o.exhausted.naks); len(each) < portsShown {
			each = append(each, fmt.Sprintf("%s of %v, %s", o.exhausted.request, &o.Local, times(uint64(o.exhausted.naks))))
		}
		if !slices.Contains(hosts, o.Local.Addr) {
			hosts = append(hosts, o.Local.Addr)
		}
		last, taken, silent = max(last, o.exhausted.since), taken+o.exhausted.taken, silent && o.exhausted.since != 0
	}
	if more := len(all) - len(each); more > 0 {
		each = append(each, fmt.Sprintf("%d more", more))
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	end := "and still was not when the capture ended"
	if !i.Ongoing {
		end = "until they gave up"
	}
	i.What = fmt.Sprintf("%v was not ready for requests of %s on %s from %s on: it refused them %s (RNR NAK), %s.",
		i.Peer.Addr, someOf(hosts), count(uint64(len(all)), "connection"), t.offset(i.Begin), times(naks), end)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool {
		return slices.Contains([]string{"request", "before", "program", "others", "waited"}, f.Label)
	})
	i.Facts = slices.Insert(i.Facts, 0, Fact{"requests", enumerate(each)})
	i.fact("network", "each of these RNR NAKs shows that the request had come and that answers come back: it is not the network")
	fits := fmt.Sprintf("one process on %v that stopped or waits, or a shared receive queue (SRQ) of it that is empty: they began within %s of one another",
		i.Peer.Addr, span(all[len(all)-1].Begin-i.Begin))
	i.FitsWith = []string{fits, "less likely one that posts too few receives for all of them"}
	if silent {
		i.fact("program", fmt.Sprintf("%v sent no message on any of these connections after %s, though it took %s since", i.Peer.Addr, t.offset(last), count(taken, "message")))
		i.Next[0] = fmt.Sprintf("on %v: what the program that serves these queue pairs did after %s, and what it waited for (its stack, CPU, log)", i.Peer.Addr, t.offset(last))
	}
	for _, o := range all[1:] {
		i.includes(o)
		if o.Local.Addr != i.Local.Addr && !slices.Contains(i.Also, o.Local.Addr) {
			i.Also = append(i.Also, o.Local.Addr)
		}
	}
	i.common, i.Connections, i.listed = i.Peer.Addr, len(all), true
}
