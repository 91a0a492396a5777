package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestAnsweredMeanwhile: no host is told to have stopped while another connection between the same hosts was answered; one that was answered only at the edges, with others, or that made no progress for most of it does not show that.
func TestAnsweredMeanwhile(t *testing.T) {
	ms := int64(time.Millisecond)
	tell := func(peer byte, held bool, slots ...timing.Slot) Incident {
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1}
		for n := range 2 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2 + byte(n)*(peer-2)}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Last: 1000 * ms}
			if n == 0 {
				s := qp.Stall{Since: 105 * ms, Begun: 150 * ms, Last: 239 * ms, Ended: 240 * ms, Rounds: [qp.NumCauses]uint32{2}, Packets: 2}
				c.Ends[0].Trouble = &qp.Trouble{Longest: [4]qp.Stall{s}, Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{2, 8}, Begun: 150 * ms, Last: 239 * ms}}
			} else {
				c.Timing.Ends[0].Series = timing.Series{Start: 100 * ms, Width: 64 * ms, Slots: slots}
				if held {
					c.Ends[0].Trouble = &qp.Trouble{Longest: [4]qp.Stall{{Since: 105 * ms, Begun: 150 * ms, Last: 179 * ms, Ended: 205 * ms, Rounds: [qp.NumCauses]uint32{1}, Packets: 1}}}
				}
			}
			r.Connections = append(r.Connections, c)
		}
		for _, i := range Of(r) {
			if i.Kind == Interrupted {
				return i
			}
		}
		t.Fatal("no interruption is told")
		return Incident{}
	}
	told := func(peer byte, slots ...timing.Slot) Incident { return tell(peer, false, slots...) }
	busy := timing.Slot{Bytes: 100, Messages: 3}
	i := told(2, busy, busy, busy, busy)
	if k := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "others" }); k < 0 || i.Facts[k].Text != "requests of 10.0.0.1 QP 0x11 were answered by 10.0.0.2 meanwhile: at least 3" {
		t.Errorf("answered: %+v", i)
	}
	if slices.Contains(i.FitsWith, hostStopped) || slices.Contains(i.Next, othersToo) {
		t.Errorf("answered: fits %q, next %q", i.FitsWith, i.Next)
	}
	if !strings.HasPrefix(i.FitsWith[0], "a packet that was lost with what was retransmitted for it: this queue pair had 8 rounds by PSN sequence NAKs in all") {
		t.Errorf("few rounds of many: fits %q", i.FitsWith)
	}
	for name, i := range map[string]Incident{
		"at the edges": told(2, busy, timing.Slot{Bytes: 100}, busy, busy),
		"by another":   told(3, busy, busy, busy, busy),
		"sent before":  told(2, busy, timing.Slot{Messages: 3}, busy, busy),
		"held up too":  tell(2, true, busy, busy, busy, busy),
	} {
		if i.says("others") || !slices.Contains(i.FitsWith, hostStopped) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// TestPathFailed: where requests of either host are answered on another connection all the time, no link between them had failed; where they are only at times, it may have.
func TestPathFailed(t *testing.T) {
	ms := int64(time.Millisecond)
	slots := func(from, to int) []timing.Slot {
		s := make([]timing.Slot, 30)
		for n := from; n < to; n++ {
			s[n] = timing.Slot{Bytes: 100, Messages: 2}
		}
		return s
	}
	for name, tt := range map[string]struct {
		end    int // whose requests are answered
		slots  []timing.Slot
		others bool
		fits   string
	}{
		"its own":         {0, slots(10, 24), true, pathFailed},
		"its peer's":      {1, slots(10, 24), true, pathFailed},
		"at its end only": {1, slots(20, 24), true, linkFailed},
		"never":           {1, nil, false, linkFailed},
	} {
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1}
		for n := range 2 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: uint32(n + 16), QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms}
			}
			r.Connections = append(r.Connections, c)
		}
		s := qp.Stall{Since: 105 * ms, Begun: 150 * ms, Last: 239 * ms, Ended: 240 * ms, Rounds: [qp.NumCauses]uint32{2}, Packets: 2}
		r.Connections[0].Ends[0].Trouble = &qp.Trouble{Longest: [4]qp.Stall{s}, Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{2}, Begun: 150 * ms, Last: 239 * ms}}
		r.Connections[1].Timing.Ends[tt.end].Series = timing.Series{Width: 10 * ms, Slots: tt.slots}
		list := Of(r)
		if len(list) == 0 || list[0].Kind != Interrupted {
			t.Fatalf("%s: %+v", name, list)
		}
		if i := &list[0]; i.says("others") != tt.others || slices.Contains(i.FitsWith, hostStopped) == tt.others || !slices.Contains(i.FitsWith, tt.fits) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// TestCarriedNothing: a connection that carries something in the midst of a time has not carried nothing, and one that carries nothing after it shows nothing.
