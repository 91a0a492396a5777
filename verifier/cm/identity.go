package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
)

// tid accuses the sender of an answer of its transaction ID (rule CM-TID-001).
func (v *Verifier) tid(m *message, x *exchange, of string, want uint64, frame uint64) {
	v.accuse(m, rule.CMTID001, rule.Violation, verdict{
		expected: fmt.Sprintf("transaction ID 0x%016x of the %s", want, of), actual: fmt.Sprintf("0x%016x", m.h.TID), evidence: []uint64{frame},
	})
}

// named returns the exchange that a message names by both communication IDs, and judges them (rules CM-ID-001, CM-ID-002).
func (v *Verifier) named(m *message, local, remote uint32, tid uint64) (x *exchange, side int, agrees bool) {
	x, side, agrees = v.find(m, local, remote)
	if x != nil && x.older(m) {
		return nil, 0, false
	}
	if x == nil && !behind(m.h.Attribute) {
		if i, ok := v.byTID[tidKey{m.Dst, m.Src, tid}]; ok && v.slots[i].asked && v.slots[i].rep.times == 0 {
			x, side = &v.slots[i], passive
			v.wrongID(m, x, side, rule.CMID002, x.ids[active], remote)
			return nil, 0, false
		}
		if i, ok := v.byTID[tidKey{m.Src, m.Dst, tid}]; ok && v.slots[i].asked && remote != 0 && v.slots[i].ids[passive] == remote {
			x = &v.slots[i]
			v.wrongID(m, x, active, rule.CMID001, x.ids[active], local)
			return nil, 0, false
		}
	}
	if x == nil {
		return nil, 0, false
	}
	v.covered(rule.CMID002)
	switch {
	case agrees:
		return x, side, true
	case x.misnamed.tid == tid && x.misnamed.side != side && x.misnamed.frame != 0:
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

// steady reports whether the passive side, which sends m, cannot have ended the exchange unseen, and chosen another communication ID when the REQ
// came again.
func (x *exchange) steady(m *message) bool {
	if x.rep.times > 0 {
		return !x.spent(m)
	}
	return m.sees[sender] || x.req.time <= x.patience[passive].time
}

// spent reports whether the passive side may have given up its REP before it sent m.
func (x *exchange) spent(m *message) bool {
	return x.rtu.time == 0 && m.Time-x.rep.first >= x.life(passive)
}

// behind reports whether a message is sent within a connection only.
func behind(a mad.Attribute) bool {
	return a == mad.AttrDREQ || a == mad.AttrDREP || a == mad.AttrLAP || a == mad.AttrAPR
}

// ties reports whether a message is of an exchange, whatever IDs it names: by its transaction or the queue pair.
func (x *exchange) ties(m *message, side int) bool {
	switch m.h.Attribute {
	case mad.AttrDREQ:
		var d mad.DREQ
		return d.Decode(m.b) == nil && d.RemoteQPN == x.qpn[1-side]
	case mad.AttrLAP:
		var l mad.LAP
		return l.Decode(m.b) == nil && l.RemoteQPN == x.qpn[1-side]
	case mad.AttrDREP:
		return x.dreq[1-side].times > 0 && m.h.TID == x.dreq[1-side].tid
	case mad.AttrAPR:
		return x.lap.times > 0 && m.h.TID == x.lap.tid
	}
	return m.h.TID == x.tid
}

func (v *Verifier) wrongID(m *message, x *exchange, side int, id rule.ID, want, got uint32) {
	of := "remote communication ID"
	if id == rule.CMID001 {
		of = "local communication ID"
	}
	frame := x.req.frame
	if (side == active) != (id == rule.CMID001) {
		frame = x.rep.frame
	}
	v.covered(id)
	_, over := x.over()
	sure := x.asked && !over && (side == active || x.ties(m, side) && (id != rule.CMID001 || x.steady(m)))
	v.accuse(m, id, proven(sure), verdict{
		expected: fmt.Sprintf("%s 0x%08x", of, want), actual: fmt.Sprintf("0x%08x", got), evidence: []uint64{frame},
		detail: unless(sure, "it may be of an older connection of the same communication ID"),
	})
}
