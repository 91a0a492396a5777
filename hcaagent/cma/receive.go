package cma

import (
	"encoding/binary"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
)

// Statuses of an APR (section 12.8.2).
const (
	aprUnknown     mad.APRStatus = 1
	aprUnsupported mad.APRStatus = 2
	aprLID         mad.APRStatus = 7
)

// Reasons of a REJ (section 12.6.7.2) that package mad has no name for.
const (
	rejTransport mad.RejReason = 9
	rejGID       mad.RejReason = 12
	rejLID       mad.RejReason = 13
	rejMTU       mad.RejReason = 26
)

// Receive takes a MAD that has come to QP1 from a host, and returns what leaves. What is no message of the communication manager is dropped.
func (a *Agent) Receive(now int64, from packet.Addr, b []byte) []Out {
	var h mad.Header
	if len(b) != mad.Size || mad.DecodeHeader(b, &h) != nil || h.Class != mad.ClassCM || h.BaseVersion != 1 || h.ClassVersion != 2 || h.Method != mad.Send {
		return nil
	}
	b = slices.Clone(b)
	switch h.Attribute {
	case mad.AttrREQ:
		take(b, func(m *mad.REQ) { a.req(now, from, m) })
	case mad.AttrREP:
		take(b, func(m *mad.REP) { a.rep(from, m) })
	case mad.AttrRTU:
		take(b, func(m *mad.RTU) { a.rtu(from, m) })
	case mad.AttrREJ:
		take(b, func(m *mad.REJ) { a.rej(from, m) })
	case mad.AttrDREQ:
		take(b, func(m *mad.DREQ) { a.dreq(now, from, m) })
	case mad.AttrLAP:
		take(b, func(m *mad.LAP) { a.lap(from, m) })
	case mad.AttrSIDRReq:
		take(b, func(m *mad.SIDRReq) { a.sidr(from, m) })
	}
	return a.taken()
}

// take decodes a message.
func take[M any, P interface {
	*M
	mad.Message
}](b []byte, do func(P),
) {
	m := P(new(M))
	if m.Decode(b) == nil {
		do(m)
	}
}

// reject makes a REJ.
func (a *Agent) reject(tid uint64, of mad.Answered, reason mad.RejReason) *mad.REJ {
	return &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, tid), Rejected: of, Reason: reason}
}

// guidBytes is a GUID as additional information.
func guidBytes(guid uint64) []byte { return binary.BigEndian.AppendUint64(nil, guid) }

// req takes a REQ.
func (a *Agent) req(now int64, from packet.Addr, m *mad.REQ) {
	refuse := func(reason mad.RejReason, info []byte) {
		j := a.reject(m.TID, mad.AnsweredREQ, reason)
		j.RemoteCommID, j.InfoLength, j.Info = m.LocalCommID, uint8(len(info)), info
		a.send(from, j)
	}
	if c := a.find(from, func(c *connection) bool { return c.remote == m.LocalCommID && c.guid == m.LocalCAGUID }); c != nil {
		switch {
		case c.state == repSent:
			b := slices.Clone(c.message)
			a.changeREP(b)
			a.out = append(a.out, Out{c.peer, b})
		case c.state == timeWait && !a.faults[timeWaitSilent]:
			refuse(mad.RejStale, nil)
		}
		return
	}
	old := a.find(from, func(c *connection) bool {
		return c.peerQPN == m.LocalQPN && c.guid == m.LocalCAGUID && c.state != reqSent
	})
	if old != nil && !a.faults[staleAccepted] {
		refuse(mad.RejStale, nil)
		if old.state != timeWait { // section 12.9.8.3.1
			a.send(from, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, old.tid), LocalCommID: old.local, RemoteCommID: old.remote, RemoteQPN: old.peerQPN})
			a.end(now, old)
		}
		return
	}
	offers := a.services[m.ServiceID]
	if !a.faults[reqUnchecked] {
		if reason, info := a.judge(m); reason != 0 {
			refuse(reason, info)
			return
		}
	}
	if len(offers) == 0 {
		refuse(mad.RejNoQP, nil)
		return
	}
	a.services[m.ServiceID] = offers[1:]
	a.accept(now, from, m, offers[0])
}

// judge is the reason to reject a REQ, with its additional information; 0: there is none.
func (a *Agent) judge(m *mad.REQ) (reason mad.RejReason, info []byte) {
	switch {
	case a.services[m.ServiceID] == nil:
		return mad.RejInvalidService, nil
	case m.Transport != mad.TransportRC && m.Transport != mad.TransportUC:
		return rejTransport, nil
	case m.PathMTU < 1 || m.PathMTU > 5:
		return rejMTU, []byte{5}
	case !slices.ContainsFunc(a.config.PKeys, func(k uint16) bool { return (k^m.PKey)&0x7FFF == 0 }):
		return mad.RejUnsupported, nil
	case m.Primary.LocalLID == 0 && a.faults[lidsWanted]:
		return mad.RejUnsupported, nil
	case m.Primary.RemoteGID != a.config.Addr && a.faults[rej13]:
		return rejLID, []byte{0xFF, 0xFF}
	case m.Primary.RemoteGID != a.config.Addr:
		gid := a.config.Addr.Bytes()
		return rejGID, gid[:]
	}
	return 0, nil
}

