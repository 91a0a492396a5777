package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// caller is a connection whose second end answers each message of the first after 5 µs, and every 50th after a time; long: such one comes while it
// sends a long message.
func caller(qpn uint32, late time.Duration, long bool) agent.Connection {
	const n = 500
	c := busy(wqe.Send, n, 0)
	c.Ends[0].QPN, c.Ends[1].QPN = qpn, qpn+1
	for k := range c.Ends {
		c.Ends[k].Messages, c.Ends[k].Last = n, c.First+n*int64(5*time.Millisecond)
		c.Timing.Ends[k].Ops[wqe.Send] = c.Timing.Ends[0].Ops[wqe.Send]
	}
	for i := range n {
		at, d := c.First+int64(i)*int64(5*time.Millisecond), int64(5*time.Microsecond)
		if i%50 == 30 {
			if d = int64(late); long {
				c.Timing.Ends[1].NoteSent(timing.Sent{Begin: at - 1000, End: at + d - 1000, Bytes: 1 << 20, Packets: 256})
			}
		}
		c.Timing.Ends[0].NoteSent(timing.Sent{Begin: at, End: at, Bytes: 100, Packets: 1})
		c.Timing.Ends[1].NoteSent(timing.Sent{Begin: at + d, End: at + d, Bytes: 100, Packets: 1})
	}
	return c
}

// TestTail: few answers that take many times as long as most are told, and whether they came after long messages on the queue pair or not, with
// another queue pair on which all come soon; not where the requester's message waited as long for
// its ACK, where a few take a little longer, or where all take as long.
func TestTail(t *testing.T) {
	const us = time.Microsecond
	const who = "Tail: 10.0.0.2 QP 0x21 answers 500 messages of 10.0.0.1 QP 0x20 with one of its own: " +
		"half of them within 5µs, 99 % within 800µs, and 10 after 50µs or longer, at most 800µs (for a message at +0.150000 s). "
	const after = who + "All of these came while it was sending long messages on the same queue pair (10 times, up to 1.0 MiB), " +
		"and were answered after them: it sends in order there, so that answers wait for those."
	late := caller(0x20, 800*us, false)
	late.Timing.Ends[0].Ops[wqe.Send].Observe(800 * us)
	for _, k := range []struct {
		name string
		all  []agent.Connection
		want string
	}{
		{"after long messages", []agent.Connection{caller(0x20, 800*us, true)}, after + " Nothing of the transport: "},
		{"and another queue pair", []agent.Connection{caller(0x20, 800*us, true), caller(0x30, 5*us, false)}, after + " On its QP 0x31 it answered all of 500 of 10.0.0.1 within 5µs (99 % within 5µs)."},
		{"of a program", []agent.Connection{caller(0x20, 800*us, false)}, who + "Between these and their answers it sent no long message on the queue pair, and its adapter acknowledged each sooner: its program or host was slow. Nothing of the transport: "},
		{"not acknowledged sooner", []agent.Connection{late}, ""},
		{"a little later", []agent.Connection{caller(0x20, 80*us, true)}, ""},
		{"soon", []agent.Connection{caller(0x20, 5*us, false)}, ""},
	} {
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, First: int64(time.Hour), Connections: k.all})
		if !strings.Contains(got, k.want) || k.want == "" && strings.Contains(got, "Tail:") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
