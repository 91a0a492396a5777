package view

import (
	"path"
	"slices"
	"strings"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// open are the rules under which views still accuse somebody, by what is done to the capture: to be mended, and taken away here.
var open = map[string]string{}

// guilty are accusations that are true, and that the whole capture does not show or not prove.
var guilty = []struct{ capture, accused, rules, why string }{
	{"rtl/surf_loss.pcap", "10.0.0.1", "RC-SEQ-002 RC-SEQ-003 RC-PSN-002", "after the NAK the requester begins a message in the midst of one, and gives its PSNs to other packets"},
	{"captures/k612_delay_over_timeout.ra.pcap.gz", "10.88.0.1", "RC-SEQ-001 RC-SEQ-002 RC-RTY-004 RC-PSN-002", "a message is retransmitted as another one, with its PSNs shifted (docs/departures.md)"},
	{"suites/k6.12_pyverbs612_qpex.pcap.zst", "10.90.0.1", "RC-INV-001", "the test writes with an R_Key that it has invalidated, and is refused"},
}

// resumes reports whether a finding is the departure of soft-RoCE that its answer to a READ asked for again begins with a Middle or Last
// (docs/departures.md). The bytes prove it: by its IPv4 identification the packet that left right before the response is not the response to the PSN
// before it. Whether the whole capture shows that too depends on which packets are next to each other in it.
func resumes(v *View, f *rule.Finding) bool {
	if in := f.Opcode.Info(); f.Rule != rule.RCRES001 || !in.Middle && !in.Last {
		return false
	}
	var now, was packet.Packet
	for i := range v.Frames {
		if g := v.Frames[i].Frame; g.Tap == f.Tap && g.Number == f.Frame && (!fabricagent.Decode(&g, &now).IsRDMA() || now.Encap != packet.RoCEv2IPv4) {
			return false
		}
	}
	for i := range v.Frames {
		g := v.Frames[i].Frame
		if fabricagent.Decode(&g, &was).IsRDMA() && was.Src == now.Src && was.Dst == now.Dst && was.Encap == now.Encap && was.IPID == now.IPID-1 &&
			!(was.DestQP == now.DestQP && was.PSN == now.PSN.Add(-1)) && max(g.Time-f.Time, f.Time-g.Time) < int64(time.Second) {
			return true
		}
	}
	return false
}

// expected reports whether an accusation is open, or true.
func expected(p Plan, v *View, k accusation) bool {
	if !*strict && slices.ContainsFunc(p.Steps, func(s Step) bool { return holds(open[Kinds[s.Kind].Name], k) }) {
		return true
	}
	for _, g := range guilty {
		if g.accused == k.addr.String() && holds(g.rules, k) && (same(g.capture, p.Capture.Name) || v.Joined != nil && same(g.capture, v.Joined.Name)) {
			return true
		}
	}
	return false
}

// holds reports whether the rule of an accusation is in a list.
func holds(rules string, k accusation) bool {
	return slices.Contains(strings.Fields(rules), k.rule.String())
}

// same reports whether two captures are one: testdata has copies of some.
func same(a, b string) bool { return path.Base(a) == path.Base(b) }
