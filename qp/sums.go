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

// Sums is what was sent.
func (d *Direction) Sums() Sums {
	c := &d.SQ.sender.carried
	return Sums{Packets: d.Packets(), Bytes: c.Bytes + uint64(d.bytesHigh)<<32 + uint64(d.bytes), Messages: c.Messages + uint64(d.messages)}
}

// Packets is how many packets were sent.
func (d *Direction) Packets() uint64 { return d.SQ.sender.carried.Packets + uint64(d.packets) }

// CountPacket counts a packet.
func (d *Direction) CountPacket(p *packet.Packet) {
	bytes := d.bytes + uint32(p.PayloadLen)
	if d.packets++; d.packets == 0 || bytes < d.bytes {
		d.carry(d.packets == 0, bytes < d.bytes)
	}
	d.bytes = bytes
}

// CountMessage counts a message that was sent whole.
func (d *Direction) CountMessage() {
	if d.messages++; d.messages == 0 {
		d.sender().carried.Messages += 1 << 32
	}
}

// carry notes that there is no room for the number of packets, or of bytes, in the counter of the direction.
//
//go:noinline
func (d *Direction) carry(packets, bytes bool) {
	if packets {
		d.sender().carried.Packets += 1 << 32
	}
	if bytes {
		if d.bytesHigh++; d.bytesHigh == 0 {
			d.sender().carried.Bytes += 1 << 48
		}
	}
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
	if s, t := d.Sums(), o.Sums(); t != (Sums{}) {
		d.setSums(Sums{s.Packets + t.Packets, s.Bytes + t.Bytes, s.Messages + t.Messages})
	}
	if t := o.Faults(); t != (Faults{}) {
		f := &d.sender().faults
		f.Retransmissions, f.Duplicates = f.Retransmissions+t.Retransmissions, f.Duplicates+t.Duplicates
		f.NAKs, f.SequenceNAKs, f.RNRNAKs = f.NAKs+t.NAKs, f.SequenceNAKs+t.SequenceNAKs, f.RNRNAKs+t.RNRNAKs
	}
}

func (d *Direction) setSums(s Sums) {
	d.packets, d.messages, d.bytes, d.bytesHigh = uint32(s.Packets), uint32(s.Messages), uint32(s.Bytes), uint16(s.Bytes>>32)
	carried := Sums{Packets: s.Packets &^ (1<<32 - 1), Messages: s.Messages &^ (1<<32 - 1), Bytes: s.Bytes &^ (1<<48 - 1)}
	if carried != d.SQ.sender.carried {
		d.sender().carried = carried
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
