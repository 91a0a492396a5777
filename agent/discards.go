package agent

import (
	"cmp"
	"slices"

	"ibwitness/fabricagent"
)

// Discards are RoCEv2 packets of one host to another that a router or host discarded for one reason, as ICMP at one tap says: it need not say
// so of each.
type Discards struct {
	fabricagent.Discard
	Tap         uint16
	Count       uint64
	First, Last int64  // nanoseconds since the Unix epoch
	Frame       uint64 // of the first
}

// mostDiscards is of how many ways and reasons at most it is known.
const mostDiscards = 64

// discards are those of a run; of more than mostDiscards none is known, so that they do not depend on who counts them.
type discards struct {
	list []Discards
	many bool
}

// frame takes a frame that holds no RDMA packet.
func (d *discards) frame(f *fabricagent.Frame) {
	if x, ok := fabricagent.DiscardOf(f); ok {
		d.add(&Discards{x, f.Tap, 1, f.Time, f.Time, f.Number})
	}
}

func (d *discards) add(o *Discards) {
	for i := range d.list {
		if x := &d.list[i]; x.Discard == o.Discard && x.Tap == o.Tap {
			x.Count += o.Count
			x.First, x.Last, x.Frame = min(x.First, o.First), max(x.Last, o.Last), min(x.Frame, o.Frame)
			return
		}
	}
	if d.many = d.many || len(d.list) == mostDiscards; !d.many {
		d.list = append(d.list, *o)
	}
}

func (d *discards) addAll(o *discards) {
	for i := range o.list {
		d.add(&o.list[i])
	}
	d.many = d.many || o.many
}

// all returns them, most frequent first; nil: there are too many.
func (d *discards) all() []Discards {
	if d.many {
		return nil
	}
	slices.SortFunc(d.list, func(a, b Discards) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame))
	})
	return d.list
}
