package incident

import (
	"fmt"
	"strings"
)

// goneReasons says of a peer that sent nothing after a time that all of it is gone, and what fits; false: it does not show so.
func (t *teller) goneReasons(i *Incident, at int64) bool {
	if i.Kind != Unanswered && i.Kind != Ignored {
		return false
	}
	g := t.goneSince(i.Peer.Addr, at)
	if g == nil {
		return false
	}
	g.tell(t, i)
	g.reasons(i)
	return true
}

// tell says that the peer of an incident answers nothing any more.
func (g *goneWhole) tell(t *teller, i *Incident) {
	var said, kinds []string
	add := func(v *inVain, what, besides string) {
		if v.count == 0 {
			return
		}
		kinds = append(kinds, what)
		in := span(v.last.At - v.first.At)
		said = append(said, fmt.Sprintf("%s in %s, from frame %d to %d%s", count(v.count, what), in, v.first.Frame, v.last.Frame, besides))
		i.showAt(v.first)
	}
	add(&g.pings, "ping", fmt.Sprintf(" (it had answered %s, the last at %s)", count(g.answered, "ping"), t.offset(g.lastAnswer)))
	add(&g.asks, "ARP request", "")
	if g.reqs > 0 {
		kinds = append(kinds, "REQ")
		said = append(said, fmt.Sprintf("%s, from %s on", count(g.reqs, "REQ"), t.offset(g.firstREQ.First)))
	}
	i.whole = true
	vain := strings.Join(said, "; none of ")
	i.fact("gone", fmt.Sprintf("the capture holds no frame of %v since %s, and it answered none of %s", i.Peer.Addr, t.offset(g.since), vain))
	i.What = fmt.Sprintf("%s %v answers no %s any more: all of it is down, or cut off.", i.What, i.Peer.Addr, or(kinds))
	if i.Kind == Unanswered {
		t.stoppedInStages(i, g)
	}
}

// or joins kinds of what has no answer.
func or(kinds []string) string {
	if n := len(kinds) - 1; n > 0 {
		return strings.Join(kinds[:n], ", ") + " or " + kinds[n]
	}
	return kinds[0]
}

// reasons says what fits of that, and what to look at.
func (g *goneWhole) reasons(i *Incident) {
	peer, what := i.Peer.Addr.String(), "ARP"
	if g.pings.count > 0 {
		what = "pings"
	}
	i.FitsWith = append(i.FitsWith,
		"a host, "+peer+", that crashed, hangs or lost power: not only a process of it, as its kernel would still answer "+what,
		"an adapter, link or switch port of "+peer+" that failed, or a path to it")
	i.Next = append(i.Next, "whether "+peer+" runs: its console, power and uptime", linkOf(peer))
}
