package incident

import (
	"fmt"
	"math"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// Queue pairs of a host have numbers that are near each other: within nearQPNs of these is one that is taken for theirs, where they span no more than mostSpread.
const (
	nearQPNs   = 64
	mostSpread = 4096
)

// swappedQPN returns which QPN, near those that the peer of end from of c uses, a QPN that is far from them has with its bytes the other way round, and the least and the greatest of those; false:
// there is none.
func (t *teller) swappedQPN(c *agent.Connection, from int) (swapped, least, most uint32, ok bool) {
	x := &c.Ends[1-from]
	used, known := t.qpnsOf(x.Addr)
	if !known || !x.QPNKnown || x.QPN <= 1 {
		return 0, 0, 0, false
	}
	least, most = used.least, used.most
	near := func(q uint32) bool { return q > 1 && q+nearQPNs >= least && q <= most+nearQPNs }
	if most-least > mostSpread || near(x.QPN) {
		return 0, 0, 0, false
	}
	for _, q := range [...]uint32{x.QPN>>16 | x.QPN&0xFF00 | x.QPN&0xFF<<16, x.QPN&0xFF<<8 | x.QPN>>8&0xFF | x.QPN&^0xFFFF} {
		if near(q) {
			return q, least, most, true
		}
	}
	return 0, 0, 0, false
}

// swappedQPN32 returns the least of the QPNs near those that the peer of end from of c uses of which 24 bits leave its QPN where their 4 bytes are the other way round, so that the lowest byte is not known, and
// the least and the greatest that it uses; false: there is none.
func (t *teller) swappedQPN32(c *agent.Connection, from int) (base, least, most uint32, ok bool) {
	x := &c.Ends[1-from]
	used, known := t.qpnsOf(x.Addr)
	if !known || !x.QPNKnown || x.QPN&0xFF != 0 || x.QPN >= used.least && x.QPN <= used.most || used.most-used.least > mostSpread {
		return 0, 0, 0, false
	}
	base = x.QPN>>16<<8 | x.QPN&0xFF00<<8
	return base, used.least, used.most, base > 0 && base|0xFF >= used.least && base <= used.most
}

// cutQPN returns which QPN, near those that the peer of end from of c uses, has in its lower 16 bits a QPN that is far from them and has no more, and the least
// and the greatest of those; false: there is none.
func (t *teller) cutQPN(c *agent.Connection, from int) (whole, least, most uint32, ok bool) {
	x := &c.Ends[1-from]
	used, known := t.qpnsOf(x.Addr)
	if !known || !x.QPNKnown || x.QPN <= 1 || x.QPN > math.MaxUint16 || x.QPN+nearQPNs >= used.least || used.most-used.least > mostSpread {
		return 0, 0, 0, false
	}
	for upper := uint32(1 << 16); upper <= used.most; upper += 1 << 16 {
		if q := upper | x.QPN; q+nearQPNs >= used.least && q <= used.most+nearQPNs {
			whole = q // only one is: they span less than that
		}
	}
	return whole, used.least, used.most, whole != 0
}

// qpns are the least and the greatest QPN that a host uses, but those of management.
type qpns struct{ least, most uint32 }

// qpnsOf returns those of a host that sends from one; false: it does not. They are looked for once, as a scan of QPNs leaves very many connections unanswered.
func (t *teller) qpnsOf(host packet.Addr) (used qpns, known bool) {
	if t.qpns == nil {
		t.qpns = map[packet.Addr]qpns{}
		for k := range t.run.Connections {
			for e := range t.run.Connections[k].Ends {
				q := &t.run.Connections[k].Ends[e]
				if !q.QPNKnown || q.QPN <= 1 || q.Packets == 0 {
					continue
				}
				of, begun := t.qpns[q.Addr]
				if !begun {
					of.least = q.QPN
				}
				t.qpns[q.Addr] = qpns{min(of.least, q.QPN), max(of.most, q.QPN)}
			}
		}
	}
	used, known = t.qpns[host]
	return used, known
}

// neverRight says what fits where a host that is up answers nothing on a connection from the first request on, and what to look at.
func (t *teller) neverRight(i *Incident, c *agent.Connection, from int) {
	peer := i.Peer.Addr.String()
	if q, least, most, ok := t.swappedQPN(c, from); ok {
		i.fact("QPN", fmt.Sprintf("0x%06x with its bytes the other way round is 0x%06x, near %s that %s uses", i.Peer.QPN, q, extentOf(least, most), peer))
		i.swapped(fmt.Sprintf("a QPN whose bytes one end swaps, and the other does not (htonl, ntohl): 0x%06x is meant", q))
	} else if q, least, most, ok := t.swappedQPN32(c, from); ok {
		i.fact("QPN", fmt.Sprintf("0x%06x is what 24 bits hold of 0x%06x to 0x%06x with 4 bytes the other way round, and %s uses %s", i.Peer.QPN, q, q|0xFF, peer, extentOf(least, most)))
		i.swapped(fmt.Sprintf("a QPN whose 4 bytes one end swaps, and the other does not (htonl, ntohl): one of 0x%06x to 0x%06x is meant", q, q|0xFF))
	}
	if q, least, most, ok := t.cutQPN(c, from); ok {
		i.fact("QPN", fmt.Sprintf("0x%06x is the lower 16 bits of 0x%06x, near %s that %s uses", i.Peer.QPN, q, extentOf(least, most), peer))
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a QPN that one end keeps in 16 bits, where it has 24: 0x%06x is meant", q))
		i.Next = slices.Insert(i.Next, 0, "in which type the programs keep and exchange QPNs (uint16_t, htons, %hx)")
	}
	i.FitsWith = append(i.FitsWith, "a wrong destination QPN, or a queue pair of "+peer+" that is not yet in RTR or is in the error state")
	exchanged := "both ends' QPN and GID"
	if !t.sharesKey(&c.Ends[from], i.Peer.Addr) {
		i.FitsWith = append(i.FitsWith, otherPKey)
		exchanged = "both ends' QPN, P_Key and GID"
	}
	i.Next = append(i.Next, exchanged+" as the application exchanged them", "rdma resource show qp on "+peer+", and the counters of its port (out_of_sequence, resp_local_qp_error)")
}

// swapped puts first that bytes of a QPN were swapped, which explains its number.
func (i *Incident) swapped(fits string) {
	i.FitsWith = slices.Insert(i.FitsWith, 0, fits)
	i.Next = slices.Insert(i.Next, 0, "the byte order in which the programs exchange QPNs")
}

// extentOf names QPNs from the least to the greatest.
func extentOf(least, most uint32) string {
	if most > least {
		return fmt.Sprintf("0x%06x to 0x%06x", least, most)
	}
	return fmt.Sprintf("0x%06x", least)
}

// otherPKey is what would look like a connection on which the peer has never sent anything, where the capture does not show that it has the same P_Key.
const otherPKey = "a P_Key that the two ends do not agree on"

// sharesKey reports whether a host sends with the P_Key of an end, too, and that is one of a full member.
func (t *teller) sharesKey(e *agent.End, host packet.Addr) bool {
	return e.Path.Known && e.Path.PKey&fullMember != 0 && slices.Contains(t.keysFrom(host), e.Path.PKey)
}
