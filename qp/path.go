package qp

import (
	"math/bits"

	"ibwitness/coverage"
	"ibwitness/packet"
)

// Paths are the recoveries that a requester has begun and not ended: Recovery.Paths. Few are at a time.
type Paths struct {
	asked        [coverage.NumPaths]packet.PSN // the PSN that a path is about
	begun, again uint16                        // those that have begun, and of these those whose PSN was retransmitted: a bit each
}

// Begin notes that a path about a PSN has begun.
func (p *Paths) Begin(path coverage.Path, psn packet.PSN) {
	p.asked[path] = psn
	p.begun |= 1 << path
	p.again &^= 1 << path
}

// Retransmitted notes that the request at psn was retransmitted. It reports whether one of the paths that have begun wants that.
func (p *Paths) Retransmitted(psn packet.PSN) (wanted bool) {
	for b := p.begun; b != 0; b &= b - 1 {
		if path := bits.TrailingZeros16(b); !psn.After(p.asked[path]) {
			p.again |= 1 << path
			wanted = true
		}
	}
	return wanted
}

// End ends the first path that has come so far as its PSN, was retransmitted, and that ends so, and returns it.
func (p *Paths) End(ends uint16, so func(psn packet.PSN) bool) (coverage.Path, bool) {
	for b := ends & p.again; b != 0; b &= b - 1 {
		if path := bits.TrailingZeros16(b); so(p.asked[path]) {
			p.begun &^= 1 << path
			p.again &^= 1 << path
			return coverage.Path(path), true
		}
	}
	return 0, false
}
