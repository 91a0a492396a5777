package cm_test

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// manage takes a message of CM that arrived.
func (h *simHost) manage(from *simHost, b []byte) {
	var hd mad.Header
	if mad.DecodeHeader(b, &hd) != nil || hd.Class != mad.ClassCM || hd.ClassVersion != 2 || hd.Method != mad.Send {
		return
	}
	m := mad.NewMessage(hd.Attribute)
	if m == nil || m.Decode(b) != nil {
		return
	}
	switch m := m.(type) {
	case *mad.REQ:
		h.onREQ(from, m)
	case *mad.REP:
		h.onREP(from, m)
	case *mad.RTU:
		if c := h.find(from, m.RemoteCommID, m.LocalCommID); c != nil && c.state == repSent {
			c.establish()
		}
	case *mad.MRA:
		h.onMRA(from, m)
	case *mad.REJ:
		h.onREJ(from, m)
	case *mad.DREQ:
		h.onDREQ(from, m)
	case *mad.DREP:
		if c := h.find(from, m.RemoteCommID, m.LocalCommID); c != nil && (c.state == dreqSent || c.state == dreqRcvd) {
			c.close(c.rest())
		}
	case *mad.LAP:
		h.onLAP(from, m)
	case *mad.APR:
		if c := h.find(from, m.RemoteCommID, m.LocalCommID); c != nil && c.state == established {
			c.lapping = false
		}
	case *mad.SIDRReq:
		h.onSIDRReq(from, m)
	case *mad.SIDRRep:
		if s := h.sidrs[m.RequestID]; s != nil && s.peer == from {
			s.answered = true
		}
	}
}

// find returns the side that a message names; rid 0: that it does not yet know the peer's ID.
func (h *simHost) find(from *simHost, id, rid uint32) *conn {
	for _, c := range h.conns {
		if c.peer == from && c.id == id && c.state != closed && (c.rid == rid || rid == 0) {
			return c
		}
	}
	return nil
}

func (h *simHost) onREQ(from *simHost, m *mad.REQ) {
	for _, c := range h.conns {
		if c.active || c.peer != from || c.rid != m.LocalCommID || c.state == closed || c.req.LocalCAGUID != m.LocalCAGUID {
			continue
		}
		switch c.state { // it was retransmitted
		case reqRcvd:
			if c.asked > 0 {
				c.mra(mad.AnsweredREQ)
			}
		case repSent:
			if c.style.replies {
				c.say(&c.rep)
			}
		case timeWait:
			c.reject(mad.RejStale, mad.AnsweredOther)
		}
		return
	}
	for _, c := range h.conns {
		if c.active && c.peer == from && c.peers && c.state == reqSent && c.service == m.ServiceID {
			if h.guid > from.guid { // the one with the larger GUID stays the active side
				return
			}
			c.active, c.rid, c.req, c.tid = false, m.LocalCommID, *m, m.TID
			c.consider(m)
			return
		}
	}
	for _, c := range h.conns {
		if c.peer == from && c.dqpn == m.LocalQPN && c.state == established {
			h.refuse(from, m, mad.RejStale)
			c.disconnect()
			return
		}
	}
	if !h.serve || m.ServiceID >= peerToPeer {
		h.refuse(from, m, mad.RejInvalidService)
		return
	}
	qpn, ok := take(&h.qpns)
	if !ok {
		h.refuse(from, m, mad.RejNoResources)
		return
	}
	id, ok := take(&h.ids)
	if !ok {
		h.qpns = append(h.qpns, qpn)
		h.refuse(from, m, mad.RejNoResources)
		return
	}
	c := &conn{simHost: h, peer: from, service: m.ServiceID, id: id, rid: m.LocalCommID, tid: m.TID, qpn: qpn, req: *m, state: reqRcvd}
	h.conns = append(h.conns, c)
	c.consider(m)
}

