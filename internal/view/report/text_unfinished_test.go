package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// rounds is a ring of hosts, each of which sends data to the next twice a round, 40 times, that is answered. In the round after that some send less or more: by host, how many messages; of the others, the one that data would come to calls for them so many times. Nothing is sent in the three seconds before the capture ends.
func rounds(more []int, calls int, extra func(host, round int) int) *agent.Result {
	return roundsOfRing(40, more, calls, extra)
}

// longRounds are so many rounds that the messages in the middle of them are not kept.
func longRounds(n int, more []int) *agent.Result { return roundsOfRing(n, more, 0, nil) }

func roundsOfRing(all int, more []int, calls int, extra func(host, round int) int) *agent.Result {
	r := &agent.Result{RDMA: 9, Packets: 9, First: int64(time.Hour)}
	end := r.First
	for host := range more {
		c := agent.Connection{Service: packet.RC, First: r.First, Timing: timing.New(nil)}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte((host+k)%len(more) + 1)}), QPN: uint32(0x20 + k), QPNKnown: true, Packets: 9}
		}
		send := func(at int64, from int) {
			for k, bytes := range []uint32{65536, 32} {
				if at += int64(k) * 20_000; k < from {
					continue
				}
				c.Timing.Ends[k].NoteSent(timing.Sent{Begin: at, End: at + 1000, Bytes: bytes, Packets: 1})
				c.Ends[k].Messages, c.Ends[k].Bytes, c.Ends[k].Last = c.Ends[k].Messages+1, c.Ends[k].Bytes+uint64(bytes), at+1000
			}
			end = max(end, at+1000)
		}
		for n := range all + 1 {
			at := r.First + int64(n)*int64(10*time.Millisecond) + int64(host)
			times := 2
			if n == all {
				times = more[host]
			}
			if extra != nil {
				times += extra(host, n)
			}
			for m := range max(times, 0) {
				send(at+int64(m)*100_000, 0)
			}
			for m := range calls {
				if times == 0 { // negative: they are not called for
					send(at+int64(m)*100_000, 1)
				}
			}
		}
		r.Connections = append(r.Connections, c)
	}
	r.Last = end + int64(3*time.Second)
	return r
}

