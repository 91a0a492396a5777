package rule

import (
	"ibwitness/expect"
	"ibwitness/packet"
)

// Proven is the class of a finding by whether the view proves it.
func Proven(ok bool) Class {
	if ok {
		return Violation
	}
	return Unproven
}

// Basis is what a verdict rests on.
type Basis uint8

// The bases, each on less than the one before.
const (
	OnStream Basis = iota // earlier packets of the connection too
	OnPacket              // the packet and what is known of its queue pairs
	OnBytes               // only the bytes of the packet
)

// Frame is a frame of a tap. Number 0: none.
type Frame struct {
	Number uint64
	Tap    uint16
}

// Verdict is a finding before it is reported: the rule that is broken, expected and actual values, and the frames that prove the breach. The packet and the accused are
// given to the method that reports the verdict.
type Verdict struct {
	Rule             ID
	Class            Class
	Role             Role // of the accused
	Basis            Basis
	Assumes          Assumption // of a violation: what may prove it, beside the packets themselves
	Gap              Gap        // what is missing
	Before           uint64     // frame of the request before that
	Earlier          Frame
	Expected, Actual string
	Detail           string
	Evidence         []uint64 // frames of the tap of the packet; Earlier is another one where it is of that tap
	Comparison       *expect.Comparison
	Wants            Wants // the values of fields that Expected names
}

// Doubt says that what the verdict says is not proven, and why; a verdict that is no violation stays as it is.
func (v *Verdict) Doubt(why string) {
	if v.Class != Violation {
		return
	}
	if v.Class = Unproven; v.Detail != "" {
		v.Detail += "; "
	}
	v.Detail += why
}

// CutShort is why a frame proves nothing where a part of it is not in the capture.
const CutShort = "the snap length cut the frame, so its ICRC was not judged"

// On returns the finding that a verdict is on packet p, against accused, whose role is that of the verdict.
func (v *Verdict) On(p *packet.Packet, accused, peer Endpoint) Finding {
	f := Finding{
		Rule: v.Rule, Class: v.Class, Expected: v.Expected, Actual: v.Actual, Detail: v.Detail, Evidence: v.Evidence, Gap: v.Gap, Before: v.Before, Comparison: v.Comparison,
		Service: p.Opcode.Service(), Opcode: p.Opcode, HasBTH: p.Has&packet.HasBTH != 0, PSN: p.PSN,
		Time: p.Time, Tap: p.Tap, Frame: p.Frame,
	}
	if e := v.Earlier; e.Number != 0 && e.Tap == p.Tap && e.Number != p.Frame {
		f.Evidence = append(f.Evidence, e.Number)
	}
	if v.Class == Violation {
		f.Assumes = v.Assumes
	}
	f.Accused, f.Peer = accused, peer
	f.Accused.Role = v.Role
	return f
}

// Report makes the finding that a verdict is on packet p. A frame that the snap length cut proves nothing, and nothing can prove it later.
func (r *Recorder) Report(p *packet.Packet, v Verdict, accused, peer Endpoint) {
	if p.Cut {
		v.Doubt(CutShort)
	}
	f := v.On(p, accused, peer)
	f.Cut = p.Cut
	r.Add(f)
}
