package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
)

// tid accuses the sender of a response of its transaction ID (rule CM-TID-001).
func (v *Verifier) tid(m *message, x *exchange, of string, want uint64, frame uint64) {
	v.accuse(m, rule.CMTID001, rule.Violation, rule.Verdict{
		Expected: fmt.Sprintf("transaction ID 0x%016x of the %s", want, of), Actual: fmt.Sprintf("0x%016x", m.h.TID), Evidence: []uint64{frame},
	})
}

// namedExchange returns the exchange that a message names by both communication IDs, and judges them (rules CM-ID-001, CM-ID-002).
func (v *Verifier) namedExchange(m *message, local, remote uint32, tid uint64) (x *exchange, side int, agrees bool) {
	x, side, agrees = v.find(m, local, remote)
	if x != nil && x.older(m) {
		return nil, 0, false
	}
	if x == nil && !whileConnected(m.h.Attribute) && v.misnamesREQ(m, local, remote, tid) {
		return nil, 0, false
	}
	if x == nil {
		x, side = v.misnames(m, local, remote, tid)
		return x, side, false
	}
	v.covered(rule.CMID002)
	switch {
	case agrees:
		return x, side, true
	case x.misnamed.repeats(tid, side):
		return x, side, false // an answer that repeats the wrong IDs of what it answers
	}
	x.misnamed = misnamed{tid: tid, side: side, frame: m.Frame}
	if side == active {
		v.wrongID(m, x, side, rule.CMID002, x.ids[passive], remote)
	} else {
		v.wrongID(m, x, side, rule.CMID001, x.ids[passive], local)
	}
	return x, side, false
}

// misnamesREQ judges a message that has the transaction ID of a REQ and names no exchange: an answer of the passive side to a REQ without a REP yet, whose
// communication ID it does not have, or a message of the active side with another one of its own than in the REQ. It reports whether it is either.
func (v *Verifier) misnamesREQ(m *message, local, remote uint32, tid uint64) bool {
	if i, ok := v.byTID[tidKey{m.Dst, m.Src, tid}]; ok && v.slots[i].asked && !v.slots[i].rep.sent() && v.slots[i].misnamed.frame == 0 {
		v.wrongID(m, &v.slots[i], passive, rule.CMID002, v.slots[i].ids[active], remote)
		return true
	}
	if i, ok := v.byTID[tidKey{m.Src, m.Dst, tid}]; ok && v.slots[i].asked && remote != 0 && v.slots[i].ids[passive] == remote {
		v.wrongID(m, &v.slots[i], active, rule.CMID001, v.slots[i].ids[active], local)
		return true
	}
	return false
}

// misnames judges a message that names no exchange, though it is of one: both IDs may have changed places. It returns that exchange, and the side that sent the
// message.
func (v *Verifier) misnames(m *message, local, remote uint32, tid uint64) (x *exchange, side int) {
	x, side = v.misnamedExchange(m, local, remote, tid)
	if x == nil {
		return nil, 0
	}
	mine, other := x.ids[side], x.ids[1-side]
	if _, over := x.over(); over || !x.asked || x.older(m) || mine == 0 || other == 0 {
		return nil, 0
	}
	x.noteTap(m, side)
	if local != mine && remote != other && (local != other || remote != mine) {
		return nil, 0
	}
	if !x.misnamed.repeats(tid, side) { // else it is an answer that repeats the wrong IDs of what it answers
		x.misnamed = misnamed{tid: tid, side: side, frame: m.Frame}
		v.wrongIDs(m, x, side, local, remote)
	}
	return x, side
}

// wrongIDs accuses a side of a communication ID that is wrong in a message, or of both, which have changed places.
func (v *Verifier) wrongIDs(m *message, x *exchange, side int, local, remote uint32) {
	mine, other := x.ids[side], x.ids[1-side]
	crossed := local == other && remote == mine
	if crossed && side == passive && m.h.Attribute == mad.AttrRTU {
		v.wrongRTU(m, x)
		return
	}
	// An older connection may have had the queue pair, and the other ID; but not with an ID that the sender has given away again since.
	own := (local == mine || crossed) && m.sees[sender] && x.rep.sent()
	sure := x.tid == m.h.TID || own || m.h.Attribute == mad.AttrDREP || m.h.Attribute == mad.AttrAPR
	if local != mine {
		v.accuseID(m, x, side, rule.CMID001, mine, local, sure)
	} else {
		v.accuseID(m, x, side, rule.CMID002, other, remote, sure)
	}
}

