package timing

import (
	"testing"
	"time"

	"ibwitness/packet"
)

// reads are READs of a requester that has so many outstanding at most, sent in bursts: the tap sees the answer after a time, and the next request
// another time after that.
func reads(n, depth int, answer, after time.Duration) (list []Sent) {
	for i := range n {
		begin := int64(time.Second) + int64(i/depth)*int64(answer+after) + int64(i%depth)*int64(3*time.Microsecond)
		list = append(list, Sent{Begin: begin, End: begin + int64(answer), Bytes: 4096})
	}
	return list
}

// TestDepthOf: the depth of a requester is found on either side of the path; not where it sends at a pace of its own, where answers come at a
// pace, where it has as many outstanding as it likes, or where they come soon.
func TestDepthOf(t *testing.T) {
	const us = time.Microsecond
	change := func(list []Sent, f func(i int, s *Sent)) []Sent {
		for i := range list {
			f(i, &list[i])
		}
		return list
	}
	for _, k := range []struct {
		name string
		list []Sent
		want int
	}{
		{"near the responder", reads(200, 4, 3*us, 1300*us), 4},
		{"near the requester", reads(200, 8, 1300*us, 2*us), 8},
		{"one", reads(200, 1, 3*us, 1300*us), 1},
		{"soon", reads(200, 4, 3*us, 50*us), 0},
		{"few", reads(20, 4, 3*us, 1300*us), 0},
		{"at a pace", change(reads(200, 4, 1000*us, 0), func(i int, s *Sent) { s.Begin, s.End = int64(i)*50_000, int64(i)*50_000+980_000 }), 0},
		{"answers at a pace", change(reads(200, 4, 3*us, 1300*us), func(i int, s *Sent) { s.End = int64(time.Second) + int64(i)*325_000 }), 0},
		{"pauses of all lengths", change(reads(200, 4, 3*us, 1300*us), func(i int, s *Sent) {
			d := int64(i/4) * int64(i/4) * 40_000
			s.Begin, s.End = s.Begin+d, s.End+d
		}), 0},
		{"more at times", change(reads(200, 4, 3*us, 1300*us), func(i int, s *Sent) {
			if i >= 100 && i < 104 {
				s.Begin, s.End = s.Begin-1_280_000, s.End-1_280_000
			}
		}), 0},
		{"evenly apart", change(reads(200, 4, 0, 0), func(i int, s *Sent) { s.Begin, s.End = int64(i)*250_000, int64(i)*250_000+999_000 }), 4},
		{"at a pace, and answered within times of all lengths", change(reads(200, 4, 0, 0), func(i int, s *Sent) {
			s.Begin, s.End = int64(i)*250_000, int64(i)*250_000+900_000+int64(i*37%90)*1000
		}), 0},
		{"more or less apart", change(reads(200, 4, 0, 0), func(i int, s *Sent) {
			d := int64(i%4) * int64(i%4) * 12_000
			s.Begin, s.End = int64(i)*250_000+d, int64(i)*250_000+d+970_000+int64(i%2)*4000
		}), 4},
		{"the last ones not answered yet", change(reads(200, 4, 3*us, 1300*us), func(i int, s *Sent) {
			if i >= 196 {
				s.End = 0
			}
		}), 4},
		{"one not answered", change(reads(200, 4, 3*us, 1300*us), func(i int, s *Sent) {
			if i == 50 {
				s.End = 0
			}
		}), 0},
	} {
		d, ok := DepthOf(k.list)
		if ok != (k.want > 0) || ok && d.Count != k.want {
			t.Errorf("%s: %+v %v", k.name, d, ok)
		}
	}
	d, _ := DepthOf(reads(200, 4, 3*us, 1300*us))
	if d.After != 1300*us || d.Loop != 1303*us {
		t.Errorf("%+v", d)
	}
}

// TestAsks: it is kept when READs were sent and answered, of the first ones.
func TestAsks(t *testing.T) {
	s := begin(t, nil)
	s.dma = 100
	for i := range MostAsks + 1 {
		psn := packet.PSN(i + 1)
		s.request(100*i, packet.ReadRequest, psn, 0)
		s.answer(100*i+7, packet.ReadRespOnly, psn+1)
	}
	asks := s.c.Ends[0].Asks
	if len(asks) != MostAsks || asks[1] != (Sent{Begin: at(100), End: at(107), Bytes: 100}) {
		t.Errorf("%d %+v", len(asks), asks[1])
	}
	one, other := &Connection{}, &Connection{}
	one.Ends[0].Asks, other.Ends[1].Asks = []Sent{{Begin: 5, End: 6}}, []Sent{{Begin: 1, End: 2}}
	if one.Merge(other, true); len(one.Ends[0].Asks) != 2 || one.Ends[0].Asks[0].Begin != 1 {
		t.Errorf("%+v", one.Ends[0].Asks)
	}
}