func TestCarriedNothing(t *testing.T) {
	ms, some := int64(time.Millisecond), timing.Slot{Bytes: 1}
	for name, tt := range map[string]struct {
		slots   []timing.Slot
		width   int64
		resumed int64
		nothing bool
	}{
		"nothing":        {[]timing.Slot{some, some, {}, {}, {}, {}, some, some}, 10 * ms, 60 * ms, true},
		"at the edge":    {[]timing.Slot{some, some, some, {}, {}, {}, some, some}, 10 * ms, 60 * ms, true},
		"something":      {[]timing.Slot{some, some, {}, some, {}, {}, some, some}, 10 * ms, 0, false},
		"nothing after":  {[]timing.Slot{some, some}, 10 * ms, 0, true},
		"nothing at all": {nil, 0, 0, true},
		"a NAK":          {[]timing.Slot{{}, {}, {}, {NAKs: 1}}, 10 * ms, 0, false},
	} {
		c := agent.Connection{Timing: &timing.Connection{}}
		c.Timing.Ends[1].Series, c.Timing.Ends[1].Reads = timing.Series{Width: tt.width, Slots: tt.slots}, 1
		if resumed, nothing := carriedNothing(&c, 20*ms, 60*ms); resumed != tt.resumed || nothing != tt.nothing {
			t.Errorf("%s: %d, %v", name, resumed, nothing)
		}
	}
	for name, tt := range map[string]struct {
		active  timing.Activity
		resumed int64
		nothing bool
	}{
		"silent":           {timing.Activity{First: ms, Last: 90 * ms, Silences: []timing.Silence{{From: 20 * ms, To: 70 * ms}}}, 70 * ms, true},
		"sent at the edge": {timing.Activity{First: ms, Last: 90 * ms, Silences: []timing.Silence{{From: 21 * ms, To: 70 * ms}}}, 0, false},
		"sent meanwhile":   {timing.Activity{First: ms, Last: 90 * ms, Silences: []timing.Silence{{From: 10 * ms, To: 30 * ms}, {From: 31 * ms, To: 70 * ms}}}, 0, false},
		"over":             {timing.Activity{First: ms, Last: 20 * ms}, 0, true},
		"begins later":     {timing.Activity{First: 60 * ms, Last: 90 * ms}, 0, true},
	} {
		c := agent.Connection{Timing: &timing.Connection{}}
		c.Timing.Ends[0].Series.Width, c.Timing.Ends[1].Series.Width, c.Timing.Ends[0].Active = 20*ms, 20*ms, tt.active
		if resumed, nothing := carriedNothing(&c, 20*ms, 60*ms); resumed != tt.resumed || nothing != tt.nothing {
			t.Errorf("%s: %d, %v", name, resumed, nothing)
		}
	}
}

// TestBackBeforeCopy: what a host answers after it was silent on all connections while a request and its first copy were lost, and before the last
// copy, which it answered, is not told as answered meanwhile; what it answers before that is.
func TestBackBeforeCopy(t *testing.T) {
	ms := int64(time.Millisecond)
	for _, k := range []struct {
		name  string
		until int64 // when it sends the next packet
		timer uint32
		want  bool
	}{
		{"back before the last copy", 200 * ms, 2, false},
		{"not silent", 0, 2, true},
		{"back before the first copy", 140 * ms, 2, true},
		{"back long before the last copy", 160 * ms, 2, true},
		{"one of several copies", 200 * ms, 3, true},
	} {
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1}
		for n := range 2 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: uint32(n + 16), QPNKnown: true}
				c.Ends[e].Packets, c.Ends[e].Messages, c.Ends[e].Last = 100, 100, 1000*ms
				c.Timing.Ends[e].Active = timing.Activity{First: 1, Last: 1000 * ms}
				if k.until > 0 && e == 1 {
					c.Timing.Ends[e].Active.Silences = []timing.Silence{{From: 100 * ms, To: k.until}}
				}
			}
			r.Connections = append(r.Connections, c)
		}
		s := qp.Stall{Since: 105 * ms, Begun: 150 * ms, Last: 269 * ms, Ended: 270 * ms, Packets: 2}
		s.Rounds[qp.TimerExpired] = k.timer
		r.Connections[0].Ends[0].Trouble = &qp.Trouble{Longest: [4]qp.Stall{s}, Sum: qp.Stalls{Count: 1, Rounds: s.Rounds, Begun: 150 * ms, Last: 269 * ms}}
		r.Connections[1].Timing.Ends[0].Series = timing.Series{Start: 210 * ms, Width: 10 * ms, Slots: []timing.Slot{{}, {Bytes: 100, Messages: 2}, {}, {}}}
		if i := Of(r)[0]; i.Kind != Interrupted || i.says("others") != k.want {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}

// TestNotOnePath: where all queue pairs between two hosts lost packets, one path of several does not fit, though one of them was answered meanwhile;
// where one lost none, it does.
func TestNotOnePath(t *testing.T) {
	ms := int64(time.Millisecond)
	for _, all := range []bool{true, false} {
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1}
		for n := range 3 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: &timing.Connection{}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: uint32(n + 16), QPNKnown: true}
				c.Ends[e].Packets, c.Ends[e].Messages, c.Ends[e].Last = 100, 100, 1000*ms
			}
			if n < 2 || all {
				c.Ends[0].Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 1, Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 1}, Begun: 150 * ms, Last: 239 * ms}}
			}
			r.Connections = append(r.Connections, c)
		}
		s := qp.Stall{Since: 105 * ms, Begun: 150 * ms, Last: 239 * ms, Ended: 240 * ms, Rounds: [qp.NumCauses]uint32{2}, Packets: 2}
		r.Connections[0].Ends[0].Trouble.Longest[0] = s
		slots := make([]timing.Slot, 30)
		for n := 10; n < 24; n++ {
			slots[n] = timing.Slot{Bytes: 100, Messages: 2}
		}
		r.Connections[1].Timing.Ends[0].Series = timing.Series{Width: 10 * ms, Slots: slots}
		if i := Of(r)[0]; i.Kind != Interrupted || !i.says("others") || slices.Contains(i.FitsWith, pathFailed) == all {
			t.Errorf("all %v: %+v", all, i)
		}
	}
}
