package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
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
	for _, k := range []struct {
		name string
		list []agent.Connection
		open agent.Open
		want string
	}{
		{"nothing to look at", nil, agent.Open{}, ""},
		{"RC", []agent.Connection{connection(packet.RC, 0x20)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused."},
		{"RC with CM", []agent.Connection{connection(packet.UD, 1), connection(packet.RC, 0x20)}, agent.Open{}, "Nothing: every request that the capture shows was answered, and none was retransmitted or refused."},
		{"open", []agent.Connection{connection(packet.RC, 0x20)}, agent.Open{Requests: 1, Waited: time.Millisecond}, "Nothing: every request that the capture shows was answered but one, sent shortly before the capture ended, and none was retransmitted or refused."},
		{"one way", []agent.Connection{oneWay}, agent.Open{}, "Nothing: the capture shows one direction of the connection only, so that it does not show what was answered there."},
		{"retransmitted", []agent.Connection{again}, agent.Open{}, "Nothing of note: 2 packets retransmitted and 1 NAK sent, and every request that the capture shows was answered."},
		{"UC", []agent.Connection{connection(packet.UC, 0x20)}, agent.Open{}, "Nothing that packets show: no PSN is missing on UC, which acknowledges nothing: what else is lost shows only in event logs."},
		{"UD", []agent.Connection{connection(packet.UD, 0x20)}, agent.Open{}, "Nothing that packets show: UD acknowledges nothing: what is lost shows only in event logs."},
		{"MADs", []agent.Connection{connection(packet.UD, 1)}, agent.Open{}, "Nothing: every management request was answered."},
		{"MADs, open", []agent.Connection{connection(packet.UD, 1)}, agent.Open{Requests: 2, Waited: 5 * time.Second}, "Nothing: every management request was answered but 2, which had waited 5s when the capture ended."},
	} {
		var b bytes.Buffer
		run := &Run{Result: &agent.Result{RDMA: 6, Packets: 6, Connections: k.list, Open: k.open}}
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
