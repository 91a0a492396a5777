package report

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// granted says how many READs and atomics a REP granted an end at once, and in which frame, where the REQ had asked for more; "": it granted as many, or that is not known.
func (t *text) granted(e, peer *agent.End) string {
	if e.AskedDepth <= e.InitiatorDepth {
		return ""
	}
	return fmt.Sprintf("its REP%s granted %d, though the REQ asked for %d", t.acceptedIn(e, peer), e.InitiatorDepth, e.AskedDepth)
}

// raiseGranted says what to raise where the end that granted READs their depth allows fewer than were asked for.
func raiseGranted(by *agent.End) string {
	return fmt.Sprintf("To have more, raise the responder_resources that the program on %v accepts with (rdma_accept, max_dest_rd_atomic).", by.Addr)
}

// acceptedIn names the frame in which CM accepted a connection; "": it is not known.
func (t *text) acceptedIn(e, peer *agent.End) string {
	for i := len(t.res.Findings) - 1; i >= 0; i-- {
		f := &t.res.Findings[i]
		if f.Rule == rule.EvConnect && f.Accused.Addr == e.Addr && f.Accused.QPN == e.QPN && f.Peer.Addr == peer.Addr && f.Peer.QPN == peer.QPN && f.Frame != 0 {
			return fmt.Sprintf(" in frame %d", f.Frame)
		}
	}
	return ""
}

// agreedOnDepth says of an end that has as many READs or atomics outstanding as CM agreed on that this is so, who granted no more, and who was granted more by the same host; "": it may have more, or that is not known.
func (t *text) agreedOnDepth(p *pace) string {
	if depthAgreed(p.end) != p.depth {
		return ""
	}
	s := fmt.Sprintf(" It may have no more: CM agreed on %d with %v", p.depth, p.peer.Addr)
	raise := ""
	if g := t.granted(p.end, p.peer); g != "" {
		s += ": " + g
		raise = " " + raiseGranted(p.peer)
	} else if p.end.AskedDepth > 0 && p.depth == 1 {
		s += fmt.Sprintf(", and the REQ of %v asked for no more", p.end.Addr)
		if in := t.acceptedIn(p.end, p.peer); in != "" {
			s += " (REP" + in + ")"
		}
		if raise = " " + raiseAsked(p.end, p.peer); p.op == wqe.Read {
			raise += " Larger READs would be faster, too."
		}
	}
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			o, peer := &c.Ends[k], &c.Ends[1-k]
			if peer.Addr == p.peer.Addr && o.Addr != p.end.Addr && depthAgreed(o) > p.depth {
				return s + fmt.Sprintf("; it granted %d to %v %s%s.", o.InitiatorDepth, o.Addr, qp(o.QPN, o.QPNKnown), t.acceptedIn(o, peer)) + raise
			}
		}
	}
	return s + "." + raise
}
