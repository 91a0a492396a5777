package agent

import (
	"cmp"
	"slices"

	"ibwitness/packet"
)

// Of how many taps it is counted what they show, those with the lowest numbers, and for how many pairs of hosts and classes at most.
const (
	countedTaps   = 8
	mostTapCounts = 4096
)

// TapCount is how many packets of one host to another, with one DSCP, each tap of a capture of several shows on their way.
type TapCount struct {
	Src, Dst packet.Addr
	DSCP     uint8
	Packets  [countedTaps]uint64
	First    [countedTaps]uint64 // of them, those that no other tap had shown before
	Asked    [countedTaps]uint64 // PSN sequence NAKs for what this tap showed last
}

// tapCounts is that of a capture, by whose packets it is of.
type tapCounts map[countedWay]*TapCount

type countedWay struct {
	src, dst packet.Addr
	dscp     uint8
}

// packet counts a packet; copied says that another tap has shown it before.
func (m tapCounts) packet(p *packet.Packet, copied bool) {
	if p.Tap >= countedTaps || p.Has&packet.HasBTH == 0 || p.Dst.IsMulticast() {
		return
	}
	c := m.of(p.Src, p.Dst, p.TClass>>2)
	if c == nil {
		return
	}
	if c.Packets[p.Tap]++; !copied {
		c.First[p.Tap]++
	}
}

// of returns what is counted of packets from one host to another with a DSCP; nil: that of too many is.
func (m tapCounts) of(src, dst packet.Addr, dscp uint8) *TapCount {
	w := countedWay{src, dst, dscp}
	c := m[w]
	if c == nil && len(m) <= mostTapCounts {
		c = &TapCount{Src: src, Dst: dst, DSCP: dscp}
		m[w] = c
	}
	return c
}

// tapCountsOf puts together what agents have counted: nothing where that is more than one of them would keep, so that it does not depend on their number.
func tapCountsOf(agents []*Transport) (list []TapCount) {
	all, rings := tapCounts{}, 0
	for _, t := range agents {
		rings += len(t.lastShown)
		for w, c := range t.tapCounts {
			sum := all[w]
			if sum == nil {
				sum = &TapCount{Src: w.src, Dst: w.dst, DSCP: w.dscp}
				all[w] = sum
			}
			for k := range c.Packets {
				sum.Packets[k] += c.Packets[k]
				sum.First[k] += c.First[k]
				sum.Asked[k] += c.Asked[k]
			}
		}
	}
	if len(all) > mostTapCounts || rings > mostShown {
		return nil
	}
	for _, c := range all {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b TapCount) int {
		return cmp.Or(a.Src.Compare(b.Src), a.Dst.Compare(b.Dst), cmp.Compare(a.DSCP, b.DSCP))
	})
	return list
}
