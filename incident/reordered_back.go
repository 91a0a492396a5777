package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// Where packets to a host came after later ones and none is missing at the tap, what that host retransmits the other way, as NAKs ask for what
// the tap shows, is most likely overtaken after the tap, on the
// same paths: that is told with it, and not as a loss.

// reorderedBack has incidents of packets that came late tell of what their receiver retransmitted to their senders.
func (t *teller) reorderedBack(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != Reordered || i.late.name != requests.name || i.late.naks == 0 || !i.late.whole && i.late.arrived == "" {
			continue
		}
		naks, packets, to, ok := t.sentBack(i)
		if !ok {
			continue
		}
		of := []*Incident{}
		for m := range list {
			if o := &list[m]; o != i && !merged[o] && o.losses() && len(o.Also) == 0 && i.lateOn(o.Peer.Addr, o.Local.Addr) && i.overlaps(o) {
				of = append(of, o)
			}
		}
		if len(of) == 0 {
			continue
		}
		on := i.Connections
		for _, o := range of {
			i.includes(o)
			merged[o] = true
		}
		i.Connections = on
		i.fact("opposite", fmt.Sprintf("%s asked %v for what the tap shows, and it retransmitted %s: likely overtaken too; a tap here cannot show whether that was lost or overtaken",
			count(uint64(naks), "NAK")+" of "+someOf(to), i.Peer.Addr, count(packets, "packet")))
	}
	return withMerged(list, merged)
}

// sentBack adds up what the receiver of packets that came late retransmitted to their senders. It is not ok where not nearly all is what NAKs
// asked for after the tap, or where that is far more than what came late.
func (t *teller) sentBack(i *Incident) (naks uint32, packets uint64, to []packet.Addr, ok bool) {
	var other uint32
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e, peer := &c.Ends[from], &c.Ends[1-from]
			if e.Trouble == nil || !i.lateOn(peer.Addr, e.Addr) {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			all, after := uint32(k.Sum.Total())-k.Sum.Rounds[qp.NotReady], placesOf(&k).after
			if all == 0 {
				continue
			}
			other += all - min(all, after)
			naks, packets = naks+max(after, peer.SequenceNAKs), packets+k.Again.Packets
			if !slices.Contains(to, peer.Addr) {
				to = append(to, peer.Addr)
			}
		}
	}
	slices.SortFunc(to, packet.Addr.Compare)
	return naks, packets, to, naks > 0 && mostlyAlong*other <= naks && uint64(naks) <= lateOfNAKs*i.late.naks
}

// onlyOvertaken reports whether what end from of a connection retransmitted most likely follows from packets that came late: the capture holds
// each that it sent, some after later ones, and no timer ran out.
func (t *teller) onlyOvertaken(c *agent.Connection, from int) bool {
	k := c.Ends[from].Trouble
	return k.Overtaking.All().Packets > 0 && k.Sum.Rounds[qp.TimerExpired] == 0 && t.arrived(c, from) != ""
}
