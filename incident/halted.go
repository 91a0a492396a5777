package incident

import (
	"ibwitness/packet"
	"ibwitness/timing"
)

const (
	// mostHalts is how often a host is told to have been cut off at most, where only its identifications show that: one that sends elsewhere lacks
	// numbers each time.
	mostHalts = 3
	// mostOf is which part of the numbers that it lacks, one in so many, may be missing at other times, and how long, likewise, its other silences
	// may be.
	mostOf = 4
)

// halts finds the silences of a host that its identifications show to be none of a host that was idle.
func (t *teller) halts(a packet.Addr) (list []cutOff) {
	unseen, restarts, shortest := uint64(0), false, int64(0)
	idle := int64(0) // the longest that is none
	for _, s := range t.silencesOf(a) {
		if !s.ended || s.waited > 0 { // one in which requests to it waited is told with these
			continue
		}
		k := cutOff{hostSilence: s}
		if !k.halts(t, a) {
			idle = max(idle, s.Length())
			continue
		}
		list, restarts, unseen = append(list, k), restarts || k.begun != "", unseen+k.unseen
		if shortest == 0 || s.Length() < shortest {
			shortest = s.Length()
		}
	}
	elsewhere := sub(t.numbersMissing(a), unseen)
	if !restarts && (len(list) > mostHalts || mostOf*idle > shortest || mostOf*elsewhere > unseen) {
		return nil
	}
	for n := range list {
		k := &list[n]
		k.certain = k.begun != "" || k.repeats > 0 || len(k.lost) > 0 || elsewhere == 0
	}
	return list
}

// numbersMissing is how many numbers the identifications of a host lack.
func (t *teller) numbersMissing(a packet.Addr) (sum uint64) {
	for n := range t.run.Numbered {
		if h := &t.run.Numbered[n]; h.Host == a {
			for k := range h.Holes {
				sum += uint64(h.Holes[k].Packets)
			}
		}
	}
	return sum
}

// halts reports whether the identifications of the host show that it was not idle.
func (k *cutOff) halts(t *teller, a packet.Addr) bool {
	within, of := timing.Silence{From: k.from, To: k.to}, &k.number
	long := k.Length() >= interruption && k.length() >= interruption && 2*k.length() >= of.To-of.From
	if of.From == 0 || !long || k.after <= k.before || t.mayAnswerPings(a, &within) {
		return false
	}
	if k.went = t.wentOnBeside(a, packet.Addr{}, &within); len(k.went) == 0 || !k.stop(t, a) {
		return false
	}
	if of.Packets == 0 {
		k.begun, _ = t.countsOn(a, &k.hostSilence)
		return k.begun != "" && len(k.lost) == len(k.stopped)
	}
	most := int64(0)
	for _, c := range k.stopped {
		most += k.length() / pauseBefore(c, &k.hostSilence)
	}
	k.unseen = uint64(of.Packets)
	return len(k.stopped) >= askedOn && k.unseen >= uint64(len(k.stopped)) && k.unseen <= uint64(most)
}
