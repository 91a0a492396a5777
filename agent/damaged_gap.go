package agent

import (
	"math/bits"

	"ibwitness/packet"
	"ibwitness/rule"
)

// mostFlips is how many bits of its destination QPN are wrong at most in a damaged packet that another queue pair's stream lacks.
const mostFlips = 2

// soon is within what time after a damaged packet the next one of its stream comes, nanoseconds.
const soon = int64(1e6)

// lackedAs is what a damaged packet has in common with the finding that a stream lacks it.
type lackedAs struct {
	from, to packet.Addr
	tap      uint16
	gap      rule.Gap
}

// withdrawDamaged takes back that a request was left out, where it came just before, with a wrong ICRC: what was damaged is its destination QPN.
func withdrawDamaged(r *rule.Recorder) {
	gaps := map[lackedAs][]int{}
	for k := range r.Findings {
		if f := &r.Findings[k]; f.Rule == rule.RCPSN004 && f.Gap == rule.GapAt(f.PSN.Add(-1)) && f.Peer.QPNKnown {
			as := lackedAs{f.Accused.Addr, f.Peer.Addr, f.Tap, f.Gap}
			gaps[as] = append(gaps[as], k)
		}
	}
	if len(gaps) == 0 {
		return
	}
	gone := map[int]bool{}
	for k := range r.Findings {
		f := &r.Findings[k]
		if f.Rule != rule.ROCV2019 && f.Rule != rule.LNKCRC003 && f.Rule != rule.LNKCRC004 {
			continue
		}
		for _, n := range gaps[lackedAs{f.Accused.Addr, f.Peer.Addr, f.Tap, rule.GapAt(f.PSN)}] {
			g := &r.Findings[n]
			if wrong := bits.OnesCount32(f.Peer.QPN ^ g.Peer.QPN); f.Frame < g.Frame && g.Time-f.Time < soon && 0 < wrong && wrong <= mostFlips && !gone[n] {
				gone[n] = true
				break
			}
		}
	}
	r.RemoveAll(gone)
}
