package exercise

import (
	"fmt"
	"testing"

	"ibwitness/fabricagent"
)

// timeline is when a script on Ethernet sends which packets, in microseconds: stream and PSN.
func timeline(t *testing.T, streams string, heard map[int64]string) (list []string) {
	t.Helper()
	s, err := Read("x.yaml", []byte("ethernet: {exerciser: {address: 10.0.0.1, mac: \"02:00:00:00:00:01\"}, partner: {address: 10.0.0.2, mac: \"02:00:00:00:00:02\"}}\npackets: 12\nstreams:\n"+streams))
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(s, s.Ethernet.sources(), 0)
	for now := int64(0); now < 200_000; now += 1000 {
		for a, ok := m.Step(now); ok; a, ok = m.Step(now) {
			if a.Packet != nil {
				h := hearFrame(frameOf(a.Data))
				list = append(list, fmt.Sprintf("%d:%s%d", now/1000, a.Stream.Name, h.Packet.PSN))
			}
		}
		if op := heard[now/1000]; op != "" {
			p := &Packet{Opcode: opcodes[op], To: s.Ethernet.Exerciser.Addr, VL: -1}
			data, _ := p.build(&m.sources[1], 0, m.chance)
			m.Hear(now, false, hearFrame(frameOf(data)))
		}
	}
	return list
}

// TestMachine: what is sent when.
func TestMachine(t *testing.T) {
	const packet = "{op: ud_send_only, set: {psn: {step: 1}}}"
	for name, c := range map[string]struct {
		streams string
		heard   map[int64]string
		want    string
	}{
		"gap":     {"- {name: a, to: 10.0.0.2, at: 3us, gap: 5us, steps: [{op: ud_send_only, count: 3, set: {psn: {step: 1}}}]}", nil, "[8:a0 14:a1 19:a2]"},
		"rate":    {"- {name: a, to: 10.0.0.2, rate: 53M, steps: [{op: ud_send_only, count: 3, set: {psn: {step: 2}}}]}", nil, "[0:a0 10:a2 20:a4]"},
		"list":    {"- {name: a, to: 10.0.0.2, gap: 10us, steps: [{op: ud_send_only, count: 4, set: {psn: [7, 9]}}]}", nil, "[10:a7 21:a9 31:a7 41:a9]"},
		"repeat":  {"- {name: a, to: 10.0.0.2, repeat: 2, steps: [" + packet + ", {pause: 20us}]}", nil, "[0:a0 21:a1]"},
		"forever": {"- {name: a, to: 10.0.0.2, gap: 1us, repeat: forever, steps: [" + packet + "]}", nil, "[1:a0 3:a1 4:a2 6:a3 7:a4 9:a5 10:a6 12:a7 13:a8 15:a9 16:a10 18:a11]"},
		"start":   {"- {name: a, to: 10.0.0.2, at: 2us, start: {op: rc_acknowledge}, steps: [" + packet + "]}", map[int64]string{5: "uc_send_only", 9: "rc_acknowledge"}, "[11:a0]"},
		"stop":    {"- {name: a, to: 10.0.0.2, gap: 10us, repeat: forever, stop: {op: cnp, count: 2}, steps: [" + packet + "]}", map[int64]string{15: "cnp", 25: "cnp"}, "[10:a0 21:a1]"},
		"wait":    {"- {name: a, to: 10.0.0.2, steps: [" + packet + ", {wait: {op: cnp}, timeout: 30us}, " + packet + ", {wait: {op: cnp}, timeout: 30us}, " + packet + "]}", map[int64]string{15: "cnp"}, "[0:a0 16:a0 46:a0]"},
		"ended": {
			"- {name: a, to: 10.0.0.2, gap: 10us, steps: [" + packet + "]}\n- {name: b, to: 10.0.0.2, start: {stream: a}, steps: [" + packet + "]}\n" +
				"- {name: c, to: 10.0.0.2, at: 50us, steps: [{pause: 50us}, {wait: {stream: a}}, " + packet + "]}\n" +
				"- {name: d, to: 10.0.0.2, gap: 4us, repeat: forever, stop: {stream: a}, steps: [" + packet + "]}", nil, "[4:d0 9:d1 10:a0 10:b0 101:c0]",
		},
	} {
		if got := fmt.Sprint(timeline(t, c.streams, c.heard)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

// frameOf is a frame on Ethernet.
func frameOf(data []byte) *fabricagent.Frame {
	return &fabricagent.Frame{Link: fabricagent.LinkEthernet, Len: uint32(len(data)), Data: data}
}
