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

// thinning is how many findings of a kind stay, round by round, until half of the list is gone: first of one rule, class and pair of ends, then of one
// rule and class.
var thinning = [...]struct {
	most int
	ends bool
}{{100, true}, {10, true}, {1, true}, {10_000, false}, {1000, false}, {100, false}, {10, false}, {1, false}}

// Thin halves the list of findings at least, where there are many: the first ones of each kind stay, so that no rule and no class is lost. It returns how
// many findings and events it drops. The coverage counts them still.
func (r *Recorder) Thin() (findings, events uint64) {
	if r.Settle(); len(r.Findings) < fewest {
		return 0, 0
	}
	r.about = nil
	half := len(r.Findings) / 2
	for _, round := range thinning {
		if len(r.Findings) <= half {
			break
		}
		seen := map[alike]int{}
		stay := r.Findings[:0]
		for i := range r.Findings {
			f := &r.Findings[i]
			k := alike{rule: f.Rule, class: f.Class}
			if round.ends {
				k.accused, k.qpn, k.peer = f.Accused.Addr, f.Accused.QPN, f.Peer.Addr
			}
			switch seen[k]++; {
			case seen[k] <= round.most:
				stay = append(stay, *f)
			case f.Class == Event:
				events++
			default:
				findings++
			}
		}
		clear(r.Findings[len(stay):])
		r.Findings = stay
	}
	r.Findings = append(make([]Finding, 0, half+half/2), r.Findings...)
	return findings, events
}
