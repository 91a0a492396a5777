package agent

import (
	"cmp"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Other adapters have a counter of identifications for each queue pair.

const (
	// oneCounter is after how many packets that follow one another by the counter of their host those of its queue pairs are followed no further.
	oneCounter = 4096
	// mostNumberedPairs is how many queue pairs are followed.
	mostNumberedPairs = 1024
)

// NumberedPair is what a host sent to a queue pair, of which the capture holds each identification from the first to the newest, though some came after later ones.
type NumberedPair struct {
	Host    packet.Addr
	DestQP  uint32
	Packets uint64
}

type pairOf struct {
	host packet.Addr
	qp   uint32
}

// numberedPairs follows what hosts send to queue pairs, at the first tap.
type numberedPairs struct {
	of     map[pairOf]*counting
	recent [64]struct {
		pairOf
		*counting
	}
}

// take takes a frame that a host sent.
func (n *numberedPairs) take(f *fabricagent.Frame, p *fabricagent.Identified) {
	k, at := pairOf{p.Src, p.DestQP}, &n.recent[p.DestQP%uint32(len(n.recent))]
	if at.counting == nil || at.pairOf != k {
		h := n.of[k]
		if h == nil {
			if len(n.of) == mostNumberedPairs {
				return
			}
			if n.of == nil {
				n.of = map[pairOf]*counting{}
			}
			h = &counting{Numbering: Numbering{Host: k.host}, unkept: true}
			n.of[k] = h
		}
		at.pairOf, at.counting = k, h
	}
	at.take(f, p.ID)
}

// arrived returns those of which the capture holds each number, by address and queue pair.
func (n *numberedPairs) arrived() (list []NumberedPair) {
	for k, h := range n.of {
		if h.arrived() && len(h.Restarts) == 0 {
			list = append(list, NumberedPair{k.host, k.qp, 1 + h.Steps + h.holes + h.Late})
		}
	}
	slices.SortFunc(list, func(a, b NumberedPair) int {
		return cmp.Or(a.Host.Compare(b.Host), cmp.Compare(a.DestQP, b.DestQP))
	})
	return list
}
