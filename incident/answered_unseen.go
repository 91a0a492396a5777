package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// answeredUnseen reports whether command o, of whose answer the capture holds nothing, was most likely answered: its server sent PSNs after it that
// the capture lost, its client acknowledged all of them, and the server ended later commands. It was not repeated, and nobody left the connection.
func (t *teller) answeredUnseen(c *agent.Connection, o *agent.Operation) bool {
	if !o.Unsure || o.Later == 0 || o.Again.Times > 0 || o.Interim != 0 || c.Closed.At != 0 {
		return false
	}
	m := t.allAcked(c, 1-o.From)
	return m != nil && m.Newest.Time > o.Since && uint64(c.Upper.Open) <= uint64(m.PSNs)
}

// allAcked returns which requests of end from the capture does not hold, where all of them were acknowledged, as later ones were, and nothing was
// retransmitted; nil: there are none, or that is not known.
func (t *teller) allAcked(c *agent.Connection, from int) *qp.Missing {
	e := &c.Ends[from]
	x := e.Trouble
	if c.Service != packet.RC || x == nil || e.Open > 0 || e.Stalled || e.SequenceNAKs > 0 || x.Sum.Count > 0 && !t.mayBeCopies(c, x.Sum.Last) {
		return nil
	}
	m := &x.Missing
	if m.PSNs == 0 || m.Filled.PSNs > 0 || x.Overtaking.All().Packets > 0 {
		return nil
	}
	return m
}

// underLosses has what tells that the capture lost packets tell of commands that were most likely answered in these, instead of incidents of
// their own.
func underLosses(list []Incident) []Incident {
	at := -1
	for n := range list {
		if list[n].lacks && list[n].losesFrames {
			at = n
			break
		}
	}
	if at < 0 {
		return list
	}
	capture, first, more := &list[at], "", uint64(0)
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.amongLost == "" {
			continue
		}
		if merged[i] = true; first == "" {
			first = i.amongLost
		} else {
			more++
		}
	}
	if first == "" {
		return list
	}
	others := ""
	if more > 0 {
		others = fmt.Sprintf(", and likewise of commands of %s", count(more, "other connection"))
	}
	capture.fact("answers", fmt.Sprintf("none to %s%s: most likely among the PSNs of its server that the capture lost after it, "+
		"which were acknowledged; later commands ended", first, others))
	return without(list, merged)
}
