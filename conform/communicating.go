package conform

import (
	"ibwitness/fabricagent"
	"ibwitness/hcaagent/cma"
	"ibwitness/hcaagent/soft"
	"ibwitness/mad"
	"ibwitness/packet"
)

// Communicator is a device whose consumer listens for connections, and asks for them.
type Communicator interface {
	// Listen has the device accept connections for a service, one for each queue pair that its consumer has ready.
	Listen(s mad.ServiceID, offers ...cma.Offer)
	// ListenDatagram has the device tell which queue pair has a service of datagrams.
	ListenDatagram(s mad.ServiceID, d cma.Datagram)
	// Ask has the device send a REQ.
	Ask(to packet.Addr, mac [6]byte, q mad.REQ)
}

// communicating is an adapter in software with a communication manager at its QP1.
type communicating struct {
	*soft.HCA
	*cma.Agent
	port Port
	peer [6]byte // MAC of the newest sender
	psn  packet.PSN
}

// Where frames of RoCEv2 on IPv4, by which the manager is reached, have the source MAC, the EtherType and the destination queue pair.
const (
	sourceMACAt = 6
	etherTypeAt = 12
	destQPAt    = 14 + 20 + 8 + 5
)

// Receive takes a frame that has arrived at the port.
func (d *communicating) Receive(frame []byte) {
	if len(frame) < destQPAt+3 || !d.port.Addr.IsIPv4() || frame[etherTypeAt] != 0x08 || frame[etherTypeAt+1] != 0 {
		d.HCA.Receive(frame)
		return
	}
	copy(d.peer[:], frame[sourceMACAt:])
	qpn := uint32(frame[destQPAt])<<16 | uint32(frame[destQPAt+1])<<8 | uint32(frame[destQPAt+2])
	if qpn != gsiQP {
		d.HCA.Receive(frame)
		d.leave(d.Arrived(qpn))
		return
	}
	p := new(packet.Packet)
	if decoded(d.port.Clock.Now(), frame, p) && p.Opcode == packet.Op(packet.UD, packet.SendOnly) && p.QKey == gsiQKey && p.DestQP == gsiQP {
		d.leave(d.Agent.Receive(d.port.Clock.Now(), p.Src, p.Payload))
	}
}

// Ask implements Communicator.
func (d *communicating) Ask(to packet.Addr, mac [6]byte, q mad.REQ) {
	d.peer = mac
	d.leave(d.Connect(d.port.Clock.Now(), to, q))
}

// leave sends messages, and has the manager do later what is due then.
func (d *communicating) leave(list []cma.Out) {
	for _, o := range list {
		p := gmp(o.MAD)
		p.Encap, p.Src, p.Dst, p.PSN, p.HopLmt = packet.RoCEv2IPv4, d.port.Addr, o.To, d.psn, 64
		d.psn = d.psn.Add(1)
		p.Complete()
		d.port.Send(p.AppendEthernet(nil, d.port.MAC, d.peer))
	}
	if at, ok := d.Next(); ok {
		d.port.Clock.After(max(at-d.port.Clock.Now(), 0), func() {
			if next, ok := d.Next(); ok && next <= d.port.Clock.Now() {
				d.leave(d.Expire(d.port.Clock.Now()))
			}
		})
	}
}

// gmp is a packet from QP1 to QP1.
func gmp(b []byte) *packet.Packet {
	return &packet.Packet{
		Opcode: packet.Op(packet.UD, packet.SendOnly), PKey: 0xFFFF, SrcQP: gsiQP, DestQP: gsiQP, QKey: gsiQKey, SrcPort: 0xC000, Payload: b,
	}
}

// decoded decodes a frame, and reports whether it is an undamaged packet of RoCEv2.
func decoded(now int64, frame []byte, p *packet.Packet) bool {
	f := fabricagent.Frame{Time: now, Link: fabricagent.LinkEthernet, Len: uint32(len(frame)), Data: frame}
	if fabricagent.Decode(&f, p) != fabricagent.RDMA {
		return false
	}
	p.CheckICRC()
	return p.ICRCState == packet.CRCGood
}
