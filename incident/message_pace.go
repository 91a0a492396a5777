package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// pace is how long messages of one size took to be sent, from their first packet to their last, around CNPs: how fast their sender is, however long it pauses between them.
type pace struct {
	n         uint64 // queue pairs of which it is known
	bytes     uint32 // of each message; 0: they are not all as long
	usual     int64  // median until the first CNP, of the queue pair on which that is longest, nanoseconds
	longest   int64  // since
	slowed    uint64 // queue pairs on which messages took clearly longer
	recovered uint64 // on which one took as long as before after that
}

const (
	longMessage  = 16  // packets of a message whose time tells how fast it is sent
	fewestBefore = 4   // messages that tell how long they take
	asLong       = 1.1 // times that is no longer
	clearlySlow  = 1.3 // times that is
)

// add takes a queue pair, end from of a connection, that CNPs x came to.
func (p *pace) add(c *agent.Connection, from int, x *qp.Notified) {
	bytes, known := sizeOfAll(c, from)
	if !known {
		return
	}
	var before []int64
	slowed, recovered := false, false
	usual, longest := int64(0), int64(0)
	for _, m := range c.Timing.Ends[from].Sent {
		took := m.End - m.Begin
		if m.End <= x.First {
			before = append(before, took)
			continue
		}
		if usual == 0 {
			if len(before) < fewestBefore {
				return
			}
			slices.Sort(before)
			usual = before[len(before)/2]
		}
		longest = max(longest, took)
		switch {
		case float64(took) >= clearlySlow*float64(usual):
			slowed = true
		case slowed && float64(took) <= asLong*float64(usual):
			recovered = true
		}
	}
	if longest == 0 {
		return
	}
	p.merge(&pace{1, bytes, usual, longest, one(slowed), one(recovered)})
}

func one(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// merge adds other queue pairs.
func (p *pace) merge(o *pace) {
	switch {
	case o.n == 0:
	case p.n == 0:
		*p = *o
	default:
		if p.bytes != o.bytes {
			p.bytes = 0
		}
		p.n, p.usual, p.longest = p.n+o.n, max(p.usual, o.usual), max(p.longest, o.longest)
		p.slowed, p.recovered = p.slowed+o.slowed, p.recovered+o.recovered
	}
}

// told says how long messages took, of so many queue pairs; "": it is not known of each, or they are not all as long.
func (p *pace) told(pairs uint64) string {
	if p.n < pairs || p.bytes == 0 {
		return ""
	}
	s := fmt.Sprintf("a message of %s took %s to be sent until the first CNP, on %s", count(uint64(p.bytes), "byte"), span(p.usual), count(p.n, "queue pair"))
	switch {
	case float64(p.longest) <= asLong*float64(p.usual):
		return s + ", and no longer after it"
	case p.recovered < p.n:
		return s + fmt.Sprintf(", and up to %s after it", span(p.longest))
	}
	return s + fmt.Sprintf(", up to %s after it, and as long as before again then", span(p.longest))
}

// reacted reports whether all of so many queue pairs sent slower for a time once CNPs had come, and as fast as before after that.
func (p *pace) reacted(pairs uint64) bool {
	return p.n == pairs && p.bytes > 0 && p.slowed == p.n && p.recovered == p.n
}

// sizeOfAll is how long each message of an end of a connection is, of many packets, all of which are known; false: they differ, or some were retransmitted, or READs or responses go between them.
func sizeOfAll(c *agent.Connection, from int) (bytes uint32, known bool) {
	if c.Timing == nil {
		return 0, false
	}
	e, m := &c.Ends[from], &c.Timing.Ends[from]
	if n := uint64(len(m.Sent)); n == 0 || n >= timing.MostSent || n+1 < e.Messages || e.Retransmissions > 0 || m.Reads+c.Timing.Ends[1-from].Reads > 0 {
		return 0, false
	}
	for op, o := range m.Ops {
		if o == nil {
			continue
		}
		if bytes != 0 || wqe.Op(op).Responded() || o.Sizes.Least != o.Sizes.Most {
			return 0, false
		}
		bytes = o.Sizes.Most
	}
	return bytes, bytes/cmp.Or(c.PMTU, largestMTU) >= longMessage
}
