package passive

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
)

// sidrReq takes a SIDR_REQ, the only SIDR message with the P_Key.
func (a *Agent) sidrReq(p *packet.Packet, m *mad.SIDRReq) {
	k := key{active: p.Src, passive: p.Dst, id: m.RequestID, sidr: true}
	if i, ok := a.byKey[k]; ok {
		if a.slots[i].tid == m.TID {
			return
		}
		a.drop(i)
	}
	x := &a.slots[a.begin(k, waiting)]
	x.asked, x.tid, x.service, x.serviceID = p.Frame, m.TID, packet.UD, m.ServiceID
	x.ends[0].Addr, x.ends[1].Addr = p.Src, p.Dst
	for side := range x.ends {
		t := &x.ends[side].Attr
		t.Service, t.PKey = packet.UD, m.PKey
		if m.PKey&0x7FFF != 0 { // else CM-SID-003
			t.Known |= qp.KnowsPKey
		}
	}
}

// sidrRep takes a SIDR_REP. It says enough without its SIDR_REQ.
func (a *Agent) sidrRep(p *packet.Packet, m *mad.SIDRRep) {
	k := key{active: p.Dst, passive: p.Src, id: m.RequestID, sidr: true}
	i, ok := a.byKey[k]
	if ok && a.slots[i].phase != waiting && a.slots[i].tid == m.TID {
		return
	}
	if ok && a.slots[i].tid != m.TID {
		a.drop(i)
		ok = false
	}
	if !ok {
		i = a.begin(k, waiting)
		x := &a.slots[i]
		x.tid, x.service, x.serviceID = m.TID, packet.UD, m.ServiceID
		x.ends[0].Addr, x.ends[1].Addr = p.Dst, p.Src
		x.ends[0].Attr.Service, x.ends[1].Attr.Service = packet.UD, packet.UD
	}
	if m.Status != mad.SIDRValid {
		a.become(i, done)
		a.tell(p, i, Unresolved).Status = m.Status
		return
	}
	if m.QPN <= 1 {
		a.stats.Unjudged++
		return
	}
	e := &a.slots[i].ends[1]
	e.QPN, e.Attr.QKey = m.QPN, m.QKey
	e.Attr.Known |= qp.KnowsQKey
	a.become(i, live)
	a.learn(p, i, 1)
	a.tell(p, i, Resolved)
}
