package attach

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
)

// Doubts are signs, in a run that has ended, that it was not attached as was meant, so that what it did not find says nothing: a tap that has seen no frame, frames of which
// none is of InfiniBand or RoCE, addresses claimed as near that no packet has.
func (r *Run) Doubts() (list []string) {
	if r.result == nil {
		return nil
	}
	for i := range r.taps {
		if t := &r.taps[i]; t.seen == 0 {
			list = append(list, fmt.Sprintf("no whole frame has come at %q: look at what its monitor is connected to, its reset and its last beat among it", t.Name))
		}
	}
	switch {
	case r.result.Packets == 0:
	case r.result.RDMA == 0:
		list = append(list, "none of the frames that have come is of InfiniBand or RoCE: look at the order of their bytes, and whether they begin with the link header")
	case len(r.near) > 0 && len(r.result.Connections) > 0 && !slices.ContainsFunc(r.result.Connections, r.talks):
		names := make([]string, len(r.near))
		for i := range r.near {
			names[i] = r.near[i].String()
		}
		list = append(list, fmt.Sprintf("no packet is to or from %s, which the taps are said to be near: look at the addresses of the device", strings.Join(names, " or ")))
	}
	return list
}

// talks reports whether an end of a connection is said to be near. That a connection says so itself does not do, as it has no near end where both are.
func (r *Run) talks(c agent.Connection) bool {
	return slices.Contains(r.near, c.Ends[0].Addr) || slices.Contains(r.near, c.Ends[1].Addr)
}
