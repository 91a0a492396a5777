package passive

import (
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
)

// pathAt is where the primary path begins in the message area of a REQ (table T8).
const pathAt = 52

// req takes a REQ. It opens an exchange, unless it is the repetition of one, or its REP was recorded before it.
func (a *Agent) req(p *packet.Packet, m *mad.REQ, path bool) {
	k := key{active: p.Src, passive: p.Dst, id: m.LocalCommID}
	i, ok := a.byKey[k]
	if ok {
		x := &a.slots[i]
		if x.asked != 0 && x.tid == m.TID && x.ends[0].QPN == m.LocalQPN && x.ends[0].Attr.RQPSN == m.StartingPSN && !x.refused {
			return // what was refused may be asked for again by the very same REQ
		}
		if x.early == nil || x.tid != m.TID || p.Time-x.since > slack+lifetime(m.MaxCMRetries, m.RemoteCMTimeout) {
			a.replace(p, i)
			ok = false
		}
	}
	service, known := m.Service()
	if !known || service == packet.RD || m.LocalQPN <= 1 {
		a.stats.Unjudged++
		return
	}
	if !ok {
		i = a.begin(k, waiting)
	}
	x := &a.slots[i]
	x.asked, x.tid, x.service, x.serviceID, x.queue = p.Frame, m.TID, service, m.ServiceID, m.NVMeQueue()
	x.life = lifetime(m.MaxCMRetries, m.LocalCMTimeout)
	x.ends = request(p, m, service, path)
	if rep := x.early; rep != nil {
		x.early = nil
		a.connect(p, i, rep)
		x.since = 0 // it may be the answer to an earlier attempt
	}
}

// slack is how far opposite directions of a capture may be out of order.
const slack = int64(time.Millisecond)

// lifetime is for how long a message is retransmitted: 4.096 µs · 2^code after each time.
func lifetime(retries, code uint8) int64 { return int64(retries+1) * 4096 << code }

// rtu takes an RTU: the REP has arrived.
func (a *Agent) rtu(p *packet.Packet, m *mad.RTU) {
	if i, side, ok := a.find(p, m.LocalCommID, m.RemoteCommID); ok && side == 0 && a.slots[i].phase == live {
		a.slots[i].ready = true
	}
}

// replace ends an exchange whose communication ID serves a new one.
func (a *Agent) replace(p *packet.Packet, i int32) {
	if x := &a.slots[i]; x.phase == live && !x.key.sidr {
		a.tell(p, i, Superseded)
	}
	a.drop(i)
}

// rep takes a REP. It connects, unless it is a repetition or its REQ was missed: a REP by itself does not name the active side's QP.
func (a *Agent) rep(p *packet.Packet, m *mad.REP) {
	k := key{active: p.Dst, passive: p.Src, id: m.RemoteCommID}
	i, ok := a.byKey[k]
	if !ok {
		i = a.begin(k, waiting)
		early := *m
		early.Private = nil
		x := &a.slots[i]
		x.early, x.since, x.tid, x.passiveID = &early, p.Time, m.TID, m.LocalCommID
		x.ends[0].Addr, x.ends[1].Addr, x.ends[1].QPN = p.Dst, p.Src, m.LocalQPN
		return
	}
	x := &a.slots[i]
	switch {
	case x.phase == live && x.tid == m.TID && x.passiveID != m.LocalCommID && !x.ready && p.Time-x.since >= x.life:
		a.tell(p, i, Superseded) // the passive side had given up, and the REQ was retransmitted
		a.unlearn(i)
		a.connect(p, i, m)
	case x.phase != waiting || x.early != nil:
		if x.tid != m.TID {
			a.stats.Unmatched++
		}
	case x.tid != m.TID:
		a.stats.Unmatched++
	default:
		a.connect(p, i, m)
	}
}

// connect completes an exchange with its REP.
func (a *Agent) connect(p *packet.Packet, i int32, m *mad.REP) {
	x := &a.slots[i]
	qpn := m.LocalQPN
	if x.service == packet.XRC && m.LocalEECN > 1 {
		qpn = m.LocalEECN // where Linux puts the QPN of the XRC target
	}
	if qpn <= 1 {
		a.stats.Unjudged++
		return
	}
	x.passiveID, x.since = m.LocalCommID, p.Time
	x.ends[1].QPN = qpn
	reply(x, m)
	for side := range x.ends {
		x.ends[side].Attr.Cut = x.ends[side].Attr.Cut || p.Cut
	}
	a.become(i, live)
	a.learn(p, i, 0)
	a.learn(p, i, 1)
	a.tell(p, i, Connected)
}

