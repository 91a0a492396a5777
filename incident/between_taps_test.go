package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// TestBetweenTaps: what one tap shows, the next lacks and the sender retransmits was lost between the two, and that is said, with what passed them in another class; not where too few are missing, where
// nothing was retransmitted, so that the second capture may lack them, where it reports that it does, or where it shows some first.
func TestBetweenTaps(t *testing.T) {
	two := often + "taps: [a, b]\n"
	drops := "errors:"
	for n := range 4 {
		drops += fmt.Sprintf("\n  - {do: drop, from: a, op: request, nth: %d, where: after}", 100+50*n)
	}
	lost := frames(t, two+drops+"\n")
	after := frames(t, often+"taps: [a, middle]\n"+drops+"\n")
	few := frames(t, two+"errors: [{do: drop, from: a, op: request, nth: 300, where: after}]\n")
	secondOf := func(list []fabricagent.Frame, every int) (out []fabricagent.Frame) { // tap 1 lacks one of so many
		n := 0
		for i := range list {
			if list[i].Tap == 1 {
				if n++; n%every == 0 {
					continue
				}
			}
			out = append(out, list[i])
		}
		return out
	}
	const place, others = "between tap 0 and tap 1", "from 10.0.0.9, which pass the same two, none"
	other := agent.TapCount{Src: packet.IPv4Addr([]byte{10, 0, 0, 9}), Dst: packet.IPv4Addr([]byte{10, 0, 0, 2}), DSCP: 26, Packets: [8]uint64{500, 500}, First: [8]uint64{500}}
	lossy := other
	lossy.Packets[1] = 400
	for _, tt := range []struct {
		name      string
		list      []fabricagent.Frame
		change    func(r *agent.Result)
		want, not []string
	}{
		{"lost", lost, nil, []string{"packets were lost " + place, "between: 4 of the ", "packets that tap 0 shows are missing at tap 1", "what is between these taps"}, []string{"after the tap", "class:", "overtake", "cable"}},
		{"and others of another class were not", lost, func(r *agent.Result) { r.TapCounts = append(r.TapCounts, other) }, []string{place, others, "class: all that is missing has DSCP 0; what passed has DSCP 26", "that of DSCP 0 towards the second one"}, nil},
		{"and some of others were", lost, func(r *agent.Result) { r.TapCounts = append(r.TapCounts, lossy) }, []string{place}, []string{"class:", others}},
		{"after the last tap", after, nil, []string{"packets were lost after tap 1, the last tap on their way", "passed: 4 of 4 PSN sequence NAKs asked for what tap 1 had shown before", "what is after tap 1: the link to 10.0.0.2"}, []string{"between tap", "mirror:", "cable"}},
		{"after the last tap, which lacks some", secondOf(after, 50), nil, []string{"after tap 1, the last tap on their way", "mirror: ", "no NAK asked for what is missing there"}, []string{"between tap"}},
		{"few", few, nil, []string{"loss"}, []string{place}},
		{"the second capture lacks some", secondOf(frames(t, two), 50), nil, nil, []string{place}},
		{"and says so", lost, func(r *agent.Result) { r.Taps[1].Dropped = 5 }, []string{"loss"}, []string{place}},
		{"the second shows some first", lost, func(r *agent.Result) {
			r.TapCounts[0].First[1], r.TapCounts[0].First[0] = 200, r.TapCounts[0].First[0]-200
		}, []string{"loss"}, []string{place}},
	} {
		r := judged(t, tt.list, agent.Options{})
		if tt.change != nil {
			tt.change(r)
		}
		got := toldOf(r)
		for _, i := range incident.Of(r) {
			got += "fits " + strings.Join(i.FitsWith, "; ") + "\nnext " + strings.Join(i.Next, "; ") + "\n"
		}
		contains(t, tt.name, got, tt.want, tt.not)
	}
}
