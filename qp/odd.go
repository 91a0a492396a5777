package qp

import "ibwitness/packet"

// Odd counts the packets of a direction that differ from the first of its flow, each up to Many.
type Odd struct {
	// Path counts those with another flow label or DSCP; it is Many as soon as one of them may have got that elsewhere than at the queue pair.
	Path uint8
	// SL and GRH count those with another SL, and those with or without a GRH or with other GIDs in it.
	SL, GRH uint8
	// Opcode is the opcode of the response that Path counts first, 0: it is a request. OpcodeAgrees says that a later one of its kind has had the flow
	// label and DSCP of the flow.
	Opcode       packet.Opcode
	OpcodeAgrees bool
	// Trimmed is one more than the DSCP of the newest packet that a switch has trimmed; 0: it has none.
	Trimmed uint8
}

// Many means as many or more in Odd.
const Many = 255

// Odd is how many packets differ from the first of the flow.
func (d *Direction) Odd() Odd { return d.SQ.sender.odd }

// IsOdd reports whether a packet differed from the others of the flow.
func (d *Direction) IsOdd() bool {
	o := &d.SQ.sender.odd
	return d.Flow.Changes|o.Path|o.SL|o.GRH != 0
}

// CountOddSL counts a packet with another SL.
func (d *Direction) CountOddSL() { count(&d.sender().odd.SL) }

// CountOddGRH counts a packet with or without a GRH, or with other GIDs in it.
func (d *Direction) CountOddGRH() { count(&d.sender().odd.GRH) }

// CountOddPath counts a packet with another flow label or DSCP.
func (d *Direction) CountOddPath() { count(&d.sender().odd.Path) }

// DoubtPath notes that a packet may have got another flow label or DSCP elsewhere than at the queue pair.
func (d *Direction) DoubtPath() { d.sender().odd.Path = Many }

// SetOddOpcode notes the opcode of the response that has another flow label or DSCP first. The next one of its kind is not a plain one.
func (d *Direction) SetOddOpcode(o packet.Opcode) { d.sender().odd.Opcode, d.Flow.State = o, FlowKnown }

// AgreeOddOpcode notes that a later one of its kind has those of the flow.
func (d *Direction) AgreeOddOpcode() { d.sender().odd.OpcodeAgrees = true }

// Trim notes the DSCP of a packet that a switch has trimmed.
func (d *Direction) Trim(dscp uint8) { d.sender().odd.Trimmed = dscp + 1 }

func count(n *uint8) { *n += min(1, Many-*n) }

// BeginFlow begins the flow of a direction, with gids as FoldGIDs has them.
func (d *Direction) BeginFlow(f Flow, gids uint64) {
	d.Flow = f
	if s := &d.SQ.sender; s.odd != (Odd{}) || s.gids != gids || s.qKey != 0 {
		s = d.sender()
		s.odd, s.gids, s.qKey = Odd{}, gids, 0
	}
}

// CountCopy counts a copy of one of its packets, while the tap is near, and returns how many there were, modulo 256.
func (d *Direction) CountCopy() byte {
	s := d.sender()
	s.copies++
	return s.copies
}
