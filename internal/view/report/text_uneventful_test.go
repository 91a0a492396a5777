package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// TestUneventful: where nothing happened that is told, that is said for each service, and what would not show.
func TestUneventful(t *testing.T) {
	connection := func(s packet.Service, qpn uint32) agent.Connection {
		c := agent.Connection{Service: s}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.LIDAddr(uint16(k + 1)), QPN: qpn, QPNKnown: true, Packets: 3, Messages: 3}
		}
		return c
	}
	oneWay := connection(packet.RC, 0x20)
	oneWay.Ends[1].Packets = 0
	again := connection(packet.RC, 0x20)
	again.Ends[0].Retransmissions, again.Ends[1].NAKs = 2, 1
	unused := connection(packet.RC, 0x21)
	unused.Ends[0].Packets, unused.Ends[1].Packets = 0, 0
	over := connection(packet.RC, 0x20)
	over.Closed.At, over.Ends[0].Open = 5, 3
	closed := func(by byte) agent.Connection {
		c := connection(packet.RC, 0x20)
		c.Closed = agent.Closed{By: packet.IPv4Addr([]byte{10, 0, 0, by}), At: 5, Frame: 7}
		return c
	}
	for _, k := range []struct {
		name    string
		list    []agent.Connection
		open    agent.Open
		want    string
		awaited uint64 // management requests
	}{
		{"nothing to look at", nil, agent.Open{}, "", 0},
		{"RC", []agent.Connection{connection(packet.RC, 0x20)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused.", 0},
		{"RC with CM", []agent.Connection{connection(packet.UD, 1), connection(packet.RC, 0x20)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused.", 0},
		{"open", []agent.Connection{connection(packet.RC, 0x20)}, agent.Open{Requests: 1, Waited: time.Millisecond}, "Nothing: every request that the capture shows was answered but one, sent shortly before the capture ended, and none was retransmitted or refused.", 0},
		{"left by CM", []agent.Connection{over}, agent.Open{}, "Nothing: every request that the capture shows was answered but 3, which had no answer when CM ended the connection, and none was retransmitted or refused; CM ended the connection.", 0},
		{"left by CM, and open", []agent.Connection{over, connection(packet.RC, 0x20)}, agent.Open{Requests: 1}, "Nothing: every request that the capture shows was answered but one, sent shortly before the capture ended, and 3 that had no answer when CM ended the connection, and none was retransmitted or refused; CM ended 1 connection.", 0},
		{"ended by a host", []agent.Connection{closed(1)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused; 10.0.0.1 ended the connection, in frame 7.", 0},
		{"all ended by a host", []agent.Connection{closed(1), closed(1)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused; 10.0.0.1 ended all connections.", 0},
		{"ended by several", []agent.Connection{closed(1), closed(2)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused; CM ended all connections.", 0},
		{"one way", []agent.Connection{oneWay}, agent.Open{}, "Nothing: the capture shows one direction of the connection only, so that it does not show what was answered there.", 0},
		{"one unused", []agent.Connection{connection(packet.UD, 1), connection(packet.RC, 0x20), unused}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused.", 0},
		{"all unused", []agent.Connection{connection(packet.UD, 1), unused}, agent.Open{}, "Nothing: every management request was answered.", 0},
		{"retransmitted", []agent.Connection{again}, agent.Open{}, "Nothing of note: 2 packets retransmitted and 1 NAK sent, and every request that the capture shows was answered.", 0},
		{"UC", []agent.Connection{connection(packet.UC, 0x20)}, agent.Open{}, "Nothing that packets show: no PSN is missing on UC, which acknowledges nothing: what else is lost shows only in event logs.", 0},
		{"UD", []agent.Connection{connection(packet.UD, 0x20)}, agent.Open{}, "Nothing that packets show: UD acknowledges nothing: what is lost shows only in event logs, but for PSNs that are missing.", 0},
		{"MADs", []agent.Connection{connection(packet.UD, 1)}, agent.Open{}, "Nothing: every management request was answered.", 0},
		{"MADs, open", []agent.Connection{connection(packet.UD, 1)}, agent.Open{Requests: 2, Waited: 5 * time.Second}, "Nothing: every management request was answered but 2, which had waited 5s when the capture ended.", 2},
		{"MADs, asked just now", []agent.Connection{connection(packet.UD, 1)}, agent.Open{}, "Nothing: every management request was answered but one, which had waited 136ms when the capture ended.", 1},
	} {
		var b bytes.Buffer
		run := &Run{Result: &agent.Result{RDMA: 6, Packets: 6, Connections: k.list, Open: k.open, Last: int64(time.Second), AwaitedMADs: k.awaited, AwaitedSince: int64(864 * time.Millisecond)}}
		sink, err := New("text", Options{Width: 500})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, run); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(b.String(), "What happened\n  ")
		got, _, _ = strings.Cut(got, "\n\n")
		if got = strings.ReplaceAll(got, "\n  ", " "); got != k.want {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}

// TestCut: where nothing happened that is told, it is said of how many packets the snap length has cut what they carry.
func TestCut(t *testing.T) {
	c := agent.Connection{Service: packet.RC}
	for k := range c.Ends {
		c.Ends[k] = agent.End{Addr: packet.LIDAddr(uint16(k + 1)), QPN: 0x20, QPNKnown: true, Packets: 3, Messages: 3}
	}
	for _, cut := range []uint64{0, 4} {
		run := &Run{Result: &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c}}}
		if cut > 0 {
			run.Result.NotJudged = []agent.Note{{Reason: verifier.SkipCut.String(), Count: cut}}
		}
		var b bytes.Buffer
		sink, err := New("text", Options{Width: 500})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&b, run); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "\n  Cut: the snap length of the capture cut 4 of 6 packets, so that what these carry, and damage to it, was not"); got != (cut > 0) {
			t.Errorf("%d cut: %s", cut, &b)
		}
	}
}
