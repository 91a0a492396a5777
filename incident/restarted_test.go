package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
)

// TestRestarted: that a server disconnects, refuses REQs as no program listens, and accepts again, is one story; that it refuses some which it has not disconnected, or has refused all the time, is told as refusals.
func TestRestarted(t *testing.T) {
	ask := func(n uint32) *mad.REQ {
		return &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, uint64(n)), LocalCommID: 0xA0 + n, ServiceID: 0x1064853, LocalQPN: 0x11 + n, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	}
	connect := func(n uint32) []fabricagent.Frame {
		return asked(t, ask(n), &mad.REP{Header: mad.CMHeader(mad.AttrREP, uint64(n)), LocalCommID: 0xB0 + n, RemoteCommID: 0xA0 + n, LocalQPN: 0x22 + n},
			&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, uint64(n)), LocalCommID: 0xA0 + n, RemoteCommID: 0xB0 + n})
	}
	refuse := func(n uint32) []fabricagent.Frame {
		return asked(t, ask(n), &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, uint64(n)), RemoteCommID: 0xA0 + n, Reason: mad.RejInvalidService})
	}
	second := asked(t, ask(9), &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 901), LocalCommID: 0xB2, RemoteCommID: 0xA2, RemoteQPN: 0x13}, &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 901), LocalCommID: 0xA2, RemoteCommID: 0xB2})[1:]
	byServer := asked(t, ask(9), &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 900), LocalCommID: 0xB1, RemoteCommID: 0xA1, RemoteQPN: 0x12}, &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 900), LocalCommID: 0xA1, RemoteCommID: 0xB1})[1:]
	byClient := asked(t, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 900), LocalCommID: 0xA1, RemoteCommID: 0xB1, RemoteQPN: 0x23}, &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 900), LocalCommID: 0xB1, RemoteCommID: 0xA1})
	story := func(parts ...[]fabricagent.Frame) (list []fabricagent.Frame) { // a second apart
		start := parts[0][0].Time
		for k, part := range parts {
			for n, f := range part {
				f.Time = start + int64(k)*int64(time.Second) + int64(n)*int64(time.Millisecond)
				list = append(list, f)
			}
		}
		return list
	}
	const (
		told  = "connection-refused (proven): 10.0.0.2 disconnected 1 connection (DREQ); then it refused 2 REQs for TCP port 18515, as no program listened (invalid service ID, reason 8): at +2.001 s and at +3.001 s, 2s after the last DREQ"
		plain = "The connection that 10.0.0.1 asked 10.0.0.2 for was refused: invalid service ID (reason 8)."
	)
	for _, tt := range []struct {
		name      string
		list      []fabricagent.Frame
		want, not []string
	}{
		{"restarted", story(connect(1), byServer, refuse(2), refuse(3), connect(4)), []string{
			told + "; then it accepted one again.", "DREQ: the last in frame 4\n", "refused: 2 REQs of 10.0.0.1; the first in frame 7, 1s after the last DREQ, the last in frame 9\n", "then: a connection of 10.0.0.1 was accepted in frame",
		}, []string{plain}},
		{"accepted long after", story(connect(1), byServer, refuse(2), nil, connect(4)), []string{"then it refused 1 REQ for TCP port 18515, as no program listened (invalid service ID, reason 8): at +2.001 s, 1s after the last DREQ; then"}, []string{plain}},
		{"refused before the last DREQ", story(connect(1), connect(2), byServer, refuse(3), second, refuse(4), connect(5)), []string{
			"10.0.0.2 disconnected 2 connections (DREQ), and refused 2 REQs for TCP port 18515, as no program listened (invalid service ID, reason 8): at +3.001 s and at +5.001 s, 1s after the last DREQ; then it accepted one again.",
			"the first in frame 10, 999ms before the last DREQ, the last in frame 14\n",
		}, []string{plain}},
		{"refused before the last DREQ only", story(connect(1), connect(2), byServer, refuse(3), second), []string{"(DREQ), and refused 1 REQ for TCP port 18515, as no program listened (invalid service ID, reason 8): at +3.001 s, and accepted none"}, []string{plain}},
		{"the last DREQ of one that was accepted after", story(connect(1), byServer, refuse(3), connect(2), second), []string{"10.0.0.2 disconnected 1 connection (DREQ); then it refused 1 REQ", "; then it accepted one again."}, []string{plain}},
		{"gone", story(connect(1), byServer, refuse(2), refuse(3)), []string{told + ", and accepted none by the end of the capture."}, []string{plain}},
		{"the client disconnected", story(connect(1), byClient, refuse(2), refuse(3), connect(4)), []string{strings.TrimSuffix(plain, ".") + "; 1s after the last refusal, 1 connection for the same service was accepted."}, []string{"DREQ"}},
		{"it disconnected one that is not in the capture", story(byServer, refuse(2), refuse(3)), []string{strings.TrimSuffix(plain, ".") + "; 1s before, 10.0.0.2 had disconnected (DREQ) itself."}, nil},
		{"its client disconnected one that is not", story(byClient, refuse(2), refuse(3)), []string{plain}, []string{"DREQ"}},
		{"it accepted one before it refused", story(connect(1), byServer, connect(4), refuse(2)), []string{plain}, []string{"DREQ"}},
		{"not refused", story(connect(1), byServer, connect(4)), []string{"frames: 0"}, nil},
	} {
		contains(t, tt.name, happened(t, tt.list, agent.Options{}), tt.want, tt.not)
	}
}
