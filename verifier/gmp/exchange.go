package gmp

import (
	"bytes"
	"fmt"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// key names a transaction: who asks whom, in which class, with which transaction ID.
type key struct {
	from, to packet.Addr
	tid      uint64
	class    mad.Class
}

// exchange is a request and what came of it.
type exchange struct {
	key        key
	asked      bool // false: of a transfer whose request was not seen
	answered   bool
	grh        bool
	sl         uint8
	repeats    uint16
	pkey       uint16
	tap        uint16
	sends, qpn uint32 // QPs of the requester and of the responder
	h          mad.Header
	s          mad.SA
	psn        packet.PSN
	frame      uint64 // of the newest copy of the request
	time       int64
	sgid, dgid packet.Addr
	length     int
	data       [mad.Size]byte
	transfers  [2]*transfer // by the R bit of their DATA
	stop       stop
}

// request is the request as it was captured.
func (x *exchange) request() []byte { return x.data[:x.length] }

// whole reports whether all of the request was captured.
func (x *exchange) whole() bool { return x.asked && x.length == mad.Size }

// maxOpen is how many exchanges are remembered; the oldest goes first.
const maxOpen = 4096

// table holds the exchanges.
type table struct {
	byKey map[key]int32
	ring  []exchange
	next  int32
}

func (t *table) find(k key) *exchange {
	if i, ok := t.byKey[k]; ok {
		return &t.ring[i]
	}
	return nil
}

// begin makes room for an exchange.
func (t *table) begin(k key) *exchange {
	if i, ok := t.byKey[k]; ok {
		t.ring[i] = exchange{key: k}
		return &t.ring[i]
	}
	if len(t.ring) < maxOpen {
		t.ring = append(t.ring, exchange{})
		t.next = int32(len(t.ring) - 1)
	} else if t.next++; t.next == maxOpen {
		t.next = 0
	}
	x := &t.ring[t.next]
	if x.key != (key{}) {
		delete(t.byKey, x.key)
	}
	*x = exchange{key: k}
	t.byKey[k] = t.next
	return x
}

// soon is how long after a request no requester has given it up already.
const soon = int64(10 * time.Millisecond)

// request notes a request, and judges it against those that are outstanding.
func (v *Verifier) request(d *datagram) {
	p := d.p
	k := key{p.Src, p.Dst, d.h.TID, d.h.Class}
	x := v.table.find(k)
	if x != nil && x.asked {
		same := x.h == d.h && bytes.Equal(x.data[mad.HeaderSize:x.length], d.b[mad.HeaderSize:])
		v.covered(rule.MADTID001)
		if same {
			v.again(x, d)
			return
		}
		if !x.answered {
			ok := v.sees(p.Src, p.SGID) && p.Time-x.time < soon
			v.report(p, verdict{
				rule: rule.MADTID001, class: proven(ok), role: rule.Requester, evidence: x.frame, tap: x.tap,
				expected: "a transaction ID that no outstanding request of the class has",
				actual:   fmt.Sprintf("0x%x, of the %v of %s that has no answer yet", d.h.TID, x.h.Method, x.h.AttributeName()),
				detail:   why(ok, "the requester may have given the earlier request up, or its answer may have been lost before the tap"),
			})
		}
	}
	var sent *transfer // of this very request, where it takes several datagrams
	if x != nil && d.r.Active() {
		sent = x.transfers[0]
	}
	early := v.takeStray(k)
	x = v.table.begin(k)
	x.transfers[0] = sent
	x.asked, x.answered = true, early
	x.h, x.s, x.psn, x.sends, x.qpn, x.pkey, x.sl, x.grh = d.h, d.s, p.PSN, p.SrcQP, p.DestQP, p.PKey, p.SL, p.Has&packet.HasGRH != 0
	x.sgid, x.dgid = p.SGID, p.DGID
	x.length = copy(x.data[:], d.b)
	x.frame, x.tap, x.time = p.Frame, p.Tap, p.Time
	v.redirected(d)
	switch {
	case d.h.Method == mad.Report:
		v.notice(d)
		v.forwarded(d)
	case d.h.Class == mad.ClassSubnetAdmin && d.whole():
		v.saRequest(d)
	}
}

// again notes a request that is sent once more: no answer has come in time, or it was lost.
func (v *Verifier) again(x *exchange, d *datagram) {
	p := d.p
	if r, ok := v.peer(p.Src, p.Dst).respTime(d.h.Class); ok && v.sees(p.Src, p.SGID) && !x.answered {
		v.covered(rule.MADTMO002)
		if gap := p.Time - x.time; gap < limit(r) && p.Tap == x.tap {
			v.report(p, verdict{
				rule: rule.MADTMO002, class: rule.Violation, role: rule.Requester, evidence: x.frame, tap: x.tap,
				expected: fmt.Sprintf("no repetition for %v, the RespTimeValue %d of the responder", time.Duration(limit(r)), r),
				actual:   fmt.Sprintf("the same request again after %v", time.Duration(gap)),
			})
		}
	}
	x.time, x.frame, x.tap, x.psn = p.Time, p.Frame, p.Tap, p.PSN
	x.answered, x.transfers[1], x.stop = false, nil, stop{} // the answer begins anew
	if x.repeats < 1<<15 {
		x.repeats++
	}
}

// limit is a response time, in nanoseconds, by its code.
func limit(code uint8) int64 { return 4096 << min(code, 31) }

// defaultRespTime is the code where none was told: 4.3 s.
const defaultRespTime = 20

// why explains a finding that is not proven.
func why(proven bool, text string) string {
	if proven {
		return ""
	}
	return text
}

// early is how much before its request a response may be recorded.
const early = int64(time.Millisecond)

// stray is a response whose request was not seen.
type stray struct {
	k      key
	p      packet.Packet
	h      mad.Header
	proven bool
	begun  int64
}

// takeStray reports whether a response to a request has been seen already, and forgets it.
func (v *Verifier) takeStray(k key) bool {
	for i := range v.strays {
		if v.strays[i].k == k {
			v.strays = append(v.strays[:i], v.strays[i+1:]...)
			return true
		}
	}
	return false
}

// long is how long after the beginning of a capture a response is to a request within it.
const long = int64(20 * time.Second)

// keepStray notes a response to a request that was not seen.
func (v *Verifier) keepStray(k key, d *datagram) {
	if len(v.strays) >= 256 {
		v.strays = append(v.strays[:0], v.strays[1:]...)
		v.Skipped[SkipUnasked]++
	}
	p := *d.p
	p.Payload, p.Pad, p.Data = nil, nil, nil
	v.strays = append(v.strays, stray{k, p, d.h, v.sees(p.Src, p.SGID) && p.Time-v.begun > long, v.begun})
}

// settle judges the responses whose requests do not come any more: where a request waits for an answer that differs in nothing but the
// transaction ID, this is its answer.
func (v *Verifier) settle(now int64) {
	n := 0
	for n < len(v.strays) && now-v.strays[n].p.Time > early {
		v.mistaken(&v.strays[n])
		n++
	}
	if n > 0 {
		v.strays = append(v.strays[:0], v.strays[n:]...)
	}
}

func (v *Verifier) mistaken(s *stray) {
	v.Skipped[SkipUnasked]++
	for i := range v.table.ring {
		x := &v.table.ring[i]
		k := x.key
		if k.from != s.k.from || k.to != s.k.to || k.class != s.k.class || !x.asked || x.answered || x.time > s.p.Time ||
			s.p.Time-x.time > limit(defaultRespTime) || answerTo(k.class, x.h.Method) != s.h.Method || x.h.Attribute != s.h.Attribute || x.h.Modifier != s.h.Modifier {
			continue
		}
		v.covered(rule.MADTID001)
		v.report(&s.p, verdict{
			rule: rule.MADTID001, class: proven(s.proven), role: rule.Responder, evidence: x.frame, tap: x.tap,
			expected: fmt.Sprintf("transaction ID 0x%x of the request", k.tid), actual: fmt.Sprintf("0x%x, of no request", s.k.tid),
			detail: why(s.proven, "the request may have been sent before the capture began, or lost before the tap"),
		})
		x.answered = true
		return
	}
}