// consider has the consumer of the passive side accept or refuse, now or later.
func (c *conn) consider(m *mad.REQ) {
	c.state, c.dqpn = reqRcvd, m.LocalQPN
	c.timer++
	delay := c.between(20_000, c.wait(m.RemoteCMTimeout)/2)
	if c.IntN(3) == 0 {
		delay = c.between(20_000, 4*c.wait(m.RemoteCMTimeout))
	}
	c.patient(mad.AnsweredREQ, m.RemoteCMTimeout, delay)
	c.After(delay, func() {
		switch {
		case c.state != reqRcvd:
		case c.IntN(8) == 0 && !c.peers:
			c.reject(mad.RejConsumer, mad.AnsweredREQ)
			c.close(0)
		default:
			c.accept(m)
		}
	})
}

// patient sends an MRA where a consumer takes longer than a timeout.
func (c *conn) patient(of mad.Answered, code uint8, delay int64) {
	if delay < c.wait(code)*3/4 {
		return
	}
	c.asked = delay
	c.After(c.between(10_000, c.wait(code)/4), func() { c.mra(of) })
}

// mra asks for patience.
func (c *conn) mra(of mad.Answered) {
	if want := map[mad.Answered]state{mad.AnsweredREQ: reqRcvd, mad.AnsweredREP: repRcvd}[of]; c.state != want {
		return
	}
	code := uint8(8)
	for 4096<<code < c.asked+5_000_000 {
		code++
	}
	c.say(&mad.MRA{Header: c.header(mad.AttrMRA), LocalCommID: c.id, RemoteCommID: c.rid, Answered: of, ServiceTimeout: code})
}

// accept sends the REP.
func (c *conn) accept(m *mad.REQ) {
	c.rep = mad.REP{
		Header: c.header(mad.AttrREP), LocalCommID: c.id, RemoteCommID: c.rid, LocalQPN: c.qpn, StartingPSN: packet.PSN(c.Uint32N(1 << 24)),
		ResponderResources: min(m.InitiatorDepth, uint8(c.IntN(4))), InitiatorDepth: min(m.ResponderResources, uint8(c.IntN(4))), TargetAckDelay: c.delay, RNRRetryCount: uint8(c.IntN(8)),
		LocalCAGUID: c.guid,
	}
	c.state, c.left = repSent, int(m.MaxCMRetries)
	c.begin()
	c.sendREP(c.patience())
}

func (c *conn) sendREP(wait int64) {
	c.say(&c.rep)
	c.repeat(repSent, wait, c.sendREP, func() {
		if c.style.quits {
			c.reject(mad.RejTimeout, mad.AnsweredOther)
		}
		c.close(c.rest())
	})
}

func (h *simHost) onREP(from *simHost, m *mad.REP) {
	var c *conn
	for _, k := range h.conns {
		if k.id == m.RemoteCommID && k.peer == from && k.active && k.state != closed {
			c = k
		}
	}
	switch {
	case c == nil || m.TID != c.tid:
	case c.state == reqSent:
		for _, k := range h.conns {
			if k != c && k.peer == from && k.dqpn == m.LocalQPN && k.state == established {
				h.message(from, &mad.REJ{
					Header: mad.CMHeader(mad.AttrREJ, m.TID), LocalCommID: c.id, RemoteCommID: m.LocalCommID, Reason: mad.RejStale, Rejected: mad.AnsweredREP,
				}, "REJ stale")
				k.disconnect()
				return
			}
		}
		c.rid, c.dqpn, c.rep, c.state = m.LocalCommID, m.LocalQPN, *m, repRcvd
		c.timer++
		c.asked = 0
		delay := c.between(10_000, c.wait(c.req.LocalCMTimeout)/2)
		if c.IntN(4) == 0 {
			delay = c.between(10_000, 3*c.wait(c.req.LocalCMTimeout))
		}
		c.patient(mad.AnsweredREP, c.req.LocalCMTimeout, delay)
		c.After(delay, func() {
			switch {
			case c.state != repRcvd:
			case c.IntN(10) == 0:
				c.reject(mad.RejConsumer, mad.AnsweredREP)
				c.close(c.rest())
			default:
				c.begin()
				c.rtu()
				c.establish()
			}
		})
	case c.rid != m.LocalCommID:
	case c.state == repRcvd:
		if c.asked > 0 {
			c.mra(mad.AnsweredREP)
		}
	case c.state == established:
		c.rtu()
	}
}

func (c *conn) rtu() {
	c.say(&mad.RTU{Header: c.header(mad.AttrRTU), LocalCommID: c.id, RemoteCommID: c.rid})
}
