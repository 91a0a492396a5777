package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
)

// trim cuts frame f to so many bytes, and gives it a DSCP, as a switch does.
func trim(f *fabricagent.Frame, to int, dscp uint8) {
	changed(f, func(p *packet.Packet) { p.TClass = dscp<<2 | p.TClass&3 })
	f.Data = f.Data[:to:to]
	f.Len = uint32(to)
}

// shorten cuts the payload of frame f to so many bytes as a switch does that changes the lengths in the headers too, and does not compute the ICRC again.
func shorten(f *fabricagent.Frame, to int) {
	changed(f, func(p *packet.Packet) {
		cut := p.PayloadLen - to
		p.TClass, p.Payload, p.PayLen, p.UDPLen = 50<<2, p.Payload[:to], p.PayLen-uint16(cut), p.UDPLen-uint16(cut)
	})
	f.Data[f.Len-1] ^= 1
}

// TestTrimmed: what a switch has trimmed is told, and nobody is accused of it; what is cut otherwise is not told.
func TestTrimmed(t *testing.T) {
	const said = "trimmed (proven): 1 packet from 10.0.0.1 to 10.0.0.2 came cut short, with another DSCP than the others of their connection."
	tests := []struct {
		name string
		edit func(list []fabricagent.Frame)
		near bool
		want string // in what is told; "": no such incident
	}{
		{"nothing", func([]fabricagent.Frame) {}, false, ""},
		{"to 64 bytes", func(list []fabricagent.Frame) { trim(&list[29], 64, 50) }, false, "frame 30, RC RDMA WRITE Middle, PSN 0x10001b: 50 bytes in place of 1068, DSCP 50 in place of 0"},
		{"to 256 bytes", func(list []fabricagent.Frame) { trim(&list[29], 256, 50) }, false, said},
		{"with its lengths", func(list []fabricagent.Frame) {
			changed(&list[29], func(p *packet.Packet) { p.TClass, p.Payload, p.PayLen, p.UDPLen = 50<<2, p.Payload[:36], 80, 60 })
			list[29].Data[list[29].Len-1] ^= 1
		}, false, "PSN 0x10001b: 80 bytes in place of 1068, with the lengths in its headers changed to match (every RC RDMA WRITE Middle carries 1024 bytes of payload, it 36), DSCP 50 in place of 0"},
		{"the last of a message, with its lengths", func(list []fabricagent.Frame) { shorten(&list[33], 16) }, false, "with the lengths in its headers changed to match (its message has "},
		{"within the headers", func(list []fabricagent.Frame) { trim(&list[25], 64, 50) }, false, said},
		{"with the DSCP of the others", func(list []fabricagent.Frame) { trim(&list[29], 256, 0) }, false, ""},
		{"at its sender", func(list []fabricagent.Frame) { trim(&list[29], 256, 50) }, true, ""},
		{"another DSCP", func(list []fabricagent.Frame) {
			changed(&list[29], func(p *packet.Packet) { p.TClass = 50 << 2 })
		}, false, ""},
		{"by a snap length, with another DSCP", func(list []fabricagent.Frame) {
			n := list[29].Len
			trim(&list[29], 256, 50)
			list[29].Len = n
		}, false, ""},
		{"of all packets of the capture", func(list []fabricagent.Frame) {
			for i := range list {
				if list[i].Len > 256 {
					trim(&list[i], 256, 50)
				}
			}
		}, false, ""},
		{"not, but padded by Ethernet", func(list []fabricagent.Frame) {
			changed(&list[18], func(p *packet.Packet) { p.TClass = 50 << 2 })
			list[18].Data = append(list[18].Data, 0, 0)
			list[18].Len += 2
		}, false, ""},
	}
	for _, tt := range tests {
		list := frames(t, writes)
		tt.edit(list)
		r := judged(t, list, agent.Options{Near: near(tt.near)})
		told := toldOf(r)
		if tt.want != "" && !strings.Contains(told, tt.want) || tt.want == "" && strings.Contains(told, "trimmed") {
			t.Errorf("%s: told %s\nwant %q", tt.name, told, tt.want)
		}
		if tt.want != "" && r.Of(rule.Violation)+r.Of(rule.Unproven) > 0 {
			t.Errorf("%s: found %v", tt.name, r.Findings)
		}
	}
}

func near(sender bool) []packet.Addr {
	if sender {
		return []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1})}
	}
	return nil
}

// TestTrimmedLoss: what is retransmitted for packets that were trimmed is told as that, and they do not count as missing before the tap.
func TestTrimmedLoss(t *testing.T) {
	const fits = "the packets that were trimmed, see there: their receivers drop them"
	for name, edit := range map[string]func(list []fabricagent.Frame){
		"lost": func([]fabricagent.Frame) {},
		"trimmed": func(list []fabricagent.Frame) {
			trim(&list[29], 64, 50)
		},
	} {
		list := frames(t, writes+"errors: [{do: drop, from: a, nth: 20, count: 1, where: after}]\n")
		edit(list)
		told := ""
		for _, k := range incident.Of(judged(t, list, agent.Options{})) {
			told += fmt.Sprintf("%v %q\n", k.Kind, k.FitsWith)
		}
		if !strings.Contains(told, "loss ") || strings.Contains(told, fits) != (name == "trimmed") {
			t.Errorf("%s: %s", name, told)
		}
	}
}

