package agent

import (
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/header"
)

// trimmedNear is how long before or after packets that were trimmed others to the same host were trimmed too that came cut short: a queue is full for less, nanoseconds.
const trimmedNear = int64(100e6)

// trimmedTo is a host, at a tap, to which packets came trimmed.
type trimmedTo struct {
	addr packet.Addr
	tap  uint16
}

// trimmedToo makes events of findings on the length of packets that came cut short to a host while others came trimmed to it: what their queue pair sends was not known yet, and it is the same switch.
func trimmedToo(all []*Transport) {
	spans := map[trimmedTo]*[2]int64{}
	for _, t := range all {
		for k := range t.Rec.Findings {
			f := &t.Rec.Findings[k]
			if f.Rule != rule.EvTrimmed {
				continue
			}
			to := trimmedTo{f.Peer.Addr, f.Tap}
			if s := spans[to]; s == nil {
				spans[to] = &[2]int64{f.Time, f.Time}
			} else {
				s[0], s[1] = min(s[0], f.Time), max(s[1], f.Time)
			}
		}
	}
	if len(spans) == 0 {
		return
	}
	for _, t := range all {
		gone, events := map[int]bool{}, []rule.Finding(nil)
		for k := range t.Rec.Findings {
			f := &t.Rec.Findings[k]
			if f.Class != rule.Unproven || f.Detail != header.MaybeTrimmed {
				continue
			}
			s := spans[trimmedTo{f.Peer.Addr, f.Tap}]
			if s == nil || f.Time < s[0]-trimmedNear || f.Time > s[1]+trimmedNear {
				continue
			}
			gone[k] = true
			e := *f
			e.Rule, e.Class, e.Accused.Role, e.Expected, e.Actual, e.Comparison = rule.EvTrimmed, rule.Event, rule.Network, "", "", nil
			e.Detail = "shorter than its " + f.Actual + " says, while others to this host came trimmed"
			events = append(events, e)
		}
		t.Rec.RemoveAll(gone)
		for _, e := range events {
			t.Rec.Add(e)
		}
	}
}
