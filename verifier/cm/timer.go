package cm

import (
	"cmp"
	"container/heap"
	"fmt"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
)

// period is the time that a 5-bit code means, 4.096 µs · 2^code, in nanoseconds (rule CM-TMO-001).
func period(code uint8) int64 { return 4096 << (code & 31) }

// deadline is when something must have happened.
type deadline struct {
	at   int64
	slot int32
	gen  uint32
	kind duty
	side int8 // that has the duty
	seen seen // the message that made it one
	psn  packet.PSN
	tap  uint16
}

// duty is what a side owes.
type duty uint8

const (
	answerREQ   duty = iota // by REP, REJ or MRA
	answerAfter             // by REP or REJ, after an MRA
	repeatRTU               // for a REP that was retransmitted
	answerDREQ              // by DREP
	repOfMRA                // what a message answers is before it, as far as captures keep the order
	lapOfMRA
	lapOfAPR
	dreqOfDREP
)

type deadlines []deadline

func (d deadlines) Len() int { return len(d) }

func (d deadlines) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(d[i].at, d[j].at), cmp.Compare(d[i].seen.frame, d[j].seen.frame)) < 0
}

func (d deadlines) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)   { *d = append(*d, x.(deadline)) }

func (d *deadlines) Pop() any {
	old := *d
	last := old[len(old)-1]
	*d = old[:len(old)-1]
	return last
}

// expect sets a deadline for a side of an exchange, from message m on: from the newest time, as clocks are set back, and some are never set.
func (v *Verifier) expect(x *exchange, m *message, kind duty, side int, within int64) {
	if within <= 0 || len(v.due) >= 4*maxExchanges {
		return
	}
	d := deadline{
		at: v.now + within, slot: v.index(x), gen: x.gen, kind: kind, side: int8(side), seen: seen{m.Time, m.Frame}, psn: m.PSN, tap: m.Tap,
	}
	heap.Push(&v.due, d)
	if first := x.unasked[side]; kind == dreqOfDREP && (first == nil || first.at < v.now-slack) {
		kept := d
		x.unasked[side] = &kept
	}
}

// leap is a time that no connection waits for in silence, as what is not answered is retransmitted: a clock was set, or the stamps are of two clocks.
const leap = int64(10 * time.Minute)

// tick takes the time of a message.
func (v *Verifier) tick(now int64) {
	if v.now != 0 && now-v.now > leap {
		v.due = v.due[:0]
	}
	v.now = max(v.now, now)
	v.pass(v.now - slack)
}

// pass lets time pass: duties that were to be done before are judged.
func (v *Verifier) pass(now int64) {
	for len(v.due) > 0 && v.due[0].at < now {
		d := heap.Pop(&v.due).(deadline)
		if x := &v.slots[d.slot]; x.gen == d.gen {
			v.overdue(x, &d)
		}
	}
}

// close judges, at the end of the capture, answers to what is nowhere before them, of the sides that the tap is near. What they answer is not recorded
// so much later that the capture could have ended in between.
func (v *Verifier) close() {
	for len(v.due) > 0 {
		d := heap.Pop(&v.due).(deadline)
		if x := &v.slots[d.slot]; x.gen == d.gen && d.kind >= repOfMRA && x.near[d.side] {
			v.unsolicited(x, &d)
		}
	}
}

// overdue judges a duty whose time has come.
func (v *Verifier) overdue(x *exchange, d *deadline) {
	if d.kind >= repOfMRA {
		v.unsolicited(x, d)
		return
	}
	if x.done(d) {
		return
	}
	switch d.kind {
	case answerREQ:
		if x.once(toldAnswer) {
			v.missing(x, d, rule.CMSM005, "REP, REJ or MRA within "+rule.Span(x.timeout[passive]))
		}
	case answerAfter:
		if x.once(toldAfterMRA) {
			v.missing(x, d, rule.CMSM005, "REP, REJ or a further MRA within the "+rule.Span(x.mraTimeout[passive])+" that this MRA requested")
		}
	case repeatRTU:
		v.missing(x, d, rule.CMSM009, "an RTU for the retransmitted REP")
	case answerDREQ:
		if x.once(toldSilent << d.side) {
			v.missing(x, d, rule.CMSM011, "DREP")
		}
	}
}

