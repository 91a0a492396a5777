package soft_test

import (
	"bytes"
	"time"

	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// marked is a frame with ECN 11, where its sender calls it ECN-capable.
func marked(frame []byte) []byte {
	var p packet.Packet
	if !packet.DecodeIP(&p, frame[14:], len(frame)-14) || p.TClass&3 == 0 {
		return frame
	}
	p.TClass |= 3
	p.SealIPv4()
	return p.Append(bytes.Clone(frame[:14]))
}

// congested reports whether a fault needs congestion control.
func congested(n soft.Need) bool {
	return n == soft.Congested || n == soft.CongestedBurst || n == soft.MarkedAnswers || n == soft.MarkedCNPs
}

// marks says what the network marks for a fault.
func marks(n soft.Need) func(frame []byte) bool {
	count := 0
	return func(frame []byte) bool {
		var p packet.Packet
		packet.DecodeIP(&p, frame[14:], len(frame)-14)
		switch n {
		case soft.CongestedBurst:
			return p.Info().Request
		case soft.MarkedAnswers:
			return p.Opcode.Fn() == packet.ReadRespOnly
		case soft.MarkedCNPs:
			if p.Opcode == packet.OpCNP {
				return true
			}
		}
		if p.Info().Only && p.Info().Request {
			count++
		}
		return p.Info().Only && p.Info().Request && count%3 == 0
	}
}

// profile is what is told of the devices.
func (s *stage) profile() (p verifier.Profile) {
	if congested(s.needs) {
		p.CNPs, p.DSCP, p.HasDSCP = verifier.Pacing{By: verifier.PacedByQP, Every: 20 * time.Microsecond}, 48, true
	}
	return p
}
