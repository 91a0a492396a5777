package agent

import (
	"bytes"
	"context"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestElsewhere: requests of which one direction only comes to the tap are not open, as they were answered elsewhere; but few are, those of a short
// time, retransmitted ones, and those of a connection of which an answer came. The list of connections says the same.
func TestElsewhere(t *testing.T) {
	send := func() *packet.Packet {
		return &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), Payload: make([]byte, 64)}
	}
	for _, k := range []struct {
		name     string
		requests int
		apart    time.Duration
		more     func(k *upperTalk)
		open     uint64
	}{
		{"for long", 9, 1100 * time.Millisecond, nil, 0},
		{"few", 7, 2 * time.Second, nil, 7},
		{"not for long", 9, 900 * time.Millisecond, nil, 9},
		{"retransmitted", 9, 1100 * time.Millisecond, func(k *upperTalk) {
			k.psn[0] = k.psn[0].Add(-1)
			k.request(0, send(), 1, false)
		}, 9},
		{"answered at last", 9, 1100 * time.Millisecond, func(k *upperTalk) {
			k.send(0, make([]byte, 64))
			k.request(0, send(), 1, false)
		}, 1},
	} {
		var out bytes.Buffer
		u := newUpperTalk(t, &out)
		for range k.requests {
			u.request(0, send(), 1, false)
			u.now += int64(k.apart)
		}
		if k.more != nil {
			k.more(u)
		}
		if err := u.w.Flush(); err != nil {
			t.Fatal(err)
		}
		src, err := fabricagent.OpenReader("built", bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if told := r.Connections[0].Elsewhere(); r.Open.Requests != k.open || told != (k.open == 0) {
			t.Errorf("%s: %d open, want %d; told %t", k.name, r.Open.Requests, k.open, told)
		}
	}
}