// done reports whether a duty to answer was done, or need not be done any more.
func (x *exchange) done(d *deadline) bool {
	switch d.kind {
	case answerREQ: // an RTU without a REP is CM-SM-001
		return x.req.answered || x.rival || x.early.happened() && x.near[active]
	case answerAfter:
		return x.rep.sent() || x.reject.happened() || x.mra[passive].time > d.seen.time
	case repeatRTU:
		return x.rtu.time+slack >= d.seen.time || x.reject.happened() || x.disconnecting()
	case answerDREQ:
		return x.drep[d.side].happened() || x.dreq[d.side].sent()
	}
	return false
}

// unjudgedFrom reports whether a side has sent a message that could not be judged.
func (v *Verifier) unjudgedFrom(x *exchange, side int) bool {
	_, ok := v.unjudged[[2]packet.Addr{x.addr(side), x.addr(1 - side)}]
	return ok
}

// expectCause expects, within the disorder of captures, that what message m of side answers has been seen.
func (v *Verifier) expectCause(x *exchange, m *message, kind duty, side int) {
	v.expect(x, m, kind, side, slack)
}

// drepBeforeDREQ judges a DREP of side, near which the tap is, that was recorded before DREQ m, which it is to.
func (v *Verifier) drepBeforeDREQ(x *exchange, m *message, side int) {
	if d := x.unasked[side]; d != nil && d.at >= v.now-slack && m.Time-d.seen.time > x.disorder(side, d.tap, m) {
		v.unsolicited(x, d)
	}
}

// unsolicited judges a response before which no message was seen that it responds to (rules CM-SM-006, CM-TID-002).
func (v *Verifier) unsolicited(x *exchange, d *deadline) {
	side := int(d.side)
	if v.unjudgedFrom(x, 1-side) || x.misnamed.frame != 0 && x.misnamed.side != side || x.reject.happened() {
		return // it may be an answer to that, or to a DREQ after the end
	}
	switch d.kind {
	case repOfMRA:
		if x.told&toldEarly == 0 && (!x.rep.sent() || x.rep.first > d.seen.time+slack) {
			v.accused(x, d, rule.CMSM006, "an MRA for a message of the other side", "an MRA for a REP without one", nil, true)
		}
	case lapOfMRA:
		if !x.lap.sent() {
			v.accused(x, d, rule.CMSM006, "an MRA for a message of the other side", "an MRA for a LAP without one", nil, true)
		}
	case lapOfAPR:
		if !x.lap.sent() {
			v.accused(x, d, rule.CMTID002, "the transaction ID of a LAP", "an APR without a LAP", nil, true)
		}
	case dreqOfDREP:
		if !x.dreq[1-side].sent() {
			v.accused(x, d, rule.CMTID002, "the transaction ID of a DREQ", "a DREP without a DREQ", nil, true)
		}
	}
}

// missing accuses a side of a message that it did not send.
func (v *Verifier) missing(x *exchange, d *deadline, id rule.ID, expected string) {
	v.accused(x, d, id, expected, fmt.Sprintf("no message of the %s side", sideNames[d.side]), nil, true)
}

// accused makes a finding, against a side, on a message that is no longer at hand. sure says that the capture began early enough to prove it.
func (v *Verifier) accused(x *exchange, d *deadline, id rule.ID, expected, actual string, evidence []uint64, sure bool) {
	f := v.against(x, d, id)
	f.Class, f.Expected, f.Actual, f.Evidence = rule.Proven(sure && x.near[d.side] && !v.Lossy()), expected, actual, evidence
	f.Assumes = rule.AssumesNear
	if f.Class == rule.Unproven {
		f.Detail = "the tap is not known to be near the endpoint, or the capture lost packets: a message may have been lost, or the tap may have missed it"
	}
	if !sure {
		f.Detail = "the message to which it responds may have been sent before the capture began, or the tap may have missed it"
	}
	v.Rec.Add(f)
}

// against is a finding on a message of the past, against the side of a deadline, which has sent it or is to answer it.
func (v *Verifier) against(x *exchange, d *deadline, id rule.ID) rule.Finding {
	side := int(d.side)
	return rule.Finding{
		Rule: id, Service: packet.UD, Opcode: packet.Op(packet.UD, packet.SendOnly), HasBTH: true,
		PSN: d.psn, Time: d.seen.time, Tap: d.tap, Frame: d.seen.frame,
		Accused: rule.Endpoint{Role: rule.Sender, Addr: x.addr(side), QPN: 1, QPNKnown: true},
		Peer:    rule.Endpoint{Addr: x.addr(1 - side), QPN: 1, QPNKnown: true},
	}
}
