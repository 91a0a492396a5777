package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Attributes of the class that are not followed: ClassPortInfo, and the messages that suggest an alternate path.
const (
	attrClassPortInfo mad.Attribute = 0x01
	attrSAP           mad.Attribute = 0x1B
	attrSPR           mad.Attribute = 0x1C
)

// header judges what all messages have in common (rules CM-FMT-001, -002, -003, -005, CM-ADR-001). It reports whether the message can be
// judged further.
func (v *Verifier) header(m *message) bool {
	h := &m.h
	v.judge(m, rule.CMFMT003, m.PayloadLen != mad.Size, func() rule.Verdict {
		return rule.Verdict{Expected: "a message of 256 bytes", Actual: fmt.Sprintf("%d bytes", m.PayloadLen)}
	})
	info := h.Attribute == attrClassPortInfo
	method := h.Method == mad.Send
	if info {
		method = h.Method == mad.Get || h.Method == mad.GetResp || h.Method == mad.Set
	}
	v.judge(m, rule.CMFMT001, h.ClassVersion != 2 || !method, func() rule.Verdict {
		return rule.Verdict{Expected: "class version 2 and method Send", Actual: fmt.Sprintf("class version %d and method %v", h.ClassVersion, h.Method)}
	})
	if h.ClassVersion != 2 || !method || info || m.PayloadLen != mad.Size {
		return false
	}
	known := h.Attribute >= mad.AttrREQ && h.Attribute <= attrSPR
	v.judge(m, rule.CMFMT002, !known, func() rule.Verdict {
		return rule.Verdict{Expected: "an attribute of the class, 0x0010 to 0x001a", Actual: fmt.Sprintf("0x%04x", uint16(h.Attribute))}
	})
	v.judge(m, rule.CMFMT005, h.Modifier != 0 || h.Status != 0, func() rule.Verdict {
		return rule.Verdict{Expected: "attribute modifier 0 and status 0", Actual: fmt.Sprintf("attribute modifier 0x%08x, status 0x%04x", h.Modifier, h.Status)}
	})
	return known
}

// address judges the QPs of a message (rule CM-ADR-001): QP1 at both ends, unless a side was redirected.
func (v *Verifier) address(m *message, x *exchange) {
	v.covered(rule.CMADR001)
	if m.SrcQP == 1 && m.DestQP == 1 {
		return
	}
	class := rule.Unproven
	if x == nil || x.asked && x.told&toldRedirected == 0 {
		class = rule.Violation
	}
	v.accuse(m, rule.CMADR001, class, rule.Verdict{
		Expected: "from QP1 to QP1", Actual: fmt.Sprintf("from QP 0x%x to QP 0x%x", m.SrcQP, m.DestQP),
	})
}

// reserved judges the reserved fields of a message (rule CM-FMT-004).
func (v *Verifier) reserved(m *message, values ...uint32) {
	all := uint32(0)
	for _, n := range values {
		all |= n
	}
	v.judge(m, rule.CMFMT004, all != 0, func() rule.Verdict {
		return rule.Verdict{Expected: "reserved fields 0", Actual: fmt.Sprintf("reserved fields of the %s %#x", m.h.AttributeName(), values)}
	})
}

// nonzero judges the communication ID of the sender (rule CM-ID-001).
func (v *Verifier) nonzero(m *message, id uint32) {
	v.judge(m, rule.CMID001, id == 0, func() rule.Verdict {
		return rule.Verdict{Expected: "a local communication ID", Actual: "0"}
	})
}

// request judges the fields of a REQ.
func (v *Verifier) request(m *message, q *mad.REQ) {
	v.nonzero(m, q.LocalCommID)
	v.reserved(m, uint32(q.Reserved1), q.Reserved2, uint32(q.Primary.Reserved1), uint32(q.Primary.Reserved2), uint32(q.Primary.Reserved3),
		uint32(q.Alternate.Reserved1), uint32(q.Alternate.Reserved2), uint32(q.Alternate.Reserved3&3))
	v.judge(m, rule.CMREQ003, q.PathMTU < 1 || q.PathMTU > 5, func() rule.Verdict {
		return rule.Verdict{Expected: "a path MTU code, 1 to 5", Actual: fmt.Sprint(q.PathMTU)}
	})
	_, service := q.Service()
	v.judge(m, rule.CMREQ004, !service, func() rule.Verdict {
		return rule.Verdict{Expected: "RC, UC, RD or XRC", Actual: fmt.Sprintf("transport service 3, extended transport %d", q.ExtendedTransport)}
	})
	v.judge(m, rule.CMREQ005, q.PKey&0x7FFF == 0, func() rule.Verdict {
		return rule.Verdict{Expected: "a valid P_Key", Actual: fmt.Sprintf("0x%04x", q.PKey)}
	})
	v.judge(m, rule.CMREQ001, q.LocalQPN <= 1 && q.Transport != mad.TransportRD, func() rule.Verdict {
		return rule.Verdict{Expected: "the number of a queue pair that can be connected", Actual: fmt.Sprint(q.LocalQPN)}
	})
	v.judge(m, rule.CMREQ012, q.FlowControl && q.Transport != mad.TransportRC, func() rule.Verdict {
		return rule.Verdict{Expected: "end-to-end flow control only on RC", Actual: fmt.Sprintf("transport service %d with end-to-end flow control", q.Transport)}
	})
	if q.Transport != mad.TransportRD {
		v.judge(m, rule.CMREQ013, q.RDCExists || q.LocalQKey|q.LocalEECN|q.RemoteEECN != 0 && q.Transport != mad.TransportExtended, func() rule.Verdict {
			return rule.Verdict{
				Expected: "RDC Exists, Q_Key and EECNs 0 where the service is not RD",
				Actual:   fmt.Sprintf("RDC Exists %t, Q_Key 0x%08x, EECNs 0x%x and 0x%x", q.RDCExists, q.LocalQKey, q.LocalEECN, q.RemoteEECN),
			}
		})
	}
	v.paths(m, q)
	v.ipService(m, q.ServiceID, q.Private, m.have-fixed[mad.AttrREQ])
}

