package report

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// numbered is a queue pair.
type numbered struct {
	addr packet.Addr
	qpn  uint32
}

// lostAfter says that all suspicions which the verdict is about are of responders that may never have had the request: NAKs on the same connections have asked for what the tap shows, so that packets of these
// requesters were lost between it and them; empty: some are not.
func (t *text) lostAfter() string {
	after := map[[2]numbered]bool{} // the responder and the requester of connections
	for n := range t.res.Connections {
		c := &t.res.Connections[n]
		for k := range c.Ends {
			e, peer := &c.Ends[k], &c.Ends[1-k]
			if e.Trouble != nil && e.Trouble.Asked.After > 0 && !peer.Near && e.QPNKnown && peer.QPNKnown {
				after[[2]numbered{{peer.Addr, peer.QPN}, {e.Addr, e.QPN}}] = true
			}
		}
	}
	for n := range t.res.Findings {
		f := &t.res.Findings[n]
		if f.Class != rule.Unproven || f.Rule.Row().Severity != rule.Error {
			continue
		}
		if f.Rule != rule.RCRSP005 || !after[[2]numbered{{f.Accused.Addr, f.Accused.QPN}, {f.Peer.Addr, f.Peer.QPN}}] {
			return ""
		}
	}
	return "; NAKs show losses after the tap on these connections, which would explain that"
}
