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
	last        int64 // when it last sent anything
	connections int   // on which it has sent anything
	heard       bool  // others have sent anything to it
}

// sightings are when, and on which connections, a host sent that others wait for, in the order in which they began; nil: nobody waits for it.
type sightings struct{ on []sighting }

// sighting is that a host sent on a connection: but management, by whose queue pair it may come back.
type sighting struct {
	first int64 // packet of the connection
	// When the host sent its last packet there, until when packets came to it, as far as the connection shows, and when others last sent to it, but what it has not answered: once they are settled, of all
	// connections that began until then.
	lasts, reaches, heard latest
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

// host notes what a connection shows of its hosts.
func (t *teller) host(c *agent.Connection) {
	for k := range c.Ends {
		e, peer := &c.Ends[k], &c.Ends[1-k]
		h := t.hosts[e.Addr]
		h.last = max(h.last, e.Last)
		if e.Packets > 0 {
			h.connections++
		}
		h.heard = h.heard || peer.Packets > 0
		t.hosts[e.Addr] = h
		if peer.Stalled || waits(peer, t.run.Last) || c.Upper != nil && c.Upper.Oldest != nil {
			t.waitFor(e.Addr)
			t.waitFor(peer.Addr)
		}
	}
}

// waitFor notes that others wait for a host.
func (t *teller) waitFor(a packet.Addr) {
	if t.seen[a] == nil {
		t.seen[a] = new(sightings)
	}
}

// sight notes when and on which of all connections the hosts sent that others wait for.
func (t *teller) sight(all iter.Seq2[uint64, *agent.Connection]) {
	for i := range t.run.REQs {
		t.waitFor(t.run.REQs[i].To)
	}
	for i := range t.run.MADs {
		t.waitFor(t.run.MADs[i].To)
	}
	if len(t.seen) == 0 {
		return
	}
	for _, c := range all {
		for k := range c.Ends {
			if e, h := &c.Ends[k], t.seen[c.Ends[k].Addr]; h != nil && e.Packets > 0 && c.Service != packet.UD {
				h.on = append(h.on, sighting{c.First, latest{at: e.Last, key: keyOf(c)}, latest{at: reachedUntil(c, e), key: keyOf(c)}, latest{at: heardUntil(&c.Ends[1-k]), key: keyOf(c)}})
			}
		}
	}
	for _, h := range t.seen {
		h.settle()
	}
}

// settle puts in order on which connections a host sent.
func (h *sightings) settle() {
	slices.SortStableFunc(h.on, func(a, b sighting) int { return cmp.Compare(a.first, b.first) })
	var lasts, reaches, heard latest
	for i := range h.on {
		s := &h.on[i]
		lasts, reaches, heard = lasts.with(s.lasts.at, s.lasts.key), reaches.with(s.reaches.at, s.reaches.key), heard.with(s.heard.at, s.heard.key)
		s.lasts, s.reaches, s.heard = lasts, reaches, heard
	}
}

// by is what connections that began until a time show of the host; the zero value: there were none.
func (h *sightings) by(at int64) (s sighting) {
	if n := h.begunBy(at); n > 0 {
		s = h.on[n-1]
	}
	return s
}

// next is when the first of its connections began after a time; 0: none did.
func (h *sightings) next(at int64) int64 {
	if n := h.begunBy(at); h != nil && n < len(h.on) {
		return h.on[n].first
	}
	return 0
}

// begunBy is how many of its connections began until a time.
func (h *sightings) begunBy(at int64) int {
	if h == nil {
		return 0
	}
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

// heardUntil is when end e last sent what its peer may have had: not what it retransmits and nothing answers.
func heardUntil(e *agent.End) int64 {
	if e.Stalled {
		return min(e.Last, e.Trouble.Now.Since)
	}
	return e.Last
}

// lacksAnswer reports whether a requester has retransmitted nothing but one request, whose answer had passed the tap each time.
func lacksAnswer(k *qp.Trouble) bool {
	return !slices.ContainsFunc(k.Longest[:], func(s qp.Stall) bool {
		return s.Begun != 0 && (!s.AnswerLost || s.Request.PSN != k.Longest[0].Request.PSN)
	})
}
