package incident

import (
	"fmt"
	"slices"
)

// restartedBeside says of a host that restarted which others, whose programs ended and began again, disconnected meanwhile: they are told apart.
func (t *teller) restartedBeside(i *Incident) {
	list, _ := t.restarts()
	for n := range list {
		r := &list[n]
		gone := r.closed[len(r.closed)-1].Closed.At
		if r.host == i.Peer.Addr || r.accepted == nil || gone < i.Begin || gone > i.End {
			continue
		}
		said := fmt.Sprintf("%v sent DREQs at %s, and accepted connections again at %s", r.host, t.offset(gone), t.offset(r.accepted.First))
		i.Facts = slices.Insert(i.Facts, 0, Fact{"apart", said})
	}
}
