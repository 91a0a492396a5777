package xrc

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// pendingREQ is a REQ for XRC that waits for its REP.
type pendingREQ struct {
	active, passive packet.Addr
	id              uint32
}

// mostPendingREQs is how many REQs for XRC are kept.
const mostPendingREQs = 1 << 12

// Connect judges what CM says where it connects an XRC initiator to a target (rules XRC-CM-001, XRC-CM-002). p is a management datagram.
func (v *Verifier) Connect(c *qp.Pair, from int, p *packet.Packet) {
	if mad.ClassOf(p.Payload) != uint8(mad.ClassCM) || len(p.Payload) < mad.Size || p.ICRCState == packet.CRCBad {
		return
	}
	var h mad.Header
	if mad.DecodeHeader(p.Payload, &h) != nil {
		return
	}
	switch h.Attribute {
	case mad.AttrREQ:
		var m mad.REQ
		if m.Decode(p.Payload) != nil {
			return
		}
		if s, ok := m.Service(); ok && s == packet.XRC {
			v.req(c, from, p, &m)
		}
	case mad.AttrREP:
		var m mad.REP
		if len(v.pendingREQs) > 0 && m.Decode(p.Payload) == nil {
			v.rep(c, from, p, &m)
		}
	}
}

func (v *Verifier) req(c *qp.Pair, from int, p *packet.Packet, m *mad.REQ) {
	if v.pendingREQs == nil || len(v.pendingREQs) >= mostPendingREQs {
		v.pendingREQs = map[pendingREQ]bool{}
	}
	v.pendingREQs[pendingREQ{p.Src, p.Dst, m.LocalCommID}] = true
	v.Covered(rule.XRCCM002)
	if m.ResponderResources|m.RetryCount|m.RNRRetryCount == 0 && !m.SRQ {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.XRCCM002, Class: rule.Violation, Role: rule.Sender,
		Expected: "responder resources, retry count, RNR retry count and SRQ 0 from an initiator",
		Actual:   fmt.Sprintf("%d, %d, %d and %t", m.ResponderResources, m.RetryCount, m.RNRRetryCount, m.SRQ),
	})
}

func (v *Verifier) rep(c *qp.Pair, from int, p *packet.Packet, m *mad.REP) {
	k := pendingREQ{p.Dst, p.Src, m.RemoteCommID}
	if !v.pendingREQs[k] {
		return
	}
	delete(v.pendingREQs, k)
	v.Covered(rule.XRCCM001)
	if m.SRQ && m.LocalQPN|m.LocalEECN > 1 {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.XRCCM001, Class: rule.Violation, Role: rule.Sender,
		Expected: "the QP of a target, with a shared receive queue",
		Actual:   fmt.Sprintf("QP 0x%x, end-to-end context 0x%x, SRQ %t", m.LocalQPN, m.LocalEECN, m.SRQ),
	})
}
