package agent

import (
	"slices"

	"ibwitness/fabricagent"
)

// OtherFrames are the frames of a kind that hold no RDMA packet.
type OtherFrames struct {
	Kind  fabricagent.Other
	Count uint64
	Tap   uint16 // of the first
	Frame uint64
	From  []uint64 // Ethernet addresses that sent them, ascending; nil: not known, or more than a few
}

// mostSenders is how many Ethernet addresses are named of a kind.
const mostSenders = 4

// otherFrames counts frames without RDMA by their kind.
type otherFrames [fabricagent.NumOthers]struct {
	count, frame uint64
	tap          uint16
	from         [mostSenders]uint64
	many         bool
}

// frame takes a frame that holds no RDMA packet.
func (o *otherFrames) frame(f *fabricagent.Frame) {
	kind, from := fabricagent.OtherOf(f)
	o.sees(kind, 1, f.Tap, f.Number)
	o.sender(kind, from)
}

// sees counts frames, the first of which is known.
func (o *otherFrames) sees(kind fabricagent.Other, count uint64, tap uint16, frame uint64) {
	k := &o[kind]
	if k.count == 0 || tap < k.tap || tap == k.tap && frame < k.frame {
		k.tap, k.frame = tap, frame
	}
	k.count += count
}

// sender notes an address that sent some.
func (o *otherFrames) sender(kind fabricagent.Other, from uint64) {
	k := &o[kind]
	for i := range k.from {
		if k.from[i] == from {
			return
		}
		if k.from[i] == 0 {
			k.from[i] = from
			return
		}
	}
	k.many = true
}

func (o *otherFrames) addAll(x *otherFrames) {
	for i := range x {
		k := &x[i]
		if k.count == 0 {
			continue
		}
		o.sees(fabricagent.Other(i), k.count, k.tap, k.frame)
		for _, from := range k.from {
			if from != 0 {
				o.sender(fabricagent.Other(i), from)
			}
		}
		o[i].many = o[i].many || k.many
	}
}

// list returns those of which there are any, by kind.
func (o *otherFrames) list() (list []OtherFrames) {
	for i := range o {
		k := &o[i]
		if k.count == 0 {
			continue
		}
		x := OtherFrames{Kind: fabricagent.Other(i), Count: k.count, Tap: k.tap, Frame: k.frame}
		if !k.many {
			x.From = slices.DeleteFunc(slices.Clone(k.from[:]), func(a uint64) bool { return a == 0 })
			slices.Sort(x.From)
		}
		list = append(list, x)
	}
	return list
}
