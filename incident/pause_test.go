package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/link"
	"ibwitness/packet"
)

// TestPauseHosts: of a port that has the other end pause, the hosts are named whose packets go to its Ethernet address.
func TestPauseHosts(t *testing.T) {
	list := frames(t, writes)
	pause := func(from []byte) fabricagent.Frame {
		f := list[len(list)/2]
		f.Data = append(append([]byte{0x01, 0x80, 0xc2, 0, 0, 1}, from...), 0x88, 0x08, 0x01, 0x01, 0, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
		f.Data = append(f.Data, make([]byte, 60-len(f.Data))...)
		f.Len = 60
		return f
	}
	with := func(from []byte) []fabricagent.Frame {
		return append(append(append([]fabricagent.Frame{}, list[:20]...), pause(from)), list[20:]...)
	}
	const known = ", likely that of 10.0.0.2, as packets for that host go to it and for no other, had the other end of its link pause once (priority 3)"
	if got := happened(t, with(list[0].Data[:6]), agent.Options{}); !strings.Contains(got, known) || !strings.Contains(got, "stops: what is sent to 10.0.0.2 waits meanwhile: priority 3") {
		t.Error(got)
	}
	other := with([]byte{2, 9, 9, 9, 9, 9})
	if got := happened(t, other, agent.Options{}); !strings.Contains(got, "address 02:09:09:09:09:09, likely a switch port, as packets for each host go to other addresses, had the other end") {
		t.Error(got)
	}
	// Of one direction it is not known where packets for the other host go, whose port it may be.
	oneWay := slices.DeleteFunc(other, func(f fabricagent.Frame) bool { return f.Data[6+5] == list[0].Data[5] })
	if got := happened(t, oneWay, agent.Options{}); !strings.Contains(got, "address 02:09:09:09:09:09 had the other end") {
		t.Error(got)
	}
}

// TestMannerOfPauses: a port that does not let go is told apart from one that resumes each time, and up to which speed of the link nothing ran out where that is not known.
func TestMannerOfPauses(t *testing.T) {
	told := func(change func(p *link.Paused)) string {
		p := link.Paused{
			Priority: 3, Time: second(1), Frame: 7, LastTime: second(2), LastFrame: 900, Frames: 418, Begun: 1, Least: 9 * time.Millisecond, Most: 250 * time.Millisecond,
			Longest: 250 * time.Millisecond, Unbroken: 56e9,
		}
		change(&p)
		var b strings.Builder
		for _, i := range incident.Of(&agent.Result{Last: second(3), Paused: []link.Paused{p}}) {
			b.WriteString(i.What + "\n")
			for _, f := range i.Facts {
				b.WriteString(f.Label + ": " + f.Text + "\n")
			}
			b.WriteString("fits: " + strings.Join(i.FitsWith, "; or ") + "\n")
		}
		return b.String()
	}
	const storm, work, speed, stalls = "a pause storm", "flow control at work", "speed: on a link of 56 Gbit/s or slower each frame came before", "fits: a receiver that takes nothing for a while"
	short := func(p *link.Paused) {
		p.Frames, p.Begun, p.Most, p.Longest = 2000, 1000, 120*time.Millisecond, 120*time.Microsecond
	}
	for _, tt := range []struct {
		name      string
		change    func(p *link.Paused)
		want, not []string
	}{
		{"again and again", func(*link.Paused) {}, []string{storm, speed, "for 9ms at least and 250ms at most, as the speed", "manner: it asked again with 417 frames before a pause ended"}, []string{work}},
		{"resumed", func(p *link.Paused) { p.Resumed = 1 }, []string{stalls, "link pause once (priority 3), for 250ms, until a frame resumed.", "manner: it asked again with 416 frames before a pause ended: it takes nothing for so long, and then a frame resumes"}, []string{storm, "does not let go"}},
		{"three times", func(p *link.Paused) { p.Resumed, p.Begun = 3, 3 }, []string{stalls, "pause 3 times (priority 3), for 250ms in all, until a frame resumed each time.", "manner: it asked again with 137 frames on average before a pause ended"}, []string{storm}},
		{"resumed, and it may have run out between", func(p *link.Paused) { p.Resumed, p.Unbroken = 1, 9e9 }, []string{stalls, "for 9ms at least and 250ms at most, as the speed"}, nil},
		{"on any link", func(p *link.Paused) { p.Unbroken = 1386e9 }, []string{storm, "pause once (priority 3), for 250ms.", "speed: on a link of 1,390 Gbit/s or slower"}, nil},
		{"of a known speed", func(p *link.Paused) { p.Speed, p.Least = 25e9, p.Most }, []string{storm}, []string{speed}},
		{"of a switch", func(p *link.Paused) { p.Unowned = true }, []string{"fits: a port after it that is paused itself"}, nil},
		{"run out", func(p *link.Paused) { p.Unresumed = 1 }, nil, []string{speed}},
		{"short ones", short, []string{work, "manner: it resumed each time: a pause began every 1ms on average"}, []string{storm}},
		{"not that short", func(p *link.Paused) { short(p); p.Longest = 5 * time.Millisecond }, []string{"a receiver that cannot take"}, []string{work, storm}},
		{"short ones, one run out", func(p *link.Paused) { short(p); p.Unresumed = 1 }, []string{work, "ended: once by running out, and not by", "manner: it resumed 999 of 1,000 times: a pause began"}, []string{"not shown"}},
		{"short ones up to the end", func(p *link.Paused) { short(p); p.Unresumed, p.Held = 1, true }, []string{work, speed, "ended: the end of the last one is not shown", "manner: it resumed each time but the last, whose end is not shown: a pause began"}, []string{"running out"}},
		{"short ones up to the end, two run out", func(p *link.Paused) { short(p); p.Unresumed, p.Held = 3, true }, []string{work, "ended: twice by running out, and not by a pause frame that resumes; the end of the last one is not shown", "manner: it resumed 997 of 1,000 times: "}, nil},
		{"a moment", func(p *link.Paused) {
			p.Frames, p.Resumed, p.Least, p.Most, p.Longest, p.Hosts = 2, 1, 6*time.Microsecond, 6300, 6300, []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 2})}
		}, []string{"had the other end of its link pause once, for 6.3µs in all (priority 3): nothing in the capture follows from it.\nfits: \n"}, []string{"frames: ", "stops: "}},
		{"a tenth of a millisecond", func(p *link.Paused) {
			p.Frames, p.Resumed, p.Least, p.Most, p.Longest = 2, 1, 6*time.Microsecond, 100*time.Microsecond, 100*time.Microsecond
		}, []string{"frames: ", "a receiver that cannot take"}, []string{"nothing in the capture follows"}},
		{"two", func(p *link.Paused) { p.Frames, p.Begun = 4, 2 }, []string{"a receiver that cannot take"}, []string{storm, work}},
	} {
		got := told(tt.change)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", tt.name, got, not)
			}
		}
	}
}
