package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// A receiver that refuses several requesters at the same time is short of the same receives, or of the same program, also where only one of them gives up: the RNR retry count of that one is finite.

// exhaustedBeside makes one of an incident in which a receiver was not ready until a requester gave up, and those in which it was not ready for others meanwhile, which went on.
func (t *teller) exhaustedBeside(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != Exhausted || i.Ongoing || !t.timed() {
			continue
		}
		var beside []*Incident
		for m := range list {
			o := &list[m]
			if o.Kind == NotReady && !merged[o] && o.Peer.Addr == i.Peer.Addr && !o.short.waits && o.Begin <= i.exhausted.last && o.End >= i.Begin {
				beside = append(beside, o)
			}
		}
		if len(beside) > 0 {
			t.tellBeside(i, beside)
			for _, o := range beside {
				merged[o] = true
			}
		}
	}
	return without(list, merged)
}

// tellBeside has an incident in which a requester gave up tell of the others that its receiver refused meanwhile.
func (t *teller) tellBeside(i *Incident, beside []*Incident) {
	var sum shortage
	var hosts []packet.Addr
	begin, end, connections := beside[0].Begin, beside[0].End, i.Connections
	for _, o := range beside {
		if sum.pairs == 0 {
			sum = o.short
		} else {
			sum.add(&o.short)
		}
		for _, a := range append([]packet.Addr{o.Local.Addr}, o.Also...) {
			if !slices.Contains(hosts, a) {
				hosts = append(hosts, a)
			}
		}
		begin, end = min(begin, o.Begin), max(end, o.End)
		connections += o.Connections
		i.includes(o)
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	episodes := slices.ContainsFunc(beside, func(o *Incident) bool { return o.short.episodes != "" })
	if episodes {
		i.What = fmt.Sprintf("%s. It refused requests of %s %s in all, meanwhile and at other times, and these went on each time when it was ready again.", i.What[:len(i.What)-1], someOf(hosts), times(sum.naks))
	} else {
		i.What = fmt.Sprintf("%s. Meanwhile it refused requests of %s %s, in %s, and these went on when it was ready again.", i.What[:len(i.What)-1], someOf(hosts), times(sum.naks), span(end-begin))
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool {
		return f.Label == "served" && slices.ContainsFunc(hosts, func(a packet.Addr) bool { return a != i.Local.Addr })
	})
	text := fmt.Sprintf("of %s from %s to %s: one request up to %s; these retry for longer than %v does", someOf(hosts), t.offset(begin), t.offset(end), times(uint64(sum.worst)), &i.Local)
	i.fact("meanwhile", text)
	if len(beside) == 1 {
		i.fact("episodes", sum.episodes)
	}
	i.Begin, i.Connections = min(i.Begin, begin), connections
	for _, a := range hosts {
		if a != i.Local.Addr && !slices.Contains(i.Also, a) {
			i.Also = append(i.Also, a)
		}
	}
	if len(hosts) > 1 || hosts[0] != i.Local.Addr {
		i.common = i.Peer.Addr
	}
}
