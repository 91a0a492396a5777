package incident

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/link"
)

// TestPausedSender: of a port of a switch that has the one host of its tap pause, it is told who that is and what of it waits, and that several send to one of its peers; not where as many send to each, the port
// may be of a host, or the tap shows several hosts.
func TestPausedSender(t *testing.T) {
	for _, k := range []struct {
		name           string
		senders        int // to host 8, of which host 1 is one
		unowned        bool
		several        bool // hosts at the tap
		paused, incast bool
	}{
		{"incast", 4, true, false, true, true},
		{"as many to each", 1, true, false, true, false},
		{"a host's", 4, false, false, false, false},
		{"several hosts", 4, true, true, false, false},
	} {
		r := &agent.Result{Taps: make([]fabricagent.Tap, 2)}
		add := func(from, to byte, tap uint16) {
			s := lossScene{from: from, to: to, packets: 900}
			c := s.connection(len(r.Connections))
			c.FirstTap, c.Ends[0].Bytes = tap, 4096
			r.Connections = append(r.Connections, c)
		}
		add(1, 8, 0)
		add(1, 9, 0)
		for n := range k.senders - 1 {
			add(byte(n+2), 8, 1)
		}
		if k.several {
			add(5, 6, 0)
		}
		x := &teller{run: r}
		i := Incident{FitsWith: []string{congested}}
		x.pausedSender(&i, &link.Paused{Unowned: k.unowned})
		if got := i.says("paused"); got != k.paused || i.says("senders") != k.incast || strings.HasPrefix(i.FitsWith[0], "incast: more is sent to 10.0.0.8") != k.incast {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
