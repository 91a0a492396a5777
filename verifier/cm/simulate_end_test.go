package cm_test

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
)

// establish has a side send, propose alternate paths, and disconnect at last.
func (c *conn) establish() {
	c.state = established
	c.timer++
	c.speak()
	if c.IntN(4) == 0 && c.encap == packet.Native {
		c.After(c.between(1_000_000, 100_000_000), func() { c.propose(c.IntN(3)) })
	}
	switch c.IntN(4) {
	case 0: // the other side does
	case 1:
		c.After(c.between(0, 2_000_000), c.disconnect)
	default:
		c.After(c.between(0, 2_000_000_000), c.disconnect)
	}
	c.After(20_000_000_000, c.disconnect)
}

func (h *simHost) onMRA(from *simHost, m *mad.MRA) {
	for _, c := range h.conns {
		if c.id != m.RemoteCommID || c.peer != from {
			continue
		}
		wait := c.wait(m.ServiceTimeout) + c.between(1_000_000, 3_000_000)
		switch {
		case m.Answered == mad.AnsweredREQ && c.active && c.state == reqSent:
			c.repeat(reqSent, wait, c.sendREQ, func() { c.close(0) })
		case m.Answered == mad.AnsweredREP && !c.active && c.state == repSent && c.rid == m.LocalCommID:
			c.repeat(repSent, wait, c.sendREP, func() { c.close(c.rest()) })
		}
	}
}

func (h *simHost) onREJ(from *simHost, m *mad.REJ) {
	for _, c := range h.conns {
		if c.peer != from || c.state == closed || c.state == timeWait || m.TID != c.tid {
			continue
		}
		mine := c.id == m.RemoteCommID && (m.LocalCommID == 0 || c.rid == 0 || c.rid == m.LocalCommID)
		if m.Reason == mad.RejTimeout {
			mine = mine || c.rid == m.LocalCommID && c.rid != 0
		}
		if !mine {
			continue
		}
		switch {
		case c.state == reqSent && c.IntN(3) == 0 && m.Reason != mad.RejStale: // connect again
			c.timer++
			c.state = refused
			again := c.IntN(2) == 0 || c.style.oneTID
			c.After(c.between(0, 50_000_000), func() {
				switch {
				case c.state != refused:
				case again: // all the same
					c.state, c.left = reqSent, int(c.req.MaxCMRetries)
					c.sendREQ(c.patience())
				default:
					c.tid = c.simHost.tid(c.id)
					c.ask()
				}
			})
		case c.state == reqSent || c.state == reqRcvd || c.state == refused:
			c.close(0)
		default:
			c.close(c.rest())
		}
		return
	}
}

// disconnect sends a DREQ.
func (c *conn) disconnect() {
	if c.state != established {
		return
	}
	c.state, c.left = dreqSent, int(c.req.MaxCMRetries)
	m := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, c.simHost.tid(c.id)), LocalCommID: c.id, RemoteCommID: c.rid, RemoteQPN: c.dqpn}
	c.After(c.between(0, 1_000_000), func() {
		if c.state == dreqSent {
			c.sendDREQ(m, c.patience())
		}
	})
}

func (c *conn) sendDREQ(m *mad.DREQ, wait int64) {
	c.say(m)
	c.repeat(dreqSent, wait, func(wait int64) { c.sendDREQ(m, wait) }, func() { c.close(c.rest()) })
}

func (h *simHost) onDREQ(from *simHost, m *mad.DREQ) {
	c := h.find(from, m.RemoteCommID, m.LocalCommID)
	drep := &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, m.TID), LocalCommID: m.RemoteCommID, RemoteCommID: m.LocalCommID}
	switch {
	case c == nil:
		h.message(from, drep, fmt.Sprintf("DREP tid=%x for nothing", m.TID))
	case c.qpn != m.RemoteQPN:
	case c.state == established || c.state == dreqSent || c.state == repSent:
		c.state = dreqRcvd
		c.timer++
		c.After(c.between(0, 5_000_000), func() {
			c.say(drep)
			c.close(c.rest())
		})
	case c.state == timeWait:
		c.say(drep)
	}
}

// propose sends a LAP and, when it is answered, more of them.
func (c *conn) propose(more int) {
	if c.state != established {
		return
	}
	m := &mad.LAP{
		Header: mad.CMHeader(mad.AttrLAP, c.simHost.tid(c.id)), LocalCommID: c.id, RemoteCommID: c.rid, RemoteQPN: c.dqpn, RemoteCMTimeout: c.req.RemoteCMTimeout,
		LocalLID: uint16(c.n + 1), RemoteLID: uint16(c.peer.n + 1), LocalGID: c.gid, RemoteGID: c.peer.gid, SubnetLocal: true, LocalAckTimeout: 14,
	}
	c.lapping = true
	var send func(left int)
	send = func(left int) {
		if c.state != established {
			return
		}
		if !c.lapping {
			if more > 0 {
				c.propose(more - 1)
			}
			return
		}
		c.say(m)
		c.After(c.patience(), func() {
			if left > 0 || !c.lapping {
				send(left - 1)
			}
		})
	}
	send(int(c.req.MaxCMRetries))
}

func (h *simHost) onLAP(from *simHost, m *mad.LAP) {
	c := h.find(from, m.RemoteCommID, m.LocalCommID)
	if c == nil || c.state != established {
		return
	}
	c.After(c.between(0, 20_000_000), func() {
		if c.state == established {
			c.say(&mad.APR{Header: mad.CMHeader(mad.AttrAPR, m.TID), LocalCommID: c.id, RemoteCommID: c.rid})
		}
	})
}

// sidr is a resolution of a service ID.
type sidr struct {
	peer     *simHost
	answered bool
}

// resolve asks for the QP of a service ID.
func (h *simHost) resolve(peer *simHost, id uint32) {
	s := &sidr{peer: peer}
	h.sidrs[id] = s
	m := &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, h.tid(id)), RequestID: id, PKey: 0xFFFF, ServiceID: 0x1110001, Private: h.internet(peer)}
	var send func(left int)
	send = func(left int) {
		if s.answered || h.sidrs[id] != s {
			return
		}
		h.message(peer, m, fmt.Sprintf("SIDR_REQ tid=%x id=%x", m.TID, id))
		if left > 0 {
			h.After(h.between(20_000_000, 40_000_000), func() { send(left - 1) })
		}
	}
	send(3)
}

func (h *simHost) onSIDRReq(from *simHost, m *mad.SIDRReq) {
	r := &mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, m.TID), RequestID: m.RequestID, ServiceID: m.ServiceID, QPN: 0x77 + uint32(h.n), QKey: 0x1234}
	if !h.serve {
		r.Status, r.QPN, r.QKey = mad.SIDRRejected, 0, 0
	}
	h.After(h.between(10_000, 30_000_000), func() { h.message(from, r, fmt.Sprintf("SIDR_REP tid=%x id=%x", r.TID, r.RequestID)) })
}
