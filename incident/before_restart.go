package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
)

// beforeRestart says which connections of before the restart of the peer of an incident are used after it, in vain, and has the
// incident tell of those of a list which are about these: the host was up then.
func (t *teller) beforeRestart(i *Incident, d *hostSilence, list []Incident, merged map[*Incident]bool) {
	peer := i.Peer.Addr
	again, _ := t.countsOn(peer, d)
	old := t.usedAfter(peer, d)
	if again == "" || len(old) == 0 {
		return
	}
	names := t.namesOf(peer, old)
	if len(old) == 1 {
		far, _ := farEnd(old[0], peer)
		s := &endOf(old[0], far).Trouble.Now
		i.fact("in use", fmt.Sprintf("%s still uses its connection of before the restart, which is gone: nothing answers there what is asked in "+
			"frame %d, at %s", names, s.Request.Frame, t.offset(s.Since)))
	} else {
		i.fact("in use", fmt.Sprintf("%d connections of before the restart, which are gone, are still used, and nothing answers there: of %s",
			len(old), names))
	}
	for n := range list {
		if o := &list[n]; o != i && !merged[o] && o.Kind == Unanswered && o.Peer.Addr == peer && o.Begin >= d.to && o.ofThese(old) {
			merged[o] = true
			i.joinDown(o)
		}
	}
}

// usedAfter returns the connections of a host that had begun before it was down, on which it sent nothing after that and a request of after that is
// retransmitted and has no answer.
func (t *teller) usedAfter(a packet.Addr, d *hostSilence) (list []*agent.Connection) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		far, with := farEnd(c, a)
		e, peer := endOf(c, a), endOf(c, far)
		if !with || e == nil || !c.Service.Reliable() || c.First >= d.from || e.Packets == 0 || e.Last > d.owed || !peer.Stalled || peer.Trouble == nil {
			continue
		}
		if s := &peer.Trouble.Now; s.Since >= d.to && s.Total() > 0 {
			list = append(list, c)
		}
	}
	return list
}

// ofThese reports whether an incident is about connections of a list, and no others.
func (i *Incident) ofThese(list []*agent.Connection) bool {
	n, named := 0, false
	for _, c := range list {
		if e := endOf(c, i.Local.Addr); e != nil {
			n, named = n+1, named || party(e) == i.Local
		}
	}
	return named && i.Connections <= n
}
