package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// largeResponses says how the size of the responses that a READ of end from asks for differs from what its peer sends, which arrives; "": it does not.
func largeResponses(c *agent.Connection, from int, k *qp.Stall) string {
	r, peer := &k.Request, &c.Ends[1-from]
	size := responseSize(c, r)
	if r.Op != wqe.Read || r.Answered != 0 || peer.Packets == 0 || k.Rounds[qp.TimerExpired] < 2 {
		return ""
	}
	mean := peer.Bytes / peer.Packets
	if size <= 512 || mean*4 > uint64(size) {
		return ""
	}
	return fmt.Sprintf("it asks for packets with %s of payload; those that came of %v carried %s on average", count(uint64(size), "byte"), &peer.Addr, count(mean, "byte"))
}

// responseSize is how many bytes of payload the largest response to a READ carries.
func responseSize(c *agent.Connection, r *qp.StalledRequest) uint32 {
	return min(r.Length, max(c.PMTU, 256))
}

// blackHole says how the size of a request that nothing answers differs from the sizes that were answered; "": it does not, or not enough is known.
func (t *teller) blackHole(c *agent.Connection, from int, k *qp.Stall) string {
	r := &k.Request
	size, what := r.Payload, "carries"
	if r.Op == wqe.Read {
		size, what = responseSize(c, r), "asks for packets with"
	}
	if r.Answered == 0 || size < 2*r.Answered || size <= 512 || k.Rounds[qp.TimerExpired] < 2 || t.passed(c, from, r) {
		return ""
	}
	return fmt.Sprintf("it %s %s of payload; the largest packet that was answered just before carried %s", what, count(uint64(size), "byte"), count(uint64(r.Answered), "byte"))
}

// passed reports whether larger packets than those that were answered just before request r of end from of c have passed between the hosts: those that carry its payload are larger on average, on
// this connection before, or on another on which every request was answered.
func (t *teller) passed(c *agent.Connection, from int, r *qp.StalledRequest) bool {
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
		if packets > 0 && bytes/packets > uint64(r.Answered) {
			return true
		}
	}
	return false
}
