package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// ofEarlier tells of a refused access whose R_Key was accepted on an earlier connection between the same hosts, and not on this one, and reports whether it was: its requester keeps it from then.
func (t *teller) ofEarlier(i *Incident, c *agent.Connection, from int, k *qp.Refusal) bool {
	x := k.Beside.Earlier
	if x == nil || x.Newest >= c.FirstFrame || c.FirstTap != k.Tap {
		return false
	}
	d := t.earlierWith(c, from, x)
	if d == nil {
		return false
	}
	r := &k.Request
	host, peer := c.Ends[from].Addr, c.Ends[1-from].Addr
	i.What += fmt.Sprintf(" Its R_Key 0x%x is of an earlier connection of the same hosts, which was over by then.", r.RKey)
	i.fact("R_Key", fmt.Sprintf("0x%x was accepted for %v at 0x%x to 0x%x on the connection with QP 0x%x of %v, which began at %s, last in frame %d: it was valid then",
		r.RKey, qp.RightOf(r.Op), x.Low, x.High-1, x.QPN, peer, t.offset(d.First), x.Newest))
	i.show(x.Newest)
	over := fmt.Sprintf("memory of %v that was deregistered with the earlier connection, or at its end", peer)
	if f := t.goneBetween(peer, d, c); f != nil {
		how := "disconnected"
		if f.Rule == rule.EvReject {
			how = "refused connections (REJ)"
		}
		i.fact("between", fmt.Sprintf("%v %s at %s, in frame %d: a program that is started once more registers its memory once more, and has other R_Keys", peer, how, t.offset(f.Time), f.Frame))
		i.show(f.Frame)
		over = fmt.Sprintf("memory of a program on %v that ended since", peer)
	}
	i.FitsWith = []string{fmt.Sprintf("a program on %v that keeps the R_Key and address of the earlier connection: %s", host, over)}
	i.Next = []string{
		fmt.Sprintf("where the program on %v takes R_Key and address from after it has connected: whether it asks %v for them each time, and forgets them when a connection ends or a request is refused", host, peer),
		fmt.Sprintf("which R_Keys the program on %v gives out now", peer),
	}
	return true
}

// earlierWith is the connection between the hosts of c that a range was accepted on, which was over when c began; nil: none of them is.
func (t *teller) earlierWith(c *agent.Connection, from int, x *qp.EarlierRange) *agent.Connection {
	for _, d := range t.siblings(c) {
		if d == c || d.First >= c.First || d.FirstTap != c.FirstTap || d.FirstFrame > x.LowAt || max(d.Ends[0].Last, d.Ends[1].Last) >= c.First {
			continue
		}
		for e := range d.Ends {
			if d.Ends[e].Addr == c.Ends[1-from].Addr && d.Ends[e].QPN == x.QPN && d.Ends[1-e].Addr == c.Ends[from].Addr {
				return d
			}
		}
	}
	return nil
}

// goneBetween is the first disconnection or refusal of a host after the last packet of connection d and before c began; nil: there is none in the capture.
func (t *teller) goneBetween(host packet.Addr, d, c *agent.Connection) *rule.Finding {
	n := slices.IndexFunc(t.run.Findings, func(f rule.Finding) bool {
		return f.Class == rule.Event && (f.Rule == rule.EvDisconnect || f.Rule == rule.EvReject) && f.Accused.Addr == host && f.Time > d.First && f.Time <= c.First
	})
	if n < 0 {
		return nil
	}
	return &t.run.Findings[n]
}
