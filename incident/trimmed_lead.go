package incident

import (
	"slices"

	"ibwitness/packet"
)

// underTrimmed has incidents of trimmed packets tell of the stalls and losses that these led to, before others take the stalls for a host that had stopped.
func underTrimmed(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != Trimmed || i.Lost == 0 {
			continue
		}
		var stalls []*Incident
		for m := range list {
			o := &list[m]
			if merged[o] || !i.trimmedFor(o) {
				continue
			}
			switch {
			case i.stalledByTrims(o):
				stalls = append(stalls, o)
			case !o.trimsOnly || o.again.rounds > i.damaged: // others were lost
				continue
			}
			lost, on := i.Lost, i.Connections
			i.includes(o)
			merged[o], i.Lost, i.Connections = true, lost, on
		}
		i.stalls(stalls)
	}
	return without(list, merged)
}

// trimmedFor reports whether an incident is between the receiver of trimmed packets and a host whose packets were, at the same time.
func (i *Incident) trimmedFor(o *Incident) bool {
	to, far := i.Peer.Addr, packet.Addr{}
	switch {
	case o.Peer.Addr == to:
		far = o.Local.Addr
	case o.Local.Addr == to:
		far = o.Peer.Addr
	default:
		return false
	}
	return (far == i.Local.Addr || slices.Contains(i.Also, far)) && len(o.Also) == 0 && o.storm == 0 && o.within == 0 && i.overlaps(o)
}

// usualTimer is after what time at most a requester retransmits by timer what came trimmed, nanoseconds, as adapters are set up as a rule.
const usualTimer = 2 * interruption

// stalledByTrims reports whether an incident is an interruption in which packets were trimmed again and again: at its beginning, and whenever a timer brought them once more.
func (i *Incident) stalledByTrims(o *Incident) bool {
	return o.Kind == Interrupted && len(o.each) > 0 && !slices.ContainsFunc(o.each, func(s [2]int64) bool { return !i.bursts.coverWaits(s, usualTimer) })
}

// coverWaits reports whether there were bursts from the beginning of a time to its end, none longer apart than that.
func (b bursts) coverWaits(s [2]int64, apart int64) bool {
	at, found := s[0], false
	for _, x := range b {
		if x[1] < s[0]-burstGap || x[0] > s[1] {
			continue
		}
		if x[0]-at > apart {
			return false
		}
		at, found = max(at, x[1]), true
	}
	return found && s[1]-at <= apart
}
