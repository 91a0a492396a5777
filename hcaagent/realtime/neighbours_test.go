package realtime

import (
	"bytes"
	"encoding/binary"
	"testing"

	"ibwitness/packet"
)

var (
	here  = [6]byte{2, 0, 0, 0, 0, 1}
	there = [6]byte{2, 0, 0, 0, 0, 2}
	other = [6]byte{2, 0, 0, 0, 0, 3}
	all   = [6]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
)

func ip(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }

// frame is a RoCE packet from one address to another.
func frame(from, to packet.Addr, src, dst [6]byte) []byte {
	p := packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), Src: from, Dst: to, Encap: packet.RoCEv2IPv4}
	if !to.IsIPv4() {
		p.Encap = packet.RoCEv2IPv6
	}
	return p.CompleteEthernet(nil, src, dst)
}

// TestARP: what waits for the Ethernet address of a neighbour leaves when the neighbour says it, and who asks for that of the port gets it.
func TestARP(t *testing.T) {
	a, b := newNeighbours(here, []packet.Addr{ip(1)}), newNeighbours(there, []packet.Addr{ip(2)})
	f := frame(ip(1), ip(2), here, [6]byte{9})
	out := a.send(f, 0)
	if len(out) != 1 || len(out[0]) != 60 || [6]byte(out[0][:6]) != all || [6]byte(out[0][6:12]) != here {
		t.Fatalf("the question: %x", out)
	}
	if again := a.send(f, 1); len(again) != 0 {
		t.Errorf("it asks once more at once: %x", again)
	}
	take, answer := b.take(out[0])
	if take || len(answer) != 1 || [6]byte(answer[0][:6]) != here || [6]byte(answer[0][6:12]) != there {
		t.Fatalf("the answer: %t, %x", take, answer)
	}
	take, out = a.take(answer[0])
	if take || len(out) != 2 {
		t.Fatalf("%t, %d frames leave", take, len(out))
	}
	copy(f, there[:])
	for _, g := range out {
		if !bytes.Equal(g, f) {
			t.Errorf("%x leaves, not %x", g, f)
		}
	}
	if out = a.send(frame(ip(1), ip(2), here, [6]byte{9}), 2); len(out) != 1 || !bytes.Equal(out[0], f) {
		t.Errorf("%x leaves, not %x", out, f)
	}
	// The one who was asked knows who has asked.
	if out = b.send(frame(ip(2), ip(1), there, [6]byte{9}), 0); len(out) != 1 || [6]byte(out[0][:6]) != here {
		t.Errorf("%x", out)
	}
	// One that does not answer is asked again after a second, and what has waited so long is lost.
	if out = a.send(frame(ip(1), ip(7), here, all), 3); len(out) != 1 {
		t.Errorf("%d frames", len(out))
	}
	if out = a.send(frame(ip(1), ip(7), here, all), 3+askAgain); len(out) != 1 || len(a.asked[ip(7)].frames) != 1 {
		t.Errorf("%d frames", len(out))
	}
}

// TestNeighbours: a port learns from what is sent to it, and takes nothing else.
func TestNeighbours(t *testing.T) {
	v6 := packet.Addr{Hi: 0xFE80 << 48, Lo: 5}
	n := newNeighbours(here, []packet.Addr{{Hi: 0xFE80 << 48, Lo: 1}})
	if out := n.send(frame(n.own[0], v6, here, all), 0); len(out) != 0 {
		t.Errorf("%x leaves", out)
	}
	take, out := n.take(frame(v6, n.own[0], there, here))
	if !take || len(out) != 1 || [6]byte(out[0][:6]) != there {
		t.Errorf("%t, %x", take, out)
	}
	for name, f := range map[string][]byte{
		"another station's": frame(v6, n.own[0], there, other), "its own": frame(v6, n.own[0], here, all), "short": here[:], "cut": frame(v6, n.own[0], there, here)[:14],
		"no IP": append(append(append([]byte{}, here[:]...), there[:]...), make([]byte, 60)...),
	} {
		if take, out := n.take(f); len(out) != 0 || take && name != "cut" {
			t.Errorf("%s: %t, %x", name, take, out)
		}
	}
	if take, _ := n.take(frame(v6, n.own[0], there, [6]byte{0x33, 0x33, 0, 0, 0, 1})); !take {
		t.Error("a group's frame is not taken")
	}
	if out := n.send(frame(n.own[0], packet.Addr{Hi: 0xFF02 << 48, Lo: 1}, here, [6]byte{0x33, 0x33, 0, 0, 0, 1}), 0); len(out) != 1 || out[0][0] != 0x33 {
		t.Errorf("to a group: %x", out)
	}
	// ARP for another one, and one that is none.
	m := newNeighbours(here, []packet.Addr{ip(1)})
	question := m.arpPacket(1, all, ip(8), ip(9))
	copy(question[6:], there[:])
	if _, out := m.take(question); len(out) != 0 || len(m.known) != 0 {
		t.Errorf("it answers for another: %x", out)
	}
	question[15] = 2
	if _, out := m.take(question); len(out) != 0 {
		t.Errorf("it answers what is no ARP: %x", out)
	}
}

// TestNeighboursBounds: what is kept is bounded.
func TestNeighboursBounds(t *testing.T) {
	n := newNeighbours(here, []packet.Addr{ip(1)})
	for i := range uint32(2 * mostKnown) {
		b := binary.BigEndian.AppendUint32(nil, 11<<24|i)
		n.learn(packet.IPv4Addr(b), there)
		b[0] = 12
		for range 2 * mostWaiting {
			n.send(frame(ip(1), packet.IPv4Addr(b), here, all), 0)
			if i > 0 {
				break
			}
		}
	}
	waiting := 0
	for _, w := range n.asked {
		waiting = max(waiting, len(w.frames))
	}
	if len(n.known) > mostKnown || len(n.asked) > mostAsked || waiting > mostWaiting {
		t.Errorf("%d known, %d asked, %d wait", len(n.known), len(n.asked), waiting)
	}
}

func FuzzNeighbours(f *testing.F) {
	f.Add(frame(ip(2), ip(1), there, here))
	n := newNeighbours(here, []packet.Addr{ip(1)})
	f.Add(n.arpPacket(1, all, ip(2), ip(1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, out := n.take(b)
		for _, g := range append(out, n.send(b, 0)...) {
			if len(g) < len(all) && len(b) >= etherSize {
				t.Errorf("%x leaves", g)
			}
		}
	})
}
