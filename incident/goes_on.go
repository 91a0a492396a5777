package incident

import (
	"fmt"
	"slices"
	"strconv"

	"ibwitness/agent"
	"ibwitness/qp"
)

// goingOn is other connections between two hosts that went on, and had nothing retransmitted.
type goingOn struct {
	n           uint64
	first, last int64    // when the newest packet of the peer came on the one on which it came first, and on the one on which it came last
	ports       []uint16 // UDP source ports of what the requester sends on them, as far as they are known
}

// goOn is which connections went on beside c, of which end from sends requests, after a time.
func (t *teller) goOn(c *agent.Connection, from int, since int64) goingOn {
	return t.unharmedBeside(c, from, func(_ *agent.Connection, e, peer *agent.End) bool { return min(e.Last, peer.Last) > since })
}

// livedOn is goOn of the connections that had begun by that time, too: what began later shows nothing of it.
func (t *teller) livedOn(c *agent.Connection, from int, since int64) goingOn {
	return t.unharmedBeside(c, from, func(d *agent.Connection, e, peer *agent.End) bool {
		return d.First <= since && min(e.Last, peer.Last) > since
	})
}

// unharmedBeside is which connections beside c with nothing retransmitted are such, by the end of the host of end from of it and that of its peer.
func (t *teller) unharmedBeside(c *agent.Connection, from int, such func(d *agent.Connection, e, peer *agent.End) bool) (on goingOn) {
	list := t.siblings(c)
	if len(list) > mostOthers {
		return on
	}
	for _, d := range list {
		e, peer := senderOn(d, c.Ends[from].Addr), senderOn(d, c.Ends[1-from].Addr)
		if d == c || slices.ContainsFunc(d.Ends[:], func(e agent.End) bool { return e.Stalled || e.Retransmissions > 0 }) || !such(d, e, peer) {
			continue
		}
		on.n++
		if on.first == 0 || peer.Last < on.first {
			on.first = peer.Last
		}
		on.last = max(on.last, peer.Last)
		on.ports = withPort(on.ports, d, e)
	}
	return on
}

// fewestBeside is on how many other queue pairs of the same hosts packets come through at least where it is likely the path of one that fails.
const fewestBeside = 2

// besideStall is the connections beside c on which the peer sent after the request of stall k of end from of it, where one at least went on beyond its first retransmission; none: they are too few to tell, or
// the peer still sends on c.
func (t *teller) besideStall(c *agent.Connection, from int, k *qp.Stall) goingOn {
	if on := t.sentBeside(c, from, k); on.n >= fewestBeside {
		return on
	}
	return goingOn{}
}

// sentBeside is besideStall however few they are.
func (t *teller) sentBeside(c *agent.Connection, from int, k *qp.Stall) goingOn {
	peer := &c.Ends[1-from]
	if !t.timed() || peer.Packets == 0 || peer.Last > k.Since || c.Ends[from].Addr == peer.Addr {
		return goingOn{}
	}
	beyond := false
	on := t.unharmedBeside(c, from, func(d *agent.Connection, e, peer *agent.End) bool {
		had := d.First <= k.Since && e.Packets > 0 && peer.Last > k.Since // what began later shows nothing of that time
		beyond = beyond || had && min(e.Last, peer.Last) > k.Begun
		return had
	})
	if !beyond {
		return goingOn{}
	}
	return on
}

// besideStall says of stall k of end e of c on how many other queue pairs between the same hosts the peer still sent, and with which UDP source ports the host of e sends on them.
func (i *Incident) besideStall(c *agent.Connection, e *agent.End, k *qp.Stall, on *goingOn) {
	last := span(on.last - k.Since)
	if first := span(on.first - k.Since); first != last {
		last = first + " to " + last
	}
	s := fmt.Sprintf("%v went on sending on %s between the same hosts%s, on which nothing was retransmitted: its last packet on each came %s after this request", i.Peer.Addr, count(on.n, "other queue pair"), onPorts(on.ports), last)
	if p := withPort(nil, c, e); len(p) > 0 {
		s += "; this one sends with UDP source port " + strconv.Itoa(int(p[0]))
	}
	i.fact("beside", s)
}

// pathApart reports whether what end e of c sends may take another path than that of those beside it: no other has its UDP source port.
func pathApart(c *agent.Connection, e *agent.End, on *goingOn) bool {
	p := withPort(nil, c, e)
	return on.n > 0 && len(p) > 0 && len(on.ports) > 0 && !slices.Contains(on.ports, p[0])
}

// portOf names the UDP source port of what an end sends, in brackets; "": it is not known.
func portOf(e *agent.End) string {
	if !e.Path.Known || e.Path.Port == 0 {
		return ""
	}
	return fmt.Sprintf(" (UDP source port %d)", e.Path.Port)
}

// onePathFails is what fits where other queue pairs between the same hosts go on.
func onePathFails(local, peer string, e *agent.End) string {
	return fmt.Sprintf("one path of several from %s to %s that fails, which this queue pair takes%s", local, peer, portOf(e))
}

// hashedOn is where to look then.
func hashedOn(local, peer string, e *agent.End) string {
	return fmt.Sprintf("the links between the switches that the flow from %s to %s%s is hashed to, and their counters", local, peer, portOf(e))
}
