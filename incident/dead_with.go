package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// dead is a connection on which nothing is answered from the same moment on as on another one.
type dead struct {
	c    *agent.Connection
	from int // the end whose request is not answered
	k    qp.Stall
}

// deadShown is of how many such connections the QPNs are named.
const deadShown = 3

// deadWith returns the connections between the hosts of c on which a request of the host of end from, sent before that of stall k was
// retransmitted, is not answered either, and was retransmitted only after that of k was sent.
func (t *teller) deadWith(c *agent.Connection, from int, k *qp.Stall) (list []dead) {
	all := t.siblings(c)
	if len(all) > mostOthers {
		return nil
	}
	for _, d := range all {
		for e := range d.Ends {
			if d == c || d.Ends[e].Addr != c.Ends[from].Addr || !d.Ends[e].Stalled || d.Ends[1-e].Packets == 0 {
				continue
			}
			if o, waits := t.vain(d, e); waits && o.Since < k.Begun && k.Since < o.Begun {
				list = append(list, dead{d, e, o})
			}
		}
	}
	return list
}

// portsOf adds the UDP source ports of the requests on dead connections to others.
func portsOf(list []dead, ports []uint16) []uint16 {
	for _, d := range list {
		ports = withPort(ports, d.c, &d.c.Ends[d.from])
	}
	return ports
}

// tellDeadWith says which other queue pairs of the peer have answered nothing since the request of stall k, about, and how many went on; none, where
// nothing of the peer came any more.
func (t *teller) tellDeadWith(i *Incident, list []dead, k *qp.Stall, on *goingOn) {
	if len(list) == 0 {
		return
	}
	var names []string
	within := int64(0)
	for n := range list {
		d := &list[n]
		within = max(within, d.k.Since-k.Since, k.Since-d.k.Since)
		port := ""
		if e := &d.c.Ends[d.from]; portOf(e) != "" {
			port = fmt.Sprintf("UDP source port %d, ", e.Path.Port)
		}
		names = append(names, fmt.Sprintf("QP 0x%x (%sPSN %v in frame %d)",
			d.c.Ends[1-d.from].QPN, port, d.k.Request.First, d.k.Request.Frame))
	}
	if len(list) <= deadShown {
		i.deadToo = len(list)
	}
	answers := "answers"
	if len(list) > 1 {
		answers = "answer"
	}
	i.What += fmt.Sprintf(" Its %s %s nothing since then either (within %s)", firstOf(names, deadShown), answers, span(within))
	if on.n > 0 {
		i.What += fmt.Sprintf("; it went on sending on %s between the same hosts, up to %s", count(on.n, "other"), t.offset(on.last))
	}
	i.What += "."
}

// pathsOfDead is what fits of the paths where the requests of c, and of others that are dead with it, are not answered, while others go on, and
// where to look then.
func (t *teller) pathsOfDead(c *agent.Connection, from int, k *qp.Stall) (fails, flows string) {
	e, local, peer := &c.Ends[from], c.Ends[from].Addr.String(), c.Ends[1-from].Addr.String()
	ports := portsOf(t.deadWith(c, from, k), withPort(nil, c, e))
	if len(ports) < 2 {
		return onePathFails(local, peer, e), hashedOn(local, peer, e)
	}
	on := onPorts(ports)
	return fmt.Sprintf("one path or more of several from %s to %s that fail, which these queue pairs take%s", local, peer, on),
		fmt.Sprintf("the links between the switches that the flows from %s to %s%s are hashed to, and their counters", local, peer, on)
}
