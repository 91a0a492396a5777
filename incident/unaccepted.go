package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
	"ibwitness/verifier/cm"
)

// unaccepted tells of a REQ that was retransmitted, as its answer took too long, and to which only an MRA has come until the capture ended: the communication manager has it, and the program does not accept it.
func (t *teller) unaccepted(q *cm.Unanswered) {
	if !t.timed() || t.lossy() || t.run.Last-q.First < connectWait || t.connected(q) {
		return
	}
	i := &Incident{
		Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: t.run.Last, Ongoing: true,
		Lost: time.Duration(t.run.Last - q.First), Tap: q.Tap,
	}
	i.show(q.Frame, q.MRAFrame)
	i.What = fmt.Sprintf("%v asked %v for a connection (REQ) %s in %s; its communication manager asked for more time (MRA), and nothing accepted or rejected it for %s.", q.From, q.To, times(uint64(q.Times)), span(q.Last-q.First), span(t.run.Last-q.First))
	i.fact("service", fmt.Sprint(q.Service))
	i.fact("MRA", askedMore(t, q))
	t.peer(i, &agent.Connection{}, 0, q.First, q.Last, "this request")
	to := q.To.String()
	i.FitsWith = []string{"a program on " + to + " that hangs, is stopped or busy, and does not take the REQ: its communication manager has it, and answers without it", "an answer (REP or REJ) that was lost"}
	i.Next = []string{fmt.Sprintf("on %s: what the program that listens on %v waits for (its stack, CPU, log)", to, q.Service)}
	if !t.lossy() && t.noTrouble(q.To) {
		i.FitsWith = i.FitsWith[:1]
	}
	if all := t.hungServer(q); all != nil {
		i.ofHung = true
		i.fact("program", fmt.Sprintf("%v had answered no command (%s) of any client since %s, %s before the first REQ: it is likely the same that hangs", q.To, all.of[0].Upper.Protocol, t.offset(all.since), span(q.First-all.since)))
	} else if protocol, since := t.hungBefore(q); since != 0 {
		i.ofHung = true
		i.fact("program", fmt.Sprintf("%v had answered no command (%s) of %v since %s, %s before the first REQ, when %v disconnected: "+
			"it is likely the same that hangs", q.To, protocol, q.From, t.offset(since), span(q.First-since), q.From))
	}
	t.tell(i, "accept")
}

// askedMore says when the MRA came to a REQ, and how much longer it allows.
func askedMore(t *teller, q *cm.Unanswered) string {
	s := fmt.Sprintf("of %v, in frame %d%s", q.To, q.MRAFrame, t.within(", %s after the first REQ", q.MRA-q.First))
	if q.More > 0 {
		s += fmt.Sprintf(": for up to %s (service timeout)", span(q.More))
	}
	return s
}

// noTrouble reports whether nothing was retransmitted, refused or left without an answer on the connections of a host, of which there are some.
func (t *teller) noTrouble(host packet.Addr) bool {
	list := 0
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Service == packet.UD || endOf(c, host) == nil {
			continue
		}
		if list++; c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil {
			return false
		}
	}
	return list > 0
}

// hungServer returns the open commands of the server that a REQ asks for a connection, where it had answered none of any client since before that, of the protocol that has the port which is asked for; nil: it is not so.
func (t *teller) hungServer(q *cm.Unanswered) *openCommands {
	_, port, ok := q.Service.IP()
	for key, all := range t.none {
		if p := upper.ByPort(port); ok && all != nil && key.server == q.To && all.since < q.First && p != nil && p.Name() == key.protocol {
			return all
		}
	}
	return nil
}

// hungBefore returns the protocol of the connections that the host which asks for one had with the same service, and disconnected as its
// commands had no answer, and since when none had come on any; 0: there are none, or it still has another.
func (t *teller) hungBefore(q *cm.Unanswered) (protocol string, since int64) {
	_, port, ok := q.Service.IP()
	p := upper.ByPort(port)
	if !ok || p == nil {
		return "", 0
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		u := c.Upper
		if u == nil || u.Protocol != p.Name() || endOf(c, q.From) == nil || endOf(c, q.To) == nil {
			continue
		}
		_, hangs := t.hangs(c)
		switch {
		case c.Closed.At == 0 || c.Closed.At > q.First:
			return "", 0
		case !hangs || u.Oldest.Unsure || c.Closed.By != q.From:
			continue
		}
		last := u.Oldest.Since
		if k := len(u.Recent); k > 0 {
			last = max(last, u.Recent[k-1])
		}
		since = max(since, last)
	}
	return p.Name(), since
}
