package web

import (
	"fmt"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/browser"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// replay is a recorder that keeps all frames of a capture.
type replay []fabricagent.Frame

func (r replay) Around(*rule.Finding, int) []fabricagent.Frame { return r }

// framesOf reads a capture.
func framesOf(t *testing.T, file string) (r replay) {
	t.Helper()
	src, err := fabricagent.Open([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		b, err := src.Next()
		if err == io.EOF {
			return r
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Frames {
			f.Data = append([]byte(nil), f.Data...)
			r = append(r, f)
		}
		b.Release()
	}
}

// liveServer serves the page of a run that goes on, and has found by now what a capture shows, and a systematic fault.
func liveServer(t *testing.T, file string) *httptest.Server {
	t.Helper()
	m := NewModel(Options{Live: true, Title: "eth0"})
	run := judged(t, file).Result
	kept := NewRecorded(framesOf(t, file))
	kept.Found(m.Found(run.Findings))
	m.Found(systematic(1000, 0, run.Last))
	for i := range int64(3) {
		m.Survey(run.Last+i*1e9, func(yield func(uint64, *agent.Connection) bool) {
			for id := range run.Connections {
				run.Connections[id].Ends[0].Bytes += 1e6
				yield(uint64(id)+1, &run.Connections[id])
			}
		})
	}
	st := &agent.Status{Now: run.Last + 3e9, RDMA: run.RDMA, Packets: run.Packets, Connections: len(run.Connections)}
	st.Cover = run.Cover
	m.Status(st)
	page := NewServer(m, kept)
	s := httptest.NewServer(page)
	t.Cleanup(func() {
		page.Close()
		s.Close()
		kept.Close()
	})
	return s
}

// TestAccessible has axe look at each view, of a capture and of a run that goes on, light and dark, on a desktop and on a phone: it has nothing
// serious to say.
func TestAccessible(t *testing.T) {
	sample.Skip(t, "axe takes a minute")
	p := browser.Open(t)
	for _, of := range []struct {
		name, url string
		rows      int
	}{
		{"capture", finishedServer(t, capture).URL, 5},
		{"live", liveServer(t, capture).URL, 6},
	} {
		ready := fmt.Sprintf("%s.length === %d", idOfRow, of.rows)
		for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
			p.Size(size[0], size[1])
			for _, view := range []struct{ name, hash, ready, keys string }{
				{"findings", "findings", ready, ""},
				{"ladder", "findings?rule=RC-RSP-043&id=9", "document.querySelectorAll('.rung.offending').length === 1", ""},
				{"connections", "connections", "document.querySelectorAll('.connections .grid-row').length === 1", ""},
				{"messages", "messages", "document.querySelectorAll('.messages .grid-row').length > 0", ""},
				{"rules", "rules", "document.querySelectorAll('.rules .grid-row').length > 10", kb.Enter},
				{"help", "findings", ready, "?"},
			} {
				if view.name == "messages" && of.name == "live" {
					continue // it has none
				}
				p.Go(fmt.Sprintf("%s/?%s%d#%s", of.url, view.name, size[0], view.hash))
				p.Wait(view.ready)
				p.Press(view.keys)
				for _, dark := range []bool{false, true} {
					p.Dark(dark)
					var rules []string
					if dark {
						rules = []string{"color-contrast"} // nothing else is another then
					}
					for _, b := range p.Barriers(rules...) {
						t.Errorf("%s of a %s page, %d pixels wide, dark %v: %s", view.name, of.name, size[0], dark, b)
					}
					p.Shoot(fmt.Sprintf("%s-%s-%d-%v", of.name, view.name, size[0], dark))
				}
			}
		}
	}
}
