package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// TestPauseHosts: of a port that has the other end pause, the hosts are named whose packets go to its Ethernet address.
func TestPauseHosts(t *testing.T) {
	list := frames(t, writes)
	pause := func(from []byte) fabricagent.Frame {
		f := list[len(list)/2]
		f.Data = append(append([]byte{0x01, 0x80, 0xc2, 0, 0, 1}, from...), 0x88, 0x08, 0x01, 0x01, 0, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
		f.Data = append(f.Data, make([]byte, 60-len(f.Data))...)
		f.Len = 60
		return f
	}
	with := func(from []byte) []fabricagent.Frame {
		return append(append(append([]fabricagent.Frame{}, list[:20]...), pause(from)), list[20:]...)
	}
	const known = ", to which packets for 10.0.0.2 go, had the other end of its link pause priority 3 once"
	if got := happened(t, with(list[0].Data[:6]), agent.Options{}); !strings.Contains(got, known) || !strings.Contains(got, "stops: what is sent to 10.0.0.2 waits meanwhile: priority 3") {
		t.Error(got)
	}
	if got := happened(t, with([]byte{2, 9, 9, 9, 9, 9}), agent.Options{}); !strings.Contains(got, "address 02:09:09:09:09:09 had the other end") {
		t.Error(got)
	}
}
