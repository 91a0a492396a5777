package passive

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// dreq takes a DREQ. The first one disconnects, if it names the QP of its receiver; another one is ignored by the peer too.
func (a *Agent) dreq(p *packet.Packet, m *mad.DREQ) {
	i, side, ok := a.find(p, m.LocalCommID, m.RemoteCommID)
	if ok && side == 1 && a.slots[i].passiveID == 0 && a.slots[i].ends[0].QPN != m.RemoteQPN {
		a.stats.Unmatched++ // it has not answered this REQ, and means another connection
		return
	}
	if !ok {
		a.half(p, m)
		return
	}
	x := &a.slots[i]
	receiver := &x.ends[1-side]
	switch {
	case m.RemoteQPN <= 1 || receiver.QPN != 0 && receiver.QPN != m.RemoteQPN:
		a.stats.Unmatched++
		return
	case x.phase == done && (!x.half || receiver.QPN != 0):
		return
	}
	a.end(i)
	receiver.QPN = m.RemoteQPN
	if side == 1 {
		x.passiveID = m.LocalCommID
	} else {
		x.passiveID = m.RemoteCommID
	}
	a.tell(p, i, Disconnected).By = side
}

// half takes the DREQ of a connection that was made before the capture began. It names the QP of its receiver only.
func (a *Agent) half(p *packet.Packet, m *mad.DREQ) {
	k := key{active: p.Src, passive: p.Dst, id: m.LocalCommID}
	if _, ok := a.byKey[k]; ok || m.RemoteQPN <= 1 {
		a.stats.Unmatched++
		return
	}
	i := a.begin(k, waiting)
	x := &a.slots[i]
	x.half, x.passiveID = true, m.RemoteCommID
	x.ends[0].Addr, x.ends[1].Addr, x.ends[1].QPN = p.Src, p.Dst, m.RemoteQPN
	a.become(i, done)
	a.tell(p, i, Disconnected)
}

// drep takes a DREP. It disconnects if its DREQ was missed.
func (a *Agent) drep(p *packet.Packet, m *mad.DREP) {
	a.over(p, m.LocalCommID, m.RemoteCommID, Disconnected)
}

// rej takes a REJ. It ends the exchange whatever its state (rule CM-SM-013).
func (a *Agent) rej(p *packet.Packet, m *mad.REJ) {
	i, _, ok := a.find(p, m.LocalCommID, m.RemoteCommID)
	if !ok && m.Rejected == mad.AnsweredREQ && m.RemoteCommID != 0 {
		a.refuse(p, m)
		return
	}
	if ok && m.Rejected == mad.AnsweredREQ && m.TID != a.slots[i].tid {
		a.stats.Unmatched++ // it answers the exchange that had the same communication ID before
		return
	}
	if f := a.over(p, m.LocalCommID, m.RemoteCommID, Rejected); f != nil {
		f.Reason = m.Reason
	}
	if ok {
		a.slots[i].refused = true
	}
}

// refuse takes a REJ of a REQ that was missed, or too much of which was cut off: who asked, and whom, is known all the same.
func (a *Agent) refuse(p *packet.Packet, m *mad.REJ) {
	a.stats.Unmatched++
	i := a.begin(key{active: p.Dst, passive: p.Src, id: m.RemoteCommID}, waiting)
	x := &a.slots[i]
	x.tid, x.refused = m.TID, true
	x.ends[0].Addr, x.ends[1].Addr = p.Dst, p.Src
	a.end(i)
	f := a.tell(p, i, Rejected)
	f.By, f.Reason = 1, m.Reason
}

// over ends the exchange that a message names, and returns what it tells of that, or nil where it is over already.
func (a *Agent) over(p *packet.Packet, local, remote uint32, kind Kind) *Fact {
	i, side, ok := a.find(p, local, remote)
	if !ok || kind == Disconnected && side == 1 && a.slots[i].passiveID == 0 {
		a.stats.Unmatched++
		return nil
	}
	if a.slots[i].phase == done {
		return nil
	}
	a.end(i)
	f := a.tell(p, i, kind)
	if f.By = side; kind == Disconnected {
		f.By = 1 - side // a DREP answers the DREQ of the other end
	}
	return f
}

// end makes an exchange one that is over.
func (a *Agent) end(i int32) {
	if x := &a.slots[i]; x.phase != done {
		x.early = nil
		a.become(i, done)
	}
}
