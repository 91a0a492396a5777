package cq

import (
	"encoding/binary"
	"fmt"

	"ibwitness/rule"
	"ibwitness/wqe"
)

// fetched returns how many bytes a request brings into memory.
func fetched(w *sendRequest) (uint32, bool) {
	switch w.req().Op {
	case wqe.OpRead:
		return w.length, true
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		return 8, true
	}
	return 0, false
}

// fetchedData holds what a READ or atomic has brought into memory against the response.
func (a *Agent) fetchedData(q *queuePair, w *sendRequest) {
	m := q.out.Find(w.first)
	if !w.done.Summed || m == nil || m.Response == nil || !m.Response.Whole || m.Response.Cut || m.Response.Mixed {
		return
	}
	if w.req().Op == wqe.OpRead && m.Response.Length != w.length {
		return // what memory has where no data came is not of the message
	}
	a.covered(rule.CPLMEM001)
	got, same := m.Response.CRC, false
	switch w.req().Op {
	case wqe.OpRead:
		same = got == w.done.Sum
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], m.Response.Orig)
		same = sum(b[:]) == w.done.Sum
		binary.BigEndian.PutUint64(b[:], m.Response.Orig)
		got = sum(b[:])
		same = same || got == w.done.Sum
	default:
		return
	}
	if !same {
		class, why := a.broughtBack(q, m)
		m.wrongInMemory = class == rule.Unproven && !m.departs
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLMEM001, Class: class, Role: rule.Requester,
				Expected: fmt.Sprintf("data with CRC-32 %#08x in memory", got), Actual: fmt.Sprintf("%#08x", w.done.Sum),
				Detail: fmt.Sprintf("request %d%s", w.req().ID, why),
			},
			at: m.Response.At, event: w.done,
		})
	}
}

// broughtBack is the class of a finding that rests on what the response to a READ or an atomic has brought to its requester. It is certain that the requester has taken the response as
// the tap shows it if the tap is near the requester, the responder has repeated all of it, or it is what memory held.
func (a *Agent) broughtBack(q *queuePair, m *Message) (class rule.Class, why string) {
	switch {
	case m.departs:
		return rule.Unproven, "; the response is another than memory holds: it may have been changed before or after the tap"
	case m.held:
		a.assumes = rule.AssumesNear | rule.AssumesWhole
		return rule.Violation, ""
	case m.Response.Repeated == m.Packets:
		return rule.Violation, ""
	case a.provenAt(q) == rule.Violation:
		return rule.Violation, ""
	}
	return rule.Unproven, "; what memory held is not known: the response may have been changed before or after the tap, or the requester have taken another one"
}
