// Package cma is the communication manager of an adapter in software (chapter 12): it answers REQ, RTU, DREQ, LAP and SIDR_REQ, and connects to others. It is a pure
// state machine: a MAD and a time in, MADs out; no goroutine, no clock, no I/O. Times are nanoseconds.
//
// It is the engine's own, without a promise to others.
package cma

import (
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
)

// Offer is a queue pair that a consumer has ready for a connection.
type Offer struct {
	QPN       uint32
	PSN       packet.PSN // at which the peer starts to send requests
	Resources uint8      // READs and atomics that it keeps resources for
	Depth     uint8      // and that it will have outstanding
}

// Datagram is what SIDR tells of a service of datagrams.
type Datagram struct{ QPN, QKey uint32 }

// Out is a MAD that leaves, from QP1 to QP1.
type Out struct {
	To  packet.Addr
	MAD []byte // 256 bytes
}

// Config is what a manager is.
type Config struct {
	GUID   uint64 // of the channel adapter
	Addr   packet.Addr
	PKeys  []uint16 // that its port has
	Faults []string // names of Faults
}

// state is where a connection is.
type state uint8

const (
	reqSent state = iota
	repSent
	established
	timeWait
)

// connection is one side of a connection.
type connection struct {
	state         state
	peer          packet.Addr
	guid          uint64 // of the channel adapter of the peer
	local, remote uint32 // communication IDs
	qpn, peerQPN  uint32
	tid           uint64
	message       []byte // REQ or REP as it was sent, for its retransmission
	left          int    // how often it may be retransmitted
	wait          int64  // for an answer
	due           int64  // when it is retransmitted, or TimeWait ends; 0: never
}

// Agent is a communication manager. It is not for use by several goroutines at once.
type Agent struct {
	config      Config
	faults      faultSet
	services    map[mad.ServiceID][]Offer
	datagrams   map[mad.ServiceID]Datagram
	connections []*connection
	newest      uint32 // communication ID
	out         []Out
}

// New returns a manager without services. The error wraps ErrFault.
func New(c Config) (*Agent, error) {
	f, err := faultsOf(c.Faults)
	if err != nil {
		return nil, err
	}
	return &Agent{config: c, faults: f, services: map[mad.ServiceID][]Offer{}, datagrams: map[mad.ServiceID]Datagram{}, newest: 0x1000}, nil
}

// Listen has the manager accept connections for a service, one for each offer.
func (a *Agent) Listen(s mad.ServiceID, offers ...Offer) {
	a.services[s] = append(a.services[s], offers...)
}

// ListenDatagram has the manager tell of a service of datagrams.
func (a *Agent) ListenDatagram(s mad.ServiceID, d Datagram) { a.datagrams[s] = d }

// codeTime is the time of a code of 5 bits.
func codeTime(code uint8) int64 { return int64(4096) << code }

// waitOf is how long a side waits for the answer of the other to a REQ or a REP: its CM response timeout, and the way there and back, which the ACK timeout bounds.
func waitOf(code uint8, p *mad.Path) int64 { return codeTime(code) + codeTime(p.LocalAckTimeout) }

// send has a message leave; it returns its bytes.
func (a *Agent) send(to packet.Addr, m mad.Message) []byte {
	b := make([]byte, mad.Size)
	if m.Encode(b) == nil {
		a.out = append(a.out, Out{to, b})
	}
	return b
}

// find returns a connection of a peer, or nil.
func (a *Agent) find(peer packet.Addr, is func(c *connection) bool) *connection {
	i := slices.IndexFunc(a.connections, func(c *connection) bool { return c.peer == peer && is(c) })
	if i < 0 {
		return nil
	}
	return a.connections[i]
}

func (a *Agent) forget(c *connection) {
	a.connections = slices.DeleteFunc(a.connections, func(d *connection) bool { return d == c })
}

// taken returns what leaves.
func (a *Agent) taken() []Out {
	out := a.out
	a.out = nil
	return out
}

// Connect sends a REQ to a host; header, communication ID and GUID are those of the manager.
func (a *Agent) Connect(now int64, to packet.Addr, q mad.REQ) []Out {
	a.newest++
	q.Header, q.LocalCommID, q.LocalCAGUID = mad.CMHeader(mad.AttrREQ, uint64(a.newest)), a.newest, a.config.GUID
	c := &connection{
		state: reqSent, peer: to, local: q.LocalCommID, qpn: q.LocalQPN, tid: q.TID, left: int(q.MaxCMRetries), wait: waitOf(q.RemoteCMTimeout, &q.Primary),
	}
	if a.faults[reqTooSoon] {
		c.wait = codeTime(q.RemoteCMTimeout) / 4
	}
	c.message = a.send(to, &q)
	c.due = now + c.wait
	a.connections = append(a.connections, c)
	return a.taken()
}

// Next is when something is to be retransmitted, or TimeWait ends; false: never.
func (a *Agent) Next() (at int64, ok bool) {
	for _, c := range a.connections {
		if c.due != 0 && (!ok || c.due < at) {
			at, ok = c.due, true
		}
	}
	return at, ok
}

// Expire does what is due.
func (a *Agent) Expire(now int64) []Out {
	for _, c := range slices.Clone(a.connections) {
		switch {
		case c.due == 0 || c.due > now:
		case c.state == timeWait:
			a.forget(c)
		case c.left > 0 || a.faults[reqForever] && c.state == reqSent:
			c.left--
			c.due = now + c.wait
			b := slices.Clone(c.message)
			if c.state == repSent {
				a.changeREP(b)
			}
			a.out = append(a.out, Out{c.peer, b})
		default:
			a.giveUp(c)
		}
	}
	return a.taken()
}

// giveUp ends a connection whose REQ or REP was not answered (section 12.6.7.2, reason 4).
func (a *Agent) giveUp(c *connection) {
	j := a.reject(c.tid, mad.AnsweredOther, mad.RejTimeout)
	if a.faults[timeoutOtherReason] {
		j.Reason = mad.RejUnsupported
	}
	j.LocalCommID, j.RemoteCommID, j.InfoLength, j.Info = c.local, c.remote, 8, guidBytes(a.config.GUID)
	a.send(c.peer, j)
	a.forget(c)
}

// Arrived says that a request has come to a queue pair: it counts as the RTU (section 12.9.6).
func (a *Agent) Arrived(qpn uint32) []Out {
	i := slices.IndexFunc(a.connections, func(c *connection) bool { return c.qpn == qpn && c.state == repSent })
	if i < 0 {
		return nil
	}
	c := a.connections[i]
	if a.faults[dataRefused] {
		a.giveUp(c)
		return a.taken()
	}
	c.state, c.due = established, 0
	return nil
}
