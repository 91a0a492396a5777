package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// turnsOfRing is a ring of hosts, each of which asks the next to send to it, gets its grant, and sends data and their end, so many times as the first of two numbers of that host says, and so many messages more as
// the second. A launcher writes nothing to each until the end, and another connection carries messages of any sizes.
func turnsOfRing(sent [][2]int) *agent.Result {
	const us = int64(time.Microsecond)
	r := &agent.Result{RDMA: 9, Packets: 9, First: int64(time.Hour)}
	connect := func(from, to byte) *agent.Connection {
		c := agent.Connection{Service: packet.RC, First: r.First, Timing: timing.New(nil)}
		for k, h := range []byte{from, to} {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, h}), QPN: uint32(0x20 + k), QPNKnown: true, Packets: 9}
		}
		r.Connections = append(r.Connections, c)
		return &r.Connections[len(r.Connections)-1]
	}
	send := func(c *agent.Connection, k int, at int64, bytes uint32) {
		e := &c.Ends[k]
		c.Timing.Ends[k].NoteSent(timing.Sent{Begin: at, End: at + us, Bytes: bytes, Packets: 1})
		e.Messages, e.Last = e.Messages+1, at+us
		c.Ends[1-k].Last = at + 2*us // the ACK
	}
	n := byte(len(sent))
	for h := range n {
		c := connect(h+1, (h+1)%n+1)
		for m := range sent[h][0]*4 + sent[h][1] {
			at := r.First + int64(m/4)*2200*us + int64(m%4)*10*us + int64(h)*us
			send(c, []int{0, 1, 0, 0}[m%4], at, []uint32{64, 32, 24576, 64}[m%4])
		}
	}
	other := connect(1, 3)
	for m := range 200 {
		send(other, m%2, r.First+int64(m*m)*us, uint32(100+m*m%17))
	}
	r.Last = r.First + int64(4*time.Second)
	for h := range n {
		c := connect(99, h+1)
		c.Ends[0].Messages, c.Ends[0].Last, c.Ends[1].Last = 40, r.Last-1000*us, r.Last-1000*us
	}
	return r
}

// TestQuietTurns: of hosts that stopped amid what they do in turns it is told in the first line for whom they wait, and who waits for whom, beside
// other loads. Not where all is complete that was begun, where two hosts hold others up, or where the one may wait for another yet.
func TestQuietTurns(t *testing.T) {
	const head = "STOPPED nothing violated, but the traffic of several hosts stopped in the middle of a round, "
	const told = "They wait for 10.0.0.4. On 5 connections messages came in the same turns 31 times or more, and by these " +
		"10.0.0.3 (last: 32 bytes to 10.0.0.2, +0.068212 s) waits for 10.0.0.4 to answer 64 bytes of +0.068202 s, 10.0.0.5 (last: 64 bytes to 10.0.0.1, +0.068235 s) waits for 10.0.0.4 to begin the next round, " +
		"10.0.0.1 (last: 64 bytes to 10.0.0.2, +0.070431 s) waits for 10.0.0.5 to begin the next round and 10.0.0.2 (last: 32 bytes to 10.0.0.1, +0.070411 s) waits for 10.0.0.3 to answer 64 bytes of +0.070401 s. " +
		"10.0.0.4 had all that comes before its turn (the last: 64 bytes of 10.0.0.3, +0.068202 s), and sent nothing more there after +0.066034 s. " +
		"Its adapter went on: it acknowledged messages of 10.0.0.99 until +3.999000 s. So its program hangs, or waits for what the capture does not show: look at its stack there."
	stopped := [][2]int{{33, 0}, {32, 1}, {31, 1}, {31, 0}, {32, 0}}
	for _, k := range []struct {
		name string
		sent [][2]int
		asks bool // 10.0.0.4 sent a message to another host last, which sends some, too
		want string
	}{
		{"one begins no more", stopped, false, told},
		{"it may wait elsewhere", stopped, true, ""},
		{"all is complete", [][2]int{{32, 0}, {32, 0}, {32, 0}, {32, 0}, {32, 0}}, false, ""},
		{"two begin no more", [][2]int{{33, 0}, {31, 0}, {31, 1}, {31, 0}, {32, 0}}, false, ""},
	} {
		r := turnsOfRing(k.sent)
		if k.asks {
			c := &r.Connections[len(k.sent)]
			c.Timing = requested(int64(time.Hour)+500, 0)
			c.Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 4})
		}
		got := reportOf(t, r)
		if strings.Contains(got, "in the same turns") != (k.want != "") || strings.HasPrefix(got, head) != (k.want != "") || !strings.Contains(got, k.want) {
			t.Errorf("%s: %.2200s", k.name, got)
		}
	}
}
