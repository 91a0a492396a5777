package incident

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// refused is when a host refused another so, and the last time.
type refused struct {
	at   []int64 // nanoseconds since the Unix epoch, in order
	last *rule.Finding
}

func (r *refused) times() uint64 { return uint64(len(r.at)) }

// rejected tells of connections that the communication manager refused.
func (t *teller) rejected() {
	restarts, told := t.restarts()
	for k := range restarts {
		t.restartedAt(&restarts[k])
	}
	var list []*rule.Finding
	again := map[group]*refused{}
	var inVain []*vain
	of := map[group]*vain{}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvReject || f.Class != rule.Event || told[f] || t.usual(f) {
			continue
		}
		if q := t.unansweredREQ(f); q != nil {
			v := of[alike(f)]
			if v == nil {
				v = &vain{}
				of[alike(f)] = v
				inVain = append(inVain, v)
			}
			v.add(q, f)
			continue
		}
		list = append(list, f)
		all := again[alike(f)]
		if all == nil {
			all = &refused{}
			again[alike(f)] = all
		}
		all.at, all.last = append(all.at, f.Time), f
	}
	for _, v := range inVain {
		t.triedInVain(v)
	}
	for _, f := range list {
		r, _ := cm.ParseRefusal(f.Detail)
		i, all := rejection(f, &r), again[alike(f)]
		i.unserviced = r.Reason == mad.RejInvalidService && r.Service != "" && !r.ByAsker
		if all.times() > 1 {
			i.show(all.last.Frame)
			i.fact("again", fmt.Sprintf("%s so %s%s, the last time in frame %d", verbOf(&r), times(all.times()), t.within(" in %s", all.last.Time-f.Time), all.last.Frame))
		}
		if i.unserviced && f.Time == all.at[0] {
			t.disconnectedBefore(i, f)
		}
		t.acceptedToo(i, &r, all)
		t.acceptedShorter(i, &r)
		if other := t.acceptedElse(i, &r); all.times() == 1 || !nextTry(i, other) {
			i.tellElse(&r, other)
		}
		if i.unserviced && !i.says("other") {
			t.servedElse(i, &r)
		}
		if i.unserviced && f.Time == all.at[0] {
			t.besidesRefusal(i, r.Service)
		}
		if r.ByAsker && r.Reason == mad.RejTimeout && t.hosts[i.Peer.Addr].last == 0 {
			i.fact("peer", t.nothingOf()+i.Peer.Addr.String()+" is in the capture"+t.answersPings(i.Peer.Addr, f.Time))
			i.FitsWith, i.Next = []string{fmt.Sprintf("a route, VLAN, GID or filter (UDP port 4791) that keeps what %v sends from %v, or its answers from %v",
				i.Local.Addr, i.Peer.Addr, i.Local.Addr)}, nil
			t.unseen(i, i.Local.Addr, i.Peer.Addr)
		}
		t.afterREPs(i, f)
		what := f.Detail + t.afterMRA(i, f)
		t.acceptedLater(i, &r, all)
		t.limitOverAll(i, &r)
		t.tell(i, what)
	}
}

// verbOf says what who sent a REJ has done.
func verbOf(r *cm.Refusal) string {
	if r.ByAsker && r.Reason == mad.RejTimeout {
		return "gave up"
	}
	return "refused"
}

// usual reports whether a REJ is how each connection of SMB Direct begins: its client was accepted with the next try.
func (t *teller) usual(f *rule.Finding) bool {
	r, _ := cm.ParseRefusal(f.Detail)
	i := Incident{Begin: f.Time, Local: Party{Addr: f.Peer.Addr}, Peer: Party{Addr: f.Accused.Addr}}
	other := t.acceptedElse(&i, &r)
	return nextTry(&i, other) && r.Service == smbIWARP && other.Detail == smbInfiniBand
}

// alike is what refusals that are told as one have in common.
func alike(f *rule.Finding) group { return group{Rejected, f.Accused.Addr, f.Peer.Addr, f.Detail} }

