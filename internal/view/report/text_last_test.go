package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestLastOfRounds: of hosts of a ring that send one another data in rounds, the one is told that begins last from some round on, with how soon its adapter acknowledges; not where each is last once.
func TestLastOfRounds(t *testing.T) {
	const told = "Waits: all wait for 10.0.0.2, the straggler. In 12 of 20 rounds the 3 other hosts had sent something, and then no host sent a message on the 4 connections of these rounds for 2.98ms (35.76ms in all, 26 % of the time) until 10.0.0.2 did, " +
		"3ms after the last of those had begun (median; they began within 0 s of one another); first at +0.063180 s: before, it began with the others. Meanwhile messages went on on 1 other connection of these hosts, which is one of 10.0.0.2: " +
		"its host and adapter are up. It is not the network: nothing was retransmitted and nothing marked as having met congestion on the " +
		"3 connections of it, and its adapter usually acknowledges within 5µs. So its program or host is late (it computes, loads data, or is slowed down): look there."
	const opened = " It was first to send after the 12 longest pauses between rounds since then, too (8.97ms): whether others waited for it in these the capture does not tell."
	nothingElse := strings.NewReplacer(" on the 4 connections of these rounds", "", " Meanwhile messages went on on 1 other connection of these hosts, which is one of 10.0.0.2: its host and adapter are up.", "", "3 connections of it", "2 connections of it").Replace(told)
	few := strings.NewReplacer("straggler. In 12 of 20 rounds", "straggler of all 4 rounds that had one (so few that it may be chance "+
		"that it is the same host). In 4 of 20 rounds", "(35.76ms in all, 26 % of the time)", "(11.92ms in all, 8 % of the time)",
		"; first at +0.063180 s: before, it began with the others", ": 3ms at +0.038080 s, 3ms at +0.073180 s, 3ms at +0.108280 s and 3ms at +0.143380 s; in the 16 other rounds it began no later than the last of them").Replace(told)
	for _, k := range []struct {
		name  string
		late  func(round int) int // which host is late; -1: none
		more  time.Duration       // for which the capture goes on
		each  int64               // messages of a host in a round
		opens int64               // how much sooner 10.0.0.2 begins another round after each, nanoseconds; 0: there is none
		want  string
	}{
		{"one from then on", func(round int) int { return []int{-1, 2}[min(round/8, 1)] }, 0, 1, 0, told},
		{"one from then on, and nothing else is sent", func(round int) int { return []int{-1, 2}[min(round/8, 1)] }, 0, 1, 0, nothingElse},
		{"one always", func(int) int { return 2 }, 0, 1, 0, strings.NewReplacer("In 12 of 20", "In each of 20", "(35.76ms in all, 26 % of the time)", "(59.6ms in all, 43 % of the time)", "; first at +0.063180 s: before, it began with the others", "").Replace(told)},
		{"more messages than are kept one by one", func(round int) int { return []int{-1, 2}[min(round/8, 1)] }, 0, 100, 0, told},
		{"what is known ends before", func(round int) int { return []int{-1, 2}[min(round/8, 1)] }, time.Second, 1, 0, strings.Replace(told, "20 rounds", "20 rounds up to +0.143400 s", 1)},
		{"first in others", func(round int) int { return []int{-1, 2}[min(round/8, 1)] }, 0, 1, 10_000, opened},
		{"with the others in others", func(round int) int { return []int{-1, 2}[min(round/8, 1)] }, 0, 1, -10_000, ""},
		{"few", func(round int) int { return []int{-1, -1, -1, -1, 2}[round%5] }, 0, 1, 0, few},
		{"many, and another once", func(round int) int {
			if round == 9 {
				return 1
			}
			return []int{2, -1}[round%2]
		}, 0, 1, 0, "Likewise they waited once for 10.0.0.1 (2.98ms)."},
		{"few, one each", func(round int) int { return []int{-1, -1, -1, -1, round / 5}[round%5] }, 0, 1, 0, ""},
		{"each in turn", func(round int) int { return round % 4 }, 0, 1, 0, ""},
	} {
		r := &agent.Result{RDMA: 1, Packets: 1, First: 1}
		for h := range byte(4) {
			c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
			now := int64(1)
			for round := range 20 {
				now += int64(7 * time.Millisecond)
				at := now
				if k.late(round) == int(h) {
					at += int64(3 * time.Millisecond)
				}
				for n := range k.each {
					c.Timing.Ends[0].NoteSent(timing.Sent{Begin: at + n*20_000/k.each, End: at + (n+1)*20_000/k.each})
				}
				if k.opens != 0 && round >= 8 { // another round, which one host begins
					now += int64(12 * time.Millisecond)
					if at = now; h == 2 {
						at -= k.opens
					}
					c.Timing.Ends[0].NoteSent(timing.Sent{Begin: at, End: at + 20_000})
				}
				now += int64(20 * time.Microsecond)
				r.Last = at + 20_000
			}
			for n := range c.Ends {
				e := &c.Ends[n]
				e.Addr, e.Messages, e.Bytes = packet.IPv4Addr([]byte{10, 0, 0, (h + byte(n)) % 4}), 20, []uint64{20 << 17, 0}[n]
				c.Timing.Ends[n].Ops[wqe.Write] = new(timing.Operation)
				c.Timing.Ends[n].Ops[wqe.Write].Observe(15 * time.Microsecond) // as its packets take long to be sent
				c.Timing.Ends[n].Acks.List = []timing.AckWait{{At: 1, Took: 5 * time.Microsecond}}
			}
			r.Connections = append(r.Connections, c)
		}
		storage := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil), Upper: &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Answers: 600}} // which goes on all the time
		for at := int64(1); at < r.Last; at += int64(500 * time.Microsecond) {
			storage.Timing.Ends[0].Sent = append(storage.Timing.Ends[0].Sent, timing.Sent{Begin: at, End: at + 500})
		}
		storage.Ends[0].Addr, storage.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, 2}), packet.IPv4Addr([]byte{10, 0, 0, 9})
		if k.want != nothingElse {
			r.Connections = append(r.Connections, storage)
		}
		r.Last += int64(k.more)
		var b bytes.Buffer
		x := &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: r}
		x.waits()
		if err := x.out.Flush(); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		if k.opens != 0 {
			if strings.Contains(got, strings.TrimSpace(opened)) != (k.want != "") || !strings.Contains(got, "all wait for 10.0.0.2, the straggler. In 12 of ") {
				t.Errorf("%s: %q", k.name, got)
			}
		} else if got != k.want && (!strings.HasPrefix(k.want, "Likewise") || !strings.Contains(got, k.want)) {
			t.Errorf("%s: %q\nwant %q", k.name, got, k.want)
		}
	}
}

