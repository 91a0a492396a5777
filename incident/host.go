package incident

import "ibwitness/agent"

// host is what the capture shows of a host.
type host struct {
	last        int64 // when it last sent anything
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
}

// lastBut is when it last sent anything on another connection than c; 0: it has not.
func (h host) lastBut(c *agent.Connection) int64 {
	if h.on == keyOf(c) {
		return h.elsewhere
	}
	return h.last
}
