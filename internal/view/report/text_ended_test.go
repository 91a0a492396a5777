package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestEnded: it is told where a host disconnects all connections that another had with it, which then connects once more, and that Keep Alives had stayed away before; not where the other ended them itself, one went
// on, it did not come back, or did so at once.
func TestEnded(t *testing.T) {
	const (
		s     = int64(time.Second)
		ended = "Ended: 10.0.0.5 disconnected all 2 connections with 10.0.0.31 at +12.000000 s (frame 100), though nothing of the transport had failed; 10.0.0.31 connected once more 6s later, in frame 300."
		keeps = " The newest NVMe Keep Alive of 10.0.0.31 had come 5s before, after 2 others on the connection; other commands went on until 100ms before: a target ends the connections of a host whose Keep Alives " +
			"stay away for the timeout that the host gave when it connected. Look at what sends them on 10.0.0.31."
	)
	host, target := packet.IPv4Addr([]byte{10, 0, 0, 31}), packet.IPv4Addr([]byte{10, 0, 0, 5})
	for name, tt := range map[string]struct {
		change func(list []agent.Connection)
		want   string
	}{
		"Keep Alives stopped":  {func([]agent.Connection) {}, ended + keeps},
		"they went on":         {func(list []agent.Connection) { list[0].Upper.Classes[0].Newest = 11*s + s/2 }, ended},
		"all commands stopped": {func(list []agent.Connection) { list[1].Upper.Classes[0].Newest = 6 * s }, ended},
		"the host ended them":  {func(list []agent.Connection) { list[0].Closed.By, list[1].Closed.By = host, host }, ""},
		"one went on":          {func(list []agent.Connection) { list[1].Closed = agent.Closed{} }, ""},
		"one ended later":      {func(list []agent.Connection) { list[1].Closed.At += 2 * s }, ""},
		"it did not come back": {func(list []agent.Connection) { list[2].Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 32}) }, ""},
		"at once":              {func(list []agent.Connection) { list[2].First = 12*s + s/2 }, ""},
	} {
		list := make([]agent.Connection, 3)
		for n := range list {
			c := &list[n]
			c.Service, c.PairedBy, c.First, c.FirstFrame = packet.RC, agent.ByCM, s, 1
			c.Ends[0].Addr, c.Ends[1].Addr = host, target
			if n < 2 {
				c.Closed = agent.Closed{By: target, At: 12*s + int64(1-n), Frame: uint64(101 - n)}
			}
		}
		list[0].Upper = &agent.Upper{Classes: []agent.Class{{Name: "NVMe Keep Alive", Answers: 3, Newest: 7 * s}}}
		list[1].Upper = &agent.Upper{Classes: []agent.Class{{Name: "NVMe Read", Answers: 900, Newest: 12*s - s/10}}}
		list[2].First, list[2].FirstFrame = 18*s, 300
		tt.change(list)
		var b bytes.Buffer
		x := &text{Options: Options{Width: 2000}, out: bufio.NewWriter(&b), res: &agent.Result{Connections: list}}
		x.ended()
		if err := x.out.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); got != tt.want {
			t.Errorf("%s: %q\nwant %q", name, got, tt.want)
		}
	}
}
