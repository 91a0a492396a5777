package incident

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

const (
	steadyPackets = 64 // with requests, of an end that lost none, from which on that says something of its path
	fewestPaths   = 3  // queue pairs, to compare the paths of
	tellingRounds = 3  // of retransmission, which fewer of hit one path by chance
	tellingMisses = 5  // rounds that queue pairs without any would have had, if they lost packets as often as the others
	portsShown    = 4
)

// lossyPath is what is said of the paths between two hosts. one says that what lost packets may be one path of several, all that every queue pair between them did, ported that UDP source ports of it
// are known, and answers that it is that of answers, by what their sender lost itself.
type lossyPath struct {
	said                      string
	one, all, ported, answers bool
}

// onePath is what fits where queue pairs lose packets, and others between the same hosts do not.
const onePath = "one path of several, which these queue pairs take, and which loses packets"

// paths says how many of the queue pairs between the hosts of a connection, of those that sent what end from did in the same direction, lost packets: the network may send each
// another way. Where they are too few to tell, those between all hosts may tell.
func (t *teller) paths(c *agent.Connection, from int) lossyPath {
	if t.run.RDMA == 0 {
		return lossyPath{} // a run that goes on has only the connections with trouble at hand
	}
	k := waysKey{way{c.Ends[from].Addr, c.Ends[1-from].Addr}, c.Service}
	if x, known := t.ways[k]; known {
		return x
	}
	var f fates
	list := t.siblings(c)
	until := troubledUntil(list, k.from)
	for _, d := range list {
		if e := senderOn(d, k.from); lost(e) > 0 || d.First <= until {
			f.add(t, d, e)
		}
	}
	without := f
	f.takeFaint()
	if !f.onePath() && without.faint != nil && without.onePath() {
		f = without
	}
	var x lossyPath
	switch n := f.lossy + f.steady; {
	case n < fewestPaths:
		x = t.pathsBetweenAll(c.Service)
	case f.steady == 0:
		but := ""
		if f.few > 0 {
			but = fmt.Sprintf(" but %d that sent fewer than %d packets", f.few, steadyPackets)
		}
		x = lossyPath{said: fmt.Sprintf("all %d queue pairs from %v to %v%s had to retransmit, so that it is not one path of several", n+f.few, k.from, k.to, but), all: true}
	case f.onePath():
		ports, ported := f.lossyPorts()
		x = lossyPath{said: fmt.Sprintf("%d of %d queue pairs from %v to %v had to retransmit%s: it may be one path of several", f.lossy, n, k.from, k.to, ports), one: true, ported: ported}
		x.said += f.cleanSaid()
		x.said += f.faintSaid()
	}
	if t.ways == nil {
		t.ways = map[waysKey]lossyPath{}
	}
	t.ways[k] = x
	return x
}

// onePath reports whether what became of the queue pairs between two hosts tells of one path of several: not where bulk data is lost beside small messages.
func (f *fates) onePath() bool {
	n := f.lossy + f.steady
	return n >= fewestPaths && f.steady > 0 && !f.unlike() && f.lossy <= n/2 && f.rounds >= tellingRounds && uint64(f.rounds)*f.sentSteady >= tellingMisses*f.sentLossy
}

// senderOn is the end of a connection that a host is.
func senderOn(c *agent.Connection, from packet.Addr) *agent.End {
	if c.Ends[0].Addr == from {
		return &c.Ends[0]
	}
	return &c.Ends[1]
}

// troubledUntil is when what a host sent on some connections was retransmitted last: those that began later show nothing of the paths until then.
func troubledUntil(list []*agent.Connection, from packet.Addr) (until int64) {
	for _, c := range list {
		if e := senderOn(c, from); e.Trouble != nil {
			s := e.Trouble.Settled(e.Stalled)
			until = max(until, s.Sum.Last, s.Now.Last)
		}
	}
	return until
}

// fates is how many queue pairs lost packets and how many did not, and about how many packets with requests they sent.
type fates struct {
	lossy, steady         int
	few                   int    // that lost none, and sent too few packets to tell
	rounds                uint32 // of retransmission
	sentLossy, sentSteady uint64
	ports                 []uint16 // of those that lost packets
	back                  []uint16 // of those that lost responses to them
	timed                 []timedPort
	clean, cleanBack      []uint16 // of those that lost none, and of the responses to these
	lossyOf, steadyOf     sizes
	faint                 *fates // besides: those that lost packets in few rounds, and sent so few that they would not count had they lost none
}