// TestTrimmedByReceiver: what several hosts sent to one and came trimmed is told once, with all of the events, and with the losses that it caused.
func TestTrimmedByReceiver(t *testing.T) {
	const scene = `
about: two hosts write to a third
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}
attributes: {pmtu: 1024, timeout: 16}
qps: {a1: {hca: a, peer: c1}, c1: {hca: c, peer: a1}, b1: {hca: b, peer: c2}, c2: {hca: c, peer: b1}}
work: [{qp: a1, op: write, length: 16384, repeat: 3}, {qp: b1, op: write, length: 16384, repeat: 3, at: 1ms}]
taps: [middle]
errors:
  - {do: drop, from: a, to: c, op: request, nth: 20, where: after}
  - {do: drop, from: b, to: c, op: request, nth: 20, where: after}
`
	list := frames(t, scene)
	n := map[packet.Addr]int{}
	for k := range list {
		var p packet.Packet
		if !packet.DecodeIP(&p, list[k].Data[14:], int(list[k].Len)-14) || !p.Info().Request {
			continue
		}
		if n[p.Src]++; n[p.Src] == 20 {
			trim(&list[k], 64, 50)
		}
	}
	got := incident.Of(judged(t, list, agent.Options{}))
	if len(got) != 1 || got[0].What != "2 packets from 2 hosts to 10.0.0.3 came cut short, with another DSCP than the others of their connection." {
		t.Fatalf("%+v", got)
	}
	if !slices.ContainsFunc(got[0].Facts, func(f incident.Fact) bool { return f.Label == "cables" }) {
		t.Errorf("cables are not spoken of: %+v", got[0].Facts)
	}
	if f := got[0].Found; len(f) != 1 || f[0].Rule != rule.EvTrimmed || f[0].Count != 2 {
		t.Errorf("found %+v", f)
	}
}

// TestTrimmedOvertakes: packets that were trimmed, and so came before others that had waited in the queue, are what is missing after these: nobody is accused of a gap, and nothing is missing before the tap. Where they
// did not come at all, there is a gap.
func TestTrimmedOvertakes(t *testing.T) {
	for name, came := range map[string]bool{"came": true, "lost": false} {
		list := frames(t, writes)
		trim(&list[29], 64, 50)
		trim(&list[31], 64, 50)
		trim(&list[32], 64, 50)
		cut := []fabricagent.Frame{list[29], list[31], list[32]}
		for k := range cut {
			cut[k].Time = list[26].Time
		}
		rest := slices.Concat(list[27:29], list[30:31], list[33:])
		list = list[:27:27]
		if came {
			list = append(list, cut...)
		}
		r := judged(t, append(list, rest...), agent.Options{})
		gaps := 0
		for k := range r.Findings {
			if r.Findings[k].Rule == rule.RCPSN004 {
				gaps++
			}
		}
		if told := toldOf(r); (gaps == 0) != came || strings.Contains(told, "3 packets from 10.0.0.1 to 10.0.0.2 came cut short") != came || came && strings.Contains(told, "missing") {
			t.Errorf("%s: %d gaps, %s", name, gaps, told)
		}
	}
}

// TestTrimmedFirst: what comes cut short of a connection that had sent nothing before is told with what came trimmed to the same host, and its sender is not accused of a wrong length; it is where nothing else came trimmed. The
// bursts in which packets were trimmed are told, and for how long those waited that had to retransmit.
func TestTrimmedFirst(t *testing.T) {
	const scene = `
about: two hosts write to a third
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}
attributes: {pmtu: 1024, timeout: 16}
qps: {a1: {hca: a, peer: c1}, c1: {hca: c, peer: a1}, b1: {hca: b, peer: c2}, c2: {hca: c, peer: b1}}
work: [{qp: a1, op: write, length: 16384, repeat: 3}, {qp: b1, op: read, length: 64}, {qp: b1, op: write, length: 16384, repeat: 3, at: 20ms}]
taps: [middle]
errors:
  - {do: drop, from: a, to: c, op: request, nth: 20, where: after}
  - {do: drop, from: b, to: c, op: request, nth: 2, where: after}
`
	for name, others := range map[string]bool{"others are trimmed": true, "none is": false} {
		list := frames(t, scene)
		n := map[packet.Addr]int{}
		for k := range list {
			var p packet.Packet
			if !packet.DecodeIP(&p, list[k].Data[14:], int(list[k].Len)-14) || !p.Info().Request {
				continue
			}
			if n[p.Src]++; n[p.Src] == 20 && p.Src == near(true)[0] && others || n[p.Src] == 2 && p.Src != near(true)[0] {
				trim(&list[k], 128, 50)
			}
		}
		r := judged(t, list, agent.Options{})
		if told := toldOf(r); others {
			contains(t, name, told, []string{
				"trimmed (proven): 2 packets from 2 hosts to 10.0.0.3 came cut short", "bursts: 2: +0.0", " s, +0.020000 s", "cost: ", " without progress in all of the queue pairs that send to it, up to ", "; at least ", " packets retransmitted to 10.0.0.3 that came whole, in 2 rounds, ",
			}, nil)
		} else {
			contains(t, name, told, nil, []string{"trimmed", "bursts"})
		}
		if (r.Of(rule.Unproven) == 0) != others {
			t.Errorf("%s: found %v", name, r.Findings)
		}
	}
}
