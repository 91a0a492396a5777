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
	w := countedWay{p.Src, p.Dst, p.TClass >> 2}
	c := m[w]
	if c == nil {
		if len(m) >= mostTapCounts {
			return
		}
		c = &TapCount{Src: p.Src, Dst: p.Dst, DSCP: w.dscp}
		m[w] = c
	}
	if c.Packets[p.Tap]++; !copied {
		c.First[p.Tap]++
	}
}

// tapCountsOf puts together what agents have counted.
func tapCountsOf(agents []*Transport) (list []TapCount) {
	all := tapCounts{}
	for _, t := range agents {
		for w, c := range t.tapCounts {
			sum := all[w]
			if sum == nil {
				sum = &TapCount{Src: w.src, Dst: w.dst, DSCP: w.dscp}
				all[w] = sum
			}
			for k := range c.Packets {
				sum.Packets[k] += c.Packets[k]
				sum.First[k] += c.First[k]
			}
		}
	}
	for _, c := range all {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b TapCount) int {
		return cmp.Or(a.Src.Compare(b.Src), a.Dst.Compare(b.Dst), cmp.Compare(a.DSCP, b.DSCP))
	})
	return list
}