// add takes end e of a connection.
func (f *fates) add(t *teller, c *agent.Connection, e *agent.End) {
	sent := requestPackets(c, e)
	switch n := lost(e); {
	case n > 0 && n < tellingRounds && sent < steadyPackets:
		if f.faint == nil {
			f.faint = &fates{}
		}
		f.faint.addLossy(t, c, e, n, sent)
	case n > 0:
		f.addLossy(t, c, e, n, sent)
	case sent >= steadyPackets:
		f.steady, f.sentSteady = f.steady+1, f.sentSteady+sent
		f.steadyOf.add(c, e)
		f.clean, f.cleanBack = withPort(f.clean, c, e), withPort(f.cleanBack, c, peerOf(c, e))
	case sent > 0:
		f.few++
	}
}

// addLossy takes end e of a connection, which lost packets in n rounds.
func (f *fates) addLossy(t *teller, c *agent.Connection, e *agent.End, n uint32, sent uint64) {
	f.lossy, f.rounds, f.sentLossy = f.lossy+1, f.rounds+n, f.sentLossy+sent
	f.lossyOf.add(c, e)
	switch at := t.lossyEnd(c, e); {
	case at == e && timedOnly(e, n):
		for _, p := range withPort(nil, c, at) {
			f.timed = append(f.timed, timedPort{p, n})
		}
	case at == e:
		f.ports = withPort(f.ports, c, at)
	default:
		f.back = withPort(f.back, c, at)
	}
}

// withPort adds the UDP source port of end e of a connection to others.
func withPort(list []uint16, c *agent.Connection, e *agent.End) []uint16 {
	if !c.Encap.OnIP() || !e.Path.Known || slices.Contains(list, e.Path.Port) {
		return list
	}
	return append(list, e.Path.Port)
}

// lossyPorts names the UDP source ports of what was lost in each direction, and says whether there are any.
func (f *fates) lossyPorts() (said string, ported bool) {
	said = f.onPorts(f.ports)
	switch back := onPorts(f.back); {
	case back == "":
	case said == "":
		said = strings.Replace(back, "(UDP", "(of lost responses: UDP", 1)
	default:
		said = said[:len(said)-1] + "; of lost responses: " + back[2:]
	}
	return said, said != ""
}

// lossyEnd returns whose packets most of the rounds of retransmission of end e of a connection are for: its own, or its peer's responses.
func (t *teller) lossyEnd(c *agent.Connection, e *agent.End) *agent.End {
	k, from := e.Trouble.Settled(false), 0
	if e == &c.Ends[1] {
		from = 1
	}
	if 2*uint64(k.Sum.Rounds[qp.ResponseLost]+t.answersGone(c, from, &k)) <= k.Sum.Total() {
		return e
	}
	return &c.Ends[1-from]
}

// peerOf is the other end of a connection than e.
func peerOf(c *agent.Connection, e *agent.End) *agent.End {
	if e == &c.Ends[0] {
		return &c.Ends[1]
	}
	return &c.Ends[0]
}

// cleanSaid names the UDP source ports of those that lost none, in the direction in which others did.
func (f *fates) cleanSaid() string {
	clean := onPorts(f.clean)
	if len(f.ports)+len(f.timed) == 0 {
		if clean = onPorts(f.cleanBack); len(f.back) == 0 {
			clean = ""
		}
	}
	if clean == "" {
		return ""
	}
	return "; the others lost none" + clean
}

func (f *fates) merge(o *fates) {
	f.lossy, f.steady, f.rounds = f.lossy+o.lossy, f.steady+o.steady, f.rounds+o.rounds
	f.sentLossy, f.sentSteady = f.sentLossy+o.sentLossy, f.sentSteady+o.sentSteady
	f.lossyOf.merge(o.lossyOf)
	f.steadyOf.merge(o.steadyOf)
	f.ports, f.back, f.clean, f.cleanBack = withPorts(f.ports, o.ports), withPorts(f.back, o.back), withPorts(f.clean, o.clean), withPorts(f.cleanBack, o.cleanBack)
	f.timed = append(f.timed, o.timed...)
	if o.faint != nil {
		if f.faint == nil {
			f.faint = &fates{}
		}
		f.faint.merge(o.faint)
	}
}

// takeFaint counts those that sent few as the others that lost packets.
func (f *fates) takeFaint() {
	if o := f.faint; o != nil {
		f.faint = nil
		f.merge(o)
	}
}

