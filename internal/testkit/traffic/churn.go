package traffic

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// Churn makes connections that come and go, without end: CM opens each, its ends send messages to each other, and CM closes it. QP numbers are few
// and are used again. Nothing is broken, but where a packet is spoiled: reserved bits of its BTH are set (rule BTH-009).
type Churn struct {
	Opened, Closed uint64 // connections
	Spoiled        uint64 // packets

	random   random
	messages int
	faults   int
	slots    []slot
	bytes    []byte
}

// slot holds one connection after the other.
type slot struct {
	ends [2]end
	psn  [2]packet.PSN // of the next request of each end
	msn  [2]uint32     // messages that each end has sent
	id   uint32        // communication ID; 0: no connection
	step int
	life int
}

// perSlot is how many connections a slot has until its QP numbers are used again.
const perSlot = 16

// NewChurn returns a generator of so many connections at a time, each of so many messages, with one in so many requests spoiled, 0: none.
func NewChurn(connections, messages, faults int, seed uint64) *Churn {
	return &Churn{random: random(seed), messages: messages, faults: faults, slots: make([]slot, connections)}
}

// The steps of a connection; between ready and down, two for each message.
const (
	stepREQ = iota
	stepREP
	stepRTU
	stepMessages
)

// Next appends the next frame to b.
func (c *Churn) Next(b []byte) []byte {
	i := c.random.below(len(c.slots))
	s := &c.slots[i]
	if s.id == 0 {
		c.open(s, i)
	}
	step := s.step
	s.step++
	switch down := stepMessages + 2*c.messages; {
	case step == stepREQ:
		return c.manage(b, s, 0, s.request())
	case step == stepREP:
		return c.manage(b, s, 1, &mad.REP{
			Header: mad.CMHeader(mad.AttrREP, uint64(s.id)), LocalCommID: s.id + 1, RemoteCommID: s.id, LocalQPN: s.ends[1].qpn, StartingPSN: s.psn[0],
			ResponderResources: 4, InitiatorDepth: 4, RNRRetryCount: 7, LocalCAGUID: s.ends[1].guid(), TargetAckDelay: 10,
		})
	case step == stepRTU:
		return c.manage(b, s, 0, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, uint64(s.id)), LocalCommID: s.id, RemoteCommID: s.id + 1})
	case step < down:
		return c.message(b, s, (step-stepMessages)/2&1, (step-stepMessages)&1 == 1)
	case step == down:
		return c.manage(b, s, 0, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, uint64(s.id)), LocalCommID: s.id, RemoteCommID: s.id + 1, RemoteQPN: s.ends[1].qpn})
	default:
		b = c.manage(b, s, 1, &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, uint64(s.id)), LocalCommID: s.id + 1, RemoteCommID: s.id})
		s.id = 0
		c.Closed++
		return b
	}
}

// open begins a connection.
func (c *Churn) open(s *slot, i int) {
	c.Opened++
	*s = slot{id: uint32(c.Opened << 1), life: (s.life + 1) % perSlot} // a QP rests before it is connected again (12.9.8.4)
	for k := range s.ends {
		host := 2*(i%64) + k
		s.ends[k] = end{
			addr: packet.IPv4Addr([]byte{10, 9, 0, uint8(host)}), mac: [6]byte{2, 0, 0, 9, 0, uint8(host)},
			qpn: uint32(0x11 + i*perSlot + s.life), port: 0xC000 | uint16(c.random.next()),
		}
		s.psn[k] = packet.PSN(c.random.next() & packet.PSNMask)
	}
}

// request is the REQ of a connection.
func (s *slot) request() *mad.REQ {
	a, b := s.ends[0].addr, s.ends[1].addr
	h := mad.IPHeader{IPVersion: 4, SourcePort: 0x8000, SourceWord: packet.Addr{Lo: a.Lo & 0xFFFFFFFF}, DestinationWord: packet.Addr{Lo: b.Lo & 0xFFFFFFFF}}
	private := make([]byte, mad.IPHeaderSize)
	if err := h.Encode(private); err != nil {
		panic(err) // a mistake above
	}
	return &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, uint64(s.id)), LocalCommID: s.id, ServiceID: 0x1060001, LocalCAGUID: s.ends[0].guid(), LocalQPN: s.ends[0].qpn,
		ResponderResources: 4, InitiatorDepth: 4, RemoteCMTimeout: 20, LocalCMTimeout: 20, MaxCMRetries: 15, StartingPSN: s.psn[1], RetryCount: 7,
		PKey: 0xFFFF, PathMTU: 3, RNRRetryCount: 7,
		Primary: mad.Path{
			LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID, LocalGID: a, RemoteGID: b, HopLimit: 64, LocalAckTimeout: 14,
		},
		Private: private,
	}
}

// guid is that of the channel adapter of an end.
func (e *end) guid() uint64 { return 0x0200_0900_0000_0000 | e.addr.Lo&0xFFFF }

// manage appends a message of CM that an end sends.
func (c *Churn) manage(b []byte, s *slot, from int, m mad.Message) []byte {
	datagram := make([]byte, mad.Size)
	if err := m.Encode(datagram); err != nil {
		panic(err) // a mistake above
	}
	return s.frame(b, from, &packet.Packet{
		Opcode: packet.Op(packet.UD, packet.SendOnly), DestQP: 1, SrcQP: 1, QKey: 0x80010000, PSN: packet.PSN(s.step), Payload: datagram, SrcPort: 0xC001,
	})
}

// message appends a SEND of an end, or the other one's Acknowledge.
func (c *Churn) message(b []byte, s *slot, from int, ack bool) []byte {
	if ack {
		return s.frame(b, 1-from, &packet.Packet{
			Opcode: packet.Op(packet.RC, packet.Acknowledge), DestQP: s.ends[from].qpn, PSN: s.psn[from].Add(-1), MSN: s.msn[from], Syndrome: 0x1F, SrcPort: s.ends[1-from].port,
		})
	}
	p := packet.Packet{
		Opcode: packet.Op(packet.RC, packet.SendOnly), DestQP: s.ends[1-from].qpn, PSN: s.psn[from], AckReq: true, Payload: c.payload(), SrcPort: s.ends[from].port,
	}
	s.psn[from] = s.psn[from].Add(1)
	s.msn[from]++
	if c.faults > 0 && c.random.one(c.faults) {
		c.Spoiled++
		p.Resv7 = 1
	}
	return s.frame(b, from, &p)
}

func (c *Churn) payload() []byte {
	if c.bytes == nil {
		c.bytes = make([]byte, 1024)
	}
	n := 1 + c.random.below(256)
	return c.bytes[:n]
}

// frame appends a packet that an end sends.
func (s *slot) frame(b []byte, from int, p *packet.Packet) []byte {
	a, to := &s.ends[from], &s.ends[1-from]
	p.Encap, p.PKey, p.MigReq, p.Src, p.Dst, p.IPID = packet.RoCEv2IPv4, 0xFFFF, true, a.addr, to.addr, a.ipid
	a.ipid++
	p.Complete()
	return p.AppendEthernet(b, a.mac, to.mac)
}

// Management is a capture of n packets in memory: connections that CM opens and closes, and on which nothing is sent.
func Management(n int) []byte {
	b := header(make([]byte, 0, headerSize+n*340))
	c := NewChurn(64, 0, 0, 1)
	for i := range n {
		at := len(b)
		b = c.Next(begin(b, i, pause))
		finish(b, at)
	}
	return b
}
