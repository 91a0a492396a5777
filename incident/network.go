package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// way is from one host to another.
type way struct{ from, to packet.Addr }

// seen is how often something was seen on a way, and where first and last.
type seen struct {
	n           uint64
	first, last sight
}

// sight is a packet in which something was seen.
type sight struct {
	time  int64
	tap   uint16
	frame uint64
	op    packet.Opcode
	psn   packet.PSN
	said  string // of it
}

func (s *seen) add(f *rule.Finding, said string) {
	s.last = sight{f.Time, f.Tap, f.Frame, f.Opcode, f.PSN, said}
	if s.n++; s.n == 1 {
		s.first = s.last
	}
}

// onWay is what the network did on a way, and what its receiver told the sender of it.
type onWay struct {
	way
	damaged, trimmed, marked, notified seen
	bursts                             bursts // of packets that were trimmed
}

// network is what findings tell that the network did to packets.
type network struct {
	most  int // ways that are followed; 0: all
	ways  map[way]*onWay
	order []*onWay
	rest  int64 // when something was seen last on another one, which is not told: a damaged address makes a way of its own
	flips flips
	flows map[flow]*damagedOf // that damaged packets are of
}

// of returns a way; nil: it is not followed.
func (n *network) of(from, to packet.Addr) *onWay {
	k := way{from, to}
	w := n.ways[k]
	if w == nil {
		if n.most > 0 && len(n.order) >= n.most {
			return nil
		}
		if n.ways == nil {
			n.ways = map[way]*onWay{}
		}
		w = &onWay{way: k}
		n.ways[k] = w
		n.order = append(n.order, w)
	}
	return w
}

// add takes a finding.
func (n *network) add(f *rule.Finding) {
	from, to := f.Accused.Addr, f.Peer.Addr
	switch f.Rule {
	case rule.ROCV2019, rule.LNKCRC003, rule.LNKCRC004:
		if f.Accused.Role == rule.Capture {
			return
		}
		n.flips.add(f)
		n.damagedOn(f)
	case rule.EvTrimmed, rule.EvCE:
	case rule.EvCNP:
		from, to = to, from
	default:
		return
	}
	w := n.of(from, to)
	switch {
	case w == nil:
		n.rest = f.Time
	case f.Rule == rule.EvTrimmed:
		w.trimmed.add(f, f.Detail)
		w.bursts = w.bursts.add([2]int64{f.Time, f.Time})
	case f.Rule == rule.EvCE:
		w.marked.add(f, "")
	case f.Rule == rule.EvCNP:
		w.notified.add(f, "")
	default:
		w.damaged.add(f, f.Actual)
	}
}

// forget drops what was seen last before a time.
func (n *network) forget(before int64) {
	damaged := false
	left := n.order[:0]
	for _, w := range n.order {
		any := false
		for _, s := range [...]*seen{&w.damaged, &w.trimmed, &w.marked, &w.notified} {
			if s.n > 0 && s.last.time < before {
				*s = seen{}
			}
			any = any || s.n > 0
		}
		damaged = damaged || w.damaged.n > 0
		if any {
			left = append(left, w)
		} else {
			delete(n.ways, w.way)
		}
	}
	clear(n.order[len(left):])
	if n.order = left; !damaged {
		n.flips, n.flows = flips{}, nil
	}
	if n.rest < before {
		n.rest = 0
	}
}

// network tells what the network did to packets: damage, trimming and congestion.
func (t *teller) network(n *network) {
	t.more = n.rest != 0
	t.damage(n)
	for _, w := range n.order {
		t.cut[w.way], t.marked[w.way] = w.trimmed.n > 0, w.marked.n >= manyMarks
	}
	t.trimmed(n.order)
	t.congested(n.order)
}

// about makes an incident of what was seen on a way.
func (w *onWay) about(kind Kind, seen ...*seen) *Incident {
	i := &Incident{Kind: kind, Certainty: Proven, Local: Party{Addr: w.from}, Peer: Party{Addr: w.to}}
	for _, s := range seen {
		if s.n == 0 {
			continue
		}
		if i.Begin == 0 || s.first.time < i.Begin {
			i.Begin, i.Tap = s.first.time, s.first.tap
		}
		i.End = max(i.End, s.last.time)
		if s.first.tap == i.Tap {
			i.show(s.first.frame)
		}
		if s.last.tap == i.Tap {
			i.show(s.last.frame)
		}
	}
	return i
}

