package cli

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/browser"
	"ibwitness/internal/traffic"
	"ibwitness/internal/veth"
)

// steady waits until the interfaces have the IPv6 addresses that the kernel gives them: a browser drops its connections where one comes.
func steady() {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		b, err := os.ReadFile("/proc/net/if_inet6")
		if err != nil {
			return // no IPv6
		}
		settled := 0
		for line := range strings.Lines(string(b)) {
			const tentative = 0x40
			f := strings.Fields(line) // address, index, prefix, scope, flags, name
			if flags, err := strconv.ParseUint(f[4], 16, 32); err == nil && flags&tentative == 0 && (f[5] == "left" || f[5] == "right") {
				settled++
			}
		}
		if settled == 2 {
			return
		}
	}
}

// TestWatchPage has a browser look at live traffic: violations show when they happen, with the packets around them, also when the recorder has long
// forgotten these.
func TestWatchPage(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	watch := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:0", "--recorder", "2")
	url := "http://" + watch.logs(`"address":"([^"]+)"`) + "/"
	watch.logs("watching")
	steady()
	p := browser.Open(t)
	p.Go(url)
	p.Wait("document.querySelector('h1')?.innerText === 'WAITING'")

	replayFile(t, "../../testdata/captures/rnr_retry_exceeded.pcap", "left")
	// All four show; how many are proven depends on when their packets came.
	p.Wait("document.querySelector('h1').innerText === 'VIOLATED' && document.querySelector('.sentence').innerText.endsWith(' of 1 rule by 10.77.0.2')")
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
	if got := p.Text(".rung.offending + .rung.expected"); !strings.Contains(got, "silence after the RNR NAK") {
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
		if !strings.HasPrefix(asked, url) {
			t.Errorf("it asked for %s", asked)
		}
	}
	began := time.Now()
	watch.stop() // although a page is open
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it ended after %v", took)
	}
}
