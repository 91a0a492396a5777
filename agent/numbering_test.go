package agent

import (
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestNumbering: a host counts where nearly all its packets have the number after that of the one before, and none is repeated or earlier. The counter goes on with 0 after 65535.
func TestNumbering(t *testing.T) {
	ids := func(first uint16, n int) (list []uint16) {
		for i := range n {
			list = append(list, first+uint16(i))
		}
		return list
	}
	sparse := func(n, by int) (list []uint16) {
		for i := range n {
			list = append(list, uint16(i*by))
		}
		return list
	}
	for _, c := range []struct {
		name    string
		ids     []uint16
		counts  bool
		holes   int
		missing uint16 // in the first
	}{
		{"nothing missing", ids(65000, 1000), true, 0, 0},
		{"some are missing", append(ids(65000, 500), ids(65600&0xFFFF, 500)...), true, 1, 100},
		{"too few", ids(7, 200), false, 0, 0},
		{"one comes twice", append(ids(7, 500), 506), false, 0, 0},
		{"one is earlier", append(ids(7, 500), 505), false, 0, 0},
		{"each that is missing comes late", append(append(ids(65000, 500), 65502, 65501, 65500), append(ids(65503, 300), 268, 267)...), true, 2, 2},
		{"one comes late, one never", append(append(ids(65000, 500), 65501, 65500, 65503), ids(65504, 300)...), false, 0, 0},
		{"one comes late twice", append(append(ids(65000, 500), 65501, 65500, 65500), ids(65502, 300)...), false, 0, 0},
		{"all are 0", make([]uint16, 500), false, 0, 0},
		{"each second is missing", sparse(1000, 2), false, 511, 1},
		{"many holes", append(ids(0, 300), sparse(1000, 5)[80:]...), false, 0, 0},
	} {
		h := &counting{}
		for i, id := range c.ids {
			h.take(&fabricagent.Frame{Number: uint64(i + 1), Time: int64(i + 1)}, id)
		}
		if got := h.counts(); got != c.counts {
			t.Errorf("%s: counts %v", c.name, got)
		}
		if c.counts && (len(h.Holes) != c.holes || c.holes > 0 && (h.Holes[0].Packets != c.missing || h.Holes[0].Before != 500 || h.Holes[0].After != 501)) {
			t.Errorf("%s: %+v", c.name, h.Holes)
		}
		if len(h.Holes) > mostHoles {
			t.Errorf("%s: %d holes are kept", c.name, len(h.Holes))
		}
	}
}

// TestLateOrder: that a requester left out packets or did not go on where it was asked to is not suspected by a packet that came late, nor by the first one that overtook such, of a host none of whose numbers is
// missing; it is where numbers are missing, and by other packets.
func TestLateOrder(t *testing.T) {
	host := packet.IPv4Addr([]byte{10, 0, 0, 1})
	h := &counting{Numbering: Numbering{Host: host}}
	for i := range 600 {
		id := uint16(i)
		switch i {
		case 300:
			id = 301
		case 301:
			id = 300
		}
		h.take(&fabricagent.Frame{Number: uint64(i + 1)}, id)
	}
	if !h.counts() || !h.Whole() {
		t.Fatalf("%+v", h)
	}
	for _, c := range []struct {
		rule          rule.ID
		before, frame uint64
		class         rule.Class
		withdrawn     bool
	}{
		{rule.RCPSN004, 300, 301, rule.Unproven, true},  // overtook one
		{rule.RCPSN004, 302, 303, rule.Unproven, true},  // after one that came late
		{rule.RCPSN004, 400, 401, rule.Unproven, false}, // nothing overtook there
		{rule.RCPSN004, 300, 301, rule.Violation, false},
		{rule.RCRTY005, 0, 302, rule.Unproven, true},
		{rule.RCRTY005, 0, 301, rule.Unproven, true},
		{rule.RCRTY005, 0, 303, rule.Unproven, false},
		{rule.RCRTY006, 0, 302, rule.Unproven, true},
		{rule.RCRTY010, 0, 302, rule.Unproven, false},
	} {
		f := &rule.Finding{Rule: c.rule, Class: c.class, Before: c.before, Frame: c.frame, PSN: 11, Gap: rule.GapAt(10), Accused: rule.Endpoint{Addr: host}}
		if got := holdsNot([]Numbering{h.Numbering}, f); got != c.withdrawn {
			t.Errorf("%v in frame %d: withdrawn %v", c.rule, c.frame, got)
		}
	}
	if h.Holes[0].Lacks {
		t.Error("what came late is called missing")
	}
}

// TestCounterRestarts: a counter that goes on with a low number, far from that before, after a second or more without a packet began again; not one that wraps around, or goes on at once: that host has no one counter.
func TestCounterRestarts(t *testing.T) {
	for _, k := range []struct {
		name          string
		was, is       uint16
		gap           time.Duration
		counts, again bool
	}{
		{"after a second", 5027, 4, time.Second, true, true},
		{"from the upper half", 60000, 4, time.Second, true, true},
		{"after some packets that the tap has not seen", 0xcd62, 0x67, time.Second, true, true},
		{"ahead, and around", 65000, 200, time.Second, true, false},
		{"at once", 5027, 4, time.Millisecond, false, false},
		{"no low number", 5027, 2000, time.Second, false, false},
		{"around", 65530, 4, time.Second, true, false},
		{"on", 30, 40, time.Second, true, false},
	} {
		h := &counting{}
		for i := range 600 {
			f := &fabricagent.Frame{Number: uint64(i + 1), Time: int64(i + 1)}
			id := k.was - 299 + uint16(i)
			if i >= 300 {
				f.Time, id = f.Time+int64(k.gap), k.is+uint16(i-300)
			}
			h.take(f, id)
		}
		if h.counts() != k.counts || (len(h.Restarts) == 1) != k.again || k.again && (h.Restarts[0].Was != k.was || h.Restarts[0].Is != k.is || h.Restarts[0].After != 301 || len(h.Holes) > 0) {
			t.Errorf("%s: counts %v, %+v", k.name, h.counts(), h.Numbering)
		}
	}
}

// TestArrived: of a host whose packets take several paths, so that many come late, it is known that the capture holds each number; not where one is missing, or comes twice, or where no counter numbers them.
func TestArrived(t *testing.T) {
	late := func(i int) int { // each two packets in the other order
		if i == 0 {
			return 0
		}
		return (i - 1) ^ 1 + 1
	}
	for name, k := range map[string]struct {
		id   func(i int) uint16
		want bool
	}{
		"every other packet late": {func(i int) uint16 { return uint16(late(i)) }, true},
		"the first late too":      {func(i int) uint16 { return uint16(min(i^1, 4000)) }, true},
		"bursts in other order": {func(i int) uint16 { // half of each two hundred
			if i == 0 {
				return 0
			}
			return uint16(1 + (i-1)/200*200 + (i-1+100)%200)
		}, true},
		"many are late at once": {func(i int) uint16 { // each second of eighty
			if i == 0 {
				return 0
			}
			return uint16(1 + (i-1)/80*80 + ((i-1)%40*2 + 1 - (i-1)%80/40))
		}, true},
		"from before the first": {func(i int) uint16 { return uint16(late(i) + i%2 - 3*(i%2)) }, false},
		"one is missing":        {func(i int) uint16 { return uint16(late(i) + i/3000) }, false},
		"one comes twice":       {func(i int) uint16 { return uint16(late(i) - i/4000) }, false},
		"in order":              {func(i int) uint16 { return uint16(i) }, false},
		"no counter":            {func(i int) uint16 { return uint16(i * 7919) }, false},
	} {
		n := numberings{}
		h := &counting{Numbering: Numbering{Host: packet.IPv4Addr([]byte{10, 0, 0, 1})}}
		n.hosts = map[numbered]*counting{{h.Host, 0}: h}
		for i := range 4001 {
			h.take(&fabricagent.Frame{Number: uint64(i + 1)}, k.id(i))
		}
		if got := len(n.arrived()) == 1; got != k.want {
			t.Errorf("%s: %v, %d late, %d missing", name, got, h.Late, h.open)
		}
		if h.counts() && name != "in order" && name != "bursts in other order" {
			t.Errorf("%s: counts", name)
		}
	}
}

// TestArrivedPairs: of a host with a counter for each queue pair it is known to which of these the capture holds each number; not where one is missing.
func TestArrivedPairs(t *testing.T) {
	p, host := numberedPairs{}, packet.IPv4Addr([]byte{10, 0, 0, 1})
	for i := range 1001 {
		late := i
		if i > 0 {
			late = (i - 1) ^ 1 + 1
		}
		for qp := range uint32(2) {
			id := uint16(late)
			if i > 500 {
				id += uint16(qp)
			}
			p.take(&fabricagent.Frame{Number: uint64(i + 1)}, &fabricagent.Identified{Src: host, DestQP: qp, ID: id + uint16(9000*qp)})
		}
	}
	if got := p.arrived(); len(got) != 1 || got[0] != (NumberedPair{host, 0, 1001}) {
		t.Errorf("%+v", got)
	}
}
