package cli

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/testkit/browser"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
)

// TestWatchPage has a browser look at live traffic: violations show when they happen, with the packets around them, also when the recorder has long
// forgotten these.
func TestWatchPage(t *testing.T) {
	sample.Skip(t, "a browser takes seconds, and internal/view/web opens one")
	if !veth.Network(t) {
		return
	}
	const address = "127.0.0.1:9846"
	url := "http://" + address + "/"
	p := browser.Open(t)
	var watch *process
	begin := func() {
		watch = start(t, "watch", "-i", "right", "--promiscuous", "--listen", address, "--recorder", "2")
		watch.logs("watching")
		p.Go(url)
		p.Wait("document.querySelector('h1')?.innerText === 'WAITING'")
	}
	begin()
	violate(t, func() bool {
		if watch.settled(address); watch.counted(address, nakViolated) > 0 {
			return true
		}
		p.Go("about:blank") // before it loses its server, and says so
		watch.stop()
		begin()
		return false
	})
	// All four show; how many are proven depends on when their packets came.
	p.Wait("document.querySelector('h1').innerText === 'VIOLATED' && document.querySelector('.sentence').innerText.endsWith(' of RC-RSP-043 (nak-duplicate) by 10.77.0.2')")
	p.Wait("[...document.querySelectorAll('.findings .grid-row')].filter(r => r.innerText.includes('nak-duplicate')).length === 4")
	p.Press("2")
	p.Wait("document.querySelectorAll('.connections .grid-row').length === 1 && document.querySelector('.connections .dot.s-violation')")
	p.Press("1")

	shape := traffic.Small(60)
	shape.Faults = 500
	replay(t, traffic.Capture(shape, 40_000), "left")
	p.Wait("Number(document.querySelector('[data-show=violation] .n').innerText.replace(',', '')) > 20")
	p.Shoot("watch-findings")

	// The oldest violation has its packets yet.
	p.Press("/")
	p.Press("nak-duplicate" + kb.Enter)
	p.Wait("document.querySelector('.findings-view .count').innerText === '4 findings'")
	p.Press("k" + kb.End + kb.Enter)
	p.Wait("document.querySelectorAll('.rung.offending').length === 1")
	if n := browser.Eval[int](p, "document.querySelectorAll('.rung').length"); n < 8 {
		t.Errorf("the ladder has %d packets", n)
	}
	if got := p.Text(".rung.offending + .rung.expected"); !strings.Contains(got, "no further NAK after the RNR NAK") {
		t.Errorf("expected %q", got)
	}
	p.Shoot("watch-ladder")
	p.Press(kb.Escape)
	p.Click("#tab-connections")
	p.Wait("document.querySelectorAll('.connections .grid-row').length > 5")
	p.Shoot("watch-connections")
	p.Press("3")
	p.Wait("document.querySelectorAll('.rules .grid-row.r-held').length > 0")
	if list := p.Problems(); len(list) > 0 {
		t.Errorf("the console says %q", list)
	}
	for _, asked := range p.Requests() {
		if !strings.HasPrefix(asked, url) && asked != "about:blank" {
			t.Errorf("it asked for %s", asked)
		}
	}
	watch.stop() // although a page is open
}
