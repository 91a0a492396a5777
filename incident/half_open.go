package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// afterREPs says, of a REJ for lack of an answer, what the side that sent it has sent before.
func (t *teller) afterREPs(i *Incident, f *rule.Finding) {
	for k := range t.run.REQs {
		if q := &t.run.REQs[k]; q.Waits == cm.ForRTU && q.EndFrame == f.Frame && q.Tap == f.Tap {
			i.fact("before", fmt.Sprintf("%v had answered (REP) %s%s, and %s", q.From, times(uint64(q.Times)), t.within(" in %s", q.Last-q.First), effectOfRTU(q)))
			i.show(q.Frame, q.RTU)
			i.FitsWith = []string{fmt.Sprintf("an RTU that does not reach %v: a path that loses what %v sends to it, or a filter", q.From, q.To)}
			if q.RTU == 0 {
				i.FitsWith = append(i.FitsWith, fmt.Sprintf("a REP that does not reach %v, or that its communication manager drops; or a program on %v that does not go on", q.To, q.To))
			}
			i.Next = append(i.Next, captureAt(q.To.String())+"whether the REPs arrived there, and what it sent then")
			i.repLost(q)
			i.otherRouter(q)
		}
	}
}

// effectOfRTU says what there was of an RTU.
func effectOfRTU(q *cm.Unanswered) string {
	if q.RTU == 0 {
		return fmt.Sprintf("no RTU of %v is in the capture", q.To)
	}
	return fmt.Sprintf("%v sent RTUs, the last in frame %d, and the REP was retransmitted: it seems that they did not reach %v", q.To, q.RTU, q.From)
}

// halfOpen tells of a REP that no RTU ends: one side has a connection, and the other has none.
func (t *teller) halfOpen(q *cm.Unanswered) {
	if q.End != 0 || t.used(q) {
		return
	}
	i := &Incident{
		Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: t.run.Last, Ongoing: true,
		Lost: time.Duration(t.run.Last - q.First), Tap: q.Tap,
	}
	i.show(q.Frame)
	i.What = fmt.Sprintf("%v answered the request of %v for a connection (REP) %s%s; no RTU of %v is in the capture.", q.From, q.To, times(uint64(q.Times)), t.within(" in %s", q.Last-q.First), q.To)
	i.FitsWith = []string{fmt.Sprintf("REPs that do not reach %v, or RTUs that do not reach %v: a path that loses them, or a filter", q.To, q.From), fmt.Sprintf("a communication manager of %v that drops the REP, or a program on it that does not go on", q.To)}
	if q.RTU != 0 {
		i.Certainty = Likely // the newest may have
		i.show(q.RTU)
		i.What = fmt.Sprintf("%v answered the request of %v for a connection (REP) %s%s, although %v sent RTUs: they did not reach it.", q.From, q.To, times(uint64(q.Times)), t.within(" in %s", q.Last-q.First), q.To)
		i.fact("RTU", fmt.Sprintf("the last in frame %d", q.RTU))
		i.FitsWith = []string{fmt.Sprintf("RTUs that are lost on the way to %v, or that it drops: a path, or a filter", q.From)}
	}
	i.fact("service", fmt.Sprint(q.Service))
	i.fact("so", fmt.Sprintf("to %v the connection is not there: its program is not told of it, and nothing is sent on it", q.From))
	i.Next = []string{fmt.Sprintf("the way from %v to %v: discards and errors of the ports, and filters", q.To, q.From), fmt.Sprintf("a capture at the other side: at %v whether the REPs arrived, at %v whether the RTUs did", q.To, q.From)}
	i.repLost(q)
	i.otherRouter(q)
	t.tell(i, "REP")
}

// repLost says, of a REP that no RTU ends, where the REQ came once more after it: it is the REP that has no effect, and not an RTU that was lost.
func (i *Incident) repLost(q *cm.Unanswered) {
	if q.REQ == 0 || q.RTU != 0 {
		return
	}
	i.show(q.REQ)
	i.fact("REQ", fmt.Sprintf("sent %s, the last in frame %d: %v went on asking, as one that has no REP", times(uint64(q.REQs)), q.REQ, q.To))
	i.FitsWith = []string{fmt.Sprintf("REPs that do not reach %v: a path that loses them, or a filter", q.To), fmt.Sprintf("a communication manager of %v that drops the REP", q.To)}
	i.Next = []string{fmt.Sprintf("the way from %v to %v: discards and errors of the ports, and filters", q.From, q.To), captureAt(q.To.String()) + "whether the REPs arrived there"}
}

// used reports whether packets of the connection were seen that a REP is about: they show what the RTU would have.
func (t *teller) used(q *cm.Unanswered) bool {
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		for k := range c.Ends {
			e, peer := &c.Ends[k], &c.Ends[1-k]
			if e.QPNKnown && e.QPN == q.QPN && e.Addr == q.From && peer.Addr == q.To && max(e.Last, peer.Last) >= q.First && e.Packets+peer.Packets > 0 {
				return true
			}
		}
	}
	return false
}

// undisconnected tells of a DREQ that nothing answered.
func (t *teller) undisconnected(q *cm.Unanswered) {
	i := &Incident{
		Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: q.Last, Tap: q.Tap, Lost: time.Duration(q.Last - q.First),
	}
	i.show(q.Frame)
	i.What = fmt.Sprintf("%v asked %v to disconnect (DREQ) %s%s; nothing answered.", q.From, q.To, times(uint64(q.Times)), t.within(" in %s", q.Last-q.First))
	t.peer(i, &agent.Connection{}, 0, q.First, q.Last, "this request")
	to := q.To.String()
	i.FitsWith = []string{"a host that went down or was restarted, or whose communication manager has no such connection any more", "DREQs or their answers that were lost each time"}
	i.Next = []string{"the log and the uptime of " + to, "discards and errors of the switch ports between"}
	t.tell(i, "DREQ")
}

// late tells of a REQ that was answered only after it had been sent several times.
func (t *teller) late(q *cm.Unanswered) {
	i := &Incident{
		Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: q.End, Tap: q.Tap, Lost: time.Duration(q.End - q.First),
	}
	i.show(q.Frame, q.EndFrame)
	i.What = fmt.Sprintf("%v asked %v for a connection (REQ) %s%s before %v answered.", q.From, q.To, times(uint64(q.Times)), t.within(" in %s", q.End-q.First), q.To)
	i.fact("service", fmt.Sprint(q.Service))
	i.fact("answer", t.within("%s after the last of them", q.End-q.Last))
	to := q.To.String()
	i.FitsWith = []string{"a host, a path or a program that was not there until then: a restart", "REQs or their answers that were lost each time", "a program on " + to + " that was slow to take the request"}
	i.Next = []string{"the log and the uptime of " + to + ", and when its program began to listen", "discards and errors of the switch ports between"}
	if i.lateREQs = true; t.sentAllTheTime(q.To, q.First, q.Last) {
		i.fact("peer", to+" sent packets of other connections all the time: it was there")
		i.FitsWith = []string{"a program on " + to + " that was slow to take the request, or not there until then", i.FitsWith[1]}
		i.Next[0] = "what the program on " + to + " did then (its stack, CPU, log), and when it began to listen"
	}
	t.tell(i, "late")
}
