package qp

import "ibwitness/packet"

// Sums is what a QP sent, for the table of connections.
type Sums struct {
	Packets, Bytes, Messages uint64
}

// Faults is what of that tells of something lost.
type Faults struct {
	Retransmissions, Duplicates uint32
	NAKs, SequenceNAKs, RNRNAKs uint32
}

// What a direction has sent is counted in the direction: 32 bits of packets and messages, and 47 of bytes. The rest is with what few directions have, where highCarried says so.
const (
	highBytes   = 1<<15 - 1 // bits 32 to 46 of the bytes
	highCarried = 1 << 15
)

// Sums is what was sent.
func (d *Direction) Sums() Sums {
	s := Sums{Packets: uint64(d.packets), Bytes: uint64(d.high&highBytes)<<32 | uint64(d.bytes), Messages: uint64(d.messages)}
	if d.high&highCarried != 0 {
		s = s.plus(d.SQ.sender.carried)
	}
	return s
}

func (s Sums) plus(t Sums) Sums {
	return Sums{s.Packets + t.Packets, s.Bytes + t.Bytes, s.Messages + t.Messages}
}

// Packets is how many packets were sent.
func (d *Direction) Packets() uint64 {
	n := uint64(d.packets)
	if d.high&highCarried != 0 {
		n += d.SQ.sender.carried.Packets
	}
	return n
}

// CountPacket counts a packet with so many bytes of payload.
func (d *Direction) CountPacket(bytes int) {
	d.packets++
	if d.bytes += uint32(bytes); d.packets == 0 || d.bytes < uint32(bytes) {
		d.carryPacket(bytes)
	}
}

// CountMessage counts a message that was sent whole.
func (d *Direction) CountMessage() {
	if d.messages++; d.messages == 0 {
		d.carryMessage()
	}
}

// carryPacket counts a packet, of which the direction has counted what it has room for.
//
//go:noinline
func (d *Direction) carryPacket(bytes int) {
	d.packets, d.bytes = d.packets-1, d.bytes-uint32(bytes)
	d.setSums(d.Sums().plus(Sums{Packets: 1, Bytes: uint64(bytes)}))
}

//go:noinline
func (d *Direction) carryMessage() {
	d.messages--
	d.setSums(d.Sums().plus(Sums{Messages: 1}))
}

// UncountPacket takes a packet that was counted back: it belongs to another connection.
func (d *Direction) UncountPacket(p *packet.Packet) {
	s := d.Sums()
	s.Packets--
	s.Bytes -= uint64(p.PayloadLen)
	d.setSums(s)
}

// add adds what another direction has sent.
func (d *Direction) add(o *Direction) {
	if t := o.Sums(); t != (Sums{}) {
		d.setSums(d.Sums().plus(t))
	}
	if t := o.Faults(); t != (Faults{}) {
		f := &d.sender().faults
		f.Retransmissions, f.Duplicates = f.Retransmissions+t.Retransmissions, f.Duplicates+t.Duplicates
		f.NAKs, f.SequenceNAKs, f.RNRNAKs = f.NAKs+t.NAKs, f.SequenceNAKs+t.SequenceNAKs, f.RNRNAKs+t.RNRNAKs
	}
}

func (d *Direction) setSums(s Sums) {
	d.packets, d.messages, d.bytes = uint32(s.Packets), uint32(s.Messages), uint32(s.Bytes)
	rest := Sums{Packets: s.Packets >> 32 << 32, Bytes: s.Bytes >> 47 << 47, Messages: s.Messages >> 32 << 32}
	if d.high = uint16(s.Bytes>>32) & highBytes; rest != (Sums{}) {
		d.high |= highCarried
		d.sender().carried = rest
	}
}

// Faults is what tells of something lost.
func (d *Direction) Faults() Faults { return d.SQ.sender.faults }

// CountRetransmission counts a request that was retransmitted.
func (d *Direction) CountRetransmission() { d.sender().faults.Retransmissions++ }

// CountDuplicate counts a request that its responder has executed before.
func (d *Direction) CountDuplicate() { d.sender().faults.Duplicates++ }

// CountNAK counts a NAK, after which the responder that sent it is in state nak.
func (d *Direction) CountNAK(nak Responder) {
	f := &d.sender().faults
	f.NAKs++
	switch nak {
	case SequenceNAKed:
		f.SequenceNAKs++
	case RNRNAKed:
		f.RNRNAKs++
	}
}