// TestUnfinished: hosts that stop in the middle of a round are told in the first line, with the one that had what it did not pass on; which that is is not told where two did. Nothing is told of those whose last round is complete, whose
// messages come in no rounds, or of which the capture lacks some.
func TestUnfinished(t *testing.T) {
	const head = "STOPPED  nothing violated, but the traffic of several hosts stopped in the middle of a round, 3s before the capture ends"
	dropped := rounds([]int{3, 1, 2, 3}, 0, nil)
	dropped.Dropped = 1
	closed := rounds([]int{3, 1, 2, 3}, 0, nil)
	for k := range closed.Connections {
		closed.Connections[k].Closed.At = closed.Last
	}
	alive := rounds([]int{2, 0, 1, 2}, 1, nil)
	storage := agent.Connection{Service: packet.RC, First: alive.First}
	storage.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Messages: 900, Last: alive.Last}
	storage.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9}), Packets: 9, Last: alive.Last}
	alive.Connections = append(alive.Connections, storage)
	over, other := rounds([]int{2, 2, 2, 2}, 0, nil), rounds([]int{2, 0, 2, 2}, 0, nil)
	for _, r := range []*agent.Result{over, other} { // the second host disconnects, or in the last of them one that began the round
		for k, by := range []int{0, 1} {
			if r == other {
				by += 2
			}
			r.Connections[by].Closed = agent.Closed{By: r.Connections[1+by/2*2].Ends[0].Addr, At: r.Last - int64(time.Second), Frame: uint64(70 + k)}
		}
	}
	for _, k := range []struct {
		name string
		of   *agent.Result
		want string
	}{
		{"in the middle", rounds([]int{3, 1, 2, 3}, 0, nil), ": they wait for 10.0.0.2; 0 of 501 rules exercised What happened Unfinished: the others wait for 10.0.0.2. It sent its last data at +0.400001 s, before all others: 1 message in the last round, though 2 messages more had come to it from 10.0.0.1. " +
			"The others sent their last data later: 10.0.0.3 (2, +0.400101 s), 10.0.0.1 (3, +0.400201 s) and 10.0.0.4 (3, +0.400201 s), each of which had passed on what it had. It still answered data with messages until +0.400221 s, so only the part"},
		{"data are called for", rounds([]int{2, 0, 1, 2}, 1, nil), "the others wait for 10.0.0.2. It sent no data in the last round, though 2 messages had come to it from 10.0.0.1, and 10.0.0.3 called for 1 message more. "},
		{"its adapter goes on", alive, "Its adapter went on: it went on with 10.0.0.9 until +3.400121 s. It still"},
		{"one has not begun", rounds([]int{-1, 0, 1, 2}, 1, nil), "the others wait for 10.0.0.2. It sent nothing in the last round, which all others began, though 10.0.0.3 called for 1 message. So its program hangs"},
		{"two have not begun", rounds([]int{-1, -1, -1, 2}, 1, nil), ""},
		{"two have what they do not pass on", rounds([]int{3, 1, 3, 1}, 0, nil), "; 0 of 501 rules exercised What happened Unfinished: 4 connections carry nothing in the last 3s, though no request waits for an answer. " +
			"In the last round 10.0.0.1 sent 10.0.0.2 2 messages and 10.0.0.3 sent 10.0.0.4 2 messages of data more than 10.0.0.2 sent 10.0.0.3, unlike between rounds; which host the others wait for does not show. Nothing of the transport"},
		{"after more messages than are kept", longRounds(600, []int{3, 1, 2, 3}), ": they wait for 10.0.0.2; "},
		{"after more, and the last is complete", longRounds(600, []int{2, 2, 2, 2}), ""},
		{"a last round of another kind", rounds([]int{2, 0, 2, 2}, 0, nil), ""},
		{"a last round of another kind, after more", longRounds(600, []int{2, 0, 2, 2}), ""},
		{"after a round", rounds([]int{2, 2, 2, 2}, 0, nil), ""},
		{"one begins with less", rounds([]int{2, 2, 2, 2}, 0, func(host, round int) int { return map[[2]int]int{{1, 0}: -1}[[2]int{host, round}] }), ""},
		{"in no rounds", rounds([]int{3, 1, 2, 3}, 0, func(host, round int) int { return (host*7 + round*round) % 5 }), ""},
		{"frames are missing", dropped, ""},
		{"they disconnected", closed, ""},
		{"one disconnected after a round", over, ""},
		{"one disconnected that had begun", other, ""},
	} {
		var b bytes.Buffer
		sink, err := New("text", Options{Width: 800})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, &Run{Result: k.of}); err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(b.String(), "\n\nSeen")
		got = strings.Join(strings.Fields(got), " ")
		if k.want == "" && strings.Contains(got, "STOPPED") || !strings.Contains(got, k.want) || k.want != "" && (!strings.HasPrefix(got, strings.Join(strings.Fields(head), " ")) || strings.Contains(got, "Quiet")) {
			t.Errorf("%s: %s", k.name, got)
		}
		if list := strings.Join((&Run{Result: k.of}).Observations(), " "); strings.Contains(list, "Unfinished: ") != (k.want != "") || k.want != "" && strings.Contains(list, "Quiet: ") {
			t.Errorf("%s, observed: %s", k.name, list)
		}
	}
}

// TestUnfinishedEnded: the host is told that disconnected before the others in the middle of a round, without having sent anything in it.
func TestUnfinishedEnded(t *testing.T) {
	const want = "but 10.0.0.2 disconnected before the others, in the middle of a round of several hosts; 0 of 501 rules exercised What happened " +
		"Unfinished: 10.0.0.2 disconnected first, at +2.400121 s (frame 70), in the middle of a round. The others waited for it. It sent no data in the last round, though 2 messages had come to it from 10.0.0.1. The others sent their last data later: 10.0.0.1 (2, +0.400101 s), "
	r := rounds([]int{2, 0, 2, 2}, 0, nil)
	beside := agent.Connection{Service: packet.RC, First: r.First, Timing: timing.New(nil)} // of others, which goes on all the time
	for k := range beside.Ends {
		beside.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(8 + k)}), Packets: 9, Messages: 900, Bytes: 90000, Last: r.Last}
	}
	for at := r.First; at < r.Last; at += int64(7 * time.Millisecond) {
		beside.Timing.Ends[0].NoteSent(timing.Sent{Begin: at, End: at + 1000, Bytes: 100, Packets: 1})
	}
	r.Connections = append(r.Connections, beside)
	for k := range 2 {
		r.Connections[k].Closed = agent.Closed{By: r.Connections[1].Ends[0].Addr, At: r.Last - int64(time.Second) + int64(k), Frame: uint64(70 + k)}
	}
	var b bytes.Buffer
	sink, err := New("text", Options{Width: 800})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Report(&b, &Run{Result: r}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, want) || !strings.Contains(got, "So its program ended (it was killed, or failed), or gave up") {
		t.Error(got)
	}
}