// atLeast counts what there may be more of than is kept.
func (t *teller) atLeast(n uint64, noun string) string {
	if t.limited() {
		return "at least " + count(n, noun)
	}
	return count(n, noun)
}

// limited reports whether there may be more events than are kept.
func (t *teller) limited() bool { return t.run.Forgotten.Events+t.run.Forgotten.Findings > 0 || t.more }

// damage tells of all damaged packets at once: what is damaged may be an address.
func (t *teller) damage(n *network) {
	ways, x := n.order, &n.flips
	var harmed []*onWay // the one with most first
	var all seen
	for _, w := range ways {
		if w.damaged.n > 0 {
			harmed = append(harmed, w)
			all.merge(&w.damaged)
			t.damaged[w.way] = true
		}
	}
	if all.n == 0 {
		return
	}
	slices.SortStableFunc(harmed, func(a, b *onWay) int { return cmp.Compare(b.damaged.n, a.damaged.n) })
	most := harmed[0]
	i := most.about(Damage, &all)
	i.damaged, i.betweenHosts = all.n, t.damagedBetween(ways)
	f := &all.first
	first := fmt.Sprintf("of these frame %d", f.frame)
	if len(harmed) > 1 {
		w := harmed[slices.IndexFunc(harmed, func(w *onWay) bool { return w.damaged.first == *f })]
		first = fmt.Sprintf("frame %d, %v → %v", f.frame, w.from, w.to)
	}
	judged, had := t.icrcsJudged(), t.atLeast(all.n, "packet")+" had a wrong ICRC at the tap"
	var host *damagedHost
	flows, beside := t.flowsOf(n.flows, all.n, judged), judged.sparedBy(harmed, all.n, x.bursts)
	if flows != nil {
		beside = nil
	} else if beside == nil {
		if host = judged.damagedHost(harmed, all.n); host == nil {
			host = judged.damagedAlike(harmed, all.n)
		}
	}
	switch {
	case flows != nil:
		flows.tell(i, had, n.flows)
	case host != nil:
		host.tell(i, had, harmed)
	case beside != nil && len(harmed) > 1:
		i.What = beside.what(had, judged)
	case len(harmed) > 1:
		i.What = fmt.Sprintf("%s, %s of them from %v to %v: damaged before it; receivers drop them.", had, share(most.damaged.n, all.n), most.from, most.to)
		i.fact("from, to", t.damagedWays(ways, most, judged))
	default:
		i.What = fmt.Sprintf("%s from %v to %v: damaged before it; receivers drop them.", had, most.from, most.to)
	}
	if beside != nil {
		beside.tell(i)
	}
	i.fact("first", fmt.Sprintf("%s, %v, PSN %v: %s", first, f.op, f.psn, f.said))
	x.tell(i)
	switch {
	case flows != nil:
		flows.reasons(i, x.oneBit())
	case host != nil:
		host.reasons(i, x.oneBit())
	case beside != nil:
		beside.reasons(i, x.oneBit())
	}
	t.tellAs(i, group{kind: Damage}) // whoever had most of it
}

// damagedWays says how many packets were damaged from where to where, first of all on the way that had most, and back.
func (t *teller) damagedWays(ways []*onWay, most *onWay, judged *judgedLoads) string {
	s := fmt.Sprintf("%s %v → %v", judged.of(most), most.from, most.to)
	rest, pairs, hosts, between := uint64(0), uint64(0), uint64(0), uint64(0)
	var other *onWay
	known := map[pair]bool{}
	for k := range t.run.Connections {
		known[pairBy(t.run.Connections[k].Ends[0].Addr, t.run.Connections[k].Ends[1].Addr)] = true
	}
	for _, w := range ways {
		switch {
		case w == most || w.damaged.n == 0:
		case w.from == most.to && w.to == most.from:
			s += fmt.Sprintf("; %s back", judged.of(w))
		case known[pairBy(w.from, w.to)]:
			between, hosts, other = between+w.damaged.n, hosts+1, w
		default:
			rest, pairs = rest+w.damaged.n, pairs+1
		}
	}
	if hosts == 1 {
		s += fmt.Sprintf("; %s %v → %v", judged.of(other), other.from, other.to)
	} else if hosts > 1 {
		s += fmt.Sprintf("; %s in %d more directions between hosts", number(between), hosts)
	}
	if pairs > 0 {
		s += fmt.Sprintf("; %s between %s of addresses, which may be what was damaged", number(rest), count(pairs, "more pair"))
	}
	return s
}
