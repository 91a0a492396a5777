package congestion

import (
	"fmt"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// CNP judges a congestion notification packet: the receiver of marked packets asks their sender to slow down. c is the connection of the QP
// that shall, or nil; from is the end that sent the CNP. since is when the first packet between the two addresses was seen.
func (v *Verifier) CNP(c *qp.Pair, from int, p *packet.Packet, since int64) {
	if n := &v.state.cnp; verifier.Numbered(p) && n.ipid == p.IPID && n.src == p.Src && n.dst == p.Dst && n.destQP == p.DestQP && p.Time-n.time < verifier.CopyTime {
		return // a copy that the network made
	}
	v.ReportUnpaired(p, rule.Verdict{Rule: rule.EvCNP, Class: rule.Event, Role: rule.Receiver})
	v.Covered(rule.CNGCNP005)
	m := v.way(p.Dst, p.Src)
	q := m.qp(p.DestQP)
	v.missingCNP(m, p.Time)
	m.forACKs = m.forACKs || q.due > 0 && q.others == 0
	q.others = 0
	v.cnpCause(c, from, p, m, q, since)
	v.cnpPace(c, from, p, m, q)
	v.cnpDSCP(c, from, p)
	if c != nil && c.Service <= packet.UC {
		v.Covered(rule.CNGCNP006)
		if e := &c.Ends[1-from]; e.Sums().Packets > 0 {
			e.SQ.Notify(p.Time, e.Sums().Bytes)
		}
		v.slowsDown(c, 1-from, p, q)
	}
	if m.owed != nil && (v.Profile.CNPs.By != verifier.PacedByQP || m.owedQP == anyDest || m.owedQP == p.DestQP) {
		v.Covered(rule.CNGCNP001)
		m.owed, m.owedOf = nil, nil
	}
	m.notifies, m.silent = true, false
	n := notified{p.Time, p.Frame}
	m.newest, q.newest = n, n
	v.state.paced(v.Profile.CNPs.By, p.Src, n)
	v.state.cnp = newestCNP{n, p.Src, p.Dst, p.DestQP, p.IPID, p.Tap}
}

// cnpCause judges that a mark is why a CNP was sent (rules CNG-CNP-002, -005), and that it has the P_Key of what was marked (CNG-CNP-003).
func (v *Verifier) cnpCause(c *qp.Pair, from int, p *packet.Packet, m *Marks, q *marked, since int64) {
	stale := v.Profile.CNPs.Most(staleMark)
	known := true
	if q.due == 0 || p.Time-q.at > stale {
		if m.any != nil {
			q, known = m.any, false // whose it was is not known
		}
	}
	switch {
	case q.due > 0 && p.Time-q.at <= stale:
		q.due--
		v.Covered(rule.CNGCNP002)
		v.cnpPKey(c, from, p, q, known)
	case p.Time-max(since, m.lost) <= stale: // a mark from before the capture began may be why, or one that was given up
	case p.DestQP == 0: // UD-QP1-002: nobody's mark is why
	case !m.seen && m.onCNPs == 0 && !v.Untouched(p): // the tap may be before all that marks
	default:
		v.unmarkedCNP(c, from, p, m)
	}
}

// cnpPKey judges that a CNP has the P_Key of the packet whose mark is why (rule CNG-CNP-003). known is whether it is known that this QP had sent that.
func (v *Verifier) cnpPKey(c *qp.Pair, from int, p *packet.Packet, q *marked, known bool) {
	flow := c != nil && c.Ends[from].Flow.Known()
	own := flow && (p.PKey^c.Ends[from].Flow.PKey)&0x7FFF == 0 // then the marked packet had another one
	if (p.PKey^q.pkey)&0x7FFF == 0 || q.mixed || own {
		return
	}
	v.ReportBytes(c, from, p, rule.Verdict{
		Rule: rule.CNGCNP003, Class: rule.Proven(known || flow), Role: rule.Receiver,
		Wants: rule.Want(expect.PKey, uint64(q.pkey)), Expected: fmt.Sprintf("P_Key 0x%04x of the marked packet", q.pkey), Actual: fmt.Sprintf("P_Key 0x%04x", p.PKey),
	})
}

// unmarkedCNP reports a CNP for which no mark is why, or that of a CNP (rules CNG-CNP-002, -005).
func (v *Verifier) unmarkedCNP(c *qp.Pair, from int, p *packet.Packet, m *Marks) {
	d := rule.Verdict{
		Rule: rule.CNGCNP002, Class: rule.Proven(v.Untouched(p)), Role: rule.Receiver,
		Expected: "a CNP only for a packet that was marked",
	}
	switch {
	case d.Class == rule.Unproven:
		d.Detail = "a switch after the tap may have marked the packet"
	case c == nil: // a QP of UD sends to groups too, which this does not see
		d.Class, d.Detail = rule.Unproven, "a datagram to a multicast group may have been marked"
	}
	if m.onCNPs > 0 {
		m.onCNPs--
		d.Rule, d.Expected, d.Actual = rule.CNGCNP005, "no CNP for a marked CNP", "only a CNP was marked"
		d.Evidence = []uint64{m.onCNP}
	} else if !v.Rec.Full(d.Rule, d.Class, p.Src, p.Dst) {
		d.Actual = fmt.Sprintf("no packet of QP 0x%x was marked since the previous CNP", p.DestQP)
	}
	v.Covered(d.Rule)
	v.ReportBytes(c, from, p, d)
}

// cnpPace judges the time between CNPs (rule CNG-CNP-007).
func (v *Verifier) cnpPace(c *qp.Pair, from int, p *packet.Packet, m *Marks, q *marked) {
	pacing, last, to := v.Profile.CNPs, q.newest, ""
	switch pacing.By {
	case verifier.PacedByAddress:
		last, to = m.newest, "to this address"
	case verifier.PacedByPort:
		last, to = v.state.ports[p.Src], "of this port"
	case verifier.PacingUnknown:
		pacing.Every = verifier.LeastPacing
	}
	if last.time == 0 {
		return
	}
	v.Covered(rule.CNGCNP007)
	took := time.Duration(p.Time - last.time)
	if took >= pacing.Every-pacing.Every/8 { // clocks and taps are not that exact
		return
	}
	if to == "" {
		to = fmt.Sprintf("to QP 0x%x", p.DestQP)
	}
	d := rule.Verdict{
		Rule: rule.CNGCNP007, Class: rule.Proven(pacing.By != verifier.PacingUnknown && v.Untouched(p)), Role: rule.Receiver,
		Expected: "no other CNP " + to + " for " + pacing.Every.String(), Actual: "a CNP after " + took.String(), Evidence: []uint64{last.frame},
	}
	switch {
	case pacing.By == verifier.PacingUnknown:
		d.Detail = "the interval is a setting of the adapter: give it with --profile cnp-per-qp=TIME"
	case d.Class == rule.Unproven:
		d.Detail = "the network may have shortened the interval on the way to the tap"
	}
	v.ReportBytes(c, from, p, d)
}

// paced notes the newest CNP of a port. Of more ports than are kept, all are learned again.
func (g *state) paced(by verifier.PacedBy, port packet.Addr, n notified) {
	if by != verifier.PacedByPort {
		return
	}
	if len(g.ports) >= mostPorts {
		clear(g.ports)
	}
	if g.ports == nil {
		g.ports = map[packet.Addr]notified{}
	}
	g.ports[port] = n
}

// cnpDSCP judges the DSCP of a CNP, where the profile gives it (rule CNG-CNP-008).
func (v *Verifier) cnpDSCP(c *qp.Pair, from int, p *packet.Packet) {
	if !v.Profile.HasDSCP || !p.Encap.OnIP() {
		return
	}
	v.Covered(rule.CNGCNP008)
	if p.TClass>>2 == v.Profile.DSCP {
		return
	}
	v.ReportBytes(c, from, p, rule.Verdict{
		Rule: rule.CNGCNP008, Class: rule.Proven(v.Untouched(p)), Role: rule.Receiver,
		Wants: rule.Want(expect.DSCP, uint64(v.Profile.DSCP)), Expected: fmt.Sprintf("DSCP %d", v.Profile.DSCP), Actual: fmt.Sprintf("DSCP %d", p.TClass>>2),
	})
}

// pace is how much a QP had sent when CNPs came to it, one soon after the other.
type pace struct {
	n    int
	last int64 // when the newest of them came
	seen [8]struct {
		time  int64
		bytes uint64
	}
	fastest float64 // bytes a second, before a CNP that others followed
}

const (
	pressing = int64(time.Millisecond) // between CNPs that follow one another
	settling = int64(time.Millisecond) // in which a sender slows down
	deepest  = 4 << 20                 // bytes that may wait in the queue before the tap, whose pace the tap sees until they are through
	drained  = 7 * settling / 2        // in which they are, at 10 Gbit/s
	worth    = 16 << 10                // bytes from which on a rate means something
	slower   = 0.75                    // of the fastest rate: who sends less has slowed down, though not any more since the last of them
)

// add takes a CNP, when a QP had sent so many bytes. Of those in a row it returns how many bytes a second came between the first four, and between four after a sender has had the
// time to slow down, and whether that tells of one which does not.
func (s *pace) add(now int64, bytes uint64) (first, second float64, judged, steady bool) {
	if now-s.last > pressing {
		s.n = 0
	}
	s.last = now
	if took := now - s.seen[0].time; s.n == len(s.seen)/2 && (took < settling || took < drained && bytes-s.seen[0].bytes < deepest) {
		return 0, 0, false, false
	}
	s.seen[s.n].time, s.seen[s.n].bytes = now, bytes
	if s.n++; s.n < len(s.seen) {
		return 0, 0, false, false
	}
	s.n = 0
	rate := func(i, k int) (bytes uint64, perSecond float64) {
		bytes = s.seen[k].bytes - s.seen[i].bytes
		return bytes, float64(bytes) / (float64(max(s.seen[k].time-s.seen[i].time, 1)) / 1e9)
	}
	before, first := rate(0, 3)
	after, second := rate(4, 7)
	if min(before, after) < worth {
		return first, second, false, false
	}
	s.fastest = max(s.fastest, first)
	return first, second, true, second >= first && second >= slower*s.fastest
}

// steady is that a QP was reported not to slow down; frame 0: it was not.
type steady struct {
	frame uint64
	tap   uint16
	rate  float64 // bytes a second, then
	slow  bool    // it did so later
	time  int64   // of a CNP since, and how many bytes it had sent by then
	bytes uint64
}

const (
	obeys  = 2            // to which part of its rate, one in so many, such a QP has to slow down while CNPs come
	resume = 8 * settling // a CNP that comes later says nothing of what was sent before
)

// slows takes a CNP, when the QP had sent so many bytes, and reports whether it shows that the QP has slowed down.
func (s *steady) slows(now int64, bytes uint64) bool {
	took := now - s.time
	if s.frame == 0 || s.slow || took < settling {
		return false
	}
	s.slow = took < resume && obeys*float64(bytes-s.bytes) <= s.rate*float64(took)/1e9
	s.time, s.bytes = now, bytes
	return s.slow
}

// slowsDown judges, over CNPs in a row, that the requester to which they go sends slower by and by, or has done so before (rule CNG-RP-001).
func (v *Verifier) slowsDown(c *qp.Pair, who int, p *packet.Packet, q *marked) {
	sent := c.Ends[who].Sums().Bytes
	first, second, judged, fast := q.pace.add(p.Time, sent)
	if s := &q.steady; s.slows(p.Time, sent) {
		for _, i := range v.Rec.OnFrame(rule.CNGRP001, s.tap, s.frame) {
			v.Rec.Remove(i)
		}
	}
	if !judged {
		return
	}
	if v.Covered(rule.CNGRP001); !fast || q.steady.frame != 0 {
		return
	}
	q.steady = steady{frame: p.Frame, tap: p.Tap, rate: second, time: p.Time, bytes: sent}
	v.Accuse(c, who, p, rule.Verdict{
		Rule: rule.CNGRP001, Class: rule.Unproven, Role: rule.Requester,
		Expected: fmt.Sprintf("less than %.1f Mbit/s: the sender has received CNPs since", first*8/1e6), Actual: fmt.Sprintf("%.1f Mbit/s", second*8/1e6),
		Detail: "the reduced rate limit may still be above the offered load",
	})
}