// faintSaid tells of those that sent few; "": there are none.
func (f *fates) faintSaid() string {
	if f.faint == nil {
		return ""
	}
	o := f.faint
	return fmt.Sprintf("; %s more%s, with few packets, likewise, in %s", number(uint64(o.lossy)), onPorts(withPorts(o.withTimed(o.ports), o.back)), count(uint64(o.rounds), "round"))
}

// withPorts adds ports to others.
func withPorts(list, more []uint16) []uint16 {
	for _, p := range more {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// fewestPairs is in how many pairs of hosts queue pairs must have lost packets, and others not, for that to tell of paths where each pair has few.
const fewestPairs = 2

// pathsBetweenAll is pathsOfAll, which looks at each connection of the run: once for a service.
func (t *teller) pathsBetweenAll(service packet.Service) lossyPath {
	x, known := t.allWays[service]
	if !known {
		if t.allWays == nil {
			t.allWays = map[packet.Service]lossyPath{}
		}
		x = t.pathsOfAll(service)
		t.allWays[service] = x
	}
	return x
}

// pathsOfAll says of the queue pairs of a service between all hosts that have several how many lost packets, where others between the same hosts lost none.
func (t *teller) pathsOfAll(service packet.Service) lossyPath {
	ways := map[way]*fates{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Service != service {
			continue
		}
		for from := range c.Ends {
			w := way{c.Ends[from].Addr, c.Ends[1-from].Addr}
			if ways[w] == nil {
				ways[w] = &fates{}
			}
			ways[w].add(t, c, &c.Ends[from])
		}
	}
	var all, mixed fates
	var lossy []wayPorts
	pairs, both := map[pair]bool{}, map[pair]bool{}
	for w, f := range ways {
		f.takeFaint()
		if f.lossy+f.steady < 2 {
			continue
		}
		all.merge(f)
		lossy = append(lossy, wayPorts{w, f.withTimed(f.ports)}, wayPorts{way{w.to, w.from}, f.back})
		pairs[pairBy(w.from, w.to)] = true
		if f.lossy > 0 && f.steady > 0 {
			mixed.merge(f)
			both[pairBy(w.from, w.to)] = true
		}
	}
	n := all.lossy + all.steady
	again := mixed.rounds - uint32(mixed.lossy) // without the first of each, by which it is one of those that lost packets
	if mixed.unlike() || len(both) < fewestPairs || all.lossy > n/2 || mixed.lossy > mixed.steady || again < tellingRounds || uint64(again)*mixed.sentSteady < tellingMisses*mixed.sentLossy {
		return lossyPath{}
	}
	return lossyPath{said: fmt.Sprintf("%d of %d queue pairs in %d pairs of hosts that have several had to retransmit%s, and in %d of these pairs others between the same hosts did not: it may be one path of several",
		all.lossy, n, len(pairs), portsByWay(lossy), len(both)), one: true, ported: len(all.ports)+len(all.timed)+len(all.back) > 0}
}

// waysKey is a direction between hosts, and a service.
type waysKey struct {
	way
	service packet.Service
}

// requestPackets is about how many packets with requests an end has sent, and with data that they asked for, where its peer sends nothing else: what is lost of ACKs shows only where nothing after them
// is answered.
func requestPackets(c *agent.Connection, e *agent.End) uint64 {
	if e.Messages == 0 {
		return 0
	}
	n, size := min(e.Packets, e.Messages+e.Bytes/max(uint64(c.PMTU), 256)), max(uint64(c.PMTU), 256)
	if peer := peerOf(c, e); peer.Messages == 0 {
		n += min(peer.Packets, peer.Bytes/size)
	}
	return n
}

// lost is in how many rounds an end retransmitted for another reason than that its peer was not ready.
func lost(e *agent.End) uint32 {
	if e.Trouble == nil {
		return 0
	}
	s := e.Trouble.Settled(false).Sum
	return uint32(s.Total()) - s.Rounds[qp.NotReady]
}

// mostPorts is how many UDP source ports are named.
const mostPorts = 6

// onPorts names UDP source ports, by which networks choose among paths.
func onPorts(ports []uint16) string {
	if len(ports) == 0 {
		return ""
	}
	slices.Sort(ports)
	var names []string
	for _, p := range ports[:min(len(ports), mostPorts)] {
		names = append(names, strconv.Itoa(int(p)))
	}
	if len(ports) > mostPorts {
		names = append(names, "…")
	}
	noun := "port"
	if len(ports) > 1 {
		noun = "ports"
	}
	return fmt.Sprintf(" (UDP source %s %s)", noun, strings.Join(names, ", "))
}
