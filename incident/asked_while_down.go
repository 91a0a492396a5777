package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// asker is a host that asked one for connections while that was down.
type asker struct {
	host   packet.Addr
	first  int64  // when it sent the first REQ
	times  uint64 // that it sent one
	again  uint64 // of these, retransmissions
	waited int64  // for how long it retransmitted, in all
}

// askedWhileDown says which hosts asked the peer of an incident for connections in vain while it was down, and has it tell of the incidents of these REQs
// that were over with that.
func (t *teller) askedWhileDown(i *Incident, downs []hostSilence, list []Incident, merged map[*Incident]bool) {
	var askers []asker
	hosts := append([]packet.Addr{i.Local.Addr}, i.Also...)
	for n := range downs {
		d := &downs[n]
		askers = t.askersIn(askers, i.Peer.Addr, d)
		for k := range list {
			o := &list[k]
			if of := o.Kind == Ignored && !o.Ongoing && strings.Contains(o.What, "(REQ)"); of && slices.Contains(hosts, o.Local.Addr) && !merged[o] && o.Peer.Addr == i.Peer.Addr && o.follow(d, d.to) {
				merged[o] = true
				i.foundToo(o.Found)
				i.toldHere()
			}
		}
	}
	if len(askers) == 0 {
		return
	}
	slices.SortFunc(askers, func(a, b asker) int { return cmp.Or(cmp.Compare(a.first, b.first), a.host.Compare(b.host)) })
	said := make([]string, 0, lostNamed+1)
	for n := range min(len(askers), lostNamed) {
		a := &askers[n]
		every := ""
		if a.again > 0 {
			every = ", every " + span(a.waited/int64(a.again))
		}
		said = append(said, fmt.Sprintf("%v %s from %s on%s", a.host, times(a.times), t.offset(a.first), every))
	}
	if more := len(askers) - lostNamed; more > 0 {
		said = append(said, count(uint64(more), "more host"))
	}
	i.fact("REQs", "in vain meanwhile: "+enumerateSeparately(said))
}

// askersIn adds the hosts that asked one for connections while it was down.
func (t *teller) askersIn(askers []asker, a packet.Addr, d *hostSilence) []asker {
	for n := range t.run.REQs {
		q := &t.run.REQs[n]
		vain := q.Waits == cm.ForREP || q.Waits == cm.ForLate || q.Waits == cm.ForRefusal
		if !vain || q.SIDR || q.To != a || q.First < d.owed || d.to != 0 && q.First >= d.to {
			continue
		}
		k := slices.IndexFunc(askers, func(x asker) bool { return x.host == q.From })
		if k < 0 {
			k, askers = len(askers), append(askers, asker{host: q.From, first: q.First})
		}
		x := &askers[k]
		x.times, x.first = x.times+uint64(q.Times), min(x.first, q.First)
		x.again, x.waited = x.again+uint64(max(q.Times, 1))-1, x.waited+q.Last-q.First
	}
	return askers
}
