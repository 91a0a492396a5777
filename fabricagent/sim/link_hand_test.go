package sim

import (
	"bytes"
	"testing"

	"ibwitness/link"
	"ibwitness/packet"
)

// TestHand: a port that is played by hand sends just what it is given, as it is, and receives all that the other one sends, which keeps to the credits it is given.
func TestHand(t *testing.T) {
	clock := NewClock(0)
	l, err := NewLink(clock, LinkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var flows, data int
	h := l.Hand(0, func(k link.Kind, _ link.Mark, b []byte) {
		switch k {
		case link.Packet:
			if f, ok := link.DecodeFlowControl(b); ok && f.Good {
				flows++
			}
		case link.Data:
			data++
		}
	})
	var got [][]byte
	send := l.Attach(1, func(b []byte) { got = append(got, b) })
	l.Up()
	clock.Run(100_000)
	p := packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(1), Dst: packet.LIDAddr(2), PKey: 0xFFFF, Payload: make([]byte, 64),
	}
	p.Complete()
	b := p.Append(nil)
	send(b)
	send(bytes.Clone(b))
	clock.Run(200_000)
	if flows < 3 || data != 0 {
		t.Errorf("%d flow control packets and %d data packets without credits", flows, data)
	}
	h.Put(link.Packet, link.Mark{}, (&link.FlowControl{FCCL: 2}).Append(nil))
	clock.Run(300_000)
	if data != 1 {
		t.Errorf("%d data packets with credits for one", data)
	}
	first := h.Put(link.Data, link.Mark{}, b)
	if second := h.Put(link.Data, link.Mark{Bad: true}, b); second != first+l.time(len(b)) {
		t.Errorf("sent at %d and %d", first, second)
	}
	for _, end := range []link.End{link.SDP, link.SLP, link.Invalid} {
		h.Put(link.Data, link.Mark{Bad: true, End: end}, b)
	}
	clock.Run(400_000)
	if len(got) != 1 || !bytes.Equal(got[0], b) {
		t.Errorf("%d packets of five were taken, of which one is right", len(got))
	}
	if !l.Waits() {
		t.Error("the packet that waits for credits is gone")
	}
}
