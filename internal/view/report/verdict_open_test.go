package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestOpenDirections: where two hosts send to each other and nothing is answered, each direction may be a connection of its own or not; of one that is paired, and of one that nothing comes back to, it is known.
func TestOpenDirections(t *testing.T) {
	half := func(from, to byte, by agent.PairedBy) (c agent.Connection) {
		c = agent.Connection{Service: packet.RC, PairedBy: by}
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, from}), Packets: 9, Open: 4, Retransmissions: 2}
		c.Ends[1].Addr = packet.IPv4Addr([]byte{10, 0, 0, to})
		return c
	}
	const no = agent.NotPaired
	for _, k := range []struct {
		name string
		list []agent.Connection
		want string
	}{
		{"two of each direction", []agent.Connection{half(1, 2, no), half(2, 1, no), half(1, 2, no), half(2, 1, no)}, " on 2 to 4 connections without"},
		{"more of one", []agent.Connection{half(1, 2, no), half(2, 1, no), half(1, 2, no)}, " on 2 to 3 connections without"},
		{"one direction", []agent.Connection{half(1, 2, no), half(1, 2, no), half(3, 1, no)}, " on 3 connections without"},
		{"paired", []agent.Connection{half(1, 2, agent.ByCM), half(2, 1, agent.ByCM)}, " on 2 connections without"},
	} {
		r := &agent.Result{Connections: k.list, Open: agent.Open{Requests: 16, Connections: len(k.list), Again: true, Waited: time.Second}}
		if got := openOf(r); !strings.Contains(got, k.want) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestOpenAtEnd: requests that have waited far longer than an answer takes, as a rule, are not as in any capture.
func TestOpenAtEnd(t *testing.T) {
	for _, k := range []struct {
		open agent.Open
		want string
	}{
		{agent.Open{Waited: 20 * time.Millisecond}, "when the capture ended, after up to 20ms"},
		{agent.Open{Waited: 20 * time.Millisecond, Unclocked: true}, "when the capture ended, as in any capture that is stopped under load"},
		{agent.Open{Waited: 20 * time.Millisecond, Unclocked: true, Apart: true}, "after them: the clocks of the interfaces differ, and it may be dated before its request"},
		{agent.Open{Waited: 20 * time.Microsecond}, "when the capture ended, as in any capture that is stopped under load"},
	} {
		k.open.Requests, k.open.Connections = 1, 1
		if got := OpenRequests(&k.open); !strings.HasPrefix(got, "1 request on 1 connection had no response ") || !strings.HasSuffix(got, k.want) || k.open.Apart == strings.Contains(got, "yet") {
			t.Errorf("%+v: %s", k.open, got)
		}
	}
}
