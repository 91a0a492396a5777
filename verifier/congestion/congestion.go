package congestion

import (
	"fmt"
	"time"

	"ibwitness/expect"
	"ibwitness/internal/keyed"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// Times and limits of congestion notification.
const (
	// longestPacing is the longest that an adapter is known to let pass between two congestion notification packets.
	longestPacing = 4095 * time.Microsecond
	// soonNotified is how soon a CNP follows the mark that it reports: not later than with the next timer, and one more.
	soonNotified = 10 * time.Millisecond
	// staleMark is how long after the newest mark no CNP reports it any more.
	staleMark = 100 * time.Millisecond
	// mostQPs is how many QPs of a sender are kept; the one that is known for longest makes room.
	mostQPs = 4096
	// mostPorts is how many ports are kept whose newest CNP matters.
	mostPorts = 4096
)

// state is what the network and the receivers have reported of congestion, besides the marks of each pair of addresses. The zero value
// is empty.
type state struct {
	ports map[packet.Addr]notified // the newest CNP of an address, to whomever, where the profile says that its port paces all of them
	cnp   newestCNP                // see CountedCNP
	fecns int                      // marks on InfiniBand that have yet to be returned: see forward.go
}

// newestCNP is what is kept of the newest CNP.
type newestCNP struct {
	notified
	src, dst packet.Addr
	destQP   uint32
	ipid     uint16
	tap      uint16
}

// Marks are the marks on packets from one address to another, and the CNPs that report them. The zero value has none.
type Marks struct {
	heads    []*marked // of the lists of what is known of QPs, by a hash of the sender's QPN, or of anyDest where that is not known
	any      *marked   // what is known of anyDest, or nil
	order    []*marked // all of it in the order in which the QPs came, from oldest on
	oldest   int
	lost     int64          // when a QP that made room was marked last
	owed     *packet.Packet // the oldest marked packet that no CNP has reported
	owedQP   uint32         // the QP that sent it
	owedOf   *qp.Pair       // the connection that it is of, sent by end owedFrom, or nil
	owedFrom int
	silent   bool // that none came was reported, and none has come since
	notifies bool // the receiver has sent CNPs
	forACKs  bool // one of them was for a marked ACK: not all adapters send one for that
	seen     bool // a packet was marked
	apart    bool // on InfiniBand: it has sent CNPs, beside or in place of BECN in responses
	newest   notified
	onCNPs   uint32
	onCNP    uint64 // frame of the newest CNP with a mark
}

// marked is what is known of the marks of one QP.
type marked struct {
	qpn    uint32  // the sender's, or anyDest
	next   *marked // in its list
	due    uint32  // marks that no CNP has reported
	others uint32  // of these, marks on packets other than ACKs
	at     int64   // of the newest
	pkey   uint16
	mixed  bool // what was marked has not had one P_Key
	newest notified
	pace   pace
	steady steady
}

// notified is one CNP.
type notified struct {
	time  int64
	frame uint64
}

// anyDest is the key of a sender whose QPN is not known.
const anyDest = 1 << 31

// way returns the marks of packets from one address to another.
func (v *Verifier) way(from, to packet.Addr) *Marks {
	m := v.Marks(from, to)
	if *m == nil {
		*m = new(Marks)
	}
	return *m
}

// find returns what is known of a QP, or nil.
func (m *Marks) find(qpn uint32) *marked {
	if len(m.heads) == 0 {
		return nil
	}
	q := *m.head(qpn)
	for q != nil && q.qpn != qpn {
		q = q.next
	}
	return q
}

// head returns where the list of a QP and of others with its hash begins.
func (m *Marks) head(qpn uint32) **marked {
	return &m.heads[keyed.Pair(uint64(qpn), 0)&uint64(len(m.heads)-1)]
}

// qp returns what is known of a QP, and makes room for it.
func (m *Marks) qp(qpn uint32) *marked {
	q := m.find(qpn)
	if q != nil {
		return q
	}
	if len(m.order) < mostQPs {
		if len(m.order) >= len(m.heads) {
			m.growHeads()
		}
		q = new(marked)
		m.order = append(m.order, q)
	} else {
		q = m.order[m.oldest]
		m.oldest = (m.oldest + 1) % mostQPs
		m.forget(q)
	}
	head := m.head(qpn)
	*q = marked{qpn: qpn, next: *head}
	if *head = q; qpn == anyDest {
		m.any = q
	}
	return q
}

// forget forgets what is known of a QP.
func (m *Marks) forget(q *marked) {
	at := m.head(q.qpn)
	for *at != q {
		at = &(*at).next
	}
	if *at = q.next; q.due > 0 {
		m.lost = max(m.lost, q.at)
	}
	if q == m.any {
		m.any = nil
	}
}

// growHeads has twice as many lists.
func (m *Marks) growHeads() {
	m.heads = make([]*marked, max(1, 2*len(m.heads)))
	for _, q := range m.order {
		head := m.head(q.qpn)
		q.next, *head = *head, q
	}
}

// senderQP is the QP that sent p, end from of c, or anyDest. c may be nil.
func senderQP(c *qp.Pair, from int, p *packet.Packet) uint32 {
	switch {
	case p.Has&packet.HasDETH != 0:
		return p.SrcQP
	case c != nil && c.Ends[from].Numbered:
		return c.Ends[from].Number
	}
	return anyDest
}

// Marked takes a packet of RoCEv2 that the network has marked: its receiver owes its sender a CNP (rule CNG-CNP-001). c is the connection
// that it belongs to, sent by end from, or nil.
func (v *Verifier) Marked(c *qp.Pair, from int, p *packet.Packet) {
	v.ReportBytes(c, from, p, rule.Verdict{Rule: rule.EvCE, Class: rule.Event, Role: rule.Network})
	m := v.way(p.Src, p.Dst)
	if p.Opcode == packet.OpCNP {
		m.onCNPs++
		m.onCNP = p.Frame
		return
	}
	m.seen = true
	v.notECT(c, from, p)
	qpn := senderQP(c, from, p)
	q := m.qp(qpn)
	q.mixed = q.mixed || q.at != 0 && q.pkey != p.PKey
	q.due++
	ack := p.Opcode.Fn() == packet.Acknowledge
	if !ack {
		q.others++
	}
	q.at, q.pkey = p.Time, p.PKey
	if p.Dst.IsMulticast() {
		return
	}
	v.missingCNP(m, p.Time)
	if ack && !m.forACKs && v.Profile.CNPs.By == verifier.PacingUnknown {
		return
	}
	if m.owed == nil && !m.silent && (m.newest.time == 0 || p.Time-m.newest.time > v.Profile.CNPs.Most(longestPacing)) {
		m.owed, m.owedQP, m.owedOf, m.owedFrom = p.Bare(), qpn, c, from
	}
}

// Unfollowed takes a packet that is not judged further, or whose mark is one on a tunnel. Where it is marked, its receiver may send a CNP all the same.
func (v *Verifier) Unfollowed(p *packet.Packet) {
	if !p.Encap.OnIP() || p.TClass&3 != 3 && p.Flaws&packet.FlawOuterMark == 0 || p.Opcode == packet.OpCNP {
		return
	}
	m := v.way(p.Src, p.Dst)
	m.seen = true
	q := m.qp(anyDest)
	q.due++
	q.at, q.mixed = p.Time, true
}

// Merge notes that connection gone is end from of another one from now on.
func (m *Marks) Merge(gone, c *qp.Pair, from int) {
	if m.owedOf == gone {
		m.owedOf, m.owedFrom = c, from
	}
}

// accepted reports whether the marked packet that a CNP is owed for is known to have been accepted: a QP that is gone owes none.
func (m *Marks) accepted() bool {
	p, c := m.owed, m.owedOf
	if c == nil || !c.Reliable() || !p.Info().Request {
		return false
	}
	end := &c.Ends[m.owedFrom]
	return end.Addr == p.Src && c.Ends[1-m.owedFrom].Number == p.DestQP && end.SQ.Una.After(p.PSN)
}

// missingCNP judges whether the receiver of marked packets has notified their sender in time (rule CNG-CNP-001).
func (v *Verifier) missingCNP(m *Marks, now int64) {
	if m.owed == nil || m.owed.Encap == packet.Native || now-m.owed.Time <= v.Profile.CNPs.Most(soonNotified) {
		return
	}
	p, taken := m.owed, m.accepted()
	m.owed, m.owedOf, m.silent = nil, nil, true
	if !m.notifies && (v.Profile.CNPs.By == verifier.PacingUnknown || v.Profile.CNPs.By == verifier.PacedByPort) {
		return // its congestion notification may be off
	}
	v.Covered(rule.CNGCNP001)
	d := rule.Verdict{
		Rule: rule.CNGCNP001, Role: rule.Receiver,
		Expected: "a CNP within " + time.Duration(v.Profile.CNPs.Most(soonNotified)).String() + ": the packet is marked", Actual: "none",
	}
	switch by := v.Profile.CNPs.By; {
	case by == verifier.PacedByQP, by == verifier.PacedByAddress:
		switch d.Class = rule.Proven(v.Near(p.Dst) && taken); {
		case !v.Near(p.Dst):
			d.Detail = "the packet may have been lost after the tap, or the CNP before the tap"
		case !taken:
			d.Detail = "the packet is not acknowledged: its DestQP may no longer exist"
		}
	default:
		d.Class, d.Detail = rule.Unproven, "some adapters have one CNP timer for all senders: name it with --profile cnp-per-ip"
	}
	v.Rec.Report(p, d, rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: true},
		rule.Endpoint{Addr: p.Src, QPN: m.owedQP & packet.PSNMask, QPNKnown: m.owedQP != anyDest})
}

