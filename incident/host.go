package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// host is what the capture shows of a host.
type host struct {
	last        int64 // when it last sent anything
	reached     int64 // when it last sent anything but retransmissions that nothing answers: until then packets came to it, as far as the capture shows
	heard       int64 // when anything was last sent to it
	elsewhere   int64 // when it last did on another connection than that
	connections int   // on which it has sent anything
	on          connectionKey
}

// connectionKey distinguishes connections by their first packet.
type connectionKey struct {
	time  int64
	frame uint64
	tap   uint16
}

func keyOf(c *agent.Connection) connectionKey {
	return connectionKey{c.First, c.FirstFrame, c.FirstTap}
}

// sent notes what end e of c has sent.
func (h *host) sent(c *agent.Connection, e *agent.End) {
	switch on := keyOf(c); {
	case on == h.on:
		h.last = max(h.last, e.Last)
	case e.Last > h.last:
		h.last, h.elsewhere, h.on = e.Last, h.last, on
	default:
		h.elsewhere = max(h.elsewhere, e.Last)
	}
	if e.Packets > 0 {
		h.connections++
	}
	h.reached = max(h.reached, reachedUntil(c, e))
}

// reachedUntil is when end e of c last sent anything that shows that packets come to it: not where it only retransmits what nothing answers, or what was answered on the other side of the tap,
// and can have answered nothing itself.
func reachedUntil(c *agent.Connection, e *agent.End) int64 {
	peer := &c.Ends[0]
	if peer == e {
		peer = &c.Ends[1]
	}
	switch k := e.Trouble; {
	case k == nil || k.Now.NAKs > 0 || peer.Messages > 0 && !peer.Stalled:
	case e.Stalled:
		return min(e.Last, k.Now.Since)
	case k.Sum.Count > 1:
		s := &k.Sum
		if period := (s.Last - s.Begun) / int64(s.Count-1); e.Last-s.Last < period && lacksAnswer(k) { // and it goes on so
			return min(e.Last, s.Begun-period)
		}
	}
	return e.Last
}

// lacksAnswer reports whether a requester has retransmitted nothing but one request, whose answer had passed the tap each time.
func lacksAnswer(k *qp.Trouble) bool {
	return !slices.ContainsFunc(k.Longest[:], func(s qp.Stall) bool {
		return s.Begun != 0 && (!s.AnswerLost || s.Request.PSN != k.Longest[0].Request.PSN)
	})
}

// lastBut is when it last sent anything on another connection than c; 0: it has not.
func (h host) lastBut(c *agent.Connection) int64 {
	if h.on == keyOf(c) {
		return h.elsewhere
	}
	return h.last
}
