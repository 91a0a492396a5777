package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// fewestLostOfClass is how often packets of a class must have been lost, before a class that lost none tells anything.
const fewestLostOfClass = 5

// lostClasses says in incidents of losses that all which was lost has one DSCP, where what has another one lost nothing on the way to the same host, or from it.
func (t *teller) lostClasses(list []Incident) {
	for n := range list {
		i := &list[n]
		s := i.sum
		if s == nil && i.losses() && !i.ofAnswers { // of one connection
			s = t.sumOfLosses(i.Peer.Addr, true, func(a packet.Addr) bool { return a == i.Local.Addr })
		}
		if s == nil || i.ofTrimmed || i.ofMarked || i.onePath || s.both || s.host.IsZero() || len(t.run.Taps) > 1 {
			continue
		}
		switch c := t.classOf(s); {
		case !c.enough(s):
		case c.tells():
			i.ofClass(&c, s.incast)
		case c.notECT():
			i.ofNotECT(&c)
		}
	}
}

// lossClass is what was sent in the direction of losses with their DSCP, and with others.
type lossClass struct {
	host    packet.Addr
	to      bool
	dscp    uint8
	mixed   bool // what was lost has several
	sent    uint64
	senders []packet.Addr // of what was lost

	spared  []uint8 // DSCPs of what lost nothing
	without uint64  // packets with these

	capable  bool   // some of what was lost was sent as ECN-capable, or that is not known
	unmarked bool   // some of what lost nothing was not
	marked   uint64 // of what lost nothing, packets that the network marked
}

// classOf adds up what was sent in the direction of a sum of losses, by DSCP.
func (t *teller) classOf(s *lossSum) (k lossClass) {
	k.host, k.to = s.host, s.to
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if far, ok := farEnd(c, s.host); !ok || far == s.host || !c.Service.Reliable() {
			continue
		}
		from := &c.Ends[0]
		if !s.along(from.Addr) {
			from = &c.Ends[1]
		}
		if from.Packets == 0 || !from.Path.Known {
			continue
		}
		switch lossy := s.ends[party(&c.Ends[0])] || s.ends[party(&c.Ends[1])]; {
		case lossy:
			k.mixed = k.mixed || k.sent > 0 && k.dscp != from.Path.DSCP
			k.sent, k.dscp, k.capable = k.sent+from.Packets, from.Path.DSCP, k.capable || !from.NotECT
			if !slices.Contains(k.senders, from.Addr) {
				k.senders = append(k.senders, from.Addr)
			}
		case lost(&c.Ends[0])+lost(&c.Ends[1]) > 0:
		default:
			k.without, k.unmarked = k.without+from.Packets, k.unmarked || !from.ECNCapable
			if c.Timing != nil {
				k.marked += uint64(c.Timing.Ends[hostEnd(c, from.Addr)].Marked)
			}
			if !slices.Contains(k.spared, from.Path.DSCP) {
				k.spared = append(k.spared, from.Path.DSCP)
			}
		}
	}
	slices.Sort(k.spared)
	slices.SortFunc(k.senders, packet.Addr.Compare)
	return k
}

// enough reports whether others would have lost as much if they were lost alike.
func (k *lossClass) enough(s *lossSum) bool {
	n := uint64(s.before + s.after)
	return n >= fewestLostOfClass && n*k.without >= tellingMisses*k.sent
}

// tells reports whether the class is what losses have in common.
func (k *lossClass) tells() bool {
	return !k.mixed && len(k.spared) > 0 && !slices.Contains(k.spared, k.dscp)
}

// notECT reports whether what was lost was not ECN-capable, where all of the others is, and was marked.
func (k *lossClass) notECT() bool { return !k.capable && !k.unmarked && k.marked >= fewestLostOfClass }

// ofNotECT has an incident say that what was lost could not be marked.
func (i *Incident) ofNotECT(k *lossClass) {
	from := someOf(k.senders)
	i.What = fmt.Sprintf("%s %s sends it as not ECN-capable (ECN 00, Not-ECT): a queue that marks what is ECN-capable drops this, and no CNP slows its sender down; of %s that are ECN-capable to the same host %s marked, and none was lost.",
		i.What, from, count(k.without, "packet"), number(k.marked)+" were")
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == queueDrops })
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("congestion that %s takes no part in avoiding: its traffic class is without ECN", from))
	u := unmarkable{way: way{from: k.senders[0]}, dscp: k.dscp}
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == flowControl })
	i.Next = slices.Insert(i.Next, 0, u.beCapable())
}

// ofClass has an incident say which DSCP lost packets, and which none.
func (i *Incident) ofClass(k *lossClass, incast bool) {
	way := "from"
	if k.to {
		way = "to"
	}
	others := numbers(k.spared)
	i.What = fmt.Sprintf("%s What was lost has DSCP %d; what has DSCP %s, %s %s %v, lost nothing.", i.What, k.dscp, others, count(k.without, "packet"), way, k.host)
	i.Facts = slices.Insert(i.Facts, 0, Fact{"class", fmt.Sprintf("DSCP %d: all that lost packets, of %s; DSCP %s: nothing lost", k.dscp, someOf(k.senders), others)})
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == queueDrops })
	at := 0
	if incast {
		at = min(1, len(i.FitsWith))
	}
	i.FitsWith = slices.Insert(i.FitsWith, at, fmt.Sprintf("a traffic class without flow control: the queue for DSCP %d of a switch port on the way drops when it is full, and that for DSCP %s does not", k.dscp, others))
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == flowControl })
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("whether what %s sends is to have DSCP %s too: traffic class, trust mode and priority of its adapter (mlnx_qos, cma_roce_tos, Get-NetQosPolicy), NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS", someOf(k.senders), others),
		fmt.Sprintf("discards of the queue to which DSCP %d maps, of the switch ports on the way", k.dscp))
}
