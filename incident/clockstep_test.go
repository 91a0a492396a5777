package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// streams are long WRITEs of two connections at once, of which the second is between other hosts, or the same.
func streams(c, d string) string {
	return `
about: WRITEs of two connections
link: {delay: 2us}
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3, d: 10.0.0.4}
attributes: {pmtu: 1024, timeout: 14}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  c1: {hca: ` + c + `, peer: d1}
  d1: {hca: ` + d + `, peer: c1}
taps: [middle]
work:
  - {qp: a1, op: write, length: 40000, repeat: 6}
  - {qp: c1, op: write, length: 40000, repeat: 6}
`
}

// setAhead has the frames from one on stamped so much later.
func setAhead(list []fabricagent.Frame, at int, by time.Duration) []fabricagent.Frame {
	list = slices.Clone(list)
	for i := at; i < len(list); i++ {
		list[i].Time += int64(by)
	}
	return list
}

// retransmits has the packet before a frame come once more with it.
func retransmits(list []fabricagent.Frame, at int) []fabricagent.Frame {
	again := list[at-1]
	again.Time = list[at].Time
	again.Data = slices.Clone(again.Data)
	changed(&again, func(p *packet.Packet) { p.IPID += 1000 })
	return slices.Insert(slices.Clone(list), at, again)
}

// opcodes are those of the packets.
func opcodes(list []fabricagent.Frame) (fns []packet.Fn) {
	var p packet.Packet
	for i := range list {
		fabricagent.Decode(&list[i], &p)
		fns = append(fns, p.Opcode.Fn())
	}
	return fns
}

// TestClockStep: a clock that steps ahead while messages of several hosts are on their way is told, and nothing of what it looks like; not where somebody retransmits or PSNs are missing, or where no
// message was on its way. Where one host sends, it may have stopped.
func TestClockStep(t *testing.T) {
	const step = 30 * time.Second
	four, two, one := frames(t, streams("c", "d")), frames(t, streams("b", "a")), frames(t, streams("a", "b"))
	const says = "capture (likely): The clock of the capture stepped forward by about 30s, in frame 61: 2 connections were in the midst of a message then, and nobody retransmitted."
	middle := func(list []fabricagent.Frame) bool {
		return opcodes(list)[59] == packet.WriteMiddle && opcodes(list)[60] == packet.WriteMiddle
	}
	if !middle(four) || !middle(two) || !middle(one) {
		t.Fatal("no message is on its way")
	}
	idle := frames(t, many)
	for _, k := range []struct {
		name string
		list []fabricagent.Frame
		want string // "": no step is told
	}{
		{"four hosts", setAhead(four, 60, step), says},
		{"two hosts, in both directions", setAhead(two, 60, step), says},
		{"one host sends", setAhead(one, 60, step), "capture (possible): Either the clock of the capture stepped forward by about 30s, in frame 61, or 10.0.0.1 stopped for that long with its adapter: 2 connections of it were in the midst of a message then, and nobody retransmitted."},
		{"one host sends, for a moment", setAhead(one, 60, 3*time.Second), ""},
		{"for a moment", setAhead(four, 60, 3*time.Second), ""},
		{"retransmitted", retransmits(setAhead(four, 60, step), 60), ""},
		{"PSNs are missing", setAhead(slices.Delete(slices.Clone(four), 60, 64), 60, step), ""},
		{"between messages", setAhead(idle, 90, step), ""},
		{"as it was", four, ""},
	} {
		got := happened(t, k.list, agent.Options{})
		if k.want == "" && strings.Contains(got, "stepped") || !strings.Contains(got, k.want) || k.want != "" && strings.Contains(got, "interrupted") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
