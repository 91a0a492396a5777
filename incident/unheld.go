package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// fewestUnheld is from how many PSNs on that the capture does not hold, and that nothing retransmits, it is told to have lost them: of one its requester may have left out the
// number.
const fewestUnheld = 2

// mostOutstanding is how many messages a requester sends at most, as far as most are set up, before it has the responses to a READ.
const mostOutstanding = 16

// unheld is what was sent although the capture does not hold it.
type unheld struct {
	psns        uint64 // requests that were acknowledged
	responses   uint64 // to READs, that were not asked for again
	runs        uint64
	connections int
	tap         uint16
	frames      []uint64 // in which they were first acknowledged, or passed over, on the first of them
}

func (u *unheld) all() uint64 { return u.psns + u.responses }

// unheld counts it.
func (t *teller) unheld() *unheld {
	if t.lost != nil {
		return t.lost
	}
	u := &unheld{}
	t.lost = u
	if !t.orderKnown() {
		return u
	}
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		before := u.all()
		for k := range c.Ends {
			u.add(c, k, t.allAcked(c, k))
		}
		if u.all() > before {
			u.connections++
		}
	}
	return u
}

// add adds what the requests of end from show. all is what allAcked returns of it.
func (u *unheld) add(c *agent.Connection, from int, all *qp.Missing) {
	x := c.Ends[from].Trouble
	if x == nil {
		return
	}
	m := &x.Missing
	o := x.Overtaking.All()
	late := o.Packets + (o.Packets-o.Numbered)/2 // of which, where nothing numbers them, not each is counted
	if m.Acked == 0 && all != nil && all.PSNs >= fewestUnheld {
		u.note(c, all.First.Frame)
		u.psns, u.runs = u.psns+uint64(all.PSNs), u.runs+uint64(all.Gaps)
	} else if n := m.Acked; n > late { // what came late is not missing
		u.note(c, m.AckedFrame)
		u.psns, u.runs = u.psns+uint64(n-late), u.runs+uint64(max(m.AckedGaps, late+1)-late)
	}
	if responsesUnheld(&c.Ends[from]) {
		u.note(c, m.Responses.Frame)
		u.responses, u.runs = u.responses+uint64(m.Responses.PSNs), u.runs+uint64(m.Responses.Gaps)
	}
}

// responsesUnheld reports whether an end has had the responses to its READs that the capture does not hold: it has gone on, and asked for none again.
func responsesUnheld(e *agent.End) bool {
	x := e.Trouble
	m := &x.Missing.Responses
	return m.PSNs > 0 && x.Responses.All().Packets == 0 && x.Now.Begun == 0 && e.Messages > m.Messages+mostOutstanding
}

func (u *unheld) note(c *agent.Connection, frame uint64) {
	if len(u.frames) == 0 {
		u.tap, u.frames = c.FirstTap, []uint64{frame}
	}
}

// countGaps is how many gaps in what responders counted show that the capture lost messages: none where it is not known in which order requests and answers came.
func (t *teller) countGaps() uint64 {
	if !t.orderKnown() {
		return 0
	}
	return t.run.Gaps
}

// lossy reports whether the capture has lost packets, so that it may lack any answer.
func (t *teller) lossy() bool {
	return t.run.Dropped > 0 || t.countGaps() > 0 || t.unheld().all() >= fewestUnheld
}

// lossFits adds that the capture may have lost an answer.
func (t *teller) lossFits(i *Incident) {
	if t.run.Dropped == 0 && t.lossy() {
		i.FitsWith = append(i.FitsWith, "an answer that is among the packets which the capture lost")
	}
}

// doubt words an incident as what a capture shows that has lost packets: the answer may be among them.
func (i *Incident) doubt(what string) {
	i.Certainty, i.What, i.inHole = Possible, what, true
	i.FitsWith = append([]string{"an answer that is among the packets which the capture lost"}, i.FitsWith...)
	i.Next = append([]string{"a capture that loses nothing, before anything else: see what it lost below"}, i.Next...)
}