// Finish judges what the receiver of marked packets still owes at time now.
func (v *Verifier) Finish(m *Marks, now int64) { v.missingCNP(m, now) }

// NotECT judges that the network marks only what its sender calls ECN-capable (rule CNG-ECN-001). At one tap the first packet of a QP shows
// what its sender does.
func (v *Verifier) notECT(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.CNGECN001)
	if c == nil || c.Service > packet.UC || v.Untouched(p) { // then it is the sender's doing: ROC-V2-005
		return
	}
	f := &c.Ends[from].Flow
	if !f.Known() || f.Reported&qp.ReportedECN != 0 || f.Reported&NotECT(p) == 0 {
		return
	}
	f.Reported |= qp.ReportedECN
	v.Accuse(c, from, p, rule.Verdict{
		Rule: rule.CNGECN001, Class: rule.Unproven, Role: rule.Network,
		Expected: "no CE mark on a packet that is not ECN-capable: the first packet of this QP is not", Actual: "ECN 11 (CE)",
		Detail: "the sender may send only some of its packets as ECN-capable; a tap before the marking switch shows it",
	})
}

// NotECT is the flag that says that the first packet of a QP, one like p, was not ECN-capable.
func NotECT(p *packet.Packet) uint16 {
	if p.Info().Response {
		return qp.FirstNotECTResponse
	}
	return qp.FirstNotECT
}

