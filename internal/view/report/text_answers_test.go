package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
)

// exchange is two ends of which the second answers each message of the first with one of its own. The first has some outstanding at a time.
type exchange struct {
	depth, n int
	before   uint32                        // messages of each end before the capture
	apart    uint32                        // by how many more the MSNs of the first end count them
	took     func(i int) time.Duration     // how long message i waits; 0: for ever
	open     func(i, depth int) (most int) // how many may be outstanding when message i is sent; nil: depth
	late     time.Duration                 // until the first sends after the last answer
	pause    func(i int) time.Duration     // likewise before message i; nil: none
}

const answered = 2 * time.Millisecond

func steady(int) time.Duration { return answered }

// timed is what is measured of it, when its last message came, and the result that a connection of such makes.
func (x exchange) timed() (c *timing.Connection, last int64) {
	c = timing.New(nil)
	p := &pair.Pair{Service: packet.RC, Paired: true}
	for k := range p.Ends {
		p.Ends[k].Direction = pair.NewDirection()
	}
	now, frame := int64(time.Hour), uint64(0)
	var sent [2]uint32
	message := func(from int) {
		psn := packet.PSN(x.before + sent[from])
		sent[from]++
		frame += 2
		c.Packet(p, from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: now, Frame: frame - 1})
		p.Ends[from].SQ.Una = psn.Add(1)
		c.Packet(p, 1-from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), Syndrome: 0x1f, MSN: x.before + sent[from] + x.apart*uint32(1-from), PSN: psn, Time: now + 5000, Frame: frame})
		last = now + 5000
	}
	var due []int64 // when the messages that wait are answered
	for i := 0; i < x.n; {
		most := x.depth
		if x.open != nil {
			most = x.open(i, x.depth)
		}
		if len(due) < most {
			if len(due) == 0 {
				now += int64(x.late)
				if x.pause != nil {
					now += int64(x.pause(i))
				}
			}
			message(0)
			at := int64(1) << 62
			if d := x.took(i); d > 0 {
				at = now + int64(d)
			}
			due = append(due, at)
			now += int64(10 * time.Microsecond)
			i++
			continue
		}
		if due[0] == 1<<62 {
			break
		}
		now = max(now, due[0])
		message(1)
		due = due[1:]
		now += int64(10 * time.Microsecond)
	}
	for _, at := range due {
		if at < 1<<62 {
			now = max(now, at)
			message(1)
		}
	}
	return c, last
}

// connection is one between two hosts whose messages were those of an exchange, beside others of a run that ends ten seconds later.
func (x exchange) connection(client, server byte) agent.Connection {
	m, last := x.timed()
	c := agent.Connection{Service: packet.RC, First: int64(time.Hour), Timing: m}
	for k, host := range []byte{client, server} {
		c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: 0x20 + uint32(k), QPNKnown: true, Packets: 9, Messages: uint64(x.n), Last: last}
	}
	return c
}

func after(list ...agent.Connection) *agent.Result {
	r := &agent.Result{RDMA: 6, Packets: 6, First: int64(time.Hour), Connections: list}
	for i := range list {
		r.Last = max(r.Last, list[i].Ends[0].Last+int64(10*time.Second))
	}
	return r
}

// stops has messages be answered up to one, and none from that on.
func stops(at int) func(i int) time.Duration {
	return func(i int) time.Duration {
		if i >= at {
			return 0
		}
		return answered
	}
}

