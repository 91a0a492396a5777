package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
)

// silentBefore says of a peer that answered no more when it had been silent before while requests to it waited, after which its queue pairs went on,
// where the capture holds connections of no other host that went on, or not.
func (t *teller) silentBefore(i *Incident) {
	peer := i.Peer.Addr
	others := slices.ContainsFunc(t.run.Connections, func(c agent.Connection) bool { return endOf(&c, peer) == nil || endOf(&c, i.Local.Addr) == nil })
	if i.Kind != Unanswered || i.outlasted || others {
		return
	}
	var said, back []string
	var frames []uint64
	for _, h := range t.owed(peer) {
		now := i.beganIn(&h, i.own)
		if h.brief || !now && !h.survived {
			continue
		}
		said, frames = append(said, t.timeOf(&h)), append(frames, h.before, h.after)
		if h.by != "" {
			back = append(back, t.back(&h))
		}
		if !now {
			continue
		}
		if len(said) < 2 {
			return
		}
		if len(t.run.Taps) == 1 {
			i.show(frames...)
		}
		i.What = fmt.Sprintf("%s the capture holds nothing of %v while requests to it waited: %s. The %s time: %s",
			capitalized(times(uint64(len(said)))), peer, enumerate(said), ordinal(len(said)), i.What)
		i.fact("before", fmt.Sprintf("queue pairs of %v went on after it was silent: it had not restarted then", peer))
		if len(back) > 0 {
			i.fact("back", "it was there again with "+enumerateSeparately(back))
		}
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a link of %v, of %v or between them that fails and comes back, or %v itself that stops, "+
			"again and again", peer, i.Local.Addr, peer))
		i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("link events of %v, %v and the switch ports between them at these times", peer, i.Local.Addr))
		return
	}
}
