package agent

import (
	"bytes"
	"context"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestOpenBothWays: a connection whose ends both wait for an answer is one.
func TestOpenBothWays(t *testing.T) {
	var out bytes.Buffer
	k := newUpperTalk(t, &out)
	for range 4 {
		k.send(0, make([]byte, 100))
		k.send(1, make([]byte, 100))
	}
	for from := range 2 {
		k.request(from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), Payload: make([]byte, 100)}, 1, false)
	}
	if err := k.w.Flush(); err != nil {
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
	if r.Open.Requests != 2 || r.Open.Connections != 1 {
		t.Errorf("%+v", r.Open)
	}
}
