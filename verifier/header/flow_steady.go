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
		odd := end.Flow.Odd
		// Responses of one kind may have another DSCP than the rest.
		path := end.OddPath == 1 && (end.OddShown || end.OddKind == 0 && end.Sums.Messages >= 4) && c.Sees(i)
		level := end.OddSL == 1 && (!end.Flow.GRH && end.OddGRH == 0 || c.Sees(i)) // else the ICRC leaves the SL out
		if odd&15 != 1 && odd>>4 != 1 && !path && !level && end.OddGRH != 1 || end.Sums.Packets < 4 {
			continue
		}
		last := max(end.SQ.LastTime, end.RQ.LastTime)
		for _, id := range rule.SteadyRules {
			is := false
			switch id {
			case rule.PKY004, rule.UDPKY001:
				is = odd&15 == 1
			case rule.BTH013, rule.UCMIG001, rule.UDQKEY001:
				is = odd>>4 == 1
			case rule.NETGRH013:
				is = path
			case rule.NETGRH006, rule.NETGRH007:
				is = end.OddGRH == 1
			case rule.LNKSL001:
				is = level
			}
			if is {
				v.oneOdd(c, i, id, last)
			}
		}
	}
}

// oneOdd proves the findings of a rule of Steady on end i of c before a time.
func (v *Verifier) oneOdd(c *qp.Pair, i int, id rule.ID, last int64) {
	end, peer := &c.Ends[i], &c.Ends[1-i]
	to := verifier.Endpoint(peer)
	to.QPNKnown = true // or 0: the QPN may have been learned since
	for _, k := range v.Rec.About(id, verifier.Endpoint(end), to, 0) {
		f := &v.Rec.Findings[k]
		own := (!f.Accused.QPNKnown || f.Accused.QPN == end.Number) && (!f.Peer.QPNKnown || f.Peer.QPN == peer.Number)
		if own && f.Class == rule.Unproven && f.Time < last && len(f.Evidence) == 0 { // else it is the table of the port that it disagrees with
			if id == rule.NETGRH013 || id == rule.LNKSL001 && end.Flow.GRH {
				f.Leans |= rule.LeanNear
			}
			v.Rec.Prove(k, "the packets before and after it agree")
		}
	}
}
