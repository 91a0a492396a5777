package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
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
			[]string{"bits: frame 4 has the right ICRC with one bit turned back, 0x10 of byte 40 of the packet, in byte 0 of the payload", "pattern: one bit is flipped in each of the first 4", "place: in each of them the same bits"},
			"several",
		},
		{
			"the same bit of a lane", func(k int) []int { return []int{payload + 64*k + 192*(k/2)} },
			[]string{"place: in each of them the same bits, 0x10 of their byte and byte 40 of every 64 of the packet, counted from 0"},
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
		}, []string{"pattern: of the first 4: in 3 one bit is flipped and in 1 more than that"}, "none of"},
		{"bursts", func(int) []int { return []int{payload + 7, payload + 8, payload + 9} }, []string{"pattern: none of the first 4 is explained by one bit or one byte"}, "turned back"},
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

// TestDamageOnEthernet: a link that flips bits breaks the FCS too, which is right in what a tap on Ethernet shows.
func TestDamageOnEthernet(t *testing.T) {
	list := frames(t, writes)
	list[3].Data[100] ^= 0x10
	got := toldReasons(t, list)
	if !strings.Contains(got, "fits: memory or logic of an adapter or switch that changes packets: the FCS") {
		t.Error(got)
	}
}
