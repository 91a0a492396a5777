package passive

import (
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

func TestResolution(t *testing.T) {
	ask := &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, 5), RequestID: 9, PKey: 0x8002, ServiceID: 0x1110007}
	answer := &mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, 5), RequestID: 9, QPN: 0x33, ServiceID: 0x1110007, QKey: 0x42}
	s := newScript(t, Options{})
	s.send(hostA, hostB, ask)
	s.send(hostA, hostB, ask)
	s.want()
	s.send(hostB, hostA, answer)
	attr := s.facts[0].Ends[1].Attr
	if attr != (qp.Attr{Service: packet.UD, PKey: 0x8002, QKey: 0x42, Known: qp.KnowsPKey | qp.KnowsQKey}) {
		t.Errorf("%+v", attr)
	}
	s.want("resolved UDP port 7 a/0x0 b/0x33 qkey 0x42")
	s.send(hostB, hostA, answer)
	s.send(hostA, hostB, ask)
	s.want()
	s.knows(hostB, 0x33, true)

	refusal := *answer
	refusal.RequestID, refusal.Status, refusal.QPN = 10, mad.SIDRRejected, 0
	s.send(hostB, hostA, &refusal)
	if len(s.facts) != 1 || s.facts[0].Status != mad.SIDRRejected || s.facts[0].Asked != 0 {
		t.Errorf("%+v", s.facts)
	}
	s.want("unresolved a/0x0 b/0x0")

	again := *answer // the SIDR_REQ was missed; the same QP, another Q_Key
	again.RequestID, again.QKey = 11, 0x43
	s.send(hostB, hostA, &again)
	s.want("resolved UDP port 7 a/0x0 b/0x33 qkey 0x43")
	if a, err := s.agent.QPAttr(t.Context(), wqe.QP{Addr: hostB, QPN: 0x33}); err != nil || a.QKey != 0x43 {
		t.Errorf("%+v, %v", a, err)
	}
	if n := s.agent.lists[live].n; n != 1 {
		t.Errorf("%d resolutions are alive", n)
	}
}