// TestLastLeads: the straggler of a job is told before incidents that cost much less, with what was retransmitted; and of a capture of what one host exchanges, that what it waits for itself may not show, nor is
// one told that is hardly later than the others are apart.
func TestLastLeads(t *testing.T) {
	job := func(star bool, apart time.Duration) *agent.Result { // of the others
		r := &agent.Result{RDMA: 1, Packets: 1, First: 1}
		for h := range byte(4) {
			if star && h == 0 {
				continue
			}
			to := (h + 1) % 4
			if star {
				to = 0
			}
			c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
			for round := range int64(20) {
				for k := range c.Ends {
					at := 1 + round*int64(20*time.Millisecond)
					if h == 2 && k == 0 {
						at += int64(3 * time.Millisecond)
					} else if h == 3 && k == 0 {
						at += int64(apart)
					}
					c.Timing.Ends[k].NoteSent(timing.Sent{Begin: at, End: at + 20_000})
					r.Last = at + 20_000
					if !star {
						break
					}
				}
			}
			for k := range c.Ends {
				c.Ends[k].Addr, c.Ends[k].Messages, c.Ends[k].Bytes = packet.IPv4Addr([]byte{10, 0, 0, [2]byte{h, to}[k]}), 20, 20<<12
			}
			c.Ends[0].Retransmissions = 3
			r.Connections = append(r.Connections, c)
		}
		return r
	}
	for _, star := range []bool{false, true} {
		r := job(star, 0)
		lost := incident.Incident{What: "Packets were lost", Begin: 1, End: r.Last, Lost: 10 * time.Millisecond}
		var b bytes.Buffer
		x := &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: r, run: &Run{Result: r, told: true, incidents: []incident.Incident{lost}}}
		x.paint = newPaint(x.Color)
		x.incidents()
		if err := x.out.Flush(); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		lead, times := "What happened Waits: all wait for 10.0.0.2, the straggler. In each of 20 rounds", "On the 2 connections of it there were 6 retransmitted packets, beside that."
		if star {
			lead = "What happened Waits: all wait for 10.0.0.2, or for what it waits for itself: the capture shows what 10.0.0.0 exchanges with others only. In each of 20 rounds"
			times = "On the 1 connection of it there were 3 retransmitted packets, beside that."
		}
		if !strings.HasPrefix(got, lead) || !strings.Contains(got, times) || strings.Count(got, "Waits: ") != 1 || !strings.Contains(got, "Packets were lost") {
			t.Errorf("star %v: %s", star, got)
		}
		lost.Lost = time.Minute
		x = &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: r, run: &Run{Result: r, told: true, incidents: []incident.Incident{lost}}}
		if s := x.waitsBeside(); s != "" {
			t.Errorf("star %v, much is lost: %s", star, s)
		}
	}
	for apart, want := range map[time.Duration]bool{time.Millisecond: true, 1500 * time.Microsecond: false} {
		x := &text{Options: Options{Width: 2000}, res: job(true, apart)}
		if got := x.waitsTold(); strings.Contains(got, "all wait for 10.0.0.2") != want {
			t.Errorf("clients that begin %v apart: %q", apart, got)
		}
	}
	for _, k := range []struct {
		most          time.Duration
		of            byte // the host whose port pauses
		retransmitted uint32
		want, not     string
	}{
		{time.Second, 2, 0, "Nothing was retransmitted and nothing marked as having met congestion on the 2 connections of it, and its adapter usually acknowledges within 0 s; " +
			"pause frames had its link wait for up to 1s in all: that may be why it is late, or its program or host is.", "It is not the network"},
		{time.Second, 2, 3, "On the 2 connections of it there were 6 retransmitted packets, and pause frames had its link wait for up to 1s in all: that may be why", "look there"},
		{time.Millisecond, 2, 0, "It is not the network", "pause"},
		{time.Second, 3, 0, "It is not the network", "pause"},
	} {
		r := job(false, 0)
		for n := range r.Connections {
			r.Connections[n].Ends[0].Retransmissions = k.retransmitted
		}
		r.Paused = []link.Paused{{Hosts: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, k.of})}, Most: k.most}}
		x := &text{Options: Options{Width: 2000}, res: r}
		if got := x.waitsTold(); !strings.Contains(got, "all wait for 10.0.0.2") || !strings.Contains(got, k.want) || strings.Contains(got, k.not) {
			t.Errorf("pauses of %v by host %d: %s", k.most, k.of, got)
		}
	}
}

