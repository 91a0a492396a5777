package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
)

// TestGaveUp: of a host of which nothing is in the capture it is told that it answered no REQ, and that the REJs are of the host that asked; not of one that sent a REP or an MRA.
func TestGaveUp(t *testing.T) {
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1060CBC, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xA0, Reason: mad.RejTimeout, Rejected: mad.AnsweredOther}
	next, nextREJ := *req, *rej
	next.TID, next.LocalCommID, next.LocalQPN, nextREJ.TID, nextREJ.LocalCommID = 78, 0xA1, 0x12, 78, 0xA1
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: 0x22}
	mra := &mad.MRA{Header: mad.CMHeader(mad.AttrMRA, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, ServiceTimeout: 20}
	late := *rej
	late.RemoteCommID = 0xB0
	own := func(m interface{ Encode([]byte) error }) fabricagent.Frame { return asked(t, m)[0] } // of the host that asks
	peers := func(m interface{ Encode([]byte) error }) fabricagent.Frame { return asked(t, req, m)[1] }
	at := func(frame fabricagent.Frame, s float64) fabricagent.Frame {
		frame.Data = slices.Clone(frame.Data)
		frame.Time = second(1) + int64(s*1e9)
		return frame
	}
	silent := []fabricagent.Frame{at(own(req), 5), at(own(req), 11), at(own(req), 17), at(own(rej), 20), at(own(&next), 30), at(own(&next), 36), at(own(&nextREJ), 40)}
	open := []fabricagent.Frame{silent[0], silent[1], silent[3], silent[4]}
	gateway := slices.Clone(silent)
	for k := range gateway {
		gateway[k] = at(gateway[k], float64(gateway[k].Time-second(1))/1e9)
		copy(gateway[k].Data, []byte{0, 0, 0x5E, 0, 1, 0x14})
	}
	const none, routed = "10.0.0.2 answered none of ", "through: a gateway: the REQs go to the Ethernet address 00:00:5e:00:01:14, one of VRRP\n"
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want string
		not  []string
	}{
		{"silent", silent, none + "5 REQs of 10.0.0.1 (2 attempts, from +0.000 s on); nothing of 10.0.0.2 is in the capture; the REJs (reason 4, timeout) are 10.0.0.1's own.", []string{"through", "refused the answer"}},
		{"which", silent, "gave up: twice, in frames 4 and 7: 15s after the first REQ of an attempt\n", []string{"asked 10.0.0.2 for a connection, and"}},
		{"one attempt is open", open, none + "3 REQs of 10.0.0.1 (2 attempts, from +0.000 s on); nothing of 10.0.0.2 is in the capture; the REJ (reason 4, timeout) is 10.0.0.1's own.", []string{"nothing answered"}},
		{"through a gateway", gateway, routed, []string{"refused the answer"}},
		{"REP", []fabricagent.Frame{at(own(req), 5), at(peers(rep), 6), at(own(&late), 20)}, "10.0.0.1 asked 10.0.0.2 for a connection, and gave up: timeout (reason 4).", []string{none}},
		{"MRA", []fabricagent.Frame{at(own(req), 5), at(peers(mra), 6), at(own(&late), 20)}, "10.0.0.1 asked 10.0.0.2 for a connection, and gave up: timeout (reason 4)", []string{none}},
		{"REP after the REJ", []fabricagent.Frame{at(own(req), 5), at(own(rej), 20), at(peers(rep), 20.1)}, "gave up: timeout (reason 4)", []string{none}},
	} {
		r := judged(t, tt.list, agent.Options{})
		got := toldOf(r)
		if !strings.Contains(got, tt.want) || slices.ContainsFunc(tt.not, func(s string) bool { return strings.Contains(got, s) }) {
			t.Errorf("%s: %s\nwant %q", tt.name, got, tt.want)
		}
		for _, i := range incident.Of(r) {
			all := strings.Join(append(slices.Clone(i.FitsWith), i.Next...), "; ")
			if silent := strings.Contains(tt.want, none); silent && (strings.Contains(all, "a slow program") || strings.Contains(all, "took to answer") || !strings.Contains(all, "and back") || i.Begin != second(6)) {
				t.Errorf("%s: %s, begins at %d", tt.name, all, i.Begin)
			}
		}
	}
}

// TestGaveUpUnseen: nor is it told of a slow program where the REQs came before the capture began, and nothing of the other host is in it.
func TestGaveUpUnseen(t *testing.T) {
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xA0, Reason: mad.RejTimeout, Rejected: mad.AnsweredOther}
	for _, i := range incident.Of(judged(t, asked(t, rej), agent.Options{})) {
		if all := strings.Join(append(slices.Clone(i.FitsWith), i.Next...), "; "); strings.Contains(all, "a slow program") || strings.Contains(all, "took to answer") {
			t.Error(all)
		}
	}
}
