package cm_test

import (
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
)

// state is how far a side of a connection has come (section 12.9.5).
type state uint8

const (
	reqSent state = iota
	reqRcvd
	repSent
	repRcvd
	established
	dreqSent
	dreqRcvd
	refused // and about to connect again
	timeWait
	closed
)

// conn is one side of a connection.
type conn struct {
	*simHost
	peer    *simHost
	state   state
	active  bool
	service mad.ServiceID
	peers   bool // both sides ask
	id, rid uint32
	tid     uint64
	qpn     uint32
	dqpn    uint32
	req     mad.REQ
	rep     mad.REP
	asked   int64 // MRA that was sent asks for
	timer   int   // number of the newest
	left    int   // repetitions
	lapping bool
	traffic
}

// alive reports whether the QP of the side sends and receives.
func (c *conn) alive() bool {
	return c.state >= repSent && c.state <= established && c.state != repRcvd
}

// peerToPeer is the first service at which nobody listens.
const peerToPeer mad.ServiceID = 0x1060100

// connect has a host ask another one for a connection.
func (h *simHost) connect(peer *simHost, service mad.ServiceID, peers bool) *conn {
	qpn, ok := take(&h.qpns)
	if !ok {
		return nil
	}
	id, ok := take(&h.ids)
	if !ok {
		h.qpns = append(h.qpns, qpn)
		return nil
	}
	c := &conn{simHost: h, peer: peer, active: true, service: service, peers: peers, id: id, qpn: qpn, tid: h.tid(id)}
	h.conns = append(h.conns, c)
	c.ask()
	return c
}

// ask sends the REQ.
func (c *conn) ask() {
	w := c.world
	local := w.encap == packet.Native
	path := mad.Path{
		LocalGID: c.gid, RemoteGID: c.peer.gid, LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID, HopLimit: 64, SubnetLocal: local, LocalAckTimeout: c.delay + 1 + uint8(w.IntN(3)),
	}
	if local {
		path.HopLimit, path.LocalLID, path.RemoteLID = 0, uint16(c.n+1), uint16(c.peer.n+1)
	}
	depth := uint8(w.IntN(4))
	c.req = mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, c.tid), LocalCommID: c.id, ServiceID: c.service, LocalCAGUID: c.guid, LocalQPN: c.qpn, ResponderResources: uint8(w.IntN(4)),
		InitiatorDepth: depth, RemoteCMTimeout: uint8(13 + w.IntN(4)), LocalCMTimeout: uint8(13 + w.IntN(4)), StartingPSN: packet.PSN(w.Uint32N(1 << 24)), RetryCount: uint8(1 + w.IntN(7)),
		PKey: 0xFFFF, PathMTU: uint8(1 + w.IntN(5)), RNRRetryCount: uint8(w.IntN(8)), MaxCMRetries: uint8(w.IntN(8)), Primary: path, Private: c.internet(c.peer),
	}
	if w.IntN(4) == 0 {
		c.req.Alternate = path
	}
	c.state, c.left = reqSent, int(c.req.MaxCMRetries)
	c.sendREQ(c.patience())
}

// patience is for how long the side waits for an answer to what it sends.
func (c *conn) patience() int64 {
	if c.active {
		return c.wait(c.req.RemoteCMTimeout) + c.between(100_000, 3_000_000)
	}
	return c.wait(c.req.LocalCMTimeout) + c.between(100_000, 3_000_000)
}

func (c *conn) sendREQ(wait int64) {
	c.say(&c.req)
	c.repeat(reqSent, wait, c.sendREQ, func() {
		if c.style.quits {
			c.reject(mad.RejTimeout, mad.AnsweredOther)
		}
		c.close(0)
	})
}

// repeat retransmits a message if the state is the same after a time, as often as it may.
func (c *conn) repeat(s state, wait int64, send func(int64), give func()) {
	c.timer++
	n := c.timer
	c.After(wait, func() {
		switch {
		case c.timer != n || c.state != s:
		case c.left > 0:
			c.left--
			send(c.patience())
		default:
			give()
		}
	})
}

// say sends a message of the side.
func (c *conn) say(m mad.Message) {
	b := make([]byte, mad.Size)
	if err := m.Encode(b); err != nil {
		panic(err)
	}
	var h mad.Header
	if err := mad.DecodeHeader(b, &h); err != nil {
		panic(err)
	}
	times := 1
	if c.fault != nil {
		times = c.fault.apply(c, h.Attribute, b)
	}
	for range times {
		c.datagram(c.peer, b, fmt.Sprintf("%s tid=%x %x", h.AttributeName(), binary.BigEndian.Uint64(b[8:]), b[mad.HeaderSize:mad.HeaderSize+12]))
	}
}

func (c *conn) header(a mad.Attribute) mad.Header { return mad.CMHeader(a, c.tid) }

// reject sends a REJ.
func (c *conn) reject(why mad.RejReason, of mad.Answered) {
	m := &mad.REJ{Header: c.header(mad.AttrREJ), LocalCommID: c.id, RemoteCommID: c.rid, Reason: why, Rejected: of}
	if of == mad.AnsweredREQ && c.asked == 0 {
		m.LocalCommID = 0
	}
	if why == mad.RejTimeout {
		m.InfoLength, m.Info = 8, binary.BigEndian.AppendUint64(nil, c.guid)
	}
	c.say(m)
}

// refuse answers a message with a REJ from no side at all.
func (h *simHost) refuse(to *simHost, m *mad.REQ, why mad.RejReason) {
	h.message(to, &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, m.TID), RemoteCommID: m.LocalCommID, Reason: why, Rejected: mad.AnsweredREQ}, fmt.Sprintf("REJ tid=%x %v", m.TID, why))
}

// close ends the side; its numbers are free after a time.
func (c *conn) close(wait int64) {
	if c.state == closed || c.state == timeWait {
		return
	}
	c.timer++
	c.state = closed
	if wait > 0 {
		c.state = timeWait
	}
	c.After(wait, func() {
		c.state = closed
		c.qpns, c.ids = append(c.qpns, c.qpn), append(c.ids, c.id)
	})
}

// rest is for how long the side stays in TimeWait.
func (c *conn) rest() int64 {
	return c.wait(max(c.req.Primary.LocalAckTimeout, c.rep.TargetAckDelay)) + 4_000_000
}
