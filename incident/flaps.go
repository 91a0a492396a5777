package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// restarts is what fits where a host that answers nothing connects once more.
const restarts = "a host that restarted, or was cut off: it is back with its next connection"

// wentDown is what fits where a host that had answered others too answers nothing any more.
func wentDown(host packet.Addr) string {
	return fmt.Sprintf("a host, adapter or link of %v that went down", host)
}

// flaps says that the peer that left the request of stall k without an answer was silent to all before too, while others went on, and that its queue pairs had gone on after that, which no restarted host has.
func (t *teller) flaps(i *Incident, k *qp.Stall) {
	peer := i.Peer.Addr
	single := func(f string) bool { return f == restarts || f == wentDown(peer) }
	if !slices.ContainsFunc(i.FitsWith, single) {
		return
	}
	s := t.silentFor(peer, k.Begun, k.Last)
	if s == nil {
		return
	}
	went := t.wentOnBeside(peer, i.Local.Addr, s)
	if len(went) == 0 {
		return
	}
	var list []string
	newest := &timing.Silence{}
	for n := range t.activityOf(peer).Silences {
		o := &t.activityOf(peer).Silences[n]
		if o.From-newest.To < min(newest.Length(), int64(time.Second)) { // what waited for timers may go on only then
			continue
		}
		if o.To > s.From || o.Length() < interruption || !slices.Equal(t.wentOnBeside(peer, i.Local.Addr, o), went) || !t.shown(nil, peer, o) {
			continue
		}
		newest, list = o, append(list, t.silentThen(o))
		if len(t.run.Taps) == 1 {
			i.show(o.Frames[:]...)
		}
	}
	if len(list) == 0 || len(list) > silencesTold { // else they are usual
		return
	}
	list = append(list, fmt.Sprintf("from %s on until these retries were used up", t.offset(s.From)))
	i.What = fmt.Sprintf("%s; that was silent %s, while %s went on: %s.", strings.TrimSuffix(i.What, "."), times(uint64(len(list))), someOf(went), enumerate(list))
	i.fact("before", fmt.Sprintf("the queue pairs of %v went on after it was silent before: it had not restarted then", peer))
	i.FitsWith = slices.DeleteFunc(i.FitsWith, single)
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a link of %v or on the way to it, or its switch port, that fails and comes back again and again", peer))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("link events of %v and of the switch ports on the way to it at these times", peer))
}

// silentThen says for how long and from when on a host was silent.
func (t *teller) silentThen(s *timing.Silence) string {
	return fmt.Sprintf("%s from %s on", span(s.Length()), t.offset(s.From))
}
