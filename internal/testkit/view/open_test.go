package view

import (
	"path"
	"slices"
	"strings"
)

// open are the rules under which views still accuse somebody, by what is done to the capture: to be mended, and taken away here.
var open = map[string]string{}

// guilty are accusations that are true, and that the whole capture does not show or not prove.
var guilty = []struct{ capture, accused, rules, why string }{
	{"rtl/surf_loss.pcap", "10.0.0.1", "RC-SEQ-002 RC-SEQ-003 RC-PSN-002", "after the NAK the requester begins a message in the midst of one, and gives its PSNs to other packets"},
	{"suites/k6.12_pyverbs612_qpex.pcap.zst", "10.90.0.1", "RC-INV-001", "the test writes with an R_Key that it has invalidated, and is refused"},
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
