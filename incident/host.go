package incident

import (
	"cmp"
	"iter"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// host is what the capture shows of a host.
type host struct {
	last        int64      // when it last sent anything
	heard       int64      // when anything was last sent to it
	connections int        // on which it has sent anything
	asked       bool       // one of its peers waits for it
	on          []sighting // where asked
}

// sighting is that a host sent on a connection: but management, by whose queue pair it may come back.
type sighting struct {
	first   int64 // packet of the connection
	last    int64 // packet of the host
	reached int64 // until when packets came to it, as far as this connection shows
	key     connectionKey
	// Of all that began until then: the latest last and reached, and of those on another connection than that of the latest.
	lasts, reaches latest
}

// latest is the latest of several times, and the latest of those on another connection.
type latest struct {
	at, other int64
	key       connectionKey
}

func (l latest) with(at int64, key connectionKey) latest {
	switch {
	case at > l.at:
		return latest{at, l.at, key}
	case at > l.other:
		l.other = at
	}
	return l
}

// but is the latest on another connection than one.
func (l latest) but(key connectionKey) int64 {
	if l.key == key {
		return l.other
	}
	return l.at
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

// sent notes what end e has sent.
func (h *host) sent(e *agent.End) {
	h.last = max(h.last, e.Last)
	if e.Packets > 0 {
		h.connections++
	}
}

// host notes what a connection shows of its hosts.
func (t *teller) host(c *agent.Connection) {
	for k := range c.Ends {
		e, peer := &c.Ends[k], &c.Ends[1-k]
		h := t.hosts[e.Addr]
		if h == nil {
			h = &host{}
			t.hosts[e.Addr] = h
		}
		h.sent(e)
		h.heard = max(h.heard, peer.Last)
		h.asked = h.asked || peer.Stalled || peer.Open > 0 || c.Upper != nil && c.Upper.Oldest != nil
	}
}

// sightings notes when and on which of all connections the hosts sent that others wait for.
func (t *teller) sightings(all iter.Seq2[uint64, *agent.Connection]) {
	for i := range t.run.REQs {
		t.of(t.run.REQs[i].To).asked = true
	}
	for i := range t.run.MADs {
		t.of(t.run.MADs[i].To).asked = true
	}
	some := false
	for _, h := range t.hosts {
		some = some || h.asked
	}
	if !some {
		return
	}
	for _, c := range all {
		for k := range c.Ends {
			if e, h := &c.Ends[k], t.hosts[c.Ends[k].Addr]; h.asked && e.Packets > 0 && c.Service != packet.UD {
				h.on = append(h.on, sighting{first: c.First, last: e.Last, reached: reachedUntil(c, e), key: keyOf(c)})
			}
		}
	}
	for _, h := range t.hosts {
		h.settle()
	}
}

// of returns what the capture shows of a host.
func (t *teller) of(a packet.Addr) *host {
	if h := t.hosts[a]; h != nil {
		return h
	}
	return &host{}
}

// settle puts in order on which connections a host sent.
func (h *host) settle() {
	slices.SortStableFunc(h.on, func(a, b sighting) int { return cmp.Compare(a.first, b.first) })
	var lasts, reaches latest
	for i := range h.on {
		s := &h.on[i]
		lasts, reaches = lasts.with(s.last, s.key), reaches.with(s.reached, s.key)
		s.lasts, s.reaches = lasts, reaches
	}
}

// by is what connections that began until a time show of the host; the zero value: there were none.
func (h *host) by(at int64) (s sighting) {
	if n := h.begunBy(at); n > 0 {
		s = h.on[n-1]
	}
	return s
}

// next is when the first of its connections began after a time; 0: none did.
func (h *host) next(at int64) int64 {
	if n := h.begunBy(at); n < len(h.on) {
		return h.on[n].first
	}
	return 0
}

// begunBy is how many of its connections began until a time.
func (h *host) begunBy(at int64) int {
	n, _ := slices.BinarySearchFunc(h.on, at+1, func(s sighting, t int64) int { return cmp.Compare(s.first, t) })
	return n
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
