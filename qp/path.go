package qp

import (
	"ibwitness/coverage"
	"ibwitness/packet"
)

// Paths are the recoveries that a requester has begun and not ended: Recovery.Paths.
type Paths struct {
	asked [coverage.NumPaths]packet.PSN // the PSN that a path is about, with Valid
	again uint16                        // those whose PSN was retransmitted, a bit each
}

// Begin notes that a path about a PSN has begun.
func (p *Paths) Begin(path coverage.Path, psn packet.PSN) {
	p.asked[path] = psn | Valid
	p.again &^= 1 << path
}

// Retransmitted notes that the request at psn was retransmitted. It reports whether one of the paths that have begun wants that.
func (p *Paths) Retransmitted(psn packet.PSN) (wanted bool) {
	for path, at := range p.asked {
		if at != 0 && !psn.After(at&^Valid) {
			p.again |= 1 << path
			wanted = true
		}
	}
	return wanted
}

// End ends the first path that has come so far as its PSN, was retransmitted, and that ends so, and returns it.
func (p *Paths) End(ends uint16, so func(psn packet.PSN) bool) (coverage.Path, bool) {
	if ends &= p.again; ends == 0 {
		return 0, false
	}
	for path := range coverage.NumPaths {
		if ends>>path&1 != 0 && so(p.asked[path]&^Valid) {
			p.asked[path] = 0
			p.again &^= 1 << path
			return path, true
		}
	}
	return 0, false
}
