package sma

import (
	"fmt"
	"testing"

	"ibwitness/packet"
)

// forwarding is a switch whose ports 1 to 3 are Active, with ways to LIDs 5 and 6, 6 above LinearFDBTop, and a multicast LID.
func forwarding(t *testing.T, faults ...string) *Node {
	n := node(t, SwitchConfig(0x1000, "switch", 4), faults...)
	for port := 1; port <= 3; port++ {
		n.ports[port].put(piState, Active)
	}
	n.sw.linear[5], n.sw.linear[6], n.sw.linear[7] = 2, 3, noPort
	siLinearTop.PutUint(n.sw.info[:], 5)
	n.sw.multicast[1][0] = 1<<1 | 1<<2 | 1<<3
	return n
}

// relayedPacket is a packet to a LID with a P_Key.
func relayedPacket(lid, key uint16) []byte {
	p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(9), Dst: packet.LIDAddr(lid), PKey: key, DestQP: 2, Payload: make([]byte, 16)}
	p.Complete()
	return p.Append(nil)
}

// outs are the ports out of which packets leave, and the BTH of the first.
func outs(n *Node, data ...[]byte) string {
	text := ""
	for _, b := range data {
		for _, c := range n.Forwards(1, b) {
			text += fmt.Sprintf(" %d:%x/%x", c.Port, c.Data[2:4], c.Data[8:10])
		}
		text += ","
	}
	return text
}

func forwards(t *testing.T, f ...string) string {
	n := forwarding(t, f...)
	return outs(n, relayedPacket(5, 0xFFFF), relayedPacket(6, 0xFFFF), relayedPacket(7, 0xFFFF), relayedPacket(0xC001, 0xFFFF))
}

// enforced is what becomes of packets whose P_Key ports do not have.
func enforced(t *testing.T, f ...string) string {
	n := forwarding(t, f...)
	n.ports[1].put(piEnforceIn.Field, 1)
	text := outs(n, relayedPacket(5, 0xFFFF), relayedPacket(5, 0x8001))
	n.ports[1].put(piEnforceIn.Field, 0)
	n.ports[2].put(piEnforceOut.Field, 1)
	return text + outs(n, relayedPacket(5, 0xFFFF), relayedPacket(5, 0x8001)) + fmt.Sprint(n.ports[1].counters[RcvConstraintErrors], n.ports[2].counters[XmitConstraintErrors])
}

func init() {
	for name, probe := range map[string]func(t *testing.T, f ...string) string{
		"misrouted":           forwards,
		"top-ignored":         forwards,
		"unrouted-forwarded":  forwards,
		"multicast-reflected": forwards,
		"icrc-rewritten":      forwards,
		"reordered":           forwards,
		"partition-ignored":   enforced,
		"old-forwarded": func(t *testing.T, f ...string) string {
			n := forwarding(t, f...)
			n.ports[2].put(piHOQLife, 4)
			siLifeTime.PutUint(n.sw.info[:], 20)
			return fmt.Sprint(n.Life(2))
		},
		"damage-healed": func(t *testing.T, f ...string) string {
			b := relayedPacket(5, 0xFFFF)
			b[12] ^= 1
			return fmt.Sprint(forwarding(t, f...).Admits(1, b, EndGood))
		},
	} {
		probes[name] = probe
	}
}

// TestForwards: packets leave by the tables of a switch, what is discarded is counted, and the life of a packet is the less of two.
func TestForwards(t *testing.T) {
	n := forwarding(t)
	if got, want := forwards(t), " 2:0005/6400,,, 2:c001/6400 3:c001/6400,"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := enforced(t), " 2:0005/6400,, 2:0005/6400,,1 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, x := range []struct {
		hoq, total uint64
		want       int64
	}{{20, 20, 0}, {1, 20, 8192}, {20, 2, 16384}, {3, 2, 16384}} {
		n.ports[2].put(piHOQLife, x.hoq)
		siLifeTime.PutUint(n.sw.info[:], x.total)
		if got := n.Life(2); got != x.want {
			t.Errorf("HOQLife %d, LifeTimeValue %d: %d ns, want %d", x.hoq, x.total, got, x.want)
		}
	}
	n.ports[2].put(piState, Armed)
	if n.Forwards(1, relayedPacket(5, 0xFFFF)) != nil || n.ports[2].counters[XmitDiscards] != 1 {
		t.Error("a packet leaves by a port that is not Active")
	}
}
