package report

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// between is a run of connections on which hosts sent messages at times, microseconds, by the hosts' numbers.
func between(sent map[[2]byte][]int64) *agent.Result {
	r := &agent.Result{RDMA: 1, Packets: 1, First: 1, Last: int64(time.Second)}
	for from := range byte(8) {
		for to := range byte(8) {
			at := sent[[2]byte{from, to}]
			if at == nil {
				continue
			}
			c := agent.Connection{Service: packet.RC, First: 1, Timing: timing.New(nil)}
			c.Ends[0].Addr, c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, from}), packet.IPv4Addr([]byte{10, 0, 0, to})
			for _, us := range at {
				c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: us * 1000, End: us*1000 + 500})
			}
			r.Connections = append(r.Connections, c)
		}
	}
	return r
}

// TestWaits: of hosts that wait for one another the one is told that the others wait for; not where all go on by themselves, where there are two hosts, or where another sends far less.
func TestWaits(t *testing.T) {
	const rounds = 40
	ring := func(late byte, by int64) map[[2]byte][]int64 {
		sent := map[[2]byte][]int64{}
		for n := range int64(rounds) {
			at := 1 + n*20000
			for from := range byte(4) {
				hops := int64(from+4-late) % 4
				begin := at + 2000 + by
				if from != late {
					begin += hops * 10
				}
				to := (from + 1) % 4
				sent[[2]byte{from, to}] = append(sent[[2]byte{from, to}], begin)
			}
		}
		return sent
	}
	extra := func(to byte) map[[2]byte][]int64 { // host 0 sends something more at the end of each second round
		sent := ring(2, 3000)
		for n := int64(0); n < rounds; n += 2 {
			sent[[2]byte{0, to}] = append(sent[[2]byte{0, to}], 1+n*20000+5100)
		}
		return sent
	}
	all := func(by int64) map[[2]byte][]int64 {
		sent := map[[2]byte][]int64{}
		for n := range int64(rounds) {
			at := 1 + n*20000
			for peer := byte(1); peer < 4; peer++ {
				sent[[2]byte{0, peer}] = append(sent[[2]byte{0, peer}], at+int64(peer))
				back := at + int64(peer)*20
				if peer == 2 {
					back += by
				}
				sent[[2]byte{peer, 0}] = append(sent[[2]byte{peer, 0}], back)
			}
			at += 100 + by
			sent[[2]byte{0, 1}] = append(sent[[2]byte{0, 1}], at)
		}
		return sent
	}
	turns := map[[2]byte][]int64{} // of four that send to each other one is late, and another the next time
	for n := range int64(rounds) {
		for from := range byte(4) {
			for to := range byte(4) {
				if from == to {
					continue
				}
				at := 1 + n*20000 + int64(from)*10 + int64(to)
				if late := byte(n % 2); from == late {
					at += 18000
				}
				turns[[2]byte{from, to}] = append(turns[[2]byte{from, to}], at)
			}
		}
	}
	pauses := all(0)
	for _, list := range pauses {
		for n := range list {
			if n >= rounds/2 {
				list[n] += 1e6
			}
		}
	}
	both := map[[2]byte][]int64{} // rings of either direction, which each host begins by itself, at times that differ
	for n := range int64(rounds) {
		for from := range byte(4) {
			for _, to := range []byte{(from + 1) % 4, (from + 3) % 4} {
				both[[2]byte{from, to}] = append(both[[2]byte{from, to}], 1+n*40000+(int64(from)*7+n*13)%11*400)
			}
		}
	}
	ready := func(apart int64, served bool) map[[2]byte][]int64 { // 1 and 2 ask host 0 for data, the one so long after the other, and get it at once, or once both did
		sent := map[[2]byte][]int64{}
		for n := range int64(rounds) {
			at := 1 + n*20000
			sent[[2]byte{1, 0}] = append(sent[[2]byte{1, 0}], at)
			sent[[2]byte{2, 0}] = append(sent[[2]byte{2, 0}], at+apart)
			for k := range int64(4) {
				to := at + apart + 10
				if sent[[2]byte{0, 2}] = append(sent[[2]byte{0, 2}], to+k*200); served {
					to = at + 10
				}
				sent[[2]byte{0, 1}] = append(sent[[2]byte{0, 1}], to+k*200)
			}
		}
		for at := int64(1); at < rounds*20000; at += 900 { // others are never idle
			for from := byte(4); from < 7; from++ {
				sent[[2]byte{from, 3}] = append(sent[[2]byte{from, 3}], at)
			}
		}
		return sent
	}
	chain := map[[2]byte][]int64{} // 0 sends to 1, which passes it on
	for n := range int64(rounds) {
		for from := range byte(4) {
			chain[[2]byte{from, from + 1}] = append(chain[[2]byte{from, from + 1}], 1+n*20000+int64(from)*10)
		}
	}
	seldom := all(15000)
	seldom[[2]byte{3, 0}] = seldom[[2]byte{3, 0}][:20]
	passed, more := all(15000), all(15000) // what 2 sends comes at once after a message of 3
	for n, at := range passed[[2]byte{2, 0}] {
		passed[[2]byte{3, 2}] = append(passed[[2]byte{3, 2}], at-20)
		more[[2]byte{3, 2}] = append(more[[2]byte{3, 2}], at-40, at-20)
		if n%2 == 0 {
			more[[2]byte{3, 2}] = append(more[[2]byte{3, 2}], at-60)
		}
	}
	for _, list := range more {
		slices.Sort(list)
	}
	for _, k := range []struct {
		name string
		of   map[[2]byte][]int64
		want string
	}{
		{"ring", ring(2, 3000), "Waits: 10.0.0.0, 10.0.0.1 and 10.0.0.3 send nothing for long until a message of the host before them comes, and then go on at once; first of all they wait for 10.0.0.2, which goes on by itself, up to "},
		{"ring, and another sends to the one that is late, too", extra(2), "Waits: 10.0.0.0, 10.0.0.1 and 10.0.0.3 send nothing for long until a message of the host before them comes, and then go on at once; first of all they wait for 10.0.0.2, which"},
		{"ring, and another sends to one that waits, too", extra(3), ""},
		{"a chain, as fast as its first host sends", chain, ""},
		{"two rings, and none is late", both, ""},
		{"one is late", all(15000), "Waits: 10.0.0.0 had no message for up to 14.98ms, 40 times, 599.2ms in all, until one of 10.0.0.2 came, and it went on within 59.5µs of that; the other peers send as many. The program on 10.0.0.2 was late"},
		{"one passes on what another is late with", passed, "Waits: 10.0.0.2 had no message for up to 15.02ms, 40 times, 600.7ms in all, until one of 10.0.0.3 came, and it went on within 19.5µs of that"},
		{"one passes on, and has more messages of the other", more, ""},
		{"the first of each round, after a pause", ready(3000, true), ""},
		{"the last, which the first waits for", ready(15000, false), "until one of 10.0.0.2 came, and it went on within"},
		{"a server", all(15000), ""},
		{"none is late", all(0), ""},
		{"two are late in turn", turns, "until one of 10.0.0.0 or 10.0.0.1 came, and they went on within "},
		{"all pause once", pauses, ""},
		{"another sends far less", seldom, ""},
		{"two hosts", map[[2]byte][]int64{{0, 1}: ring(0, 0)[[2]byte{0, 1}], {1, 0}: ring(0, 0)[[2]byte{1, 2}]}, ""},
	} {
		var b bytes.Buffer
		x := &text{Options: Options{Width: 800}, out: bufio.NewWriter(&b), res: between(k.of)}
		if k.name == "a server" { // which a client asks at its leisure
			for n := range x.res.Connections {
				if c := &x.res.Connections[n]; c.Ends[0].Addr == packet.IPv4Addr([]byte{10, 0, 0, 2}) {
					for e := range c.Ends {
						c.Timing.Ends[e].Ops[wqe.Send] = new(timing.Operation)
						c.Ends[e].Messages, c.Timing.Ends[e].Turns = 200, timing.Turns{Count: 200, Usual: []time.Duration{600 * time.Millisecond, 8 * time.Millisecond}[e]}
					}
				}
			}
		}
		told := x.waits()
		if err := x.out.Flush(); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		if told != (got != "") || k.want == "" && got != "" || !strings.Contains(got, k.want) {
			t.Errorf("%s: %q\nwant %q", k.name, got, k.want)
		}
	}
}