// TestHangs: an end that answered each message of its peer and does so no more is told, whenever the capture began, with how many messages wait; not one whose peer stopped to ask, as far as the beginning
// shows who asks, not where requests wait for their ACKs, or for a moment.
func TestHangs(t *testing.T) {
	const hangs = "answered each of "
	burst := func(i, depth int) int { return []int{depth, 1}[i/50%2] }
	for _, k := range []struct {
		name   string
		of     exchange
		change func(r *agent.Result, c *agent.Connection)
		want   string
	}{
		{"full", exchange{depth: 8, n: 4000, took: stops(1000)}, nil, "1,000 messages of 10.0.0.1 QP 0x20 with one of its own, 2ms later in the mean, up to 8 at once; 8 more have no answer: none has come since "},
		{"one at a time", exchange{depth: 1, n: 400, took: stops(200)}, nil, "200 messages of 10.0.0.1 QP 0x20 with one of its own, 2ms later in the mean; one more has no answer: none has come since "},
		{"one at a time, seldom", exchange{depth: 1, n: 400, took: stops(200), late: answered}, nil, ", though its adapter acknowledged each: its program waits or hangs, unless the two send without waiting for each other."},
		{"midstream", exchange{depth: 8, n: 4000, took: stops(1000), before: 5000}, nil, "1,000 messages of 10.0.0.1 QP 0x20 with one of its own, 2ms later in the mean, up to 8 at once; 8 more have no answer: none has come since "},
		{"bursts", exchange{depth: 16, n: 4000, took: stops(1000), open: burst}, nil, " more have no answer: none has come since "},
		{"disconnected", exchange{depth: 8, n: 4000, took: stops(1000)}, func(r *agent.Result, c *agent.Connection) {
			c.Closed = agent.Closed{By: c.Ends[0].Addr, At: r.Last}
		}, "for 10s, until 10.0.0.1 disconnected, though its adapter acknowledged each: its program waits or hangs."},
		{"client stops", exchange{depth: 8, n: 1000, took: steady}, nil, ""},
		{"client stops midstream", exchange{depth: 8, n: 1000, took: steady, before: 5000}, nil, ""},
		{"client stops after bursts", exchange{depth: 16, n: 1000, took: steady, open: burst, before: 5000}, nil, ""},
		{"few", exchange{depth: 4, n: 400, took: stops(30)}, nil, ""},
		{"for a moment", exchange{depth: 8, n: 4000, took: stops(1000)}, func(r *agent.Result, _ *agent.Connection) { r.Last -= int64(9500 * time.Millisecond) }, ""},
		{"unacknowledged", exchange{depth: 8, n: 4000, took: stops(1000)}, func(_ *agent.Result, c *agent.Connection) { c.Ends[0].Open = 1 }, ""},
		{"clock set", exchange{depth: 8, n: 4000, took: stops(1000)}, func(r *agent.Result, _ *agent.Connection) { r.Clock.Count = 1 }, ""},
		{"commands", exchange{depth: 8, n: 4000, took: stops(1000)}, func(_ *agent.Result, c *agent.Connection) {
			c.Upper = &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Answers: 9, Slowest: &agent.Operation{}}
		}, ""},
	} {
		r := after(k.of.connection(1, 2))
		if k.change != nil {
			k.change(r, &r.Connections[0])
		}
		got := reportOf(t, r)
		if k.want == "" && (strings.Contains(got, hangs) || strings.Contains(got, "hangs")) || !strings.Contains(got, k.want) || k.want != "" && !strings.Contains(got, "10.0.0.2 QP 0x21 "+hangs) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestStopped: an end that kept pace with its peer, and does so no more, is told where it is not known who answers whom; not where neither sends anything any more.
func TestStopped(t *testing.T) {
	few := func(i, depth int) int { return 1 + min(i/1000, 1)*depth } // more only at last
	stopped := exchange{depth: 20, n: 4000, took: stops(999), before: 5000, apart: 70000, open: few}
	const want = "10.0.0.2 QP 0x21 sent a message for each of 10.0.0.1 QP 0x20, 999 that were seen, and never were the two more than 1 apart; it has sent none since "
	if got := reportOf(t, after(stopped.connection(1, 2))); !strings.Contains(got, want) || !strings.Contains(got, "while 21 more came that its adapter acknowledged: its program waits or hangs, if it is the one that answers.") {
		t.Error(got)
	}
	stopped.n, stopped.took = 1000, steady
	if got := reportOf(t, after(stopped.connection(1, 2))); strings.Contains(got, "sent a message for each") {
		t.Errorf("both: %s", got)
	}
}

// TestHangsOfSilentHost: where a host answers no request on another connection either, and sends nothing, it is not its program that is told to hang; where it sends something later, it is.
func TestHangsOfSilentHost(t *testing.T) {
	list := []agent.Connection{exchange{depth: 8, n: 4000, took: stops(1000)}.connection(1, 2), exchange{depth: 8, n: 4000, took: stops(1000)}.connection(1, 2)}
	list[1].Timing = nil
	asker, host := &list[1].Ends[0], &list[1].Ends[1]
	asker.Stalled, asker.Trouble = true, &pair.Trouble{Now: pair.Stall{Since: host.Last, Begun: host.Last + int64(time.Millisecond), Last: host.Last + int64(time.Second)}}
	const silent = "10.0.0.2 owes answers on 10.0.0.1 QP 0x20, too, to what its adapter had acknowledged: nothing of it came on any connection since, see above."
	if got := reportOf(t, after(list...)); !strings.Contains(got, silent) || strings.Contains(got, "program waits or hangs") {
		t.Error(got)
	}
	host.Last += int64(2 * time.Second)
	if got := reportOf(t, after(list...)); strings.Contains(got, "owes answers") || !strings.Contains(got, "program waits or hangs") {
		t.Errorf("later: %s", got)
	}
}

// TestHangsOfOneHost: a host that answers on several connections no more is told once, with those on which it goes on, and is not told to be quiet.
func TestHangsOfOneHost(t *testing.T) {
	hung, goes := exchange{depth: 8, n: 4000, took: stops(1000)}, exchange{depth: 4, n: 30000, took: steady}
	one := reportOf(t, after(hung.connection(1, 2), goes.connection(1, 2)))
	if !strings.Contains(one, "its program waits or hangs. On 1 other connection it went on: the host is up.") || strings.Contains(one, "Idle") {
		t.Error(one)
	}
	got := reportOf(t, after(hung.connection(1, 2), hung.connection(3, 2), hung.connection(4, 2)))
	const want = "10.0.0.2 answered each message of 10.0.0.1, 10.0.0.3 and 10.0.0.4 on 3 connections with one of its own, and does so no more: 24 messages have none for 10"
	if !strings.Contains(got, want) || strings.Contains(got, "Quiet") || strings.Count(got, "hangs") != 1 {
		t.Error(got)
	}
}

// TestAnswersSlow: how long an end took to answer is told where it took many times as long from some time on, or long at times, and with how many more outstanding it did; not where it did not.
func TestAnswersSlow(t *testing.T) {
	const us, answers = time.Microsecond, "10.0.0.2 QP 0x21 answers each message of 10.0.0.1 QP 0x20 with one of its own"
	from := func(at int, d time.Duration) func(i int) time.Duration {
		return func(i int) time.Duration {
			if i >= at {
				return d
			}
			return 400 * us
		}
	}
	rare := func(i int) time.Duration {
		if i%300 == 299 {
			return 80 * time.Millisecond
		}
		return 400 * us
	}
	stopped := func(i int) time.Duration {
		if i == 599 {
			return 3 * time.Second
		}
		return rare(i)
	}
	more := func(i, depth int) int { return []int{1, depth}[min(i/3000, 1)] }
	busy := func(i int) time.Duration { return time.Duration(1+i/3000*15) * 400 * us }
	for _, k := range []struct {
		name string
		of   exchange
		want string
	}{
		{"midway", exchange{depth: 8, n: 6000, took: from(4000, 8*time.Millisecond)}, answers + ", up to 8 at once: from about +0.26 s on it took 20 times as long, 8ms in place of 400.2µs in the mean, at 983 in place of 15,808 a second, if it answers them in the order in which they came, while"},
		{"at times", exchange{depth: 8, n: 3000, took: rare}, answers + ", up to 8 at once: "},
		{"at times, one at a time", exchange{depth: 1, n: 3000, took: rare}, answers + ": usually 393.2µs later, but 10 times 10ms or more, at most 80ms (frame 1199), while"},
		{"stopped once, one at a time", exchange{depth: 1, n: 3000, took: stopped}, answers + ": usually 393.2µs later, but up to 3s (frame 2399), and 9 times more 10ms or longer, while"},
		{"midway, one at a time", exchange{depth: 1, n: 6000, took: from(4000, 8*time.Millisecond)}, "8ms in place of 400µs in the mean, at 123 in place of 1,969 a second, while"},
		{"steady", exchange{depth: 8, n: 3000, took: from(3000, 0)}, ""},
		{"more to answer", exchange{depth: 16, n: 6000, took: busy, open: more}, ", with 15 in place of 0.98 outstanding, "},
	} {
		got := reportOf(t, after(k.of.connection(1, 2)))
		if k.want == "" && strings.Contains(got, "answers each") || !strings.Contains(got, k.want) {
			t.Errorf("%s: %s", k.name, got)
		}
		if k.want != "" && !strings.Contains(got, ", while no request waited longer than 5µs for its ACK: the time went by in its program, or where that waits.") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestStoppedBeside: a program that stopped for so long that whoever waits takes notice is told beside what happened on other connections too, and as nothing of the transport where nothing did.
func TestStoppedBeside(t *testing.T) {
	for _, k := range []struct {
		most   time.Duration
		beside bool
		want   bool
	}{{3 * time.Second, false, true}, {3 * time.Second, true, true}, {80 * time.Millisecond, true, false}} {
		r := after(exchange{depth: 1, n: 3000, took: func(i int) time.Duration {
			return map[bool]time.Duration{false: 400 * time.Microsecond, true: k.most}[i == 1500]
		}}.connection(1, 2))
		if k.beside {
			r.Connections = append(r.Connections, exchange{depth: 1, n: 10, took: steady}.connection(7, 8))
			r.Connections[1].Ends[0].Open, r.Connections[1].Ends[0].OpenSince, r.Connections[1].Ends[0].OpenFrame = 1, r.First, 1
		}
		got := reportOf(t, r)
		if strings.Contains(got, "later, but once 3s (frame ") != k.want || strings.Contains(got, "Nothing of the transport: ") == k.beside {
			t.Errorf("%v, beside another: %v: %s", k.most, k.beside, got)
		}
	}
}

// TestSlowOfOneHost: a host that took long to answer on several connections is told once.
func TestSlowOfOneHost(t *testing.T) {
	rare := exchange{depth: 1, n: 3000, took: func(i int) time.Duration {
		return []time.Duration{400 * time.Microsecond, 80 * time.Millisecond}[i%300/299]
	}}
	got := reportOf(t, after(rare.connection(1, 2), rare.connection(3, 2), rare.connection(3, 4)))
	if strings.Count(got, "at most 80ms") != 2 || strings.Count(got, " On 1 other connection of 10.0.0.2 it took long, too.") != 1 {
		t.Error(got)
	}
}

// TestChangesOfOneHost: where answers of one host took many times as long on several connections at the same time, that is told once, and beside what happened on others too.
func TestChangesOfOneHost(t *testing.T) {
	midway := exchange{depth: 8, n: 6000, took: func(i int) time.Duration {
		return []time.Duration{400 * time.Microsecond, 8 * time.Millisecond}[i/4000]
	}}
	list := []agent.Connection{midway.connection(1, 2), midway.connection(3, 2), midway.connection(1, 4)}
	for _, more := range []bool{false, true} {
		r := after(list...)
		if more {
			r.Connections = append(r.Connections, exchange{depth: 1, n: 10, took: steady}.connection(7, 8))
			r.Connections[3].Ends[0].Open, r.Connections[3].Ends[0].OpenSince, r.Connections[3].Ends[0].OpenFrame = 1, r.First, 1
		}
		got := reportOf(t, r)
		if strings.Count(got, "from about +0.26 s on it took 20 times as long") != 2 || strings.Count(got, " On 1 other connection of 10.0.0.2 it took many times as long then, too.") != 1 || more == strings.Contains(got, "Nothing: ") {
			t.Errorf("%v: %s", more, got)
		}
	}
}

// TestQuietServer: hosts that have nothing more to ask a server are not told to be quiet with it, as a ring is: the server only answers.
func TestQuietServer(t *testing.T) {
	stops := exchange{depth: 4, n: 400, took: steady}
	if got := reportOf(t, after(stops.connection(1, 2), stops.connection(3, 2))); strings.Contains(got, "Quiet") {
		t.Error(got)
	}
}

// TestStoppedHead: the verdict line says that a program answers no more where that outlasts by far what incidents cost, and so does what is told first; not where something cost long, or the two may send without waiting for each other.
func TestStoppedHead(t *testing.T) {
	lossOf := func(lost time.Duration) *pair.Trouble {
		k := &pair.Trouble{Again: pair.Sums{Packets: 1}}
		k.Sum = pair.Stalls{Count: 1, Lost: int64(lost), Begun: int64(time.Hour), Last: int64(time.Hour) + int64(lost)}
		k.Sum.Rounds[pair.TimerExpired] = 1
		return k
	}
	full, seldom := exchange{depth: 8, n: 4000, took: stops(1000)}, exchange{depth: 1, n: 400, took: stops(200), late: answered}
	for _, k := range []struct {
		name string
		of   exchange
		lost time.Duration
		want string // the verdict line begins so
	}{
		{"nothing else", full, 0, "STOPPED nothing violated, but 10.0.0.2 QP 0x21 answers no more from +"},
		{"a short loss", full, time.Millisecond, "STOPPED nothing violated, but 10.0.0.2 QP 0x21 answers no more from +"},
		{"a long one", full, 300 * time.Millisecond, "INCIDENT nothing violated, but 1 incident;"},
		{"it may wait for nothing", seldom, 0, "CLEAN"},
		{"it answers", exchange{depth: 8, n: 1000, took: steady}, time.Millisecond, "INCIDENT"},
	} {
		r := after(k.of.connection(1, 2))
		if k.lost > 0 {
			r.Connections[0].Ends[0].Trouble = lossOf(k.lost)
		}
		got := reportOf(t, r)
		stopped := strings.HasPrefix(k.want, "STOPPED")
		if !strings.HasPrefix(got, k.want) || stopped && k.lost > 0 && strings.Index(got, "answered each of") > strings.Index(got, "retransmitted") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestOnlyFewer: an end that sends fewer messages than its peer, so that the most that ever seemed to wait do when the capture ends, answers none of them late, as far as is known; not where few do, of many.
func TestOnlyFewer(t *testing.T) {
	c := &agent.Connection{Service: packet.RC}
	for e := range c.Ends {
		c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: uint32(16 + e), QPNKnown: true}
	}
	const late = "10.0.0.2 QP 0x11 answers each message of 10.0.0.1 QP 0x10 with one of its own"
	for _, k := range []struct {
		name     string
		depth    int
		open     int
		requests uint64
		told     bool
	}{
		{"84 for 93", 10, 9, 93, false},
		{"all were answered", 10, 0, 93, true},
		{"as many wait all the time", 10, 9, 1000, true},
		{"few wait", 10, 5, 93, true},
		{"one at a time", 1, 1, 9, true},
	} {
		w := new(timing.Waits)
		for n := range int64(60) {
			w.Add(344*time.Millisecond, int64(time.Hour)+n*int64(time.Second), 10)
		}
		a := timing.Answers{By: 1, Depth: k.depth, Open: k.open, Requests: k.requests, Waits: w}
		if got := answersOf(c, &a); strings.HasPrefix(got, late) != k.told {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
