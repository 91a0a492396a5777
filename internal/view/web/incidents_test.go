package web

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/testkit/browser"
)

// TestIncidentPackets: the packets of what happened can be seen, those that show it marked, and nobody is accused by them; served, and in a file.
func TestIncidentPackets(t *testing.T) {
	s := finishedServer(t, capture)
	var l struct {
		Rows []struct {
			Frame uint64
			Mark  string
		}
	}
	get(t, s, "/api/incident/1/ladder", 200, &l)
	proofs := 0
	for i := range l.Rows {
		switch l.Rows[i].Mark {
		case "proof":
			proofs++
		case "":
		default:
			t.Errorf("frame %d is marked %q", l.Rows[i].Frame, l.Rows[i].Mark)
		}
	}
	if proofs != 5 || len(l.Rows) < 20 {
		t.Errorf("%d packets, %d of which show it", len(l.Rows), proofs)
	}
	get(t, s, "/api/incident/77/ladder", 404, nil)
	get(t, s, "/api/incident/x/ladder", 404, nil)

	file := written(t, judged(t, capture), "a capture", capture)
	p := browser.Open(t)
	for _, url := range []string{s.URL + "/", "file://" + file} {
		p.Go(url)
		p.Wait("document.querySelector('.incident button')")
		p.Click(".incident button")
		p.Wait("document.querySelectorAll('.packets .rung.proof').length === 5")
		if n := browser.Eval[int](p, "document.querySelectorAll('.packets .rung.offending').length"); n != 0 {
			t.Errorf("%d packets are accused", n)
		}
		p.Shoot("incident-light")
		for _, barrier := range p.Barriers() {
			t.Error(barrier)
		}
		p.Press(kb.Escape)
		p.Wait("!document.querySelector('.packets')")
		quiet(t, p)
	}
}
