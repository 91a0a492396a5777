package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// attempts are what hosts tried with CM in vain: REJs by who refused, and REQs that nothing answered by who asked.
type attempts struct {
	refused map[packet.Addr][]*rule.Finding
	asked   map[packet.Addr][]*cm.Unanswered
}

// inVain returns them.
func (t *teller) inVain() *attempts {
	if t.attempts != nil {
		return t.attempts
	}
	t.attempts = &attempts{map[packet.Addr][]*rule.Finding{}, map[packet.Addr][]*cm.Unanswered{}}
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvReject && f.Class == rule.Event {
			t.attempts.refused[f.Accused.Addr] = append(t.attempts.refused[f.Accused.Addr], f)
		}
	}
	for k := range t.run.REQs {
		if q := &t.run.REQs[k]; q.Waits == cm.ForREP {
			t.attempts.asked[q.From] = append(t.attempts.asked[q.From], q)
		}
	}
	return t.attempts
}

// askedAgain says that the requester of stall k asked the peer in vain for connections after it, until the next one that it got; nil: it got none.
func (t *teller) askedAgain(i *Incident, k *qp.Stall, next *agent.Connection) {
	until, n := t.run.Last, uint64(0)
	if next != nil {
		until = next.First
	}
	var first *rule.Finding
	alike := true
	for _, f := range t.inVain().refused[i.Peer.Addr] {
		if f.Peer.Addr == i.Local.Addr && f.Time > k.Last && f.Time <= until {
			if n++; first == nil {
				first = f
			}
			alike = alike && f.Detail == first.Detail
		}
	}
	if first != nil {
		why := ""
		if r, known := cm.ParseRefusal(first.Detail); known && alike {
			why = fmt.Sprintf("%v (reason %d), ", r.Reason, uint16(r.Reason))
		}
		i.fact("then", fmt.Sprintf("%v refused %s of %v, first%s in frame %d: %ssee there", i.Peer.Addr, count(n, "REQ"), i.Local.Addr, t.within(" %s later,", first.Time-k.Last), first.Frame, why))
	}
	for _, q := range t.inVain().asked[i.Local.Addr] {
		if q.To == i.Peer.Addr && q.First > k.Last && q.First <= until {
			i.fact("then", fmt.Sprintf("%v asked %v for a connection (REQ)%s, the last time in frame %d, and nothing answered: see there", q.From, q.To, t.within(" %s later", q.First-k.Last), q.Frame))
			return
		}
	}
}
