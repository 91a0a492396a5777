package agent

import (
	"slices"

	"ibwitness/rule"
)

// withdrawUncaptured takes back the suspicions that a packet was not sent, or not in order, which the numbers of its host show to be one that the capture does not hold or that came late, and notes which holes
// are of such as it does not hold.
func withdrawUncaptured(agents []*Transport, hosts []Numbering) {
	if len(hosts) == 0 {
		return
	}
	for _, t := range agents {
		gone := map[int]bool{}
		for i := range t.Rec.Findings {
			if holdsNot(hosts, &t.Rec.Findings[i]) {
				gone[i] = true
			}
		}
		t.Rec.RemoveAll(gone)
	}
}

// holdsNot reports whether a finding says that a host left out what it has sent, as a hole in its numbers shows.
func holdsNot(hosts []Numbering, f *rule.Finding) bool {
	if f.Class != rule.Unproven {
		return false
	}
	h := NumberingOf(hosts, f.Accused.Addr, f.Tap)
	if h == nil {
		return false
	}
	after, missing := missingSince(f)
	return missing && h.lacks(f, after) || h.overtaken(f)
}

// Holds reports whether the capture holds all that the host sent between two frames.
func (h *Numbering) Holds(from, to uint64) bool {
	if from == 0 || from >= to || len(h.Holes) == mostHoles && to > h.Holes[mostHoles-1].After {
		return false
	}
	return !slices.ContainsFunc(h.Holes, func(k Hole) bool { return k.Before < to && k.After > from })
}

// overtaken reports whether a finding judges the order of requests by a packet that came late, or by one that came before such.
func (h *Numbering) overtaken(f *rule.Finding) bool {
	switch f.Rule {
	case rule.RCPSN004:
		return h.cameLate(f.Before)
	case rule.RCRTY005, rule.RCRTY006:
		return h.cameLate(f.Frame) || h.Late > 0 && slices.ContainsFunc(h.Holes, func(k Hole) bool { return k.After == f.Frame })
	}
	return false
}

// cameLate reports whether a frame came after one with a later number.
func (h *Numbering) cameLate(frame uint64) bool {
	_, is := slices.BinarySearch(h.LateFrames, frame)
	return is
}

// missingSince returns the frame after which the packet that a suspicion says was left out would have come; false: the finding is none.
func missingSince(f *rule.Finding) (frame uint64, ok bool) {
	switch {
	case f.Rule == rule.RCPSN004:
		return f.Before, f.Before != 0
	case f.Rule == rule.RCRSP007 && len(f.Evidence) > 0:
		return f.Evidence[0], f.Evidence[0] < f.Frame // of the request
	}
	return 0, false
}

// lacks reports whether packets of the host are missing between a frame and that of a finding, and notes that its stream lacks them.
func (h *Numbering) lacks(f *rule.Finding, after uint64) (is bool) {
	least, sum := 1, 0
	if f.Rule == rule.RCPSN004 && !h.Reads {
		least = f.PSN.Diff(f.Gap.PSN())
	}
	from, _ := slices.BinarySearchFunc(h.Holes, after, func(k Hole, at uint64) int {
		if k.After <= at {
			return -1
		}
		return 1
	})
	to := from
	for ; to < len(h.Holes) && h.Holes[to].After <= f.Frame; to++ {
		sum += int(h.Holes[to].Packets)
	}
	if sum < least {
		return false
	}
	for i := from; i < to && h.Late == 0; i++ {
		h.Holes[i].Lacks = true
	}
	return true
}
