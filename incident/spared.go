package incident

import (
	"fmt"
	"math"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// judgedLoads is what was sent on each way, and on all.
type judgedLoads struct {
	ways map[way]load
	all  load
}

// icrcsJudged returns what connections have sent, where the ICRC of each packet was judged; nil: a snap length cut some, or not all connections are at hand.
func (t *teller) icrcsJudged() *judgedLoads {
	if t.run.RDMA == 0 || t.more {
		return nil // a run that goes on has only the connections with trouble at hand
	}
	s := &judgedLoads{ways: map[way]load{}}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			w, x := way{c.Ends[e].Addr, c.Ends[1-e].Addr}, &c.Ends[e]
			l := load{x.Packets, x.Bytes + x.Packets*headersOf}
			s.ways[w], s.all = s.ways[w].plus(l), s.all.plus(l)
		}
	}
	if r := &t.run.Cover; r[rule.ROCV2019].Exercised+r[rule.LNKCRC003].Exercised+r[rule.LNKCRC004].Exercised < s.all.packets {
		return nil
	}
	return s
}

// of says how many packets were damaged of those that were sent on a way, which do not count these.
func (s *judgedLoads) of(w *onWay) string {
	if s == nil || s.ways[w.way].packets == 0 {
		return number(w.damaged.n)
	}
	return fmt.Sprintf("%s of %s", number(w.damaged.n), number(w.damaged.n+s.ways[w.way].packets))
}

// spared are the hosts whose packets to a host were not damaged, though those of others were, or to which those of a host were not: by too many packets for chance.
type spared struct {
	addr    packet.Addr // that all damaged packets go to, or come from
	from    bool        // they come from it
	harmed  []*onWay
	hosts   []packet.Addr
	packets uint64 // that were spared
	would   float64
}

// tooFew is up to what chance of a contrast it is taken for none.
const tooFew = 0.01

// sparedBy returns which hosts were spared, of those that send to the host that n damaged packets go to, in some bursts, or else that the one they come from sends to; nil: none were, or too little
// was sent to tell.
func (s *judgedLoads) sparedBy(harmed []*onWay, n, bursts uint64) *spared {
	if s == nil {
		return nil
	}
	for _, from := range []bool{false, true} {
		x := harmed[0].side(from)
		if slices.ContainsFunc(harmed, func(w *onWay) bool { return w.side(from) != x || s.ways[w.way].packets == 0 }) {
			continue
		}
		if k := s.sparedAt(&spared{addr: x, from: from, harmed: harmed}, n, bursts); k != nil {
			return k
		}
	}
	return nil
}

// sparedAt fills in which hosts were spared. What is damaged at once counts once: others may have sent nothing just then.
func (s *judgedLoads) sparedAt(k *spared, n, bursts uint64) *spared {
	var all, hit load
	clean := map[packet.Addr]load{}
	for w, l := range s.ways {
		if w.side(k.from) != k.addr || l.packets == 0 {
			continue
		}
		if all = all.plus(l); slices.ContainsFunc(k.harmed, func(o *onWay) bool { return o.way == w }) {
			hit = hit.plus(l)
		} else {
			clean[w.side(!k.from)] = l
		}
	}
	for a, l := range clean {
		part := min(float64(l.packets)/float64(all.packets), float64(l.bytes)/float64(all.bytes))
		if chance := math.Pow(1-part, float64(bursts)) * float64(len(clean)); chance < tooFew {
			k.hosts, k.packets = append(k.hosts, a), k.packets+l.packets
		}
	}
	if len(k.hosts) == 0 {
		return nil
	}
	slices.SortFunc(k.hosts, packet.Addr.Compare)
	k.would = float64(n) * float64(k.packets) / float64(n+hit.packets)
	return k
}

// mostSenders is of how many hosts at most the sentence tells how many of their packets were damaged.
const mostSenders = 3

// what says how many packets were damaged of each host, and of which none was.
func (k *spared) what(had string, s *judgedLoads) string {
	to, from := "to", "from"
	if k.from {
		to, from = from, to
	}
	var list []string
	rest, hosts := uint64(0), uint64(0)
	for n, w := range k.harmed {
		if n < mostSenders {
			list = append(list, fmt.Sprintf("%s %s %v", s.of(w), from, w.side(!k.from)))
		} else {
			rest, hosts = rest+w.damaged.n, hosts+1
		}
	}
	if hosts > 0 {
		list = append(list, fmt.Sprintf("%s %s %s", number(rest), from, count(hosts, "other host")))
	}
	list = append(list, fmt.Sprintf("none of %s %s %s", number(k.packets), from, someOf(k.hosts)))
	return fmt.Sprintf("%s, %s %v: %s; damaged before it; receivers drop them.", had, to, k.addr, enumerate(list))
}

// tell says that packets were spared, where all damaged ones go to one host, or come from one, and what that leaves.
func (k *spared) tell(i *Incident) {
	addr := k.addr.String()
	said, rules := "from %s to %s", "what all packets to %s pass, as its link, is not it"
	if k.from {
		said, rules = "to %s from %s", "what all packets of %s pass, as its adapter and its link, is not it"
	}
	i.fact("spared", fmt.Sprintf("%s "+said+", of which about %.0f would be damaged at the rate of the others: "+rules, count(k.packets, "packet"), someOf(k.hosts), addr, k.would, addr))
}

// reasons puts first what fits, and what is to be looked at. oneBit says that it is no link, as flips.oneBit does.
func (k *spared) reasons(i *Incident, oneBit bool) {
	var hit []packet.Addr
	for _, w := range k.harmed {
		hit = append(hit, w.side(!k.from))
	}
	slices.SortFunc(hit, packet.Addr.Compare)
	of, other := fmt.Sprintf("packets from %s to %v", someOf(hit), k.addr), fmt.Sprintf("those from %s", someOf(k.hosts))
	if k.from {
		of, other = fmt.Sprintf("packets from %v to %s", k.addr, someOf(hit)), fmt.Sprintf("those to %s", someOf(k.hosts))
	}
	if oneBit {
		where := "a switch"
		if len(hit) == 1 {
			where += ", or the adapter of a host,"
		}
		i.FitsWith = []string{fmt.Sprintf("what %s pass before the tap, and %s do not: %s in whose memory or bus one bit is stuck or flips; a link would flip others too", of, other, where)}
		i.Next[0] = fmt.Sprintf("the switches that %s pass and %s do not: ECC and parity errors, and internal drops", of, other)
		return
	}
	where := "a link between switches, its transceivers, or a switch"
	if len(hit) == 1 {
		where = "a link, its transceivers, a switch, or the adapter of a host"
	}
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("what %s pass before the tap, and %s do not: %s", of, other, where))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("the links and switches that %s pass and %s do not: FCS, symbol and FEC errors of their ports", of, other))
}
