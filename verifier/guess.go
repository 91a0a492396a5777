package verifier

import (
	"strings"

	"ibwitness/qp"
	"ibwitness/rule"
)

// fitting is from how many packets on, which fit, two directions that were paired by a guess belong together: two connections do not go on at the same pace for
// long.
const fitting = 1000

// guessed reports whether the two directions of a connection, of which something is about to be said, may belong to two connections.
func guessed(c *qp.Pair, id rule.ID) bool {
	switch {
	case c.Guessed == qp.NotGuessed || ofRequests[id]:
		return false
	case c.Guessed < qp.Contradicted && c.Ends[0].Packets()+c.Ends[1].Packets() > fitting,
		c.Guessed == qp.Guessed && (began(c.RQ(0)) || began(c.RQ(1))):
		c.SetGuess(qp.NotGuessed)
		return false
	}
	c.SetGuess(qp.Contradicted)
	return true
}

// began reports whether a responder's MSNs count just the messages that the capture shows of its peer: of another one they would not.
func began(r *qp.ReceiveQueue) bool { return r.MSN.Degree == qp.MSNKnown && r.MSN.Base == 0 }

// ofRequests are the rules that are judged by the requests of one end and nothing else.
var ofRequests = func() (list [rule.NumRules]bool) {
	for id := range list {
		s := rule.ID(id).String()
		list[id] = rule.ID(id) == rule.RCPSN004 || strings.HasPrefix(s, "RC-SEQ-") || strings.HasPrefix(s, "RC-OPC-") || strings.HasPrefix(s, "RC-LEN-")
	}
	return list
}()
