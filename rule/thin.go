package rule

import "ibwitness/packet"

// fewest is how many findings are not worth thinning.
const fewest = 4096

// alike is what findings have in common of which a reader needs not see all.
type alike struct {
	rule    ID
	class   Class
	accused packet.Addr
	qpn     uint32
	peer    packet.Addr
}

// Thin halves the list of findings, where there are many: of those of one rule, class and pair of ends the first ones stay, at least one; after that the first of all.
// It returns how many findings and events it drops. The coverage counts them still.
func (r *Recorder) Thin() (findings, events uint64) {
	if len(r.Findings) < fewest {
		return 0, 0
	}
	half := len(r.Findings) / 2
	drop := func(f *Finding) {
		if f.Class == Event {
			events++
		} else {
			findings++
		}
	}
	for most := 100; most > 0 && len(r.Findings) > half; most /= 10 {
		seen := map[alike]int{}
		stay := r.Findings[:0]
		for i := range r.Findings {
			f := &r.Findings[i]
			k := alike{f.Rule, f.Class, f.Accused.Addr, f.Accused.QPN, f.Peer.Addr}
			if seen[k]++; seen[k] > most {
				drop(f)
			} else {
				stay = append(stay, *f)
			}
		}
		clear(r.Findings[len(stay):])
		r.Findings = stay
	}
	for i := half; i < len(r.Findings); i++ {
		drop(&r.Findings[i])
	}
	r.Findings = append(make([]Finding, 0, half+half/2), r.Findings[:min(half, len(r.Findings))]...)
	return findings, events
}
