package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestFlips says which bits were flipped, and what that fits.
func TestFlips(t *testing.T) {
	const ethernet, payload = 14, 14 + 20 + 8 + 12 // of a Middle
	flip := func(list []fabricagent.Frame, at func(k int) []int) []fabricagent.Frame {
		for k, n := range []int{3, 11, 19, 28} {
			for _, i := range at(k) {
				list[n].Data[i] ^= 0x10
			}
		}
		return list
	}
	tests := []struct {
		name string
		at   func(k int) []int
		want []string
		not  string
	}{
		{"nothing", func(int) []int { return nil }, []string{"frames: 0"}, "damage"},
		{
			"one bit here and there", func(k int) []int { return []int{payload + 100*k} },
			[]string{"bits: frame 4 has the right ICRC with one bit turned back, 0x10 of byte 40 of the packet, in byte 0 of the payload", "pattern: one bit is flipped in each of the 4", "place: in each of them the same bits"},
			"several",
		},
		{
			"the same bit of a lane", func(k int) []int { return []int{payload + 64*k + 192*(k/2)} },
			[]string{"place: in each of them the same bits, 0x10 of their byte and byte 40 of every 64 of the packet, counted from 0"},
			"not the same",
		},
		{
			"the same bit of a cell", func(k int) []int { return []int{payload + 256*k} },
			[]string{"place: in each of them the same bits, 0x10 of their byte and byte 40 of every 256 of the packet, counted from 0"},
			"not the same",
		},
		{"the same bit anywhere", func(k int) []int { return []int{payload + 3 + 101*k} }, []string{"place: in each of them the same bits, 0x10 of their byte"}, "of every"},
		{"one bit at the same place", func(int) []int { return []int{payload + 512} }, []string{"in byte 512 of the payload", "place: the same bits of the same byte in 4 of them"}, "not the same"},
		{"in the PSN", func(int) []int { return []int{ethernet + 28 + 9} }, []string{"0x10 of byte 37 of the packet, in Packet Sequence Number"}, "payload, "},
		{"a burst and single bits", func(k int) []int {
			if k == 0 {
				return []int{payload + 7, payload + 8, payload + 9}
			}
			return []int{payload + 100*k}
		}, []string{"pattern: of the 4: in 3 one bit is flipped and in 1 more than that"}, "none of"},
		{
			"the same bit of two bytes", func(k int) []int { return []int{payload + 100*k, payload + 100*k + 16} },
			[]string{"two bits turned back, 0x10 of bytes 40 and 56 of the packet", "pattern: of the 4: in 4 the same bit of two bytes, 16 bytes apart\n"},
			"more than",
		},
		{"bursts", func(int) []int { return []int{payload + 7, payload + 8, payload + 9} }, []string{"pattern: none of the 4 is explained by one bit or one byte"}, "turned back"},
	}
	for _, tt := range tests {
		told := happened(t, flip(frames(t, writes), tt.at), agent.Options{})
		for _, want := range tt.want {
			if !strings.Contains(told, want) || strings.Contains(told, tt.not) {
				t.Errorf("%s: told %s\nwant %q, and not %q", tt.name, told, want, tt.not)
			}
		}
	}
}

// TestDamageOnEthernet: an adapter that captures drops what a link on Ethernet damaged, as its FCS is wrong, and other taps keep it: nothing is said of the FCS itself, which captures seldom hold. On
// InfiniBand the link fits first.
func TestDamageOnEthernet(t *testing.T) {
	const (
		memory = "memory or logic of an adapter or switch that changes packets: an adapter that captures drops frames with a wrong FCS"
		link   = "a bad link, where the tap keeps frames with a wrong FCS"
		next   = "whether the tap keeps frames with a wrong FCS"
	)
	for of, ethernet := range map[rule.ID]bool{rule.ROCV2019: true, rule.LNKCRC003: false} {
		c := agent.Connection{Service: packet.RC, First: second(1)}
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 9, Last: second(2)}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Last: second(2)}
		f := rule.Finding{Rule: of, Class: rule.Unproven, Time: second(1), Frame: 7, Accused: rule.Endpoint{Addr: c.Ends[0].Addr}, Peer: rule.Endpoint{Addr: c.Ends[1].Addr}}
		list := incident.Of(&agent.Result{First: second(1), Last: second(2), Connections: []agent.Connection{c}, Findings: []rule.Finding{f}})
		if len(list) != 1 || strings.HasPrefix(list[0].FitsWith[0], memory) != ethernet || strings.HasPrefix(list[0].FitsWith[1], link) != ethernet || (list[0].Next[0] == next) != ethernet {
			t.Errorf("%v: %+v", of, list)
		}
	}
}

// TestFewBits: many flips that are all of one or two bits of their bytes say so; where more of the bits are among them, or there are few, nothing does.
func TestFewBits(t *testing.T) {
	for _, k := range []struct {
		bits []byte
		n    int
		want string
	}{
		{[]byte{0x20, 0x04}, 8, ", each 0x20 or 0x04 of its byte"},
		{[]byte{0x20}, 8, ", each 0x20 of its byte"},
		{[]byte{0x20, 0x04}, 4, ""},
		{[]byte{0x20, 0x04, 0x01}, 8, ""},
	} {
		list := frames(t, strings.Replace(writes, "repeat: 4", "repeat: 8", 1))
		n := 0
		for _, f := range list {
			if len(f.Data) > 1000 && n < k.n {
				f.Data[14+20+8+12+100+31*n] ^= k.bits[n%len(k.bits)]
				n++
			}
		}
		told := happened(t, list, agent.Options{})
		if !strings.Contains(told, fmt.Sprintf("one bit is flipped in each of the %d%s\n", k.n, k.want)) {
			t.Errorf("%x: told %s", k.bits, told)
		}
	}
}

// TestStuckBit: of bits that all flipped in one direction it is said which; not of those that did in both, or of few.
func TestStuckBit(t *testing.T) {
	const payload = 14 + 20 + 8 + 12 + 100
	const scene = `
about: WRITEs
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 4000, repeat: 30, every: 10ms}
taps: [middle]
`
	for name, k := range map[string]struct {
		flips int
		to    func(n int) byte // 1: it comes set
		want  string
	}{
		"set":     {9, func(int) byte { return 1 }, "each 0x10 of its byte, always from 0 to 1: stuck at 1\n"},
		"cleared": {9, func(int) byte { return 0 }, "each 0x10 of its byte, always from 1 to 0: stuck at 0\n"},
		"both":    {9, func(n int) byte { return byte(n & 1) }, "each 0x10 of its byte\n"},
		"few":     {4, func(int) byte { return 1 }, "one bit is flipped in each of the 4\n"},
	} {
		list, n := frames(t, scene), 0
		for i := range list {
			f := &list[i]
			if n == k.flips || i%7 != 0 || len(f.Data) < payload+100 {
				continue
			}
			for at := payload; at < len(f.Data)-8; at++ { // the first byte whose bit can flip so
				if f.Data[at]>>4&1 != k.to(n) {
					f.Data[at] ^= 0x10
					n++
					break
				}
			}
		}
		if got := happened(t, list, agent.Options{}); n != k.flips || !strings.Contains(got, k.want) {
			t.Errorf("%s: %d: %s\nwant %q", name, n, got, k.want)
		}
	}
}