// TestRootWaits: of hosts that wait for others, those count that wait for one which waits for nobody; all do where there is none.
func TestRootWaits(t *testing.T) {
	waits := func(on int) timing.HostWaits {
		return timing.HostWaits{
			Peers: []timing.PeerMessages{{Host: 0, Count: 40}, {Host: 1, Count: 40}, {Host: 2, Count: 40}},
			For:   []timing.WaitFor{{Host: on, Count: 40, Time: 600 * time.Millisecond, Longest: 20 * time.Millisecond}}, To: int64(time.Second),
		}
	}
	for _, k := range []struct {
		name string
		all  []timing.HostWaits
		want []int // how many each waits for
	}{
		{"a chain", []timing.HostWaits{waits(1), waits(2), {}}, []int{0, 1, 0}},
		{"in turn", []timing.HostWaits{waits(1), waits(0), {}}, []int{1, 1, 0}},
		{"for one", []timing.HostWaits{waits(2), waits(2), {}}, []int{1, 1, 0}},
	} {
		for n, list := range rootWaits(k.all) {
			if len(list) != k.want[n] {
				t.Errorf("%s: host %d waits for %+v", k.name, n, list)
			}
		}
	}
}

// waits tells what waitsTold does, and reports whether there is something.
func (t *text) waits() bool {
	s := t.waitsTold()
	if s != "" {
		t.prose("  ", s)
	}
	return s != ""
}
