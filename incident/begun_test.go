package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestBegunMessage: the first packet of a message that is sent twice in a row, after a pause, as soft-RoCE may, had not waited since the last progress, nor was the end of the message lost before the tap. Where
// the requester retransmits that packet long after, it had waited since it was sent.
func TestBegunMessage(t *testing.T) {
	const pause = int64(170e6)
	for name, tt := range map[string]struct {
		after int64 // nanoseconds after it was sent
		told  string
		not   []string
	}{
		"at once":    {430e3, "loss (proven): 10.0.0.1 QP 0x9bc retransmitted 1 of ", []string{"was answered for 1", "before the tap"}},
		"by a timer": {200e6, "Nothing that 10.0.0.1 QP 0x9bc sent to 10.0.0.2 QP 0xa32 was answered for 200", nil},
		"not at all": {0, "frames: 0\n", []string{"loss", "interrupted"}},
	} {
		list := frames(t, strings.Replace(writes, "repeat: 4", "repeat: 4, every: 1ms", 1))
		first := -1 // of the last WRITE
		for n := range list {
			changed(&list[n], func(p *packet.Packet) {
				if p.Opcode.Fn() == packet.WriteFirst {
					first = n
				}
			})
		}
		for n := first; n < len(list); n++ {
			list[n].Time += pause
		}
		if tt.after > 0 {
			again := list[first]
			again.Data = slices.Clone(again.Data)
			again.Time += tt.after
			changed(&again, func(p *packet.Packet) { p.IPID += 100 })
			for n := first + 1; n < len(list); n++ {
				list[n].Time += tt.after + 1000
			}
			list = slices.Insert(list, first+1, again)
			for n := range list {
				list[n].Number = uint64(n + 1)
			}
		}
		got := happened(t, list, agent.Options{})
		if !strings.Contains(got, tt.told) || slices.ContainsFunc(tt.not, func(s string) bool { return strings.Contains(got, s) }) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
