package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/rule"
)

// besidesRefusal says what clears the network and the client of a refusal, as no program listens: connections of the same hosts that carry traffic and retransmit nothing, and another host that accepted
// the same client for the same service.
func (t *teller) besidesRefusal(i *Incident, service string) {
	n, packets := uint64(0), uint64(0)
	var elsewhere *rule.Finding
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		if far, ok := farEnd(c, i.Local.Addr); !ok || far != i.Peer.Addr || !c.Service.Reliable() {
			continue
		}
		if lost(&c.Ends[0])+lost(&c.Ends[1]) > 0 || c.Ends[0].Stalled || c.Ends[1].Stalled {
			n = 0
			break
		}
		if carries(c) {
			n, packets = n+1, packets+c.Ends[0].Packets+c.Ends[1].Packets
		}
	}
	if n > 0 {
		i.fact("network", fmt.Sprintf("%s between the same hosts, with %s in all, retransmitted nothing: it is not the network", count(n, "connection"), count(packets, "packet")))
	}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule == rule.EvConnect && f.Class == rule.Event && f.Detail == service && f.Accused.Addr == i.Local.Addr && f.Peer.Addr != i.Peer.Addr {
			elsewhere = f
			break
		}
	}
	if elsewhere != nil {
		protocol := t.protocolOn(elsewhere)
		i.fact("elsewhere", fmt.Sprintf("%v accepted %v for the same service, in frame %d%s: the client asks rightly", elsewhere.Peer.Addr, i.Local.Addr, elsewhere.Frame, protocol))
		if elsewhere.Tap == i.Tap {
			i.show(elsewhere.Frame)
		}
	}
}

// carries reports whether both ends of a connection have sent something.
func carries(c *agent.Connection) bool { return c.Ends[0].Packets > 0 && c.Ends[1].Packets > 0 }

// protocolOn says which protocol was spoken on a connection that was accepted; "": it is not known.
func (t *teller) protocolOn(f *rule.Finding) string {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		if c.Upper == nil || c.Upper.Protocol == "" {
			continue
		}
		for e := range c.Ends {
			if x, y := &c.Ends[e], &c.Ends[1-e]; x.Addr == f.Accused.Addr && y.Addr == f.Peer.Addr && x.QPN == f.Accused.QPN && y.QPN == f.Peer.QPN {
				return ", and it carries " + c.Upper.Protocol
			}
		}
	}
	return ""
}
