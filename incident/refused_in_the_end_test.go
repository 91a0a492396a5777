package incident_test

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/verifier/cm"
)

// TestRefusedInTheEnd: a REQ that was refused only after it had been sent three times is kept, as its host was not answered until then; it is told as
// refused only. One that was sent twice is not.
func TestRefusedInTheEnd(t *testing.T) {
	req := &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1064853, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20,
	}
	refused := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), RemoteCommID: 0xA0, Reason: mad.RejInvalidService}
	sent := asked(t, req, refused, req, refused, req) // by turns
	for _, k := range []struct {
		name string
		list []fabricagent.Frame
		want bool
	}{
		{"three times", []fabricagent.Frame{sent[0], sent[2], sent[4], sent[3]}, true},
		{"twice", []fabricagent.Frame{sent[0], sent[2], sent[3]}, false},
	} {
		for n := range k.list {
			k.list[n].Time = k.list[0].Time + int64(n)*4*int64(time.Second)
		}
		r := judged(t, k.list, agent.Options{})
		if kept := len(r.REQs) == 1 && r.REQs[0].Waits == cm.ForRefusal && r.REQs[0].Times == 3; kept != k.want || !k.want && len(r.REQs) > 0 {
			t.Errorf("%s: %+v", k.name, r.REQs)
		}
		contains(t, k.name, toldOf(r), []string{"frames: 1", "was refused: invalid service ID (reason 8)."}, nil)
	}
}
