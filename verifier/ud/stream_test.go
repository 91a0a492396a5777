package ud

import (
	"slices"
	"testing"

	"ibwitness/packet"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// datagrams has verifiers see datagrams of one queue pair to others, by the number of that: which is missing where it is 0.
func datagrams(all []*Verifier, start packet.PSN, to ...int) {
	for i, k := range to {
		if k == 0 {
			continue
		}
		p := packet.Packet{
			Time: int64(i), Frame: uint64(i + 1), Src: packet.LIDAddr(1), SrcQP: 0x11, Dst: packet.LIDAddr(uint16(k + 1)), DestQP: 0x20 + uint32(k),
			PSN: start.Add(i), ICRC: uint32(i + 1),
		}
		all[k%len(all)].sequence(&p)
	}
}

func verifiers(n int) (all []*Verifier) {
	for range n {
		all = append(all, New(&verifier.Verifier{}))
	}
	return all
}

// TestStreams counts the PSNs of a queue pair that no datagram has, whichever verifiers have seen which of them.
func TestStreams(t *testing.T) {
	for _, k := range []struct {
		name string
		to   []int
		want Stream
	}{
		{"all", []int{1, 1, 1, 1}, Stream{PSNs: 4, Datagrams: 4}},
		{"one missing", []int{1, 1, 0, 1}, Stream{PSNs: 4, Datagrams: 3, Gaps: 1, Longest: 1, Frame: 4, Newest: 4}},
		{"two gaps", []int{1, 0, 1, 1, 0, 0, 1}, Stream{PSNs: 7, Datagrams: 4, Gaps: 2, Longest: 2, Frame: 3, Newest: 7}},
		{"to two", []int{1, 2, 2, 1, 2, 1}, Stream{PSNs: 6, Datagrams: 6}},
		{"to three, one missing", []int{3, 1, 2, 0, 1, 2, 3}, Stream{PSNs: 7, Datagrams: 6}},
	} {
		for _, start := range []packet.PSN{100, packet.PSNMask - 2} {
			for workers := 1; workers < 4; workers++ {
				all := verifiers(workers)
				datagrams(all, start, k.to...)
				got := Streams(all...)
				if len(got) != 1 {
					t.Fatalf("%s: %+v", k.name, got)
				}
				want := k.want
				want.From, want.To = wqe.QP{Addr: packet.LIDAddr(1), QPN: 0x11}, got[0].To
				if !same(got[0], want) {
					t.Errorf("%s with %d verifiers: %+v, want %+v", k.name, workers, got[0], want)
				}
			}
		}
	}
}

func same(a, b Stream) bool {
	to := slices.Equal(a.To, b.To)
	a.To, b.To = nil, nil
	return to && a.From == b.From && a.PSNs == b.PSNs && a.Datagrams == b.Datagrams && a.Gaps == b.Gaps && a.Longest == b.Longest && a.Frame == b.Frame && a.Newest == b.Newest
}

// TestStreamsLate: copies do not count, and what comes late is not missing; of a queue pair that begins again nothing is said, and QP 0 and 1 are left out.
func TestStreamsLate(t *testing.T) {
	see := func(v *Verifier, qp uint32, psns ...packet.PSN) {
		for i, psn := range psns {
			v.sequence(&packet.Packet{Frame: uint64(i + 1), SrcQP: qp, DestQP: 0x22, PSN: psn, ICRC: uint32(psn)})
		}
	}
	v := verifiers(1)[0]
	see(v, 0x11, 5, 6, 6, 8, 7, 9)
	see(v, 0x12, 50000, 50001, 7, 8)
	see(v, 1, 5, 7)
	got := Streams(v)
	if len(got) != 2 || got[0].Missing() != 0 || got[0].Gaps != 0 || got[0].PSNs != 5 || got[0].Restarted || !got[1].Restarted {
		t.Errorf("%+v", got)
	}
}
