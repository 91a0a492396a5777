package incident

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibwitness/packet"
	"ibwitness/rule"
)

// flow is what one queue pair sends to another, which the packet names.
type flow struct {
	way
	qpn uint32 // of the receiver
}

// damagedOf is how many packets of a flow were damaged, and in how many bursts, by a pause.
type damagedOf struct {
	n, bursts uint64
	newest    int64
}

// mostFlows is of how many flows it is kept how many packets were damaged.
const mostFlows = 64

// damagedOn takes a finding of a damaged packet.
func (n *network) damagedOn(f *rule.Finding) {
	if n.flows == nil {
		n.flows = map[flow]*damagedOf{}
	}
	k := flow{way{f.Accused.Addr, f.Peer.Addr}, f.Peer.QPN}
	d := n.flows[k]
	if d == nil {
		if len(n.flows) > mostFlows {
			return
		}
		d = &damagedOf{}
		n.flows[k] = d
	}
	if d.n == 0 || f.Time-d.newest > pauseOfBursts {
		d.bursts++
	}
	d.n, d.newest = d.n+1, f.Time
}

// damagedFlows are the flows that all damaged packets are of, though others between the same hosts, in the same direction, sent so much that this is no chance.
type damagedFlows struct {
	n       int      // of them
	ports   []uint16 // UDP source ports, where all are known
	portOf  map[flow]uint16
	others  uint64        // flows from the same hosts or to them of which no packet was damaged
	packets uint64        // of these
	hosts   []packet.Addr // whose adapters and links are not what damaged packets
}

// flowsOf returns the flows that all n damaged packets are of; nil: others were hit too, or too little was sent to tell, or not each can send packets another way.
func (t *teller) flowsOf(flows map[flow]*damagedOf, n uint64, judged *judgedLoads) *damagedFlows {
	if judged == nil || len(flows) == 0 || len(flows) > mostFlows {
		return nil
	}
	f, left := &damagedFlows{n: len(flows), portOf: map[flow]uint16{}}, n
	hit, clean := map[way]load{}, map[way]load{}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			x, to := &c.Ends[e], &c.Ends[1-e]
			w := way{x.Addr, to.Addr}
			l := load{x.Packets, x.Bytes + x.Packets*headersOf}
			d := flows[flow{w, to.QPN}]
			switch {
			case d == nil || !to.QPNKnown:
				clean[w] = clean[w].plus(l)
				continue
			case !c.Encap.OnIP():
				return nil
			}
			left -= min(left, d.n)
			hit[w] = hit[w].plus(l)
			if x.Path.Known {
				f.portOf[flow{w, to.QPN}] = x.Path.Port
				f.ports = withPorts(f.ports, []uint16{x.Path.Port})
			}
		}
	}
	if left > 0 || !apart(flows, hit, clean) {
		return nil
	}
	f.spare(t, flows, hit)
	f.clear(flows, hit, clean)
	return f
}

// hardlyAny is less likely than what tells a host apart where others were hit likewise.
const hardlyAny = 0.05

// chanceOf is how likely it is that so many damaged packets are all of those flows that were hit between their hosts, were the others as likely to be.
func chanceOf(flows map[flow]*damagedOf, hit, clean map[way]load) float64 {
	p := 0.0
	for k, d := range flows {
		h, c := hit[k.way], clean[k.way]
		if h.packets == 0 || c.packets == 0 {
			continue
		}
		part := min(float64(c.packets)/float64(c.packets+h.packets), float64(c.bytes)/float64(c.bytes+h.bytes))
		p += float64(d.bursts) * math.Log1p(-part)
	}
	return math.Exp(p)
}