// request says what a REQ binds.
//
//   - Its starting PSN is where the passive side starts to send: its SQ_PSN, and the RQ_PSN of the active side (section 12.7.31).
//   - Its flow control and SRQ bits speak of the active side's responder.
//   - The local GID of its primary path is the active side's own word on where its packets will come from.
func request(p *packet.Packet, m *mad.REQ, service packet.Service, path bool) (ends [2]End) {
	active, passive := &ends[0], &ends[1]
	active.Addr, passive.Addr = p.Src, p.Dst
	active.QPN = m.LocalQPN
	native := p.Has&packet.HasLRH != 0
	if pri := &m.Primary; path && native && pri.SubnetLocal && unicast(pri.LocalLID) && unicast(pri.RemoteLID) {
		active.Addr, passive.Addr = packet.LIDAddr(pri.LocalLID), packet.LIDAddr(pri.RemoteLID)
	}
	for side := range ends {
		t := &ends[side].Attr
		t.Service, t.Cut = service, p.Cut
		t.DestAddr = ends[1-side].Addr
		t.Known |= qp.KnowsDestAddr
		bothSides(t, m)
		if path {
			along(t, &m.Primary, native, side == 0)
		}
	}
	if gid := m.Primary.LocalGID; path && !native && !gid.IsZero() && !gid.IsMulticast() { // else CM-REQ-010
		active.Attr.SourceAddr = gid
		active.Attr.Known |= qp.KnowsSourceAddr
	}
	active.Attr.RQPSN = m.StartingPSN
	active.Attr.Known |= qp.KnowsRQPSN
	passive.Attr.DestQPN = m.LocalQPN
	passive.Attr.Known |= qp.KnowsDestQPN
	if service == packet.XRC {
		return ends // the target sends no requests
	}
	passive.Attr.SQPSN = m.StartingPSN
	passive.Attr.Known |= qp.KnowsSQPSN
	if service == packet.RC {
		retries(&passive.Attr, m, path)
		active.Attr.AskedRdAtomic = m.InitiatorDepth
		active.Attr.Receives = m.RPCReceives()
		active.Attr.Credits, active.Attr.SRQ = m.FlowControl && !m.SRQ, m.SRQ
		active.Attr.Known |= qp.KnowsCredits
	}
	return ends
}

// bothSides says what a REQ binds for both sides alike: the P_Key and the path MTU.
func bothSides(t *qp.Attr, m *mad.REQ) {
	t.PKey = m.PKey
	if m.PKey&0x7FFF != 0 { // else CM-REQ-005
		t.Known |= qp.KnowsPKey
	}
	if mtu, ok := m.PathMTUBytes(); ok {
		t.PMTU = mtu
		t.Known |= qp.KnowsPMTU
	}
}

// retries says what the retry counts of a REQ, and the local ACK timeout of its primary path, bind: they are for the passive side's requester (rules CM-REQ-007,
// CM-REQ-008), and the timeout contains the ACK delay of the active side's channel adapter. The active side computes its own timeout from the packet lifetime,
// which is not on the wire, and the REP's target ACK delay: not known. The application can set another timeout (Linux: rdma_set_option), which is not on the wire;
// the retry counts are those that it gave to CM.
func retries(passive *qp.Attr, m *mad.REQ, path bool) {
	passive.RetryCnt = m.RetryCount
	passive.RNRRetry = m.RNRRetryCount
	passive.Known |= qp.KnowsRetryCnt | qp.KnowsRNRRetry
	if path && m.Primary.LocalAckTimeout != 0 {
		passive.Timeout = m.Primary.LocalAckTimeout
		passive.Known |= qp.KnowsTimeout
		passive.ByCM |= qp.KnowsTimeout
	}
}

// along says what the primary path binds. The service level is on the wire of InfiniBand only; traffic class and hop limit need a
// GRH, which RoCE always has. The hop limit is the active side's: the passive side answers with one of its own.
func along(t *qp.Attr, path *mad.Path, native, active bool) {
	if native {
		t.SL = path.SL
		t.Known |= qp.KnowsSL
		if path.SubnetLocal {
			return
		}
	}
	t.GRH = true
	t.TClass = path.TClass
	t.Known |= qp.KnowsGRH | qp.KnowsTClass
	t.ByCM |= qp.KnowsTClass
	if active {
		t.HopLimit = path.HopLimit
		t.Known |= qp.KnowsHopLimit
	}
}

func unicast(lid uint16) bool { return lid > 0 && lid < 0xC000 }

// reply says what a REP binds. Its responder resources and initiator depth are final: they answer what the REQ offered, and both
// sides take them over (rule CM-REQ-006 judges whether they may).
func reply(x *exchange, m *mad.REP) {
	active, passive := &x.ends[0].Attr, &x.ends[1].Attr
	active.DestQPN = x.ends[1].QPN
	active.SQPSN = m.StartingPSN
	active.Known |= qp.KnowsDestQPN | qp.KnowsSQPSN
	passive.RQPSN = m.StartingPSN
	passive.Known |= qp.KnowsRQPSN
	if x.service == packet.UC {
		return
	}
	active.RNRRetry = m.RNRRetryCount
	active.MaxRdAtomic = m.ResponderResources
	active.Known |= qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic
	passive.MaxDestRdAtomic = m.ResponderResources
	passive.Known |= qp.KnowsMaxDestRdAtomic
	if x.service == packet.XRC {
		return
	}
	passive.Receives = m.RPCReceives()
	passive.MaxRdAtomic = m.InitiatorDepth
	passive.Credits, passive.SRQ = m.FlowControl && !m.SRQ, m.SRQ
	passive.Known |= qp.KnowsMaxRdAtomic | qp.KnowsCredits
	active.MaxDestRdAtomic = m.InitiatorDepth
	active.Known |= qp.KnowsMaxDestRdAtomic
}
