package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
)

// crossing is for how long a request waits that may have crossed a DREQ of its responder on the way, or whose answer may have come a moment after that.
const crossing = int64(50 * time.Microsecond)

// deserted reports whether requests of end from of a connection waited when the other end, which owed the answers, had CM disconnect.
func deserted(c *agent.Connection, from int) bool {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	return e.Open > 0 && e.OpenSince != 0 && c.Closed.At-e.OpenSince >= crossing && c.Closed.By == peer.Addr && c.Closed.By != e.Addr && peer.Packets > 0
}

// desertion tells of requests of end from that waited when the end which owed the answers disconnected, and that were not answered after that either.
func (t *teller) desertion(c *agent.Connection, from int) {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if peer.Stalled || peer.Trouble != nil && peer.Trouble.Refusal.Time != 0 {
		return // its own requests had failed: it disconnects for that
	}
	if !deserted(c, from) || !t.timed() || t.run.Last-c.Closed.At < patience {
		return // else the answer may have been on its way when the capture ended
	}
	open, lossy := e.Open, t.lossy()
	if lossy {
		open -= min(open, uint32(e.OpenEnded))
	}
	if open == 0 {
		return // what is missing of the answers the capture may have lost
	}
	i := t.between(Unanswered, c, from)
	waited := span(c.Closed.At - e.OpenSince)
	i.Begin, i.End, i.Lost = e.OpenSince, c.Closed.At, time.Duration(c.Closed.At-e.OpenSince)
	i.show(e.OpenFrame, c.Closed.Frame)
	i.What = fmt.Sprintf("%v disconnected while %s of %v had no answer, and answered none after that.", &i.Peer, count(uint64(open), "request"), &i.Local)
	i.fact("request", fmt.Sprintf("the oldest begins in frame %d; %v last asked, or was last answered, %s before", e.OpenFrame, i.Local.Addr, waited))
	i.fact("DREQ", fmt.Sprintf("by %v, as frame %d shows", i.Peer.Addr, c.Closed.Frame))
	t.command(i, c)
	if next := t.nextOf(c, c.Closed.At); next != nil {
		later := " " + span(next.First-c.Closed.At) + " later"
		if _, said := t.notUp(i, next, later); !said {
			i.fact("then", fmt.Sprintf("the same hosts began another connection%s, in frame %s", later, t.firstFrame(next)))
		}
	}
	host := i.Peer.Addr.String()
	i.FitsWith = []string{"a process on " + host + " that ended or was killed: its kernel disconnects", "a program on " + host + " that disconnects without waiting for what is in progress"}
	i.Next = []string{"the log and the exit status of the process on " + host + " at that time"}
	if lossy {
		i.doubt(fmt.Sprintf("The capture, which lost packets, holds no answer of %v to %s of %v, which were sent before %v disconnected.", &i.Peer, count(uint64(open), "request"), &i.Local, i.Peer.Addr))
	}
	t.tell(i, "disconnected")
}
