package sma

import (
	"fmt"
	"testing"

	"ibwitness/packet"
)

// received is whether a port of a host takes packets of a kind: as they are changed before their checksums are made, and after, ended as said.
func received(ending Ending, change, spoil func(p *packet.Packet)) func(t *testing.T, f ...string) string {
	return func(t *testing.T, f ...string) string {
		_, n := pair(t, f...)
		p := packet.Packet{
			Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(1), Dst: packet.LIDAddr(4), PKey: 0xFFFF, VL: managementVL,
			Payload: make([]byte, 256),
		}
		p.Complete()
		if change != nil {
			change(&p)
			p.SealICRC()
		}
		if spoil != nil {
			spoil(&p)
		}
		b := p.Append(nil)
		return fmt.Sprint(n.Admits(1, b, ending), len(Straightened(b)))
	}
}

// atState is whether a port takes a packet of subnet management in a state, and what state it has after a packet on a data lane.
func atState(state uint64) func(t *testing.T, f ...string) string {
	return func(t *testing.T, f ...string) string {
		_, n := pair(t, f...)
		n.ports[1].put(piState, state)
		p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(1), Dst: packet.LIDAddr(4), VL: managementVL, Payload: make([]byte, 256)}
		p.Complete()
		taken := n.Admits(1, p.Append(nil), EndGood)
		n.Activated(1)
		return fmt.Sprint(taken, n.State(1))
	}
}

// ownLIDs are the LIDs of 3 to 8 that a port with LID 4 and LMC 1 takes.
func ownLIDs(t *testing.T, f ...string) string {
	n := node(t, hostConfig(), f...)
	n.ports[1].put(piLID, 4)
	n.ports[1].put(piLMC, 1)
	var list []uint16
	for lid := uint16(3); lid < 9; lid++ {
		if n.TakesLID(1, lid) {
			list = append(list, lid)
		}
	}
	return fmt.Sprint(list)
}

// states are those of a port after a Set of Armed, and after its link was cut.
func states(t *testing.T, f ...string) string {
	_, n := pair(t, f...)
	setInfo(t, n, 1, 0, map[string]uint64{"portState": Armed})
	was := n.State(1)
	n.Cut(0, 1)
	return fmt.Sprint(was, n.State(1))
}

// arbitrated is how a port arbitrates.
func arbitrated(t *testing.T, f ...string) string {
	high, low, limit := node(t, switchConfig(), f...).Arbitration(1)
	return fmt.Sprint(high, low, limit)
}

// trained is the state of a port whose link has trained.
func trained(t *testing.T, f ...string) string {
	_, n := pair(t, f...)
	return fmt.Sprint(n.State(1))
}

func init() {
	for name, probe := range map[string]func(t *testing.T, f ...string) string{
		"bad-vcrc-answered":   received(EndGood, nil, func(p *packet.Packet) { p.VCRC ^= 1 }),
		"bad-icrc-answered":   received(EndGood, func(p *packet.Packet) { p.Payload[0]++ }, func(p *packet.Packet) { p.ICRC ^= 1; p.VCRC = packet.VCRC(p.Append(nil)[:288]) }),
		"lver-taken":          received(EndGood, func(p *packet.Packet) { p.LVer = 1 }, nil),
		"length-ignored":      received(EndGood, func(p *packet.Packet) { p.PktLen++ }, nil),
		"delimiter-ignored":   received(EndOdd, nil, nil),
		"ebp-taken":           received(EndBad, nil, nil),
		"qp0-closed-in-init":  atState(Initialize),
		"qp0-closed-in-armed": atState(Armed),
		"armed-stays":         atState(Armed),
		"dlid-ignored":        ownLIDs,
		"lmc-ignored":         ownLIDs,
		"state-stuck":         states,
		"state-kept":          states,
		"arbitration-ignored": arbitrated,
		"high-limit-ignored":  arbitrated,
		"armed-at-once":       trained,
		"lane-15-sent": func(t *testing.T, f ...string) string {
			n := node(t, switchConfig(), f...)
			n.ports[1].sltovl[2][3] = managementVL
			return fmt.Sprint(n.VL(2, 1, 3))
		},
	} {
		probes[name] = probe
	}
}

// TestStraightened: a packet whose LRH says another length gets its own.
func TestStraightened(t *testing.T) {
	p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Payload: make([]byte, 256)}
	p.Complete()
	want := p.PktLen
	p.PktLen++
	var q packet.Packet
	if b := Straightened(p.Append(nil)); !packet.DecodeInfiniBand(&q, b, len(b)) || q.PktLen != want {
		t.Errorf("PktLen %d, want %d", q.PktLen, want)
	}
}

// FuzzArrive: no bytes make a packet receiver panic, or a switch forward them to a port that it does not have or back.
func FuzzArrive(f *testing.F) {
	f.Add(relayedPacket(5, 0xFFFF), uint8(0), uint64(0))
	f.Add(relayedPacket(0xC001, 0x8001), uint8(1), uint64(1))
	f.Add([]byte("short"), uint8(2), ^uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, end uint8, faults uint64) {
		n := forwarding(t)
		for i := range n.faults {
			n.faults[i] = faults>>(i%64)&1 != 0
		}
		if !n.Admits(1, b, Ending(end%3)) {
			return
		}
		for _, c := range n.Forwards(1, Straightened(b)) {
			if n.at(int(c.Port)) == nil || c.Port == 1 && faults == 0 || len(c.Data) < lrhSize {
				t.Errorf("out of port %d, %d bytes", c.Port, len(c.Data))
			}
		}
	})
}
