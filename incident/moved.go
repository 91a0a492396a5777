package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// movedTo returns that the address of the peer of a request that is not answered has moved to another Ethernet address, by which the queue pair
// sent nothing; nil: it has not.
func (t *teller) movedTo(peer *agent.End, k *qp.Stall) *agent.Moved {
	for n := range t.run.Moved {
		if m := &t.run.Moved[n]; m.Host == peer.Addr && m.First.At < k.Last && peer.Last <= m.First.At+interruption && t.timed() {
			return m
		}
	}
	return nil
}

// said says where an address has moved.
func (t *teller) movedSaid(m *agent.Moved) string {
	return fmt.Sprintf("%v is at another Ethernet address since %s: at %s, by ARP in frame %d; packets to it had gone to %s",
		m.Host, t.offset(m.First.At), station(m.First.Station), m.First.Frame, station(m.From))
}

// twoHave is what fits of an address that moved.
func twoHave(m *agent.Moved) []string {
	return []string{
		fmt.Sprintf("two machines with the address %v (a duplicate address): what is sent to it goes to %s, which has no such queue pair or program",
			m.Host, station(m.First.Station)),
		fmt.Sprintf("a failover or a migration, by which %v is on another port or machine (bonding, VRRP, a cluster), where its queue pairs are not",
			m.Host),
	}
}

// whoHas is what to look at then.
func whoHas(m *agent.Moved) string {
	return fmt.Sprintf("which machine has the Ethernet address %s (the MAC table of the switch), and whether %v was meant to be there; arping -D finds a second one",
		station(m.First.Station), m.Host)
}

// station writes an Ethernet address.
func station(a uint64) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", a>>40&0xFF, a>>32&0xFF, a>>24&0xFF, a>>16&0xFF, a>>8&0xFF, a&0xFF)
}

// moved says that the address of the peer of a request moved, and what fits where it had before the request was sent, or soon after the peer sent
// its last packet; false: that does not say why it is not answered.
func (t *teller) moved(i *Incident, peer *agent.End, k *qp.Stall) bool {
	m := t.movedTo(peer, k)
	if m == nil {
		return false
	}
	i.fact("address", t.movedSaid(m))
	i.showAt(&m.First)
	i.Next = append(i.Next, whoHas(m))
	if m.First.At > k.Since+interruption {
		return false
	}
	i.FitsWith = append(i.FitsWith, twoHave(m)...)
	return true
}

// refusedByAnother has REQs that were refused after the address of the host had moved fit that.
func (t *teller) refusedByAnother(list []Incident) {
	for n := range list {
		i := &list[n]
		k := slices.IndexFunc(t.run.Moved, func(m agent.Moved) bool { return m.Host == i.Peer.Addr && m.First.At < i.Begin })
		if k < 0 || i.Kind != Rejected || !i.unserviced || !t.timed() {
			continue
		}
		m := &t.run.Moved[k]
		i.fact("address", t.movedSaid(m))
		i.FitsWith = append(twoHave(m), i.FitsWith...)
		i.Next = append(i.Next, whoHas(m))
	}
}
