package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
)

// nakAtOnce has the NAK for the first packet of a list that came trimmed come right after that, as one of a receiver that needs no later packet to ask for it.
func nakAtOnce(list []fabricagent.Frame) {
	cut := slices.IndexFunc(list, func(f fabricagent.Frame) bool { return f.Len == 64 })
	nak := slices.IndexFunc(list, func(f fabricagent.Frame) bool {
		var p packet.Packet
		return packet.DecodeIP(&p, f.Data[14:], int(f.Len)-14) && p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence
	})
	f := list[nak]
	copy(list[cut+2:nak+1], list[cut+1:nak])
	list[cut+1] = f
}

// oneTrimmed is a host that writes to another, which drops one of the requests.
const oneTrimmed = `
about: a host writes to another
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 16}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work: [{qp: a1, op: write, length: 16384, repeat: 3}]
taps: [middle]
errors: [{do: drop, from: a, to: b, op: request, nth: 40, where: after}]
`

// TestNAKsOfTrimsAtOnce: a NAK for what came trimmed counts, and is why that is retransmitted, where it comes before any later packet has come whole, too.
func TestNAKsOfTrimsAtOnce(t *testing.T) {
	for name, edit := range map[string]func(list []fabricagent.Frame){
		"after a later packet": func([]fabricagent.Frame) {},
		"at once":              nakAtOnce,
	} {
		list := frames(t, oneTrimmed)
		trimNth(list, 40)
		edit(list)
		r := judged(t, list, agent.Options{})
		naks, timers := uint32(0), 0
		for k := range r.Connections {
			for e := range r.Connections[k].Ends {
				naks += r.Connections[k].Ends[e].SequenceNAKs
			}
		}
		for k := range r.Findings {
			if r.Findings[k].Rule == rule.EvTimeout {
				timers++
			}
		}
		if naks != 1 || timers != 0 || r.Of(rule.Violation)+r.Of(rule.Unproven) > 0 {
			t.Errorf("%s: %d NAKs, %d timers, %v", name, naks, timers, r.Findings)
		}
		contains(t, name, toldOf(r), []string{"repaired: 1 PSN sequence NAK for a trimmed packet, ", "no timer ran out", "DSCP: 50 in place of 0", "marks: none: no packet in the capture has a CE mark"}, nil)
	}
}

// TestNAKsOfNoTrim: a NAK that asks for nothing which came trimmed, before any later packet has come, does not count as one for it.
func TestNAKsOfNoTrim(t *testing.T) {
	list := frames(t, oneTrimmed)
	trimNth(list, 46)
	for _, i := range incident.Of(judged(t, list, agent.Options{})) {
		for _, f := range i.Facts {
			if f.Label == "repaired" && strings.Contains(f.Text, "NAK for a trimmed packet") {
				t.Errorf("%s: %s", f.Label, f.Text)
			}
		}
	}
}
