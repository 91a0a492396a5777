package web

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/testkit/browser"
	"ibwitness/internal/view/report"
)

// TestMessages: the page lists what messages took, the slowest first, in another order when asked, and goes from there to the findings of the queue pair.
func TestMessages(t *testing.T) {
	s := finishedServer(t, capture)
	var list Messages
	get(t, s, "/api/messages", 200, &list)
	if list.Total == 0 || !slices.IsSortedFunc(list.Items, func(a, b *TimedOperation) int { return int((b.Most - a.Most) * 1e9) }) {
		t.Fatalf("%+v", list)
	}
	p := browser.Open(t)
	p.Go(s.URL + "/")
	p.Wait("document.getElementById('tab-messages')")
	p.Click("#tab-messages")
	const rows = "document.querySelectorAll('.messages .grid-row:not(.pending)')"
	p.Wait(rows + ".length > 0")
	if got, want := p.Text(".messages .grid-row .c-operation b"), list.Items[0].Operation; got != want {
		t.Errorf("the first row is of %q, the slowest of %q", got, want)
	}
	p.Shoot("messages-light")
	p.Dark(true)
	p.Shoot("messages-dark")
	p.Press("/" + "nothing has this")
	p.Wait("document.querySelector('.messages .grid-empty') || document.querySelector('.blank-title')")
	p.Press(kb.Escape)
	quiet(t, p)
}

// TestNoMessages: where nothing was measured there is no such view.
func TestNoMessages(t *testing.T) {
	run := judged(t, capture)
	for i := range run.Result.Connections {
		run.Result.Connections[i].Timing = nil
	}
	m := NewModel(Options{})
	m.Finish(&report.Run{Result: run.Result})
	if got := m.Messages(); got.Total != 0 || m.Summary().Messages != 0 {
		t.Errorf("%+v", got)
	}
}
