package header

import (
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// Steady proves, at the end or while a connection goes on, that one packet of a QP was wrong where those before it and after it agree: no P_Key, migration state or
// Q_Key of a destination changes for a single packet, no GRH comes or goes, nor do its GIDs change, and no SL but where a router may set it; nor, where the tap
// is near its sender, a flow label or DSCP.
func (v *Verifier) Steady(c *qp.Pair) {
	for i := range c.Ends {
		end := &c.Ends[i]
		one := singleDifference(c, i)
		if one == (difference{}) || end.Packets() < 4 {
			continue
		}
		last := c.LastTime(i)
		for _, id := range rule.SteadyRules {
			if one.breaks(id) {
				v.proveSingle(c, i, id, last)
			}
		}
	}
}

// difference says in which headers just one packet of a QP differed from the others.
type difference struct {
	pkey  bool
	other bool // migration state, or Q_Key of a destination
	path  bool // flow label or DSCP
	grh   bool // GRH or its GIDs
	sl    bool
}

// singleDifference returns in which headers just one packet of end i of c differed.
func singleDifference(c *qp.Pair, i int) difference {
	end := &c.Ends[i]
	odd := end.Odd()
	return difference{
		pkey: end.Flow.Changes&15 == 1, other: end.Flow.Changes>>4 == 1, grh: odd.GRH == 1,
		// Responses of one kind may have another DSCP than the rest.
		path: odd.Path == 1 && (odd.OpcodeAgrees || odd.Opcode == 0 && end.Sums().Messages >= 4) && c.Sees(i),
		sl:   odd.SL == 1 && (!end.Flow.GRH && odd.GRH == 0 || c.Sees(i)), // else the ICRC leaves the SL out
	}
}

// breaks reports whether the packet that differed is what a rule is about.
func (d difference) breaks(id rule.ID) bool {
	switch id {
	case rule.PKY004, rule.UDPKY001:
		return d.pkey
	case rule.BTH013, rule.UCMIG001, rule.UDQKEY001:
		return d.other
	case rule.NETGRH013:
		return d.path
	case rule.NETGRH006, rule.NETGRH007:
		return d.grh
	case rule.LNKSL001:
		return d.sl
	}
	return false
}

// proveSingle proves the findings of a rule of Steady on end i of c before a time.
func (v *Verifier) proveSingle(c *qp.Pair, i int, id rule.ID, last int64) {
	end, peer := &c.Ends[i], &c.Ends[1-i]
	to := verifier.Endpoint(peer)
	to.QPNKnown = true // or 0: the QPN may have been learned since
	for _, k := range v.Rec.About(id, verifier.Endpoint(end), to, 0) {
		f := &v.Rec.Findings[k]
		own := (!f.Accused.QPNKnown || f.Accused.QPN == end.Number) && (!f.Peer.QPNKnown || f.Peer.QPN == peer.Number)
		if own && f.Class == rule.Unproven && f.Time < last && len(f.Evidence) == 0 { // else it is the table of the port that it disagrees with
			if id == rule.NETGRH013 || id == rule.LNKSL001 && end.Flow.GRH {
				f.Assumes |= rule.AssumesNear
			}
			v.Rec.Prove(k, "the packets before and after it agree")
		}
	}
}