// misnamedExchange returns the exchange that a message with wrong communication IDs is of, and the side that sent it; nil: there is none. A DREQ or a LAP names its queue
// pair, a DREP or an APR has the transaction of what it answers; else one of the IDs must be right, and the transaction or the queue pair.
func (v *Verifier) misnamedExchange(m *message, local, remote uint32, tid uint64) (x *exchange, side int) {
	ref, ok := int32(0), false
	switch m.h.Attribute {
	case mad.AttrDREQ, mad.AttrLAP:
		ref, ok = v.byQP[qpKey{m.Dst, m.Src, remoteQPN(m)}]
	case mad.AttrDREP, mad.AttrAPR:
		ref, ok = v.byEnd[tidKey{m.Dst, m.Src, tid}]
	}
	if ok {
		return &v.slots[ref>>1], 1 - int(ref&1)
	}
	i, ok := v.byID[key{active: m.Dst, passive: m.Src, id: local}]
	if ok {
		side = passive
	} else if i, ok = v.byID[key{active: m.Src, passive: m.Dst, id: remote}]; !ok {
		return nil, 0
	}
	if x = &v.slots[i]; x.tid != tid && !x.belongs(m, side) {
		return nil, 0
	}
	return x, side
}

// remoteQPN returns the queue pair of its receiver that a DREQ or a LAP names.
func remoteQPN(m *message) uint32 {
	var d mad.DREQ
	var l mad.LAP
	switch {
	case m.h.Attribute == mad.AttrDREQ && d.Decode(m.b) == nil:
		return d.RemoteQPN
	case m.h.Attribute == mad.AttrLAP && l.Decode(m.b) == nil:
		return l.RemoteQPN
	}
	return 0
}

// keepsID reports whether the passive side, which sends m, cannot have ended the exchange unseen, and chosen another communication ID when the REQ
// was retransmitted.
func (x *exchange) keepsID(m *message) bool {
	if x.rep.sent() {
		return !x.gaveUpREP(m)
	}
	return m.sees[sender] || x.req.time <= x.mra[passive].time
}

// gaveUpREP reports whether the passive side may have given up its REP before it sent m.
func (x *exchange) gaveUpREP(m *message) bool {
	since := x.rep.first
	if !m.sees[sender] {
		since = x.req.first // the tap may have missed the first of them
	}
	return !x.rtu.happened() && m.Time-since >= x.life(passive)
}

// whileConnected reports whether a message is sent within a connection only.
func whileConnected(a mad.Attribute) bool {
	return a == mad.AttrDREQ || a == mad.AttrDREP || a == mad.AttrLAP || a == mad.AttrAPR
}

// belongs reports whether a message is of an exchange by its transaction or its queue pair, whatever communication IDs it names.
func (x *exchange) belongs(m *message, side int) bool {
	switch m.h.Attribute {
	case mad.AttrDREQ, mad.AttrLAP:
		return x.hasQPN(1-side, remoteQPN(m))
	case mad.AttrDREP:
		return x.dreq[1-side].sent() && m.h.TID == x.dreq[1-side].tid
	case mad.AttrAPR:
		return x.lap.sent() && m.h.TID == x.lap.tid
	}
	return m.h.TID == x.tid
}

func (v *Verifier) wrongID(m *message, x *exchange, side int, id rule.ID, want, got uint32) {
	v.accuseID(m, x, side, id, want, got, true)
}

// accuseID is wrongID of a message of which it may not be sure that it is of the exchange.
func (v *Verifier) accuseID(m *message, x *exchange, side int, id rule.ID, want, got uint32, sure bool) {
	v.covered(id)
	if m.h.Attribute == mad.AttrRTU {
		x.told |= toldEarly // there is one, though not well
	}
	if id == rule.CMID001 && got == 0 {
		return // said already
	}
	_, over := x.over()
	sure = sure && x.asked && !over && (side == active || x.belongs(m, side) && (id != rule.CMID001 || x.keepsID(m)))
	if !sure && side == passive && id == rule.CMID001 {
		x.req.times = 1 // the tap may have missed a REJ, and the REQ have begun again
	}
	of := "remote communication ID"
	if id == rule.CMID001 {
		of = "local communication ID"
	}
	v.accuse(m, id, rule.Proven(sure), rule.Verdict{
		Expected: fmt.Sprintf("%s 0x%08x", of, want), Actual: fmt.Sprintf("0x%08x", got), Evidence: []uint64{x.idFrame(side, id)},
		Detail: unless(sure, "it may belong to an earlier connection with the same communication ID"),
	})
}

// idFrame is the frame that told the communication ID which a side should have named: its own, or that of the other side.
func (x *exchange) idFrame(side int, id rule.ID) uint64 {
	frame := x.req.frame
	if (side == active) != (id == rule.CMID001) {
		frame = x.rep.frame
	}
	if frame == 0 {
		frame = x.mra[side].frame
	}
	return frame
}