// rejection is what the event of a REJ tells.
func rejection(f *rule.Finding, r *cm.Refusal) *Incident {
	asker, whom := asking(f, r)
	i := &Incident{
		Kind: Rejected, Certainty: Proven, Local: Party{asker.Addr, asker.QPN, asker.QPNKnown}, Peer: Party{whom.Addr, whom.QPN, whom.QPNKnown}, Connections: 1,
		Begin: f.Time, End: f.Time, Tap: f.Tap,
	}
	i.show(f.Frame)
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	by, to := peer, local // who refused whom
	if i.What = fmt.Sprintf("The connection that %s asked %s for was refused: %v (reason %d).", local, peer, r.Reason, uint16(r.Reason)); r.ByAsker {
		by, to = local, peer
		i.What = fmt.Sprintf("%s asked %s for a connection, and then refused the answer: %v (reason %d).", local, peer, r.Reason, uint16(r.Reason))
		if r.Reason == mad.RejTimeout {
			i.What = fmt.Sprintf("%s asked %s for a connection, and gave up: %v (reason %d).", local, peer, r.Reason, uint16(r.Reason))
		}
	}
	i.fact("service", r.Service)
	i.fact("reason", r.Private)
	advice := adviceOn(r.Reason)
	names := strings.NewReplacer("{by}", by, "{to}", to, "{service}", cmp.Or(r.Service, "the port or service ID that was asked for"))
	for _, s := range advice.fits {
		if r.Private != "" && s == closedUntaken { // which has no private data
			continue
		}
		i.FitsWith = append(i.FitsWith, names.Replace(s))
	}
	for _, s := range advice.next {
		if r.Private == "" || !strings.Contains(s, "private data") { // that is told
			i.Next = append(i.Next, names.Replace(s))
		}
	}
	if n := nvmeQueue(r); n > 1 && r.NVMeStatus() == nvmeResources {
		i.Next = append([]string{fmt.Sprintf("fewer I/O queues on %s: nvme connect --nr-io-queues %d", to, n-1)}, i.Next...)
	}
	if s := nvmeNext[min(r.NVMeStatus(), len(nvmeNext)-1)]; s != "" {
		i.Next = append(i.Next, names.Replace(s))
	}
	return i
}

// asking returns who asked for the connection of a REJ, and whom: the event names the end that sent the REJ first.
func asking(f *rule.Finding, r *cm.Refusal) (asker, whom *rule.Endpoint) {
	if r.ByAsker {
		return &f.Accused, &f.Peer
	}
	return &f.Peer, &f.Accused
}

// connectWait is for how long a REQ waits that does not tell, nanoseconds.
const connectWait = int64(4300 * time.Millisecond)

// ignored tells of requests for a connection that nothing answered, and of other messages of such exchanges.
func (t *teller) ignored() {
	sidr := t.unresolved()
	for k := range t.run.REQs {
		q := &t.run.REQs[k]
		switch q.Waits {
		case cm.ForLate:
			t.late(q)
			continue
		case cm.ForRTU:
			t.halfOpen(q)
			continue
		case cm.ForDREP:
			t.undisconnected(q)
			continue
		case cm.ForAccept:
			t.unaccepted(q)
			continue
		case cm.ForRefusal, cm.ForGaveUp, cm.ForSecond: // the REJ is told, or what came between the two
			continue
		}
		if t.folded[q] {
			continue
		}
		wait := q.Wait
		if wait == 0 {
			wait = connectWait
		}
		if q.Times < 2 && t.run.Last-q.Last < wait || t.connected(q) {
			continue
		}
		end, ongoing := t.waitEnds(q, wait)
		i := &Incident{
			Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: end, Ongoing: ongoing,
			Lost: time.Duration(end - q.First), Tap: q.Tap,
		}
		i.show(q.Frame)
		in := ""
		if q.Times > 1 {
			in = t.within(" in %s", q.Last-q.First)
		}
		asked := "a connection (REQ)"
		if q.SIDR {
			asked = "a queue pair of UD (SIDR_REQ)"
		}
		i.What = fmt.Sprintf("%v asked %v for %s %s%s; nothing answered.", q.From, q.To, asked, times(uint64(q.Times)), in)
		i.fact("service", fmt.Sprint(q.Service))
		if n := sidr[way{q.From, q.To}]; q.SIDR && n > 1 {
			i.fact("all", count(n, "SIDR_REQ")+" of as many transactions had no answer")
		}
		t.peer(i, &agent.Connection{}, 0, q.First, q.Last, "this request")
		t.ignoredReasons(i, q)
		t.tell(i, "")
	}
}

