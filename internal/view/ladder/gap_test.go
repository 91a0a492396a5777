package ladder

import (
	"bytes"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestGaps: of a long connection what is near the offending packet and near what proves it is shown, and what is left out is counted.
func TestGaps(t *testing.T) {
	src, err := fabricagent.OpenReader("traffic", bytes.NewReader(traffic.Capture(traffic.Small(1), 3000)))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var frames []fabricagent.Frame
	var packets []packet.Packet
	for {
		b, err := src.Next()
		if b == nil {
			break
		}
		for i := range b.Frames {
			var p packet.Packet
			if fabricagent.Decode(&b.Frames[i], &p).IsRDMA() {
				f := b.Frames[i]
				f.Data = bytes.Clone(f.Data)
				frames, packets = append(frames, f), append(packets, p)
			}
		}
		if err != nil {
			break
		}
	}
	at := func(n int) (rule.Endpoint, rule.Endpoint) {
		p := &packets[n]
		return rule.Endpoint{Role: rule.Requester, Addr: p.Src}, rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: true}
	}
	f := &rule.Finding{Rule: rule.RCPSN004, Class: rule.Violation, Frame: frames[2500].Number, Time: frames[2500].Time, Evidence: []uint64{frames[100].Number, frames[1300].Number}}
	f.Accused, f.Peer = at(2500)
	flow := FlowOf(f)
	for i := range packets { // the other direction names the QP of the accused
		if p := &packets[i]; p.Src == f.Peer.Addr && p.Dst == f.Accused.Addr {
			flow[0].QPN, flow[0].QPNKnown = p.DestQP, true
			break
		}
	}
	c := NewCollector([]*rule.Finding{f}, []Flow{flow})
	of := map[uint64]int{} // frame number to its place in the connection, from 1 on
	for i := range frames {
		c.Add(&frames[i], &packets[i])
		if _, ok := flow.Way(&packets[i]); ok {
			of[frames[i].Number] = len(of) + 1
		}
	}
	l := Build(f, flow, c.Frames(0), Options{})
	if len(l.Rows) < 30 || len(l.Rows) > Most || l.Missing {
		t.Fatalf("%d rows", len(l.Rows))
	}
	marks := map[uint64]string{}
	for i, r := range l.Rows {
		marks[r.Frame] = r.Mark
		if i == 0 {
			continue
		}
		if want := uint64(of[r.Frame] - of[l.Rows[i-1].Frame] - 1); r.Skipped != want {
			t.Errorf("before frame %d %d packets are said to be left out, not %d", r.Frame, r.Skipped, want)
		}
	}
	for n, want := range map[int]string{100: "proof", 1300: "proof", 2500: "offending"} {
		if got := marks[frames[n].Number]; got != want {
			t.Errorf("frame %d is marked %q, not %q", frames[n].Number, got, want)
		}
	}
	if l.Ends[0].Address != f.Accused.Addr.String() || !l.Ends[0].Accused || l.Ends[1].Role != "responder" {
		t.Errorf("%+v", l.Ends)
	}
}
