package gmp

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
)

// early is how much before what it follows a datagram of the other direction may be recorded.
const early = int64(1_000_000)

// awaited is what would make a finding void if it came a little later: a capture may show the two directions in the wrong order.
type awaited uint8

// What is awaited.
const (
	waitAnswer awaited = iota // the response to the request whose transaction ID is used again
	waitWindow                // an acknowledgement that allows the segment
	waitData                  // the segment that is acknowledged
)

// waiting is a finding that waits.
type waiting struct {
	what    awaited
	k       key
	segment uint32
	p       packet.Packet
	w       rule.Verdict
}

// wait keeps a finding on a packet for a while.
func (v *Verifier) wait(q *peer, what awaited, k key, segment uint32, p *packet.Packet, w rule.Verdict) {
	c := *p
	c.Payload, c.Pad, c.Data = nil, nil, nil
	w.Assumes = assumesNear(v.leans)
	q.waits = append(q.waits, waiting{what, k, segment, c, w})
}

// arrived drops the findings that waited for a datagram which has come now, and reports whether there were any.
func (q *peer) arrived(what awaited, k key, segment uint32) bool {
	n := 0
	for i := range q.waits {
		if w := &q.waits[i]; w.what == what && w.k == k && w.segment <= segment {
			continue
		}
		q.waits[n] = q.waits[i]
		n++
	}
	dropped := n < len(q.waits)
	q.waits = q.waits[:n]
	return dropped
}

// reportWaiting makes the findings that have waited long enough.
func (v *Verifier) reportWaiting(q *peer, now int64) {
	n := 0
	for n < len(q.waits) && now-q.waits[n].p.Time > early {
		p, w := &q.waits[n].p, q.waits[n].w
		if w.Assumes != 0 && w.Class == rule.Violation && !v.sees(p.Src, p.SGID) && !v.sees(p.Dst, p.DGID) {
			w.Class, w.Detail = rule.Unproven, whyTap // the capture has told since that it lost packets
		}
		v.report(p, w)
		n++
	}
	q.waits = slices.Delete(q.waits, 0, n)
}
