package message

import (
	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/verifier/outgoing"
	"ibwitness/wqe"
)

// departures holds the packets of requests against those that their work requests let expect.
type departures struct {
	fields outgoing.Fields
	made   map[kind]*comparisons
}

// kind is what packets depart in, between the hosts of a bucket.
type kind struct {
	field  expect.ID
	bucket uint8
}

// comparisons counts the comparisons of a kind in the last second of the capture in which there was one.
type comparisons struct {
	second int64
	count  uint8
}

// mostAlike is how many are made in a second. Of the findings of a rule fewer carry one (see rule.Recorder.Compares), but not each departure becomes a finding.
const mostAlike = 64

// request takes a packet of a request: it compares it with what its work request lets expect, where that is known, and tells where it departs from that.
func (v *Verifier) request(s *assembly, p *packet.Packet, at *cq.PacketRef) {
	ord := s.requests.Ordinal(p.PSN)
	i, ok := v.queues.Posted(s.requests, ord, p.PayloadLen, &s.posted)
	if ok {
		v.outgoing(s, ord, i, p, at)
	}
	s.request(p, at)
	if in := p.Info(); ok && (in.Last || in.Only) {
		v.ended(s, ord, i, p, at)
	}
}

// ended compares the data of a message that a packet has ended with its checksum when it was posted, where no more of it is known.
func (v *Verifier) ended(s *assembly, ord int64, i int, p *packet.Packet, at *cq.PacketRef) {
	d, r, x := &v.departures, s.requests, &s.posted
	if !x.Summed || len(x.Data) == int(x.Length) || x.Request.Op == wqe.OpFlush {
		return
	}
	m := r.Find(ord)
	if m == nil || m.Partial || m.Cut || m.CRC == x.Sum || m.Length != x.Length || m.Last() != ord {
		return
	}
	if r.Departed(ord, i, expect.Payload) {
		return
	}
	if !d.compares(expect.Payload, p) {
		r.Departs(ord, i, at, nil)
	} else if c := outgoing.CompareSum(p, x, i, m.CRC); c != nil {
		r.Departs(ord, i, at, c)
	}
}

func (v *Verifier) outgoing(s *assembly, ord int64, i int, p *packet.Packet, at *cq.PacketRef) {
	d, r := &v.departures, s.requests
	field, departs := d.fields.Departs(&s.posted, i, p)
	if !departs || r.Departed(ord, i, field) {
		return
	}
	if !d.compares(field, p) {
		r.Departs(ord, i, at, nil)
	} else if c := outgoing.Compare(p, &s.posted, i); c != nil {
		r.Departs(ord, i, at, c)
	}
}

// compares reports whether a packet that departs in a field is compared, and counts it.
func (d *departures) compares(field expect.ID, p *packet.Packet) bool {
	k := kind{field, uint8(packet.Bucket(p.Src, p.Dst))}
	n := d.made[k]
	if n == nil {
		if d.made == nil {
			d.made = map[kind]*comparisons{}
		}
		n = new(comparisons)
		d.made[k] = n
	}
	if second := p.Time / 1e9; n.second != second {
		*n = comparisons{second: second}
	}
	if n.count >= mostAlike {
		return false
	}
	n.count++
	return true
}