// spare counts the flows of the hosts that send those which were hit, or get them, in the same direction.
func (f *damagedFlows) spare(t *teller, flows map[flow]*damagedOf, hit map[way]load) {
	from, to := map[packet.Addr]bool{}, map[packet.Addr]bool{}
	for w := range hit {
		from[w.from], to[w.to] = true, true
	}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			x, y := &c.Ends[e], &c.Ends[1-e]
			if (from[x.Addr] || to[y.Addr]) && x.Packets >= steadyPackets && flows[flow{way{x.Addr, y.Addr}, y.QPN}] == nil {
				f.others, f.packets = f.others+1, f.packets+x.Packets
			}
		}
	}
}

// clear finds the hosts whose adapters and links are not what damaged packets: others that they sent, or that were sent to them, passed these too.
func (f *damagedFlows) clear(flows map[flow]*damagedOf, hit, clean map[way]load) {
	for _, from := range []bool{true, false} {
		harmed, spared, by := bySide(hit, from), bySide(clean, from), flowsBySide(flows, from)
		few := tooFew
		if len(by) > 1 { // one fault of several hosts is at none of them
			few = hardlyAny
		}
		for x, only := range by {
			if chanceOf(only, harmed, spared) < few && !slices.Contains(f.hosts, x) {
				f.hosts = append(f.hosts, x)
			}
		}
	}
	slices.SortFunc(f.hosts, packet.Addr.Compare)
}

// bySide adds up what is sent from each host, or to each.
func bySide(loads map[way]load, from bool) map[way]load {
	sums := map[way]load{}
	for w, l := range loads {
		k := way{from: w.side(from)}
		sums[k] = sums[k].plus(l)
	}
	return sums
}

// on names the queue pairs that damaged packets go to by how many they are, with their UDP source ports.
func (f *damagedFlows) on() string { return count(uint64(f.n), "queue pair") + onPorts(f.ports) }

// tell has an incident of damage tell of the flows. had is what happened to the packets.
func (f *damagedFlows) tell(i *Incident, had string, flows map[flow]*damagedOf) {
	i.What = fmt.Sprintf("%s, all of them on %s, and none of %s of %s from the same hosts or to them: damaged before it, and not by what all of these pass; receivers drop them.",
		had, f.on(), count(f.packets, "packet"), count(f.others, "other"))
	list := make([]flow, 0, len(flows))
	for k := range flows {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b flow) int {
		return cmp.Or(cmp.Compare(flows[b].n, flows[a].n), a.from.Compare(b.from), a.to.Compare(b.to), cmp.Compare(a.qpn, b.qpn))
	})
	var said []string
	for _, k := range list[:min(len(list), portsShown)] {
		said = append(said, fmt.Sprintf("%s %v → %v QP 0x%x%s", number(flows[k].n), k.from, k.to, k.qpn, f.path(k, len(list) > 1)))
	}
	if more := len(list) - len(said); more > 0 {
		said = append(said, number(uint64(more))+" more")
	}
	i.fact("from, to", strings.Join(said, "; "))
	if len(f.hosts) > 0 {
		i.fact("spared", fmt.Sprintf("what all packets of a host pass is not it: not the adapters and own links of %s", someOf(f.hosts)))
	}
}

// reasons puts first what fits, and what is to be looked at. oneBit says that it is no link, as flips.oneBit does.
func (f *damagedFlows) reasons(i *Incident, oneBit bool) {
	where, errors := "a link, its transceivers, or a switch on it", "FCS, symbol and FEC errors of their ports"
	if oneBit {
		where, errors = "a switch on it in whose memory or bus one bit is stuck or flips; a link would flip others too", "ECC and parity errors, and internal drops"
	}
	fits := "one path of several, which these queue pairs take, and the others do not: " + where
	next := fmt.Sprintf("which switches and links the packets of %s are sent through (ECMP hash), and those of the others are not: %s", f.on(), errors)
	if oneBit {
		i.FitsWith, i.Next[0] = []string{fits}, next
		return
	}
	i.FitsWith, i.Next = slices.Insert(i.FitsWith, 0, fits), slices.Insert(i.Next, 0, next)
}
