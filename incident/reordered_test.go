package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// later moves a frame of a list so that others come first, and returns the list.
func later(list []fabricagent.Frame, at, by int) []fabricagent.Frame {
	f := list[at]
	copy(list[at:], list[at+1:at+by+1])
	list[at+by] = f
	return list
}

// again repeats frames of a list at another place of it.
func again(list []fabricagent.Frame, from, to, at int) []fabricagent.Frame {
	out := append([]fabricagent.Frame{}, list[:at]...)
	out = append(out, list[from:to]...)
	return append(out, list[at:]...)
}

// withoutIDs takes the IPv4 identifications of frames away, and returns them.
func withoutIDs(list []fabricagent.Frame) []fabricagent.Frame {
	for i := range list {
		changed(&list[i], func(p *packet.Packet) { p.IPID = 0 })
	}
	return list
}

// reordering is frames, the words of a profile, and what is told of their order; "": nothing.
type reordering struct {
	name  string
	list  []fabricagent.Frame
	words string
	want  string
}

func reorders(t *testing.T, tests []reordering) {
	t.Helper()
	for _, tt := range tests {
		profile, err := verifier.ParseProfile(tt.words)
		if err != nil {
			t.Fatal(err)
		}
		got := happened(t, tt.list, agent.Options{Profile: profile})
		if tt.want != "" && !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(got, "reordered") {
			t.Errorf("%s: %s\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestReordered tells packets that were overtaken from those that were retransmitted.
func TestReordered(t *testing.T) {
	plain := func() []fabricagent.Frame { return frames(t, writes) }
	unnumbered := func() []fabricagent.Frame { return withoutIDs(plain()) }
	const one = "1 packet that 10.0.0.1 QP 0x9bc sent to 10.0.0.2 QP 0xa32 came after later ones, up to 2 PSNs ahead"
	tests := []reordering{
		{"in order", plain(), "", ""},
		{"in order, without identifications", unnumbered(), "", ""},
		{"one is overtaken", later(plain(), 28, 2), "", "reordered (proven): " + one + ", though it had left first."},
		{"one is overtaken, without identifications", later(unnumbered(), 28, 2), "", "reordered (likely): " + one + ", and nothing in the capture had asked for it again."},
		{"two in a row are overtaken", later(later(plain(), 28, 3), 28, 3), "", "reordered (proven): 2 packets that 10.0.0.1 QP 0x9bc sent to 10.0.0.2 QP 0xa32 came after later ones, up to 3 PSNs ahead, though they had left first."},
		{"two in a row, without identifications", later(later(unnumbered(), 28, 3), 28, 3), "", "reordered (likely): 2 packets"},
		{"the network does so on purpose", later(unnumbered(), 28, 2), "adaptive-routing", ""},
		{"one is lost before the tap, and all from it on is retransmitted", append(unnumbered()[:28], again(unnumbered(), 28, 31, 31)[29:]...), "", ""},
	}
	reorders(t, tests)
}

// TestReorderedUC: nothing of UC is retransmitted, so that what comes late was overtaken.
func TestReorderedUC(t *testing.T) {
	uc := strings.Replace(writes, "qps:", "attributes: {type: UC}\nqps:", 1)
	list := withoutIDs(frames(t, uc))
	if got := happened(t, list, agent.Options{}); got != "frames: 0\n" {
		t.Errorf("in order: %s", got)
	}
	const want = "reordered (proven): 2 packets that 10.0.0.1 sent to 10.0.0.2 QP 0xa32 came after later ones, up to 3 PSNs ahead; UC retransmits nothing."
	if got := happened(t, later(later(list, 11, 3), 11, 3), agent.Options{}); !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %q", got, want)
	}
}

// TestReorderedAndNAKed tells that a receiver took packets for lost that were only late.
func TestReorderedAndNAKed(t *testing.T) {
	got := happened(t, frames(t, writes+"taps: [middle]\nerrors:\n  - {do: reorder, from: a, psn: +3, overtaken_by: 2}\n"), agent.Options{})
	for _, want := range []string{"reordered (proven): 1 packet", "cost: the receiver took that for a loss twice", "loss (proven): 10.0.0.1 QP 0x9bc retransmitted 13 of 45 packets", "in 2 rounds", "caused: twice by PSN sequence NAKs"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %q", got, want)
		}
	}
}

// TestReorderedResponses tells READ responses that were overtaken from those that were sent once more.
func TestReorderedResponses(t *testing.T) {
	reads := strings.Replace(writes, "op: write", "op: read", 1)
	plain := func() []fabricagent.Frame { return frames(t, reads) }
	unnumbered := func() []fabricagent.Frame { return withoutIDs(plain()) }
	const one = ": 1 READ response that 10.0.0.2 QP 0xa32 sent to 10.0.0.1 QP 0x9bc came after later ones, up to 2 PSNs ahead"
	tests := []reordering{
		{"in order", plain(), "", ""},
		{"in order, without identifications", unnumbered(), "", ""},
		{"one is overtaken", later(plain(), 13, 2), "", "reordered (proven)" + one + ", though it had left first."},
		{"one is overtaken, without identifications", later(unnumbered(), 13, 2), "", "reordered (likely)" + one + ", and nothing in the capture had asked for it again."},
		{"the last of a READ is overtaken by the next one", later(plain(), 19, 2), "", "reordered (proven)" + one},
		{"two in a row are overtaken", later(later(plain(), 13, 3), 13, 3), "", "reordered (proven): 2 READ responses that 10.0.0.2 QP 0xa32 sent to 10.0.0.1 QP 0x9bc came after later ones, up to 3 PSNs ahead, though they"},
		{"two in a row, without identifications", later(later(unnumbered(), 13, 3), 13, 3), "", "reordered (likely): 2 READ responses"},
		{"the network does so on purpose", later(unnumbered(), 13, 2), "adaptive-routing", ""},
		{"one is missing, and sent with all after it once more", append(unnumbered()[:13], again(unnumbered(), 13, 20, 20)[14:]...), "", ""},
		{"one is lost", frames(t, reads+"errors:\n  - {do: drop, from: b, op: read_response, nth: 10}\n"), "", ""},
		{"one is lost, without identifications", withoutIDs(frames(t, reads+"errors:\n  - {do: drop, from: b, op: read_response, nth: 10}\n")), "", ""},
	}
	reorders(t, tests)
}

// TestReorderedAndAskedFor tells that a requester took a response for lost that was only late.
func TestReorderedAndAskedFor(t *testing.T) {
	got := happened(t, frames(t, strings.Replace(writes, "op: write", "op: read", 1)+"taps: [middle]\nerrors:\n  - {do: reorder, from: b, op: read_response, nth: 10, overtaken_by: 2}\n"), agent.Options{})
	for _, want := range []string{"reordered (proven): At least 1 READ response", "cost: the requester asked once more, once, for what had arrived"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %q", got, want)
		}
	}
}

// TestReorderedWithinRound: where one packet of what is retransmitted is overtaken by others of it, nothing more is missing than was, and nothing is told of its order: of what is new then it is.
func TestReorderedWithinRound(t *testing.T) {
	const text = writes + "taps: [middle]\nerrors:\n  - {do: drop, from: a, psn: +10}\n"
	const first, past = 23, 34 // of what is retransmitted
	told := func(s string) string {
		var list []string
		for line := range strings.Lines(s) {
			if !strings.Contains(line, "cost: ") && !strings.Contains(line, "frames: ") {
				list = append(list, line)
			}
		}
		return strings.Join(list, "")
	}
	for _, numbered := range []bool{true, false} {
		plain := func() []fabricagent.Frame {
			if list := frames(t, text); numbered {
				return list
			}
			return withoutIDs(frames(t, text))
		}
		want := told(happened(t, plain(), agent.Options{}))
		if !strings.Contains(want, "loss (proven): 10.0.0.1 QP 0x9bc retransmitted 12 of 43 packets to 10.0.0.2 QP 0xa32 (28 %), in at least 1 round") {
			t.Fatal(want)
		}
		for at := first + 1; at < past; at++ {
			for by := 1; by <= 3 && at+by < past; by++ {
				if got := told(happened(t, later(plain(), at, by), agent.Options{})); got != want {
					t.Errorf("numbered %v, %d by %d: %s\nwant %s", numbered, at, by, got, want)
				}
			}
		}
		if got := told(happened(t, later(plain(), first, 2), agent.Options{})); strings.Contains(got, "reordered") || strings.Contains(got, "capture") {
			t.Errorf("numbered %v, the first: %s", numbered, got)
		}
		if got := happened(t, later(plain(), 38, 2), agent.Options{}); !strings.Contains(got, ": 1 packet that 10.0.0.1 QP 0x9bc sent to 10.0.0.2 QP 0xa32 came after later ones, up to 2 PSNs ahead") {
			t.Errorf("numbered %v, a new one: %s", numbered, got)
		}
	}
}

// TestReorderedBesideRounds: a packet that only its time shows to have been overtaken is not told beside as many rounds of retransmission, two or more: it may be one of these. One that its identification
// shows is.
func TestReorderedBesideRounds(t *testing.T) {
	const text = writes + "taps: [middle]\nerrors:\n  - {do: drop, from: a, psn: +5, count: 2}\n"
	for _, numbered := range []bool{true, false} {
		list := frames(t, text)
		if !numbered {
			list = withoutIDs(list)
		}
		list = later(list, 12, 2)
		if got := happened(t, list, agent.Options{}); strings.Contains(got, "reordered") != numbered || strings.Contains(got, "in at least 1 round") {
			t.Errorf("numbered %v: %s", numbered, got)
		}
	}
}

// TestSprayed: of packets that are sprayed over several paths, each of which comes once, none is missing or retransmitted. One that a gap shows missing, and that left after what follows
// the gap, was retransmitted, and one that never comes is missing.
func TestSprayed(t *testing.T) {
	spray := func() []fabricagent.Frame {
		list := frames(t, writes)
		for at := 1; at < 25; at += 4 {
			list = later(list, at, 3)
		}
		return list
	}
	const once, at = "lost: nothing: every PSN came once, and 10.0.0.2 sent no NAK: packets left in order and arrived in another", 22
	if got := happened(t, spray(), agent.Options{}); !strings.Contains(got, once) || strings.Contains(got, "retransmitted 1") || strings.Contains(got, "capture") {
		t.Errorf("sprayed: %s", got)
	}
	lost := append(spray()[:at], spray()[at+1:]...)
	if got := happened(t, lost, agent.Options{}); strings.Contains(got, once) || !strings.Contains(got, "reordered (proven)") {
		t.Errorf("one is missing: %s", got)
	}
	late := spray()[at]
	changed(&late, func(p *packet.Packet) { p.IPID += 1000 })
	again := slices.Insert(slices.Clone(lost), at+3, late)
	if got := happened(t, again, agent.Options{}); strings.Contains(got, once) || !strings.Contains(got, "reordered (proven)") {
		t.Errorf("one is retransmitted: %s", got)
	}
	for _, tt := range []struct {
		list []fabricagent.Frame
		want uint64
	}{{spray(), 0}, {again, 1}} {
		for _, c := range judged(t, tt.list, agent.Options{}).Connections {
			if n := uint64(c.Ends[0].Retransmissions); n != tt.want {
				t.Errorf("%d packets retransmitted, want %d", n, tt.want)
			}
		}
	}
}
