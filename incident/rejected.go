package incident

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// rejected tells of connections that the communication manager refused.
func (t *teller) rejected() {
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvReject && f.Class == rule.Event {
			t.tell(rejection(f), f.Detail)
		}
	}
}

// rejection is what the event of a REJ tells.
func rejection(f *rule.Finding) *Incident {
	i := &Incident{
		Kind: Rejected, Certainty: Proven, Local: Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}, Peer: Party{f.Peer.Addr, f.Peer.QPN, f.Peer.QPNKnown}, Connections: 1,
		Begin: f.Time, End: f.Time, Tap: f.Tap,
	}
	i.show(f.Frame)
	r, _ := cm.ParseRefusal(f.Detail)
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	by, to := peer, local // who refused whom
	if i.What = fmt.Sprintf("The connection that %s asked %s for was refused: %v (reason %d).", local, peer, r.Reason, uint16(r.Reason)); r.ByAsker {
		by, to = local, peer
		i.What = fmt.Sprintf("%s asked %s for a connection, and then refused the answer: %v (reason %d).", local, peer, r.Reason, uint16(r.Reason))
	}
	i.fact("service", r.Service)
	advice := adviceOn(r.Reason)
	names := strings.NewReplacer("{by}", by, "{to}", to, "{service}", cmp.Or(r.Service, "the port or service ID that was asked for"))
	for _, s := range advice.fits {
		i.FitsWith = append(i.FitsWith, names.Replace(s))
	}
	for _, s := range advice.next {
		i.Next = append(i.Next, names.Replace(s))
	}
	return i
}

// connectWait is for how long a REQ waits that does not tell, nanoseconds.
const connectWait = int64(4300 * time.Millisecond)

// ignored tells of requests for a connection that nothing answered.
func (t *teller) ignored() {
	for k := range t.run.REQs {
		q := &t.run.REQs[k]
		wait := q.Wait
		if wait == 0 {
			wait = connectWait
		}
		if q.Times < 2 && t.run.Last-q.Last < wait || t.connected(q) {
			continue
		}
		i := &Incident{
			Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: t.run.Last, Ongoing: true,
			Lost: time.Duration(t.run.Last - q.First), Tap: q.Tap,
		}
		i.show(q.Frame)
		i.What = fmt.Sprintf("%v asked %v for a connection (REQ) %s%s; nothing answered.", q.From, q.To, times(uint64(q.Times)), t.within(" in %s", q.Last-q.First))
		i.fact("service", fmt.Sprint(q.Service))
		t.peer(i, &agent.Connection{}, 0, q.First, q.Last)
		t.ignoredReasons(i, q)
		t.tell(i, "")
	}
}

// connected reports whether the passive side of a REQ has sent to the queue pair that it names, so that it has answered, though that is not in the capture.
func (t *teller) connected(q *cm.Unanswered) bool {
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		for k := range c.Ends {
			e, peer := &c.Ends[k], &c.Ends[1-k]
			if q.QPN != 0 && e.QPNKnown && e.QPN == q.QPN && e.Addr == q.From && peer.Addr == q.To && peer.Packets > 0 && peer.Last >= q.First {
				return true
			}
		}
	}
	return false
}

// ignoredReasons says what would look like a REQ that nothing answered, and what to look at.
func (t *teller) ignoredReasons(i *Incident, q *cm.Unanswered) {
	from, to := q.From.String(), q.To.String()
	lost := "this REQ or its answer, which was lost each time, or which the communication manager of " + to + " dropped"
	if n := t.othersAnswered(q); n > 0 {
		i.fact("others", fmt.Sprintf("%s answered %s of %s meanwhile", to, count(n, "other REQ"), from))
		i.FitsWith = []string{lost, "a backlog of the program on " + to + " that is full, or a communication manager that waits for its program"}
		i.Next = []string{"the program on " + to + ": its backlog, and where it waits", "discards and errors of the switch ports between"}
		return
	}
	if t.of(q.To).last > q.First {
		i.FitsWith = []string{lost, "a route, VLAN, GID or firewall (UDP port 4791) that keeps the REQ from " + to + ", or its answer from " + from}
	} else {
		i.FitsWith = []string{"a host that is down or does not run RDMA", "a route, VLAN, GID or firewall (UDP port 4791) that keeps the REQ from " + to + ", or its answer from " + from}
	}
	i.Next = []string{"ping and rping from " + from + " to " + to, "rdma link on " + to}
}

// othersAnswered counts the REQs between the hosts of one that were answered since that was sent: by a REJ, or with a connection.
func (t *teller) othersAnswered(q *cm.Unanswered) (n uint64) {
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvReject && f.Class == rule.Event && f.Time >= q.First && f.Accused.Addr == q.From && f.Peer.Addr == q.To {
			if r, _ := cm.ParseRefusal(f.Detail); !r.ByAsker {
				n++
			}
		}
	}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		if c.PairedBy == agent.ByCM && c.First >= q.First && c.Ends[0].Addr == q.From && c.Ends[1].Addr == q.To {
			n++
		}
	}
	return n
}