// lostFrames tells that the capture has lost packets without saying so.
func (t *teller) lostFrames() {
	u, gaps, n := t.unheld(), t.countGaps(), t.holes()
	if u.all() < fewestUnheld && gaps == 0 {
		return
	}
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: t.run.First, End: t.run.Last, Tap: u.tap, lacks: true, losesFrames: true}
	i.show(u.frames...)
	switch {
	case n.packets > u.all():
		i.What = fmt.Sprintf("The capture lost packets, though it reports no drops: at least %s that it does not hold, in at least %s, of %s.",
			number(n.packets), count(n.runs, "run"), hostsLacking(n.hosts))
	case u.all() < fewestUnheld:
		i.What = "The capture lost packets, though it reports no drops: responders counted messages that it does not hold."
	default:
		i.What = fmt.Sprintf("The capture lost packets, though it reports no drops: at least %s that it does not hold, in at least %s, on %s.",
			number(u.all()), count(u.runs, "run"), count(uint64(u.connections), "connection"))
		if u.psns == 0 && gaps == 0 || len(t.run.Taps) > 1 {
			i.Certainty = Likely
		}
	}
	n.tell(t, i)
	if u.psns > 0 {
		i.fact("requests", fmt.Sprintf("%s that it does not hold %s acknowledged, and it shows no retransmission of them", count(u.psns, "PSN"), were(u.psns)))
	}
	if u.responses > 0 {
		i.fact("responses", fmt.Sprintf("%s to READs %s missing before later ones, and %s not asked for again", count(u.responses, "response"), are(u.responses), were(u.responses)))
	}
	if gaps > 0 {
		i.fact("counted", fmt.Sprintf("%s responders counted messages that it does not hold", times(gaps)))
	}
	for k := range t.run.Silences {
		s := &t.run.Silences[k]
		if n := t.missingIn(s); n > 0 && t.timed() {
			i.show(s.Frame)
			i.fact("hole", fmt.Sprintf("no frame for %s before frame %d, %s after the first: PSNs of %s are missing there", span(s.To-s.From), s.Frame, span(s.To-t.run.First), count(uint64(n), "connection")))
		}
	}
	i.FitsWith = []string{"a capture that dropped frames without saying so, or a mirror port that did"}
	if lost, runs := u.all(), u.runs; !inRuns(max(lost, n.packets), max(runs, n.runs), t.run.RDMA) {
		i.FitsWith = append(i.FitsWith, "a path of several, of which the tap sees some")
	}
	i.Next = []string{"the drop counters of the mirror port and of the capturing host", "capture with a larger buffer (tcpdump -B), fewer bytes of each packet (-s 256), or a filter on the hosts of interest"}
	_, once := t.copies()
	t.lostMany(i, max(n.packets, u.all()), once)
	t.order = append(t.order, i)
}

// longRuns is how long runs of packets are on average at least that are no sign of packets which are sent on several paths one by one.
const longRuns = 4

// inRuns reports whether a capture that holds so many packets lost others in long runs: one that sees some of several paths lacks all of a
// connection, or, where each packet takes its own, has such runs only if it lacks most packets.
func inRuns(lost, runs, held uint64) bool { return lost >= longRuns*runs && lost < held }

// missingIn is on how many connections the longest run of PSNs that are missing lies around a silence, and hardly longer.
func (t *teller) missingIn(s *agent.Silence) (n int) {
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		for k := range c.Ends {
			if x := c.Ends[k].Trouble; x != nil && c.Service == packet.RC && x.Missing.Longest > 1 && x.Missing.Between.First <= s.From && x.Missing.Between.After >= s.To && x.Missing.Between.After-x.Missing.Between.First <= 2*(s.To-s.From) {
				n++
				break
			}
		}
	}
	return n
}