// accept sends the REP.
func (a *Agent) accept(now int64, from packet.Addr, m *mad.REQ, o Offer) {
	a.newest++
	c := &connection{
		state: repSent, peer: from, guid: m.LocalCAGUID, local: a.newest, remote: m.LocalCommID, qpn: o.QPN, peerQPN: m.LocalQPN, tid: m.TID, left: int(m.MaxCMRetries),
		wait: waitOf(m.LocalCMTimeout, &m.Primary),
	}
	tid := m.TID
	if a.faults[repOtherTID] {
		tid++
	}
	c.message = a.send(from, &mad.REP{
		Header: mad.CMHeader(mad.AttrREP, tid), LocalCommID: c.local, RemoteCommID: c.remote, LocalQPN: o.QPN, StartingPSN: o.PSN, LocalCAGUID: a.config.GUID,
		ResponderResources: min(o.Resources, m.InitiatorDepth), InitiatorDepth: min(o.Depth, m.ResponderResources), RNRRetryCount: 7, FlowControl: m.FlowControl,
	})
	c.due = now + c.wait
	a.connections = append(a.connections, c)
}

// rep takes a REP: the RTU answers it, and a duplicate too.
func (a *Agent) rep(from packet.Addr, m *mad.REP) {
	c := a.find(from, func(c *connection) bool { return c.local == m.RemoteCommID })
	if c == nil || c.state == timeWait {
		return
	}
	if c.state == reqSent {
		c.state, c.due, c.remote, c.guid, c.peerQPN = established, 0, m.LocalCommID, m.LocalCAGUID, m.LocalQPN
	}
	a.send(from, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, c.tid), LocalCommID: c.local, RemoteCommID: c.remote})
}

// rtu takes an RTU.
func (a *Agent) rtu(from packet.Addr, m *mad.RTU) {
	if c := a.find(from, func(c *connection) bool { return c.local == m.RemoteCommID && c.state == repSent }); c != nil && !a.faults[rtuIgnored] {
		c.state, c.due = established, 0
	}
}

// rej takes a REJ: it ends the exchange.
func (a *Agent) rej(from packet.Addr, m *mad.REJ) {
	if c := a.find(from, func(c *connection) bool { return c.local == m.RemoteCommID && c.state <= repSent }); c != nil {
		a.forget(c)
	}
}

// timeWaits is how long a connection stays in TimeWait: longer than its packets live.
const timeWaits = int64(1e9)

// end has a connection go to TimeWait.
func (a *Agent) end(now int64, c *connection) { c.state, c.due = timeWait, now+timeWaits }

// dreq takes a DREQ: it is answered whether the connection is known or not (section 12.9.7).
func (a *Agent) dreq(now int64, from packet.Addr, m *mad.DREQ) {
	c := a.find(from, func(c *connection) bool { return c.local == m.RemoteCommID && c.remote == m.LocalCommID })
	if c != nil && c.state != timeWait {
		a.end(now, c)
		if a.faults[firstDREQUnanswered] {
			return
		}
	} else if a.faults[dreqUnanswered] {
		return
	}
	a.send(from, &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, m.TID), LocalCommID: m.RemoteCommID, RemoteCommID: m.LocalCommID})
}

// lap takes a LAP: alternate paths are not supported.
func (a *Agent) lap(from packet.Addr, m *mad.LAP) {
	r := &mad.APR{Header: mad.CMHeader(mad.AttrAPR, m.TID), LocalCommID: m.RemoteCommID, RemoteCommID: m.LocalCommID, Status: aprUnknown}
	known := a.find(from, func(c *connection) bool { return c.local == m.RemoteCommID && c.state == established }) != nil
	switch {
	case a.faults[lapUnanswered]:
		return
	case known && a.faults[apr7]:
		r.Status = aprLID
	case known && !a.faults[lapAsUnknown] || a.faults[lapUnknownTaken]:
		r.Status = aprUnsupported
	}
	a.send(from, r)
}

// sidr takes a SIDR_REQ.
func (a *Agent) sidr(from packet.Addr, m *mad.SIDRReq) {
	r := &mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, m.TID), RequestID: m.RequestID, ServiceID: m.ServiceID, Status: mad.SIDRUnsupported}
	if d, ok := a.datagrams[m.ServiceID]; ok {
		r.Status, r.QPN, r.QKey = mad.SIDRValid, d.QPN, d.QKey
		if a.faults[sidrOtherQKey] {
			r.QKey++
		}
	} else if a.faults[sidrUnanswered] {
		return
	}
	a.send(from, r)
}
