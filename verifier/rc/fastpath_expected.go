package rc

import (
	"math"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// Nearly every packet of a healthy connection is the expected one: the request with the next PSN that carries its message on, or the
// Acknowledge of a message whose MSN follows. This file takes those in one step. Whatever is not exactly so, or comes with anything
// out of the ordinary, is left untouched for the verifiers proper, which say what is wrong. The result is the same to the last count
// of coverage: TestExpected compares both ways. A new check on RC packets thus needs a condition here, unless it
// can only fail where one of the conditions already does.
//
// What differs from packet to packet is masked and not asked one by one: a processor cannot guess such branches.

// expectation is what the fast path knows of an opcode.
type expectation struct {
	known   bool   // a request of the fast path
	op      wqe.Op // that it belongs to
	open    wqe.Op // that must be open before it
	opens   wqe.Op // that is open after it
	begins  bool   // First, Only
	ends    bool   // Last, Only
	full    bool   // carries PMTU bytes of payload
	some    bool   // carries payload at all
	least   uint8  // bytes of payload
	own     uint8  // 1: answered by a response of its own
	answers uint8  // of a response: the operations that it may answer, a bit each
	alone   bool   // of a response: it may be the whole answer to a message
	read    uint32 // all ones: READ request, or response to a READ
	atomic  uint32 // all ones: ATOMIC Acknowledge
	dma     uint32 // bits of DMALen in which it is the length of the payload
	long    uint32 // bits of DMALen that are 0
	va      uint64 // bits of VA that are 0
	compare uint64 // bits of Compare that are 0
	covered []rule.ID
}

// expectations is by opcode.
var expectations = buildExpectations()

func buildExpectations() (t [256]expectation) {
	for i := range t {
		in := packet.Opcode(i).Info()
		if !in.Opcode.Service().Reliable() || !in.Defined {
			continue
		}
		if in.Response {
			t[i] = expectedAnswer(in)
		} else {
			t[i] = expectedPart(in)
		}
	}
	return t
}

// expectedAnswer is what the fast path knows of a response.
func expectedAnswer(in *packet.Info) (e expectation) {
	switch fn := in.Opcode.Fn(); {
	case fn == packet.Acknowledge:
		e.answers, e.alone = 1<<wqe.Send|1<<wqe.Write, true
		e.covered = []rule.ID{rule.RCRSP006, rule.RCRSP013, rule.RCRSP005, rule.RCACK003}
	case fn == packet.AtomicAck:
		e.answers, e.alone, e.own, e.atomic = 1<<wqe.CmpSwap|1<<wqe.FetchAdd, true, 1, math.MaxUint32
		e.covered = []rule.ID{rule.RCRSP010, rule.RCRSP023, rule.RCRES004, rule.RCRSP013, rule.RCRSP005, rule.RCACK003}
	case fn >= packet.ReadRespFirst && fn <= packet.ReadRespOnly:
		e.answers, e.alone, e.own, e.read = 1<<wqe.Read, in.Only, 1, math.MaxUint32
		e.covered = []rule.ID{rule.RCRES001, rule.RCRES002, rule.RCRSP009, rule.RCRSP005, rule.RCACK003}
		if in.Headers&packet.HasAETH != 0 {
			e.covered = append(e.covered, rule.RCRES004, rule.RCRSP013)
		}
	}
	return e
}

// expectedPart is what the fast path knows of a packet of a request: nothing of those that it leaves to the verifiers proper.
func expectedPart(in *packet.Info) (e expectation) {
	fn := in.Opcode.Fn()
	if fn == packet.SendLastInv || fn == packet.SendOnlyInv || fn == packet.Flush || fn == packet.AtomicWrite {
		return e
	}
	e = expectation{known: true, op: wqe.OpOf(fn), begins: in.First || in.Only, ends: in.Last || in.Only, full: in.First || in.Middle, some: in.Payload}
	e.covered = []rule.ID{rule.RCPSN002, rule.RCPSN004, rule.RCPSN005}
	if e.begins {
		e.covered = append(e.covered, rule.RCSEQ003)
	} else {
		e.open = e.op
		id := rule.RCSEQ001
		if e.op == wqe.Write {
			id = rule.RCSEQ002
		}
		e.covered = append(e.covered, id, rule.RCSEQ004)
	}
	if !e.ends {
		e.opens = e.op
	}
	if e.some && !e.begins {
		e.least = 1
	}
	e.operands(fn)
	e.covered = append(e.covered, e.lengths(fn)...)
	return e
}

// operands sets what the first packet of a message says of the whole.
func (e *expectation) operands(fn packet.Fn) {
	if e.op.Responded() {
		e.own = 1
	}
	switch {
	case e.op == wqe.Write && e.begins && e.ends:
		e.dma = math.MaxUint32
	case e.op == wqe.Read:
		e.read, e.long = math.MaxUint32, 1<<31
	case e.op.Atomic():
		e.va = 7
		if fn == packet.FetchAdd {
			e.compare = math.MaxUint64
		}
	}
}

// lengths are the rules on lengths and operands that a request exercises.
func (e *expectation) lengths(fn packet.Fn) (ids []rule.ID) {
	switch {
	case e.full:
		ids = append(ids, rule.RCLEN001)
	case e.some && !e.begins:
		ids = append(ids, rule.RCLEN002)
	case e.some:
		ids = append(ids, rule.RCLEN003)
	}
	ids = append(ids, coverMisplaced(packet.Op(packet.RC, fn).Info())...)
	switch e.op {
	case wqe.Write:
		if e.begins {
			ids = append(ids, rule.RCLEN004)
		}
		if e.begins && !e.ends {
			ids = append(ids, rule.RCSEQ005)
		}
		ids = append(ids, rule.RCLEN005)
	case wqe.Read:
		ids = append(ids, rule.RCLEN004, rule.RCPSN003)
	case wqe.CmpSwap, wqe.FetchAdd:
		ids = append(ids, rule.RCATM001)
		if fn == packet.FetchAdd {
			ids = append(ids, rule.RCATM002)
		}
	}
	return ids
}

// Cover counts the rules that the packets of the fast path exercised.
func (v *Verifier) Cover() {
	for o := range v.expected {
		n := v.expected[o]
		v.Shown.Packets(packet.Opcode(o), n)
		v.endRun(packet.Opcode(o))
		for _, id := range expectations[o].covered {
			v.Rec.Cover[id].Exercised += n
		}
		v.expected[o] = 0
	}
}

// unfit reports whether a packet goes through the checks for what it is, whatever is expected.
func (v *Verifier) unfit(p *packet.Packet) bool { return v.Broken || p.Cut }

// expectedRequest takes p if it is the expected request of direction d, and reports whether it did.
//
//go:noinline
func (v *Verifier) expectedRequest(c *qp.Pair, d *qp.Direction, p *packet.Packet, e *expectation) bool {
	q, r := d.Queues()
	if !q.Usual || p.PSN != q.Next || q.Open != e.open || v.unfit(p) || ((p.PSN-q.Una)|(p.PSN-q.First))&packet.PSNMask > farAway {
		return false
	}
	length := uint32(p.PayloadLen)
	if length > c.MostPayload() || length < uint32(e.least) || e.full && (length != c.PMTU || length == 0) ||
		uint64((p.DMALen^length)&e.dma|p.DMALen&e.long|uint32(e.own&uint8(q.Limited&qp.LimitedReads)))|p.VA&e.va|p.Compare&e.compare != 0 {
		return false
	}
	n := 1
	var w *wqe.SendWQE
	if e.begins {
		if p.DMALen&e.read > stream.LeastMTU {
			if n = c.PSNs(p); n == 0 || n > int(packet.PSNMask+1-p.PSN) {
				return false
			}
		}
		if !e.ends && e.op == wqe.Write && (p.DMALen <= length || p.DMALen > 1<<31) {
			return false
		}
		w = q.Messages.Push(q.Una, c, p, v.Accepted)
		w.Op, w.First, w.Frame, w.Ordinal, w.Epoch = e.op, p.PSN, uint32(p.Frame), q.Count, q.Epoch
		w.VA, w.RKey, w.Length = p.VA, p.RKey, p.DMALen
		w.Flags, w.Progress = wqe.Whole, length&^e.read|uint32(p.PSN)&e.read
		q.CountMessage()
	} else {
		w = q.Messages.Newest()
		if w == nil {
			return false
		}
		if e.op == wqe.Write && (!w.Has(wqe.Whole) || w.Has(wqe.Blamed) || e.ends && w.Got()+length != w.Length || !e.ends && w.Got()+length >= w.Length) {
			return false
		}
		w.Progress += length
	}
	flags := w.Flags
	if e.ends {
		flags |= wqe.Ended
		d.CountMessage()
	}
	q.ReadsBegin(uint16(e.own))
	demands := packet.Bit(p.AckReq) | e.own // no branch, which would be guessed wrong
	flags |= wqe.AckWanted * wqe.Flag(demands)
	q.StartTimer(q.TimerStart ^ (q.TimerStart^p.Time)&-int64(demands))
	w.Flags = flags
	w.Asked = verifier.Stamp(p.Time) & -uint32(demands)
	next := p.PSN.Add(n)
	w.Last = next.Add(-1)
	q.OpenMessage(e.opens)
	q.Resume(next)
	r.Expect(next)
	q.History().Note(p, next.Diff(q.Una))
	q.Last.Came(p)
	v.expected[p.Opcode]++
	return true
}

// expectedResponse takes p, to the send queue of direction d, if it is the Acknowledge of the whole of a SEND or WRITE, the answer to an atomic or the
// next response to a READ, overtakes nothing that needs its own answer, has the MSN that follows and no end-to-end credits, and
// reports whether it did.
//
//go:noinline
func (v *Verifier) expectedResponse(c *qp.Pair, d *qp.Direction, p *packet.Packet, e *expectation) bool {
	q, r := d.Queues()
	aeth := p.Has&packet.HasAETH != 0
	if !q.Usual || aeth && p.Syndrome != packet.CreditInvalid || q.Limited&qp.LimitedCredits != 0 || v.unfit(p) || (p.PSN-q.Una)&packet.PSNMask >= (q.Next-q.Una)&packet.PSNMask {
		return false
	}
	w, at := q.Messages.Due(p.PSN)
	if w == nil {
		return false
	}
	if aeth && (w.Epoch != r.MSN.Epoch || (p.MSN-r.MSN.Base-w.Ordinal-1)&packet.PSNMask != 0 || p.MSN < r.MSN.Last) || e.answers>>(w.Op&7)&1 == 0 || w.Flags&(wqeUnusual|wqe.Ended) != wqe.Ended ||
		q.RdOut < uint16(e.own) || !q.Messages.IsDue(at) && mayOvertake(q, at) {
		return false
	}
	frame := uint32(p.Frame)
	switch {
	case e.alone && w.First == w.Last:
		length := uint32(p.PayloadLen)
		if (length^w.Length|(uint32(p.PSN)^w.Progress)|uint32(maybeCopy(r, p)))&e.read|w.RespFrame&e.atomic != 0 ||
			c.PMTU == 0 && length&e.read > c.LeastPMTU() {
			return false
		}
		own := uint32(e.own)
		w.Progress = w.Progress&^(e.read|e.atomic) | uint32(p.PSN.Add(1))&e.read | fold(p.OrigData)&e.atomic
		w.RespFrame ^= (w.RespFrame ^ frame) & -own
		w.Flags |= wqe.Answered * wqe.Flag(own)
		q.ReadsDone(uint16(own))
	case w.Op == wqe.Read:
		if !nextOfRead(c, r, w, p) {
			return false
		}
		w.Progress, w.RespFrame = uint32(p.PSN.Add(1)), frame
		if p.PSN == w.Last {
			w.Flags |= wqe.Answered
			q.ReadDone()
		}
	case p.PSN != w.Last || e.own != 0:
		return false
	}
	v.Rec.Cover[rule.RCRSP007].Exercised += uint64(packet.Bit(q.RdOut != 0) | uint8(e.read&1)) // the verifiers proper look for what p overtakes
	if aeth {
		r.MSN.Show(p.MSN)
	}
	if p.PSN == w.Last {
		q.Messages.Answered(at)
	}
	if l := v.Latencies; l != nil {
		l.Answered(w, p)
	}
	noteLate(q, r.Last.Time, p)
	q.Acknowledge(p.PSN.Add(1))
	q.StartTimer(p.Time)
	r.Last.Answer(p.PSN)
	r.Last.Came(p)
	v.expected[p.Opcode]++
	return true
}

// maybeCopy is 1 where p may be a copy of the newest response that the network made.
func maybeCopy(r *qp.ReceiveQueue, p *packet.Packet) uint8 {
	return packet.Bit(p.IPID == r.Last.ID) | packet.Bit(p.ICRC == r.Last.ICRC)
}

// wqeUnusual is what a READ or atomic has to which something happened, or that was answered.
const wqeUnusual = wqe.Unsized | wqe.Answered | wqe.Blamed | wqe.Reissued | wqe.Gapped | wqe.Accused | wqe.Scattered | wqe.Taken

// mayOvertake reports whether a response to the message at a place may overtake a READ or atomic before it: see judgeOvertaking.
func mayOvertake(q *qp.SendQueue, at uint16) bool {
	for w := q.Messages.Before(&at); w != nil; w = q.Messages.Before(&at) {
		if w.Last.Before(q.Una) && w.Flags&(wqe.Reissued|wqe.Gapped) == 0 {
			return false
		}
		if w.Op.Responded() {
			return true
		}
	}
	return false
}

// nextOfRead reports whether p is the next response to a READ of several to which nothing unusual has happened, with the length of its place.
func nextOfRead(c *qp.Pair, r *qp.ReceiveQueue, w *wqe.SendWQE, p *packet.Packet) bool {
	if maybeCopy(r, p) != 0 || uint32(p.PSN) != w.Progress || p.Opcode != readOpcode(p, w.First, w.Last) {
		return false
	}
	if c.PMTU == 0 {
		return false
	}
	if p.PSN == w.Last {
		return p.PayloadLen == int(w.Length)-w.Last.Diff(w.First)*int(c.PMTU)
	}
	return p.PayloadLen == int(c.PMTU)
}
