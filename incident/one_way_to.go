package incident

import (
	"ibwitness/agent"
	"ibwitness/packet"
)

// fewestUnseen is how many hosts ask a host that the capture holds nothing of, at least, for that to be what the capture lacks.
const fewestUnseen = 2

// neverCaptured reports whether the capture holds no packet of the peer of end from of a connection, though several hosts ask it and none of them retransmits anything: it answers, and the capture lacks
// what it sends, as a mirror of the ports of the others does.
func (t *teller) neverCaptured(c *agent.Connection, from int) bool {
	peer := c.Ends[1-from].Addr
	if t.hosts[peer].last != 0 {
		return false
	}
	var hosts []packet.Addr
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		for e := range d.Ends {
			x := &d.Ends[e]
			if d.Ends[1-e].Addr != peer || x.Messages == 0 || !d.Service.Reliable() {
				continue
			}
			if x.Trouble != nil {
				return false
			}
			hosts = append(hosts, x.Addr)
		}
	}
	return len(eachOnce(hosts)) >= fewestUnseen
}