// waitEnds is when a REQ that nothing answered was sent last, and whether that still waited when the capture ended, up to then: for so long does each, in nanoseconds. One that was sent once waited.
func (t *teller) waitEnds(q *cm.Unanswered, wait int64) (end int64, ongoing bool) {
	switch {
	case t.run.Last-q.Last < wait:
		return t.run.Last, true
	case q.Times < 2:
		return q.Last + wait, false
	}
	return q.Last, false
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
	if t.discardReasons(i, q.First, q.HopLimit) {
		return
	}
	if q.SIDR {
		t.sidrReasons(i, q)
		return
	}
	lost := "this REQ or its answer, which was lost each time, or which the communication manager of " + to + " dropped"
	meanwhile, after := t.othersAnswered(q)
	if meanwhile > 0 {
		i.fact("others", fmt.Sprintf("%s answered %s of %s meanwhile", to, count(meanwhile, "other REQ"), from))
		i.FitsWith = []string{lost, "a backlog of the program on " + to + " that is full, or a communication manager that waits for its program"}
		i.Next = []string{"the program on " + to + ": its backlog, and where it waits", "discards and errors of the switch ports between"}
		return
	}
	if after != 0 && t.timed() {
		i.fact("then", fmt.Sprintf("%s answered another REQ of %s, %s after the last of these", to, from, span(after-q.Last)))
	}
	if s := t.seen[q.To].by(q.Last); after != 0 && t.timed() && s.lasts.at <= q.First {
		i.FitsWith = []string{"a host, a path or a program that was not there until then: a restart", lost}
		i.Next = []string{"the log and the uptime of " + to + ", and when its program began to listen", "link events in the logs of both hosts and of the switches at that time"}
		return
	}
	if t.goneReasons(i, q.First) || t.fewHops(i, q) {
		return
	}
	i.FitsWith = []string{lost, "a route, VLAN, GID or firewall (UDP port 4791) that keeps the REQ from " + to + ", or its answer from " + from}
	i.Next = []string{"ping and rping from " + from + " to " + to, "rdma link on " + to}
	if t.hosts[q.To].last <= q.First {
		i.FitsWith[0] = t.downOr(q.To, q.First)
	}
	if t.hosts[q.To].last == 0 {
		t.unseen(i, q.From, q.To)
	}
	i.throughGateway(q, t.passesIP(q))
	if t.sentIP(q.To, q.From, q.First) != nil { // there is a route
		i.FitsWith[1] = "a filter of UDP port 4791 on the way, or another VLAN or GID that keeps the REQ from " + to + ", or its answer from " + from
	}
	if t.answersPings(q.To, q.First) != "" {
		i.Next = unreachedNext(from, to)
	}
	t.askerWorks(i, q)
}

// meanwhileWait is for how long after a REQ that was sent once others are answered meanwhile: a host that restarts takes longer.
const meanwhileWait = int64(500 * time.Millisecond)

// waitedUntil is until when an answer to a REQ or SIDR_REQ is looked for: the last time that it was sent, or, where it was sent once, while it waited.
func waitedUntil(q *cm.Unanswered) int64 {
	if q.Times < 2 {
		return q.Last + min(cmp.Or(q.Wait, connectWait), meanwhileWait)
	}
	return q.Last
}

// othersAnswered counts the REQs between the hosts of one that were answered, by a REJ or with a connection, from the first time that it was sent on: see
// waitedUntil. after is when the first was that was answered later; 0: none was.
func (t *teller) othersAnswered(q *cm.Unanswered) (meanwhile uint64, after int64) {
	until := waitedUntil(q)
	answered := func(at int64) {
		switch {
		case at < q.First:
		case at <= until || !t.timed():
			meanwhile++
		case after == 0 || at < after:
			after = at
		}
	}
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvReject && f.Class == rule.Event && f.Accused.Addr == q.To && f.Peer.Addr == q.From {
			if r, _ := cm.ParseRefusal(f.Detail); !r.ByAsker {
				answered(f.Time)
			}
		}
	}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		if c.PairedBy == agent.ByCM && c.Ends[0].Addr == q.From && c.Ends[1].Addr == q.To {
			answered(c.First)
		}
	}
	return meanwhile, after
}
