package incident

import (
	"fmt"

	"ibwitness/agent"
)

// inSilence has an interruption tell of a command that took long, where its server sent nothing on any connection for most of that time, and left
// the request that is interrupted without an answer: it, its host, or the path was stopped, and not its disks. It reports whether one does.
func (t *teller) inSilence(c *agent.Connection, o *agent.Operation) bool {
	client, server, edge := c.Ends[o.From].Addr, c.Ends[1-o.From].Addr, (o.Ended-o.Since)/tenth
	s := t.silentFor(server, o.Since+edge, o.Ended-edge)
	if s == nil {
		return false
	}
	var i *Incident
	for n := range t.stopped {
		k := t.stopped[n].Incident
		of := k.gone == goneFor && k.Local.Addr == client && k.Peer.Addr == server
		if of && 2*(min(k.End, s.To)-max(k.Begin, s.From)) >= s.Length() && (i == nil || k.Lost > i.Lost) {
			i = k
		}
	}
	if i == nil {
		return false
	}
	if !i.says("silent") {
		i.fact("silent", fmt.Sprintf("%v sent nothing on any connection for %s, from %s on; %s in frame %d waited for it, too, and was answered in frame %d",
			server, span(s.Length()), t.offset(s.From), o.Name, o.Frame, o.Answer))
		i.show(o.Frame, o.Answer)
	}
	return true
}
