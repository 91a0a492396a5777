package soft

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Congestion is how a device takes part in congestion control (annex A17.9). The zero value sends no CNP; one that comes slows its QP all
// the same.
type Congestion struct {
	CNPs   Pacing
	Every  int64 // nanoseconds from one CNP to the next
	TClass uint8 // of CNPs
}

// Pacing is what has a timer of its own for CNPs.
type Pacing uint8

// The pacings.
const (
	NoCNPs Pacing = iota
	PerQP
	PerAddress
	PerPort
)

// notified is what CNPs go to by one timer.
type notified struct {
	addr packet.Addr
	qpn  uint32
}

// notifier is one timer for CNPs, and the CNP that is due.
type notifier struct {
	q      *queuePair
	to     notified
	from   wqe.GID // that the marked packet came to
	pkey   uint16
	queued bool
	next   int64 // when the next one may leave
}

// marked owes the sender of a packet with ECN 11 a CNP.
func (q *queuePair) marked(p *packet.Packet) {
	h := q.h
	c := &h.opt.Congestion
	if !p.Encap.OnIP() || p.TClass&3 != 3 && !h.breaks("cnp-unfounded") || c.CNPs == NoCNPs || p.Dst.IsMulticast() || h.has("cnp-missing") && h.due() {
		return
	}
	to := notified{p.Src, q.attr.DestQPN}
	if !q.connected() {
		to.qpn = p.SrcQP
	}
	key := to
	switch c.CNPs {
	case PerAddress:
		key.qpn = 0
	case PerPort:
		key = notified{}
	}
	n := h.notifiers[key]
	if n == nil {
		n = &notifier{}
		h.notifiers[key] = n
	}
	n.q, n.to, n.from, n.pkey = q, to, wqe.GID{Addr: p.Dst}, p.PKey
	if n.queued {
		return
	}
	wait := n.next - h.now()
	if wait > 0 && h.breaks("cnp-too-often") {
		wait /= 4
	}
	n.queued = true
	if wait <= 0 {
		h.notifies(n)
		return
	}
	h.opt.Clock.After(wait, func() { h.notifies(n) })
}

// notifies has a CNP wait for the port, which takes it first.
func (h *HCA) notifies(n *notifier) {
	h.port.cnps.push(n)
	h.start()
}

// sendCNP sends a CNP.
func (h *HCA) sendCNP(n *notifier) {
	n.queued, n.next = false, h.now()+h.opt.Congestion.Every
	p := n.q.packet(0)
	p.Opcode, p.Dst, p.DestQP, p.PKey = packet.OpCNP, n.to.addr, n.to.qpn, n.pkey
	n.q.h.from(p, n.from, false, packet.Addr{}, 0)
	p.TClass, p.MigReq = h.opt.Congestion.TClass, false
	h.transmit(p)
	if n.q.req.next == len(n.q.req.queue) && n.q.reliable() && h.shows("cnp-takes-psn") {
		n.q.req.psn = n.q.req.psn.Add(1)
	}
}

const (
	leastRate = 50     // bytes a microsecond, below which nothing slows down
	recovery  = 55_000 // nanoseconds without a CNP after which a QP sends twice as fast
)

// slowDown takes a CNP: the QP sends half as fast.
func (q *queuePair) slowDown() {
	r := &q.req
	if q.h.breaks("rate-kept") {
		return
	}
	if r.rate == 0 {
		r.rate = q.h.opt.Limits.ByteRate
		q.h.opt.Clock.After(recovery, q.speedUp)
	}
	r.rate, r.slowed = max(r.rate/2, leastRate), q.h.now()
}

// speedUp raises the rate again.
func (q *queuePair) speedUp() {
	r := &q.req
	if r.rate == 0 {
		return
	}
	if q.h.now()-r.slowed >= recovery && !q.h.has("rate-stays") {
		if r.rate *= 2; r.rate >= q.h.opt.Limits.ByteRate {
			r.rate = 0
			return
		}
	}
	q.h.opt.Clock.After(recovery, q.speedUp)
}

// pace has the next request wait, as the rate wants it.
func (q *queuePair) pace(bytes int) {
	r := &q.req
	if r.rate == 0 {
		return
	}
	wait := int64(bytes) * 1000 / r.rate
	r.paced = q.h.now() + wait
	q.h.opt.Clock.After(wait, q.wake)
}