// TestStragglerOfRing: of hosts that go on by themselves after about as long in each round, the one is told that begins a few of them late, with when and by how much that is more than usual; and none where it does not, though it goes on by itself, too.
func TestStragglerOfRing(t *testing.T) {
	const hosts, rounds, steps = 6, 13, 10
	job := func(late map[int]int64) map[[2]byte][]int64 {
		sent := map[[2]byte][]int64{}
		next := make([]int64, hosts)
		for n := range rounds {
			var at [steps][hosts]int64
			for s := range steps {
				for h := range hosts {
					if at[s][h] = next[h] + 1; s > 0 {
						at[s][h] = max(at[s-1][h], at[s-1][(h+hosts-1)%hosts]) + 10
					} else if h == 4 {
						at[s][h] += late[n]
					}
					key := [2]byte{byte(h), byte((h + 1) % hosts)}
					sent[key] = append(sent[key], at[s][h])
				}
			}
			for h := range hosts { // at times that differ, host 4 often first
				next[h] = at[steps-1][h] + 24000 + int64((h*7+n*5)%11)*80
				if h == 4 && n%2 == 0 {
					next[h] -= 900
				}
			}
		}
		return sent
	}
	told := func(late map[int]int64) string {
		var b bytes.Buffer
		r := between(job(late))
		for i := range r.Connections {
			r.Connections[i].Ends[0].Messages, r.Connections[i].Ends[0].Bytes = rounds*steps, rounds*steps<<13
		}
		x := &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: r}
		x.waits()
		if err := x.out.Flush(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	const each = "): 12.7ms at +0.087214 s, 13.44ms at +0.125305 s and 20.46ms at +0.270060 s; in the 10 other rounds it began no later than the last of them."
	if got := told(map[int]int64{3: 14000, 4: 13200, 9: 22000}); !strings.Contains(got, "Waits: all wait for 10.0.0.4, the straggler of all 3 rounds") || !strings.Contains(got, each) {
		t.Errorf("late three times: %s", got)
	}
	if got := told(nil); got != "" {
		t.Errorf("never late: %s", got)
	}
}