// reply judges the fields of a REP. x is nil where its REQ is not known.
func (v *Verifier) reply(m *message, r *mad.REP, x *exchange) {
	v.nonzero(m, r.LocalCommID)
	v.reserved(m, uint32(r.Reserved))
	bad := r.FailoverAccepted > 2 || x != nil && x.asked && !x.failover && r.FailoverAccepted == 2
	v.judge(m, rule.CMREP002, bad, func() rule.Verdict {
		return rule.Verdict{Expected: "failover 0, 1 or, where an alternate path was given, 2", Actual: fmt.Sprint(r.FailoverAccepted)}
	})
	connected := x != nil && x.asked && x.service <= mad.TransportUC // of XRC, XRC-CM-001 judges the QP
	v.judge(m, rule.CMREP003, connected && r.LocalQPN <= 1 || r.LocalCAGUID == 0, func() rule.Verdict {
		return rule.Verdict{Expected: "the numbers of a queue pair and of a channel adapter", Actual: fmt.Sprintf("QP 0x%x of CA 0x%016x", r.LocalQPN, r.LocalCAGUID)}
	})
	v.targetDelay(m, r)
	if connected {
		v.judge(m, rule.CMREQ013, r.LocalQKey|r.LocalEECN != 0, func() rule.Verdict {
			return rule.Verdict{
				Expected: "Q_Key and EECN 0 where the service is not RD", Actual: fmt.Sprintf("Q_Key 0x%08x, EECN 0x%x", r.LocalQKey, r.LocalEECN),
				Evidence: []uint64{x.req.frame},
			}
		})
	}
	if x != nil && x.asked && x.service == mad.TransportRC {
		v.depths(m, r, x)
	}
}

// depths holds the initiator depth of a REP against the responder resources of its REQ (rule CM-REQ-006). Its own responder resources may be more than the REQ has use for:
// rdma_accept(3) prefers them so, and Linux's SMB server offers 1 to a client that asks for none.
func (v *Verifier) depths(m *message, r *mad.REP, x *exchange) {
	v.covered(rule.CMREQ006)
	if r.InitiatorDepth <= x.resources {
		return
	}
	v.accuse(m, rule.CMREQ006, rule.Proven(!x.anew), rule.Verdict{
		Expected: fmt.Sprintf("an initiator depth of at most %d, the responder resources of the REQ", x.resources),
		Actual:   fmt.Sprint(r.InitiatorDepth), Evidence: []uint64{x.req.frame},
		Detail: unless(!x.anew, "it may respond to an earlier REQ of the same transaction"),
	})
}

// targetDelay holds the ACK delay of a channel adapter in a REP against that in its other REPs to the same host (rule CM-REP-001).
func (v *Verifier) targetDelay(m *message, r *mad.REP) {
	if r.LocalCAGUID == 0 {
		return
	}
	k := delayKey{r.LocalCAGUID, m.Dst}
	old, known := v.delays[k]
	v.judge(m, rule.CMREP001, known && old != r.TargetAckDelay, func() rule.Verdict {
		return rule.Verdict{Expected: fmt.Sprintf("target ACK delay %d, as in earlier messages of this channel adapter", old), Actual: fmt.Sprint(r.TargetAckDelay)}
	})
	if !known && len(v.delays) >= maxDelays {
		clear(v.delays)
	}
	v.delays[k] = r.TargetAckDelay
}

// localDelay holds the local ACK timeout that a REQ gives its receiver against the ACK delay that the channel adapter has said (rule CM-REQ-008).
func (v *Verifier) localDelay(m *message, q *mad.REQ) {
	v.covered(rule.CMREQ008)
	delay, known := v.delays[delayKey{q.LocalCAGUID, m.Dst}]
	if code := q.Primary.LocalAckTimeout; known && code != 0 && code < delay {
		v.accuse(m, rule.CMREQ008, rule.Violation, rule.Verdict{
			Expected: fmt.Sprintf("a local ACK timeout of at least the ACK delay of the channel adapter, %d", delay), Actual: fmt.Sprint(code),
		})
	}
}

// onIP reports whether a message came over RoCEv2.
func onIP(p *packet.Packet) bool { return p.Has&(packet.HasIPv4|packet.HasIPv6) != 0 }
