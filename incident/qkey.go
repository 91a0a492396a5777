package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// keyed is the datagrams with one Q_Key to a queue pair, of all that send it any.
type keyed struct {
	qKey             uint32
	senders          int
	packets, answers uint64
	most             *agent.Connection // of the sender that sent most of them
	from             int
}

// destination is a queue pair that datagrams go to.
type destination struct {
	addr packet.Addr
	qpn  uint32
}

// otherQKeys tells of datagrams with another Q_Key than what a queue pair answers: it has one, and drops what has another.
func (t *teller) otherQKeys() {
	all := map[destination][]keyed{}
	var order []destination
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e, to := &c.Ends[from], &c.Ends[1-from]
			if c.Service != packet.UD || !e.Path.Known || !e.QPNKnown || !to.QPNKnown || e.QPN <= 1 || to.QPN <= 1 || to.QPN == packet.PSNMask || e.Packets == 0 {
				continue
			}
			d := destination{to.Addr, to.QPN}
			if all[d] == nil {
				order = append(order, d)
			}
			all[d] = sentWith(all[d], c, from)
		}
	}
	for _, d := range order {
		t.dropsOthers(d, all[d])
	}
}

// sentWith counts what end from of a connection has sent, by its Q_Key.
func sentWith(list []keyed, c *agent.Connection, from int) []keyed {
	e := &c.Ends[from]
	at := slices.IndexFunc(list, func(k keyed) bool { return k.qKey == e.Path.QKey })
	if at < 0 {
		at, list = len(list), append(list, keyed{qKey: e.Path.QKey})
	}
	k := &list[at]
	k.senders++
	k.packets, k.answers = k.packets+e.Packets, k.answers+c.Ends[1-from].Packets
	if k.most == nil || e.Packets > k.most.Ends[k.from].Packets {
		k.most, k.from = c, from
	}
	return list
}

// dropsOthers tells of datagrams that a queue pair answers none of, with another Q_Key than those that it does answer.
func (t *teller) dropsOthers(d destination, list []keyed) {
	best := slices.MaxFunc(list, func(a, b keyed) int { return cmp.Compare(a.answers, b.answers) })
	if best.answers < fewDatagrams {
		return
	}
	for n := range list {
		k := &list[n]
		c, e := k.most, &k.most.Ends[k.from]
		if k.answers > 0 || k.packets < fewDatagrams || t.datagramsTold(e, d) {
			continue
		}
		i := &Incident{
			Kind: DatagramsDropped, Certainty: Likely, Local: party(e), Peer: Party{d.addr, d.qpn, true}, Connections: k.senders, Begin: c.First, End: e.Last,
			Lost: time.Duration(e.Last - c.First), Tap: c.FirstTap,
		}
		i.show(c.FirstFrame)
		whose := i.Local.String()
		if k.senders > 1 {
			whose += " and " + count(uint64(k.senders-1), "other queue pair")
		}
		i.What = fmt.Sprintf("%v answered none of the %s of %s, whose Q_Key is 0x%08x; it answers those with Q_Key 0x%08x: a queue pair drops what has another Q_Key than its own, and nobody is told.",
			&i.Peer, count(k.packets, "datagram"), whose, k.qKey, best.qKey)
		i.fact("answered", fmt.Sprintf("%s with Q_Key 0x%08x got %s", count(best.packets, "datagram"), best.qKey, count(best.answers, "datagram")+" back"))
		i.FitsWith = []string{"the Q_Key of another queue pair, or of an earlier one with the same number", "a Q_Key that the two programs did not agree on", "datagrams that need no answer"}
		i.Next = []string{"the Q_Key in the send requests of " + i.Local.String() + ", against that which " + i.Peer.String() + " was set up with", "the counter of Q_Key violations of " + d.addr.String()}
		t.tell(i, fmt.Sprint("Q_Key ", d.qpn, k.qKey))
	}
}

// datagramsTold reports whether it is told already that datagrams of an end do not reach a queue pair.
func (t *teller) datagramsTold(e *agent.End, d destination) bool {
	return slices.ContainsFunc(t.order, func(i *Incident) bool {
		return i.Kind == DatagramsDropped && i.Peer.Addr == d.addr && i.Peer.QPN == d.qpn && i.Local.Addr == e.Addr
	})
}
