package web

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/testkit/browser"
)

// TestNumbers: a connection opens with the numbers of both ends and their plots over time, from a server and from a file, and leads to its findings.
func TestNumbers(t *testing.T) {
	s := finishedServer(t, capture)
	type numbers struct {
		Step float64
		Ends [2]struct {
			Path struct {
				Port uint16 `json:"udp_source_port"`
			}
			Timing struct{ Series struct{ Bytes []uint64 } }
		}
	}
	var list struct{ Items []numbers }
	get(t, s, "/api/connections", 200, &list)
	var n numbers
	get(t, s, "/api/connection/1", 200, &n)
	if n.Step <= 0 || n.Ends[0].Path.Port == 0 || len(n.Ends[0].Timing.Series.Bytes) == 0 || len(list.Items[0].Ends[0].Timing.Series.Bytes) != 0 {
		t.Errorf("%+v, listed as %+v", n, list.Items[0])
	}
	get(t, s, "/api/connection/77777", 404, nil)
	get(t, s, "/api/connection/x", 404, nil)

	file := written(t, judged(t, capture), "a capture")
	p := browser.Open(t)
	for _, url := range []string{s.URL + "/", "file://" + file} {
		p.Go(url)
		p.Wait("document.getElementById('tab-connections')")
		p.Click("#tab-connections")
		p.Wait("document.querySelector('.connections .grid-row:not(.pending)')")
		p.Click(".connections .grid-row:not(.pending)")
		p.Wait("document.querySelectorAll('.numbers .charts figure').length > 1")
		if rows := browser.Eval[int](p, "document.querySelectorAll('.numbers .told tbody tr').length"); rows < 8 {
			t.Errorf("%d rows", rows)
		}
		for _, barrier := range p.Barriers() {
			t.Error(barrier)
		}
		p.Shoot("numbers-light")
		p.Press(kb.Escape)
		p.Wait("!document.querySelector('.numbers')")
		p.Click(".connections .grid-row:not(.pending)")
		p.Wait("document.querySelector('.numbers .charts')")
		p.Click(".numbers header button")
		p.Wait("document.querySelector('.findings .grid-row')")
		quiet(t, p)
	}
}
