package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// goneAlone says what fits, and what to look at, where a host that is alive answers nothing on the queue pair of stall k of end from of c. Where
// several stopped at once as only larger packets had, had small ones not refuted it, or a FIN shows that their program ended, their process comes first.
func (t *teller) goneAlone(i *Incident, c *agent.Connection, from int, k *qp.Stall, l *life) {
	if t.vanishOnSeveral(i, c, from, k) {
		return // neither one queue pair nor one path is why
	}
	peer := i.Peer.Addr.String()
	process := []string{"a queue pair of " + peer + " that was destroyed or is in the error state: its process was killed or gave up", "a responder that hangs"}
	owner := []string{"the process that owns " + i.Peer.String() + ": its log and exit status", "rdma resource show qp, and dmesg, on " + peer}
	dead := t.deadWith(c, from, k)
	on := t.besideStall(c, from, k)
	switch path, flow := t.pathsOfDead(c, from, k); {
	case l.ended(&c.Ends[1-from]):
		fits := []string{programEnded(peer, len(dead)), path, process[1]}
		if len(dead) == 0 && !pathApart(c, &c.Ends[from], &on) {
			fits = slices.Delete(fits, 1, 2)
		}
		if _, first := t.closesToAll(l.fin); first {
			fits = fits[:1] // no path that fails has a kernel close them all, and no program that hangs
		}
		i.FitsWith, i.Next = append(fits, i.FitsWith...), append(owner, i.Next...)
	case !pathApart(c, &c.Ends[from], &on):
		i.FitsWith = append(append(i.FitsWith, process...), "one path of several that fails, which this queue pair takes (by its UDP source port)")
		i.Next = append(i.Next, owner...)
	case len(dead) > 0 && i.notSized:
		process[0] = "queue pairs of " + peer + " that were destroyed or are in the error state: their process ended, was killed or gave up"
		i.FitsWith = append(append(i.FitsWith, process[0], path), process[1])
		i.Next = append(append(i.Next, owner...), flow)
	default:
		i.FitsWith = append(append([]string{path}, i.FitsWith...), process...)
		i.Next = append(append(i.Next, flow), owner...)
	}
}

// programEnded is what fits of a program of a host that ended as its kernel closed a TCP connection. dead is how many more queue pairs are gone with it.
func programEnded(host string, dead int) string {
	gone := "its queue pair is gone"
	if dead > 0 {
		gone = "its queue pairs are gone"
	}
	return "a program on " + host + " that ended: it exited, crashed or was killed; its kernel closed its TCP connection, and " + gone
}
