package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
)

// TestStale tells packets of a connection that is over, which come on the one that its queue pairs make after it, from new ones, and accuses nobody for them.
func TestStale(t *testing.T) {
	data := frames(t, strings.Replace(writes, "repeat: 4", "repeat: 4, every: 100us", 1))
	psn := func(f *fabricagent.Frame) (n packet.PSN) {
		var p packet.Packet
		fabricagent.Decode(f, &p)
		return p.PSN
	}
	exchange := func(id uint32, first *fabricagent.Frame) []fabricagent.Frame {
		tid := uint64(id)
		return append(asked(t,
			&mad.REQ{Header: mad.CMHeader(mad.AttrREQ, tid), LocalCommID: id, ServiceID: 0x1064853, LocalQPN: 0x9bc, StartingPSN: 7, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20},
			&mad.REP{Header: mad.CMHeader(mad.AttrREP, tid), LocalCommID: id + 1, RemoteCommID: id, LocalQPN: 0xa32, StartingPSN: psn(first)},
			&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, tid), LocalCommID: id, RemoteCommID: id + 1}), asked(t,
			&mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, tid+1), LocalCommID: id, RemoteCommID: id + 1, RemoteQPN: 0xa32},
			&mad.DREP{Header: mad.CMHeader(mad.AttrDREP, tid+1), LocalCommID: id + 1, RemoteCommID: id})...)
	}
	// reconnected has the first two WRITEs on one connection, and the others on another, before the last of which so many packets of the first WRITEs come.
	reconnected := func(late []fabricagent.Frame) (list []fabricagent.Frame) {
		one, two := exchange(0xA0, &data[0]), exchange(0xC0, &data[18])
		for _, part := range [][]fabricagent.Frame{one[:3], data[:18], one[3:], two[:3], data[18:27], late, data[27:]} {
			list = append(list, part...)
		}
		for i := range list {
			list[i].Time = data[0].Time + int64(i)*int64(10*time.Microsecond)
		}
		return list
	}
	r := judged(t, reconnected(data[9:13]), agent.Options{})
	got := toldOf(r)
	if !strings.Contains(got, "reordered (likely): 4 packets that 10.0.0.1 QP 0x9bc had sent to 10.0.0.2 QP 0xa32 on the connection before came late") || !strings.Contains(got, "frame 36 is frame 13 once more") {
		t.Errorf("four packets: %s", got)
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; strings.HasPrefix(f.Rule.String(), "RC-") && f.Frame >= 36 { // the MSNs before that are not those of a new connection
			t.Errorf("%v %v in frame %d", f.Rule, f.Class, f.Frame)
		}
	}
	if got := happened(t, reconnected(nil), agent.Options{}); strings.Contains(got, "connection before") {
		t.Errorf("none: %s", got)
	}
	if got := happened(t, append(reconnected(nil), data[27:30]...), agent.Options{}); strings.Contains(got, "connection before") {
		t.Errorf("of the same connection: %s", got)
	}
}
