package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/internal/browser"
	"ibwitness/internal/testkit/sample"
)

// TestAccessible has axe look at each view, light and dark, on a desktop and on a phone: it has nothing serious to say.
func TestAccessible(t *testing.T) {
	sample.Skip(t, "axe takes a minute")
	s := finishedServer(t, capture)
	p := browser.Open(t)
	for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
		p.Size(size[0], size[1])
		for _, view := range []struct{ name, hash, ready, keys string }{
			{"findings", "findings", idOfRow + ".length === 5", ""},
			{"ladder", "findings?rule=RC-RSP-043&id=9", "document.querySelectorAll('.rung.offending').length === 1", ""},
			{"connections", "connections", "document.querySelectorAll('.connections .grid-row').length === 1", ""},
			{"rules", "rules", "document.querySelectorAll('.rules .grid-row').length > 10", kb.Enter},
			{"help", "findings", idOfRow + ".length === 5", "?"},
		} {
			p.Go(fmt.Sprintf("%s/?%s%d#%s", s.URL, view.name, size[0], view.hash))
			p.Wait(view.ready)
			p.Press(view.keys)
			for _, dark := range []bool{false, true} {
				p.Dark(dark)
				for _, b := range p.Barriers() {
					t.Errorf("%s, %d pixels wide, dark %v: %s", view.name, size[0], dark, b)
				}
				p.Shoot(fmt.Sprintf("%s-%d-%v", view.name, size[0], dark))
			}
		}
	}
}
