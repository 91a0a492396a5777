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

// paths says how many of the queue pairs between the hosts of a connection, of those that sent what end from did in the same direction, lost packets: the network may send each
// another way.
func (t *teller) paths(c *agent.Connection, from int) string {
	if t.run.RDMA == 0 {
		return "" // a run that goes on has only the connections with trouble at hand
	}
	k := waysKey{way{c.Ends[from].Addr, c.Ends[1-from].Addr}, c.Service}
	if s, known := t.ways[k]; known {
		return s
	}
	lossy, steady, rounds := 0, 0, uint32(0)
	var sentLossy, sentSteady uint64
	var ports []uint16
	for _, d := range t.siblings(c) {
		e := &d.Ends[0]
		if e.Addr != k.from {
			e = &d.Ends[1]
		}
		sent := requestPackets(d, e)
		switch n := lost(e); {
		case n > 0:
			lossy, rounds, sentLossy = lossy+1, rounds+n, sentLossy+sent
			if d.Encap.OnIP() && e.Path.Known && !slices.Contains(ports, e.Path.Port) {
				ports = append(ports, e.Path.Port)
			}
		case sent >= steadyPackets:
			steady, sentSteady = steady+1, sentSteady+sent
		}
	}
	s := ""
	switch n := lossy + steady; {
	case n < fewestPaths:
	case steady == 0:
		s = fmt.Sprintf("all %d queue pairs from %v to %v had to retransmit, so that it is not one path of several", n, k.from, k.to)
	case lossy <= n/2 && rounds >= tellingRounds && uint64(rounds)*sentSteady >= tellingMisses*sentLossy:
		s = fmt.Sprintf("%d of %d queue pairs from %v to %v had to retransmit%s: it may be one path of several", lossy, n, k.from, k.to, onPorts(ports))
	}
	if t.ways == nil {
		t.ways = map[waysKey]string{}
	}
	t.ways[k] = s
	return s
}

// waysKey is a direction between hosts, and a service.
type waysKey struct {
	way
	service packet.Service
}

// requestPackets is about how many packets with requests an end has sent: what is lost of ACKs shows only where nothing after them is answered.
func requestPackets(c *agent.Connection, e *agent.End) uint64 {
	if e.Messages == 0 {
		return 0
	}
	return min(e.Packets, e.Messages+e.Bytes/max(uint64(c.PMTU), 256))
}

// lost is in how many rounds an end retransmitted for another reason than that its peer was not ready.
func lost(e *agent.End) uint32 {
	if e.Trouble == nil {
		return 0
	}
	s := e.Trouble.Settled(false).Sum
	return uint32(s.Total()) - s.Rounds[qp.NotReady]
}

// onPorts names UDP source ports, by which networks choose among paths.
func onPorts(ports []uint16) string {
	if len(ports) == 0 {
		return ""
	}
	slices.Sort(ports)
	var names []string
	for _, p := range ports[:min(len(ports), portsShown)] {
		names = append(names, strconv.Itoa(int(p)))
	}
	if len(ports) > portsShown {
		names = append(names, "…")
	}
	noun := "port"
	if len(ports) > 1 {
		noun = "ports"
	}
	return fmt.Sprintf(" (UDP source %s %s)", noun, strings.Join(names, ", "))
}
