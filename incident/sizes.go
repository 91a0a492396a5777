package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// largeResponses says how the size of the responses that a READ of end from asks for differs from what its peer sends, which arrives; "": it does not.
func (t *teller) largeResponses(c *agent.Connection, from int, k *qp.Stall) string {
	if p := t.passageOf(c, from, true); p != nil && p.Count > 0 {
		return "" // bySize knows more
	}
	r, peer := &k.Request, &c.Ends[1-from]
	size, as := t.responseSize(c, from, r)
	if r.Op != wqe.Read || r.Answered != 0 || peer.Packets == 0 || k.Rounds[qp.TimerExpired] < 2 {
		return ""
	}
	mean := peer.Bytes / peer.Packets
	if size <= 512 || mean*4 > uint64(size) {
		return ""
	}
	return fmt.Sprintf("it asks for packets with %s of payload%s; those that came of %v carried %s on average", count(uint64(size), "byte"), as, &peer.Addr, count(mean, "byte"))
}

// responseSize is how many bytes of payload the largest response to a READ of end from carries. as says of which connections the path MTU is, where that of its own is not known: "", where it is.
func (t *teller) responseSize(c *agent.Connection, from int, r *qp.StalledRequest) (size uint32, as string) {
	if c.PMTU != 0 {
		return min(r.Length, c.PMTU), ""
	}
	local := c.Ends[from].Addr
	if t.pmtus == nil {
		t.pmtus = map[packet.Addr]uint32{}
		for k := range t.run.Connections {
			d := &t.run.Connections[k]
			for e := range d.Ends {
				t.pmtus[d.Ends[e].Addr] = max(t.pmtus[d.Ends[e].Addr], d.PMTU)
			}
		}
	}
	if n := t.pmtus[local]; n > 0 {
		return min(r.Length, n), fmt.Sprintf(" if its path MTU is the largest of the connections of %v", local)
	}
	return min(r.Length, 256), ""
}

// otherMTU tells of a request that is refused at its first packet, which is as long as the path MTU of its sender, and longer than all that were accepted just before: that of the responder may be
// smaller.
func otherMTU(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	r, e := &k.Request, &c.Ends[from]
	if r.Op.Responded() || rest(r) || r.Answered == 0 || r.Payload < 2*r.Answered || r.Length <= r.Payload || r.Payload <= 256 || e.Packets == 0 || 2*(e.Bytes-min(e.Bytes, uint64(r.Length)))/e.Packets > uint64(r.Payload) {
		return
	}
	size := count(uint64(r.Payload), "byte")
	i.fact("size", fmt.Sprintf("its first packet carries %s of payload, the path MTU of its queue pair; the largest that was accepted just before carried %s", size, count(uint64(r.Answered), "byte")))
	fits := fmt.Sprintf("a queue pair of %v whose path MTU is smaller than the %s of that of %v", i.Peer.Addr, size, i.Local.Addr)
	next := "the path MTU of both queue pairs, and the MTU of both interfaces that they were set by"
	if r.Op == wqe.Write {
		i.FitsWith, i.Next = append([]string{fits}, i.FitsWith...), append([]string{next}, i.Next...)
		return
	}
	i.FitsWith, i.Next = append(i.FitsWith, fits), append(i.Next, next)
}

// blackHole says how the size of a request that nothing answers differs from the sizes that were answered; "": it does not, or not enough is known.
func (t *teller) blackHole(c *agent.Connection, from int, k *qp.Stall) string {
	if c.Timing != nil {
		return "" // bySize knows more
	}
	r := &k.Request
	size, what, as, most := r.Payload, "carries", "", "largest packet that was answered just before carried"
	if r.Op == wqe.Read {
		what, most = "asks for packets with", "largest READ that was answered just before was of"
		size, as = t.responseSize(c, from, r)
	}
	if r.Answered == 0 || size < 2*r.Answered || size <= fitsAny || k.Part > r.Answered || k.Rounds[qp.TimerExpired]+k.Rounds[qp.ResponseLost] < 2 || t.passed(c, from, r, size) {
		return ""
	}
	return fmt.Sprintf("it %s %s of payload%s; the %s %s", what, count(uint64(size), "byte"), as, most, count(uint64(r.Answered), "byte"))
}

// untakenSizes says how the size of the responses to the READ of stall k of end from of c, none of which its requester has taken, differs from those before, where that is known only of what was kept: all that the
// peer has sent but for these is as small on average.
func (t *teller) untakenSizes(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	r, peer := &k.Request, &c.Ends[1-from]
	size, _ := t.responseSize(c, from, r)
	if c.Timing != nil || rest(r) || r.Answered == 0 || size < 2*r.Answered || size <= fitsAny {
		return
	}
	n := k.Total() + 1 // answers
	packets, bytes := n*uint64((r.Length+size-1)/size), n*uint64(r.Length)
	if peer.Packets > packets && (peer.Bytes-min(peer.Bytes, bytes))/(peer.Packets-packets) > uint64(r.Answered) {
		return
	}
	i.fact("size", fmt.Sprintf("it asks for packets with %s of payload; the largest READ that was answered just before was of %s", count(uint64(size), "byte"), count(uint64(r.Answered), "byte")))
	i.FitsWith = append([]string{fmt.Sprintf("a path from %v to %v whose MTU is smaller than the path MTU of the queue pair: larger packets vanish, smaller ones arrive", i.Peer.Addr, i.Local.Addr)}, i.FitsWith...)
	i.Next = append([]string{checkMTU(c.Encap, r, size, i.Peer.Addr.String(), i.Local.Addr.String())}, i.Next...)
}

// passed reports whether larger packets than those that were answered just before request r of end from of c have passed between the hosts: those that carry its payload are larger on average, on
// this connection before, or on another on which every request was answered: but one whose packets were all shorter than half a size.
func (t *teller) passed(c *agent.Connection, from int, r *qp.StalledRequest, size uint32) bool {
	local, sends := c.Ends[from].Addr, from
	if r.Op == wqe.Read {
		sends = 1 - from
	}
	for _, d := range t.siblings(c) {
		e := &d.Ends[sends]
		if d.Ends[from].Addr != local {
			e = &d.Ends[1-sends]
		}
		if keyOf(d) != keyOf(c) && (d.Ends[0].Stalled || d.Ends[1].Stalled) {
			continue
		}
		packets, bytes := e.Packets, e.Bytes
		if keyOf(d) == keyOf(c) && e.Trouble != nil && e.Stalled { // without what was not answered
			k := &e.Trouble.Now
			vain := uint64(k.Packets) + uint64(k.Packets)/max(k.Total(), 1)
			packets, bytes = packets-min(packets, vain), bytes-min(bytes, k.Bytes+k.Bytes/max(k.Total(), 1))
		}
		if packets > 0 && bytes/packets > uint64(r.Answered) && (d.Largest == 0 || 2*uint32(d.Largest) > size) {
			return true
		}
	}
	return false
}
