package incident_test

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
)

// TestRejectedAfterMRA: a REJ after an MRA is told with who had asked for how much time, and how long the other side waited; one without an MRA, and an MRA after which the REP came, are not.
func TestRejectedAfterMRA(t *testing.T) {
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1064853, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	mra := &mad.MRA{Header: mad.CMHeader(mad.AttrMRA, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, Answered: mad.AnsweredREQ, ServiceTimeout: 18}
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: 0x22}
	mraOfREP := &mad.MRA{Header: mad.CMHeader(mad.AttrMRA, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0, Answered: mad.AnsweredREP, ServiceTimeout: 18}
	refused := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, Reason: mad.RejConsumer}
	lateREP := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, Reason: mad.RejTimeout, Rejected: mad.AnsweredOther}
	gaveUp := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0, Reason: mad.RejTimeout, Rejected: mad.AnsweredOther}
	rtu := &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0}
	at := func(list []fabricagent.Frame, ms ...int64) (out []fabricagent.Frame) { // leaves out those without a time
		for k, n := range ms {
			if n >= 0 {
				f := list[k]
				f.Time = list[0].Time + n*int64(time.Millisecond)
				out = append(out, f)
			}
		}
		return out
	}
	for _, tt := range []struct {
		name      string
		list      []fabricagent.Frame
		want, not []string
	}{
		{"then refused", at(asked(t, req, mra, req, refused), 0, 20, -1, 820), []string{
			"was refused: consumer reject (reason 28); 10.0.0.2 had first asked for more time (MRA), 800ms before.",
			"MRA: of 10.0.0.2, in frame 2, 20ms after the REQ: for up to 1.07s (service timeout); the REJ came 800ms after it: 10.0.0.1 waited 820ms in all",
		}, []string{"was over"}},
		{"not kept", at(asked(t, req, mra, gaveUp), 0, 20, 2120), []string{
			"10.0.0.1 asked 10.0.0.2 for a connection, and gave up: timeout (reason 4); 10.0.0.2 had asked for more time (MRA) 2.1s before, and did not answer.",
			"MRA: of 10.0.0.2, in frame 2, 20ms after the REQ: for up to 1.07s (service timeout); the REJ came 2.1s after it, when that was over: 10.0.0.1 waited 2.12s in all",
		}, []string{"refused the answer"}},
		{"of a REP", at(asked(t, req, rep, mraOfREP, lateREP), 0, 1, 2, 3002), []string{
			"was refused: timeout (reason 4); 10.0.0.1 had asked for more time (MRA) 3s before, and did not answer.", "MRA: of 10.0.0.1, in frame 3, 1ms after the REP: ", "10.0.0.2 waited 3s in all",
		}, nil},
		{"without an MRA", at(asked(t, req, refused), 0, 820), []string{"was refused: consumer reject (reason 28)."}, []string{"MRA"}},
		{"answered", at(asked(t, req, mra, req, rep, rtu), 0, 20, -1, 820, 821), []string{"frames: 0"}, nil},
		{"and no more, though asked again", at(asked(t, req, rep, req, mra), 0, -1, 4380, 4381), []string{
			"10.0.0.1 asked 10.0.0.2 for a connection (REQ) twice in 4.38s; its communication manager asked for more time (MRA), and nothing accepted or rejected it for 4.38s.",
			"MRA: of 10.0.0.2, in frame 3, 4.38s after the first REQ: for up to 1.07s (service timeout)",
		}, nil},
		{"then accepted, though asked again", at(asked(t, req, mra, req, rep, rtu), 0, 20, 4380, 5000, 5001), nil, []string{"nothing accepted"}},
		{"and no more, asked once", at(asked(t, req, mra, req, mra), 0, 1, -1, 4381), nil, []string{"nothing accepted"}},
	} {
		contains(t, tt.name, happened(t, tt.list, agent.Options{}), tt.want, tt.not)
	}
}
