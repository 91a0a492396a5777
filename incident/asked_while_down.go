package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/fabricagent"
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
	t.askedByARP(i, downs, hosts)
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
		vain := q.Waits == cm.ForREP || q.Waits == cm.ForLate || q.Waits == cm.ForSecond || q.Waits == cm.ForRefusal
		if !vain || q.SIDR || q.To != a || q.First < d.owed || d.to != 0 && q.First >= d.to {
			continue
		}
		k := slices.IndexFunc(askers, func(x asker) bool { return x.host == q.From })
		if k < 0 {
			k, askers = len(askers), append(askers, asker{host: q.From, first: q.First})
		}
		x, times, waited := &askers[k], max(uint64(q.Times), 1), q.Last-q.First
		if d.to != 0 && q.Last >= d.to && times > 1 { // the newest was sent when it was back
			waited -= waited / int64(times-1)
			times--
		}
		x.times, x.first = x.times+times, min(x.first, q.First)
		x.again, x.waited = x.again+times-1, x.waited+waited
	}
	return askers
}

// askedSince returns the REQ of a connection that CM opened, where it was retransmitted before it was answered; nil: it was not, or that is not known.
func (t *teller) askedSince(c *agent.Connection) *cm.Unanswered {
	if c.PairedBy != agent.ByCM {
		return nil
	}
	for n := range t.run.REQs {
		q := &t.run.REQs[n]
		if (q.Waits == cm.ForSecond || q.Waits == cm.ForLate) && q.From == c.Ends[0].Addr && q.To == c.Ends[1].Addr && q.QPN == c.Ends[0].QPN && q.EndFrame == c.FirstFrame && q.First < c.First {
			return q
		}
	}
	return nil
}

// askedByARP says which hosts but those that an incident tells of asked for its peer by ARP while that was down, as ones that have no answer: they did not reach it either.
func (t *teller) askedByARP(i *Incident, downs []hostSilence, hosts []packet.Addr) {
	of, order := map[packet.Addr]*asks{}, []*asks(nil)
	for n := range t.run.Signs {
		s := &t.run.Signs[n]
		in := func(d hostSilence) bool { return s.At >= d.owed && (d.to == 0 || s.At < d.to) }
		if s.By != fabricagent.ByARP || s.To != i.Peer.Addr || s.Host == s.To || slices.Contains(hosts, s.Host) || !slices.ContainsFunc(downs, in) {
			continue
		}
		k := of[s.Host]
		if k == nil {
			k = &asks{way: way{s.Host, s.To}, first: s}
			of[s.Host], order = k, append(order, k)
		}
		k.count, k.last = k.count+1, s
	}
	order = slices.DeleteFunc(order, func(k *asks) bool {
		return k.count < fewestARPs || k.last.At-k.first.At < unansweredA || k.last.At-k.first.At > int64(k.count)*unansweredA
	})
	if len(order) == 0 {
		return
	}
	said := make([]string, 0, lostNamed+1)
	for _, k := range order[:min(len(order), lostNamed)] {
		said = append(said, fmt.Sprintf("%v asked for %v by ARP %s, from %s to %s", k.from, k.to, times(k.count), t.offset(k.first.At), t.offset(k.last.At)))
		i.showAt(k.first)
	}
	as, it := "as one that has", "it"
	if len(order) > 1 {
		as, it = "as ones that have", "they"
	}
	if more := len(order) - lostNamed; more > 0 {
		said = append(said, count(uint64(more), "more host"))
	}
	i.fact("reached", fmt.Sprintf("%s, %s no answer: %s did not reach it either", enumerateSeparately(said), as, it))
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == reached(i.Peer.Addr.String()) })
}