// Remarked takes a packet with a mark that another tap has shown with another ECN field (rule CNG-ECN-001).
func (v *Verifier) Remarked(c *qp.Pair, from int, p *packet.Packet, ecn uint8) {
	if ecn == 0 {
		v.Covered(rule.CNGECN001)
		d := rule.Verdict{
			Rule: rule.CNGECN001, Class: rule.Violation, Role: rule.Network,
			Expected: "ECN 00, as at another tap: the packet is not ECN-capable", Actual: "ECN 11 (CE)",
		}
		if c != nil {
			c.Ends[from].Flow.Reported |= qp.ReportedECN
		}
		v.ReportBytes(c, from, p, d)
	}
	v.Marked(c, from, p)
}

// CountedCNP reports whether p, one PSN ahead of what end from of c would send next, is the first packet after a CNP of that end: it took the
// CNP for a packet of the stream (rule CNG-CNP-006).
func (v *Verifier) CountedCNP(c *qp.Pair, from int, p *packet.Packet) bool {
	n, end, peer := &v.state.cnp, &c.Ends[from], &c.Ends[1-from]
	return c.Sees(from) && n.frame > end.SQ.Last.Frame && n.src == end.Addr && n.dst == peer.Addr && n.destQP == peer.Number && n.tap == p.Tap &&
		p.PSN == end.SQ.Next.Add(1)
}

// ReportCounted is the finding that CountedCNP is about.
func (v *Verifier) ReportCounted(c *qp.Pair, from int, p *packet.Packet, role rule.Role) {
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.CNGCNP006, Class: rule.Proven(c.Sees(from)), Role: role,
		Wants: rule.Want(expect.PSN, uint64(c.Ends[from].SQ.Next)), Expected: fmt.Sprintf("PSN %v: a CNP uses no PSN", c.Ends[from].SQ.Next), Actual: "PSN " + p.PSN.String(), Detail: verifier.LossDetail(c, from),
		Evidence: []uint64{v.state.cnp.frame}, Gap: rule.GapAt(c.Ends[from].SQ.Next),
	})
}
