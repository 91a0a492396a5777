package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"ibwitness/agent"
	"ibwitness/expect"
	"ibwitness/internal/testkit/browser"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

const (
	row      = ".findings .grid-row:not(.pending)"
	idOfRow  = "document.querySelectorAll('.findings .grid-row:not(.pending)')"
	atFind   = "document.querySelector('.pane .detail')"
	atPacket = "document.querySelector('.rung.current')"
)

// quiet reports what the console of the page has to say, which is nothing.
func quiet(t *testing.T, p *browser.Page) {
	t.Helper()
	if list := p.Problems(); len(list) > 0 {
		t.Errorf("the console says %q", list)
	}
}

// TestPage goes through the page of a capture by mouse and by keyboard.
func TestPage(t *testing.T) {
	s := finishedServer(t, capture)
	p := browser.Open(t)
	p.Go(s.URL + "/")
	p.Wait(idOfRow + ".length === 5")
	if got := p.Text("h1"); got != "VIOLATED" {
		t.Errorf("verdict %q", got)
	}
	if got := p.Text(".also"); !strings.HasSuffix(got, "and 4 requests without a response") {
		t.Errorf("beside the verdict: %q", got)
	}
	p.Shoot("findings-light")

	// The mouse opens a ladder; the offending packet is marked, with what was expected below it.
	p.Click(row + ".s-violation")
	p.Wait(atFind + " && document.querySelectorAll('.rung.offending').length === 1")
	for selector, want := range map[string]string{
		".detail h2": "RC-RSP-043 nak-duplicate", ".side.expected": "no further NAK after the RNR NAK", ".side.actual": "NAK PSN Sequence Error", ".rung.offending": "NAK PSN Sequence Error",
		".rung.offending + .rung.expected": "no further NAK after", ".rung.proof": "RNR NAK", ".end.right": "responder", ".rule-text": "A responder sends one NAK", ".reference": "[9.7.5.2†]",
		".field.differs": "Syndrome", ".fields": "Packet Sequence Number",
	} {
		if got := p.Text(selector); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s says %q, not %q", selector, got, want)
		}
	}
	p.Shoot("ladder-light")
	p.Dark(true)
	p.Shoot("ladder-dark")
	p.Dark(false)
	p.Click(".rung.proof")
	p.Wait(`document.querySelector('.fields h3').innerText.includes('proof')`)

	// Esc closes it; the keyboard opens it again, goes through its packets and into the fields of one.
	p.Press(kb.Escape)
	p.Wait("document.querySelector('.pane').hidden && document.activeElement.classList.contains('grid')")
	p.Press("j" + kb.ArrowDown + "k")
	p.Press(kb.Enter)
	p.Wait("document.activeElement.classList.contains('rungs') && " + atPacket + ".classList.contains('offending')")
	frame := p.Text(".fields h3")
	p.Press("j")
	p.Wait(fmt.Sprintf("document.querySelector('.fields h3').innerText !== %q", frame))
	p.Press(kb.ArrowRight + "j" + "j")
	p.Wait("document.activeElement.classList.contains('field') && document.querySelector('.bytes .lit')")
	p.Press(kb.ArrowLeft + "o")
	p.Wait(atPacket + ".classList.contains('offending')")
	first := p.Text(".detail-head > p.quiet")
	p.Press("n")
	p.Wait(fmt.Sprintf("document.querySelector('.detail-head > p.quiet').innerText !== %q && document.activeElement.classList.contains('rungs')", first))
	p.Press(kb.Escape)
	p.Wait("document.querySelector('.pane').hidden")

	// Filters: class, text, rule, endpoint.
	p.Click("[data-show=violation]")
	p.Wait(idOfRow + ".length === 1 && " + idOfRow + "[0].innerText.includes('RC-RNR-005')")
	p.Click("[data-show=event]")
	p.Wait("document.querySelector('.findings-view .count').innerText === '21 findings'")
	p.Press("/")
	p.Press("rnr-nak" + kb.Enter)
	p.Wait("document.querySelector('.findings-view .count').innerText === '4 findings'")
	p.Click(".clear")
	p.Wait("document.querySelector('.findings-view .count').innerText === '5 findings'")
	p.Click(`[data-pick="rule RC-RSP-043"]`)
	p.Wait("document.querySelector('.findings-view .count').innerText === '4 findings' && location.hash.includes('RC-RSP-043')")
	p.Click(`[data-pick="endpoint 10.77.0.1"]`)
	p.Press("/")
	p.Press("18" + kb.Enter)
	p.Wait("document.querySelector('.findings-view .count').innerText === '1 finding'")

	// The other views.
	p.Press(kb.Escape)
	p.Press("2")
	p.Wait("document.querySelectorAll('.connections .grid-row').length === 1 && document.querySelector('.connections .spark polyline')")
	p.Shoot("connections")
	p.Press("3")
	p.Wait("document.querySelectorAll('.rules .grid-row').length > 10")
	// What was typed into one view searches in no other, however fast its reader goes on.
	p.Press("1/" + "18" + kb.Enter + "3")
	p.Wait("document.querySelectorAll('.rules .grid-row').length > 10")
	browser.Eval[bool](p, "new Promise((done) => setTimeout(() => done(true), 300))")
	p.Wait("document.querySelectorAll('.rules .grid-row').length > 10")
	p.Press("/")
	p.Press("nak-duplicate" + kb.Enter)
	p.Wait("document.querySelectorAll('.rules .grid-row').length === 1")
	p.Press(kb.Enter)
	p.Wait("document.querySelector('.rule-pane').innerText.includes('A responder sends one NAK')")
	p.Shoot("rules")
	p.Press("?")
	p.Wait("document.querySelector('dialog').open")
	p.Press(kb.Escape)
	p.Wait("!document.querySelector('dialog').open")

	// The rule that an address names is in sight, though its text takes room from the list.
	p.Size(1100, 700)
	p.Go(s.URL + "/?rule#rules?rule=RC-RSP-043")
	p.Wait(`(() => {
		const row = document.querySelector(".rules .grid-row.current"), list = document.querySelector(".rules.grid");
		return row && row.innerText.includes("RC-RSP-043") && row.getBoundingClientRect().bottom <= list.getBoundingClientRect().bottom + 1;
	})()`)

	// Nobody is accused of a legal event.
	p.Go(s.URL + "/?event#findings?class=event&rule=EV-RNR-NAK")
	p.Click(row)
	p.Wait(atFind + " && document.querySelector('.rung.offending .mark').innerText === 'event'")
	if got := p.Text(".detail"); strings.Contains(got, "accused") || strings.Contains(got, "offending") {
		t.Errorf("the detail of an event says\n%s", got)
	}

	// On a tablet the marks beside the packets are whole.
	p.Size(768, 1024)
	p.Go(s.URL + "/?tablet#findings?rule=RC-RSP-043&id=9")
	p.Wait("document.querySelectorAll('.rung.offending').length === 1")
	if over := browser.Eval[int](p, "((e) => e.scrollWidth - e.clientWidth)(document.querySelector('.rails'))"); over > 0 {
		t.Errorf("the ladder of a tablet is %d pixels too narrow", over)
	}

	// An address can be passed on; and a narrow window has all that a wide one has.
	p.Go(s.URL + "/#findings?rule=RC-RSP-043&id=9")
	p.Go(s.URL + "/?again#findings?rule=RC-RSP-043&id=9")
	p.Wait("document.querySelectorAll('.rung.offending').length === 1")
	p.Size(420, 860)
	p.Wait("getComputedStyle(document.querySelector('.findings-view .list')).display === 'none'")
	if over := browser.Eval[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("a narrow window is %d pixels too narrow", over)
	}
	p.Shoot("ladder-narrow")
	p.Press(kb.Escape)
	p.Wait(idOfRow + ".length >= 4")
	p.Shoot("findings-narrow")
	quiet(t, p)
	for _, url := range p.Requests() {
		if !strings.HasPrefix(url, s.URL) {
			t.Errorf("it asked for %s", url)
		}
	}
}

// written writes the page of a run as a file, and returns its name.
func written(t *testing.T, run *report.Run, title string, captures ...string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteHTML(f, run, Options{Title: title}, captures), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestFile opens the page that is one file: it asks nobody for anything, and says nothing on the console.
func TestFile(t *testing.T) {
	sample.Skip(t, "a browser takes seconds, and other tests open one")
	run := judged(t, capture)
	hostile := `<img src=x onerror="document.title='owned'"></script>`
	run.Result.Findings[1].Detail, run.Result.Findings[1].Expected = hostile, hostile
	name := written(t, run, hostile, capture)
	p := browser.Open(t)
	p.Go("file://" + name)
	p.Wait(idOfRow + ".length === 5")
	if got := p.Text(".subject"); got != hostile {
		t.Errorf("the title is %q", got)
	}
	p.Click(row + ".s-unproven")
	p.Wait("document.querySelectorAll('.rung.offending').length === 1 && document.querySelectorAll('.rung').length > 10")
	if got := p.Text(".side.expected p"); got != hostile {
		t.Errorf("expected %q", got)
	}
	p.Press(kb.Escape)
	// The same queries find the same as at the server.
	s := finishedServer(t, capture)
	for _, q := range []string{"class=violation", "class=violation,event", "rule=RC-RNR-005", "endpoint=10.77.0.2", "q=further+0x38", "class=violation&q=frame+18", "class=event&q=retransmission+0x2f"} {
		var want answered
		get(t, s, "/api/findings?"+q, 200, &want)
		p.Go("file://" + name + "?" + q + "#findings?" + q)
		p.Wait(fmt.Sprintf("document.querySelector('.findings-view .count')?.innerText.startsWith('%d finding')", want.Total))
	}
	p.Go("file://" + name + "?#connections")
	p.Wait("document.querySelectorAll('.connections .grid-row').length === 1")
	p.Press("3")
	p.Wait("document.querySelectorAll('.rules .grid-row').length > 10")
	quiet(t, p)
	if title := browser.Eval[string](p, "document.title"); strings.Contains(title, "owned") && !strings.Contains(title, "onerror") || browser.Eval[int](p, "document.querySelectorAll('img').length") > 0 {
		t.Error("a text has become part of the page")
	}
	for _, url := range p.Requests() {
		if !strings.HasPrefix(url, "file://"+name) {
			t.Errorf("it asked for %s", url)
		}
	}
}

// TestComparison: a finding shows the fields that are not as expected beside the expected ones, and the bytes.
func TestComparison(t *testing.T) {
	sample.Skip(t, "a browser takes seconds, and other tests open one")
	const capture = "../../../testdata/captures/k6.1_pyverbs_corrupt8_small.pcap.zst"
	run := judged(t, capture)
	i := slices.IndexFunc(run.Result.Findings, func(f rule.Finding) bool {
		return f.Comparison != nil && len(f.Comparison.Differ()) == 1 && differentBytes(f.Comparison) > 0
	})
	if i < 0 {
		t.Fatal("the capture has no finding with one field that differs in the headers")
	}
	run.Result.Findings = run.Result.Findings[i : i+1]
	c := run.Result.Findings[0].Comparison
	d := c.Differ()[0]
	p := browser.Open(t)
	p.Go("file://" + written(t, run, "t", capture))
	p.Wait(idOfRow + ".length === 1")
	p.Click(row)
	p.Wait("document.querySelectorAll('.fieldwise tr.differs').length === 1")
	if got := p.Text(".fieldwise tr.differs .want"); got != d.Expected {
		t.Errorf("expected %q, want %q", got, d.Expected)
	}
	if got := p.Text(".fieldwise tr.differs .have"); !strings.HasPrefix(got, d.Actual) {
		t.Errorf("actual %q, want %q", got, d.Actual)
	}
	if n := browser.Eval[int](p, "document.querySelectorAll('.fieldwise tbody tr:not(.layer-name)').length"); n != len(c.Fields()) {
		t.Errorf("%d fields, want %d", n, len(c.Fields()))
	}
	if n := browser.Eval[int](p, "document.querySelectorAll('.side-by-side .actual mark').length"); n != differentBytes(c) {
		t.Errorf("%d bytes are marked, want %d", n, differentBytes(c))
	}
	quiet(t, p)
}

// differentBytes counts the bytes that are determined and differ.
func differentBytes(c *expect.Comparison) (n int) {
	want, bits := c.Expected()
	for i, b := range c.Actual() {
		if i < len(want) && (b^want[i])&bits[i] != 0 {
			n++
		}
	}
	return n
}

// TestNodes: findings on management datagrams name the node of the subnet, as the text report does, and are found by it.
func TestNodes(t *testing.T) {
	const election = "../../../testdata/captures/election-a.pcap.zst"
	s := finishedServer(t, election)
	p := browser.Open(t)
	for _, url := range []string{s.URL + "/", "file://" + written(t, judged(t, election), "a capture", election)} {
		p.Go(url + "#findings?q=S0")
		p.Wait(idOfRow + ".length > 0 && " + idOfRow + `[0].innerText.includes('"S0" directed route 0,1 QP 0x0')`)
		p.Click(row)
		p.Wait(atFind)
		if got, want := p.Text(".parties"), `sender "S0" GUID 0x0000000000200000 directed route 0,1 QP 0x0 towards directed route 0 QP 0x0`; got != want {
			t.Errorf("the finding is of %q, want %q", got, want)
		}
		quiet(t, p)
	}
}

// TestCutFile: where the file holds the first findings of many, the list says how many it lacks.
func TestCutFile(t *testing.T) {
	sample.Skip(t, "a browser takes seconds, and other tests open one")
	run := judged(t, capture)
	run.Result.Findings = endless(11_000, run.Result.First)
	name := written(t, run, "cut")
	p := browser.Open(t)
	p.Go("file://" + name + "#findings?class=violation") // nine of ten
	p.Wait("document.querySelector('.findings-view .count')?.innerText === '4,000 findings listed, 5,900 more only counted'")
	quiet(t, p)
}

// TestSystematicFile: a file lists a systematic fault once, too, with its first frames and its last time.
func TestSystematicFile(t *testing.T) {
	sample.Skip(t, "a browser takes seconds, and other tests open one")
	run := judged(t, capture)
	run.Result.Findings = systematic(900, 2, run.Result.First)
	name := written(t, run, "systematic")
	p := browser.Open(t)
	p.Size(1920, 900)
	p.Go("file://" + name)
	p.Wait("document.querySelector('.findings-view .count')?.innerText === '3 findings, 902 times in all'")
	if got := p.Text(".sentence"); got != "3 violations of 2 rules by 10.0.0.0, 10.0.1.44 and 10.0.2.88, 902 times in all" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(strings.Fields(p.Text(row)), " "); !strings.HasPrefix(got, "Violation ×900 +0.000000 +0.899000 1 RC-PSN-004") {
		t.Errorf("%q", got)
	}
	p.Click(row)
	p.Wait("document.querySelector('.times')?.innerText === '900 times, last +0.899000 s in frame 900; first in frames 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'")
	p.Shoot("systematic-file")
	quiet(t, p)
}

// many makes connections that do something.
func many(n int) []agent.Connection {
	list := make([]agent.Connection, n)
	for i := range list {
		for e := range list[i].Ends {
			list[i].Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, byte(e), byte(i >> 8), byte(i)}), QPN: uint32(i), QPNKnown: true}
		}
		list[i].First, list[i].Encap = int64(i), packet.RoCEv2IPv4
	}
	return list
}

// told notes each summary that is sent.
type told struct {
	http.ResponseWriter
	sent chan<- bool
}

func (w told) Write(b []byte) (int, error) {
	select {
	case w.sent <- true:
	default:
	}
	return w.ResponseWriter.Write(b)
}

func (w told) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestSlow: where findings come faster than the server answers, they show all the same.
func TestSlow(t *testing.T) {
	sample.Skip(t, "a browser takes seconds, and other tests open one")
	m := NewModel(Options{Live: true, Title: "eth0"})
	page := NewServer(m, nil)
	page.every = time.Millisecond
	sent, over, hold := make(chan bool), make(chan bool), make(chan bool)
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/events":
			w = told{w, sent}
		case "/api/findings": // each answer comes after news of two more findings
			for range 2 {
				select {
				case <-over:
					<-hold
				default:
					i := int(n.Add(1))
					m.Found(endless(i, 1e18)[i-1:])
					select {
					case <-sent:
					case <-over:
					case <-r.Context().Done():
					}
				}
			}
		}
		page.ServeHTTP(w, r)
	}))
	defer s.Close()
	defer page.Close()
	p := browser.Open(t)
	p.Go(s.URL + "/")
	p.Wait(idOfRow + ".length > 3")
	shown := p.Text(".findings-view .count")
	p.Wait(fmt.Sprintf("document.querySelector('.findings-view .count').innerText !== %q", shown))
	close(over)
	quiet(t, p)

	// What is pressed while a list is on its way holds for that list.
	p.Press("/")
	p.Press("RC-PSN-004" + kb.Enter + kb.End + kb.Enter)
	close(hold)
	p.Wait("document.querySelector('.detail')")
}

// TestGone: where the frames around a finding, or all of it, were forgotten since it was listed, the page says so, and the ladder is no error.
func TestGone(t *testing.T) {
	m := NewModel(Options{Live: true, Title: "eth0", Most: 2})
	r := new(forgetful)
	recorded := NewRecorded(r)
	defer recorded.Close()
	page := NewServer(m, recorded)
	var forget func()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ladder") {
			forget()
		}
		page.ServeHTTP(w, r)
	}))
	defer s.Close()
	defer page.Close()
	m.Found(endless(2, 1e18))
	p := browser.Open(t)
	p.Go(s.URL + "/")
	for _, c := range []struct {
		what   string
		forget func()
	}{
		{"its frames", func() { r.over.Store(true) }},
		{"all of it", func() { m.Found(endless(3, 2e18)) }},
	} {
		forget = c.forget
		p.Wait(idOfRow + ".length === 2")
		p.Click(row)
		p.Wait("document.querySelector('.no-ladder:not(.loading)')")
		if got := p.Text(".no-ladder"); got != "The packets around this finding are no longer kept." {
			t.Errorf("without %s: %q", c.what, got)
		}
		p.Press(kb.Escape)
	}
	quiet(t, p)
	get(t, s, "/api/finding/0/ladder", 404, nil)
	get(t, s, "/api/finding/999/ladder", 404, nil)
}

// TestLeft: pages that a reader has left hold none of the connections that the browser has for a server, and one to which he comes back hears of what is new.
func TestLeft(t *testing.T) {
	m := NewModel(Options{Live: true, Title: "eth0"})
	page := NewServer(m, nil)
	s := httptest.NewServer(page)
	defer s.Close()
	defer page.Close()
	m.Found(endless(1, 1e18))
	p := browser.Open(t)
	began := time.Now()
	for i := range 8 { // six are all
		p.Go(fmt.Sprintf("%s/?%d", s.URL, i))
		p.Wait(idOfRow + ".length === 1")
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("eight pages took %v", took)
	}
	browser.Eval[any](p, "history.back(), 0")
	p.Wait("location.search === '?6'")
	m.Found(endless(2, 2e18))
	p.Wait(idOfRow + ".length > 1")
	quiet(t, p)
}

// TestSystematicPage: a rule that is broken again and again is one row, whose count grows in place, in the list and beside it; on a phone it
// says whom it accuses, too.
func TestSystematicPage(t *testing.T) {
	m, s := live(t)
	list := systematic(12_000, 30, 1e18)
	m.Found(list[:5])
	p := browser.Open(t)
	p.Size(1440, 1400) // all rows are in sight
	p.Go(s.URL + "/")
	p.Wait(idOfRow + ".length === 5")

	// One of the first is open when it turns out to be systematic: the row that represents it is the open one from then on.
	p.Click(row + `[data-index="2"]`)
	p.Wait("document.querySelector('.no-ladder:not(.loading)') && document.querySelector('.times').hidden && location.hash.includes('id=3')")
	m.Found(list[5:10])
	const times = "document.querySelector('.times').innerText.startsWith"
	p.Wait(idOfRow + ".length === 1 && " + times + "('10 times, last 2001-09-09 01:46:40.009000000 UTC in frame 10; first in frames 1, 2, 3') && location.hash.includes('id=1') && document.querySelector('.grid-row.current')")
	m.Found(list[10:])
	p.Wait(times + "('12,000 times')")
	p.Shoot("systematic-ladder")
	p.Press(kb.Escape)
	p.Wait("document.querySelector('.findings-view .count').innerText === '31 findings, 12,030 times in all'")
	const oldest = `document.querySelector('.findings .grid-row[data-index="30"] .c-count')?.innerText === `
	p.Wait(oldest + "'×12,000'")
	m.Found(systematic(7, 0, 2e18))
	p.Wait(oldest + "'×12,007'")

	// The count grows below its reader's eyes, without anything new above.
	p.Size(1440, 500)
	browser.Eval[any](p, "document.querySelector('.findings.grid').scrollTop = 1e9, 0")
	p.Wait("Number(" + idOfRow + "[0].dataset.index) > 0")
	m.Found(systematic(3, 0, 3e18))
	p.Wait(oldest + "'×12,010' && document.querySelector('.newer').hidden")

	for _, width := range []int64{1920, 1440, 700, 390} {
		for _, dark := range []bool{false, true} {
			p.Size(width, 860)
			p.Dark(dark)
			p.Shoot(fmt.Sprintf("systematic-%d-%v", width, dark))
		}
	}
	browser.Eval[any](p, "document.querySelector('.findings.grid').scrollTop = 1e9, 0")
	p.Wait(oldest + "'×12,010'")
	for _, cell := range []string{".rule-id", ".c-accused .role", ".c-accused .who", ".c-count", ".c-time"} {
		const whole = "((e) => e.offsetWidth > 0 && e.scrollWidth <= e.offsetWidth)(document.querySelector('.findings .grid-row[data-index=\"30\"] %s'))"
		if !browser.Eval[bool](p, fmt.Sprintf(whole, cell)) {
			t.Errorf("a phone does not show %s whole", cell)
		}
	}
	if over := browser.Eval[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("a phone is %d pixels too narrow", over)
	}
	p.Shoot("systematic-phone")
	quiet(t, p)
}

// TestLive watches findings come, thousands of them and 10,000 connections, of which the page draws and asks for only what is in sight.
func TestLive(t *testing.T) {
	m := NewModel(Options{Live: true, Title: "eth0", Most: 20_000})
	m.now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	page := NewServer(m, nil)
	s := httptest.NewServer(page)
	defer s.Close()
	defer page.Close()
	conns := many(10_000)
	second := int64(1_800_000_000 - 600)
	tick := func() {
		second++
		for i := range conns {
			e := &conns[i].Ends[0]
			e.Packets += uint64(i % 100)
			e.Bytes += uint64(i%100) * 4096
			if i%1000 == 7 {
				e.Retransmissions += uint32(second % 7)
				conns[i].Ends[1].RNRNAKs += uint32(second % 3)
			}
		}
		m.Survey(second*1e9, func(yield func(uint64, *agent.Connection) bool) {
			for i := range conns {
				if !yield(uint64(i)+1, &conns[i]) {
					return
				}
			}
		})
		st := &agent.Status{Now: second * 1e9, RDMA: uint64(second), Connections: len(conns)}
		st.Cover[rule.RCPSN004] = rule.Count{Exercised: 1000, Violated: 10}
		m.Status(st)
	}
	for range 60 {
		m.conns.pause = 0 // as if the seconds passed
		tick()
	}
	p := browser.Open(t)
	p.Go(s.URL + "/")
	p.Wait("document.querySelector('h1')?.innerText === 'CLEAN'")

	// One comes, and then more, while the reader looks on.
	m.Found(endless(1, second*1e9))
	tick()
	p.Wait("document.querySelector('h1').innerText === 'VIOLATED' && " + idOfRow + ".length === 1")
	m.Found(endless(30, second*1e9))
	tick()
	p.Wait("document.querySelector('.findings-view .count').innerText === '28 findings'")

	// Thousands come. Who has scrolled down keeps his place, and is told.
	m.Found(endless(15_000, second*1e9))
	tick()
	p.Wait("document.querySelector('.findings-view .count').innerText === '13,528 findings'")
	p.Shoot("live-many")
	p.Click(".findings.grid")
	p.Wait("document.querySelector('.no-ladder:not(.loading)')")
	p.Press(kb.Escape)
	// Rows are lower again where there is no ladder beside them: then those in sight stay, and what is scrolled to in between is another row.
	p.Wait("Math.abs(document.querySelector('.findings .grid-row').offsetHeight * 13528 + document.querySelector('.findings .grid-row').offsetTop - document.querySelector('.findings.grid').scrollHeight) < 200")
	browser.Eval[any](p, "document.querySelector('.findings.grid').scrollTop = 200000, 0")
	p.Wait("!document.querySelector('.grid-row.pending') && " + idOfRow + ".length > 10 && Number(" + idOfRow + "[0].dataset.index) > 6000")
	before := p.Text(row + ":nth-child(8)")
	m.Found(endless(100, second*1e9))
	tick()
	p.Wait("!document.querySelector('.newer').hidden")
	if after := p.Text(row + ":nth-child(8)"); after != before {
		t.Errorf("the table moved under its reader:\n%q\n%q", before, after)
	}
	p.Click(".newer")
	const top = "document.querySelector('.newer').hidden && document.querySelector('.findings.grid').scrollTop === 0 && document.querySelector('.findings-view .count').innerText === "
	p.Wait(top + "'13,618 findings'")

	// Who scrolls back to the top sees what has come meanwhile, too.
	browser.Eval[any](p, "document.querySelector('.findings.grid').scrollTop = 200000, 0")
	p.Wait("!document.querySelector('.grid-row.pending') && Number(" + idOfRow + "[0].dataset.index) > 6000")
	m.Found(endless(15_001, second*1e9)[15_000:])
	tick()
	p.Wait("!document.querySelector('.newer').hidden")
	browser.Eval[any](p, "document.querySelector('.findings.grid').scrollTop = 0, 0")
	p.Wait(top + "'13,619 findings'")
	if n := browser.Eval[int](p, "document.querySelectorAll('.grid-row').length"); n > 100 {
		t.Errorf("%d rows exist", n)
	}

	// little reports work that grows with what there is and not with what is in sight.
	little := func(what string, do func()) {
		t.Helper()
		nodes, requests := p.Drawn(do)
		t.Logf("%s: %d nodes, %d requests", what, nodes, requests)
		if nodes > 15_000 || requests > 40 {
			t.Errorf("%s took %d nodes and %d requests", what, nodes, requests)
		}
	}
	for _, q := range []string{"10.0.33", "0x1f40", "nothing at all"} {
		p.Press("/")
		little("the search for "+q, func() {
			p.Press(q)
			p.Wait(fmt.Sprintf("location.hash.includes(%q) && (%s.length === 0) === %t && ![...%s].some(r => !r.innerText.includes(%q))", strings.ReplaceAll(q, " ", "+"), idOfRow, q == "nothing at all", idOfRow, q))
		})
		p.Click(".clear")
		p.Wait("document.querySelector('.findings-view .count').innerText === '13,619 findings'")
	}

	// 10,000 connections: the most troubled first, and any of them in reach.
	p.Click("#tab-connections")
	p.Wait("document.querySelectorAll('.connections .grid-row:not(.pending)').length > 5")
	if got := p.Text(".connections-view .count, .plain-view .count"); !strings.HasPrefix(got, "10,000 connections") {
		t.Errorf("%q", got)
	}
	p.Shoot("live-connections")
	p.Wait("document.querySelectorAll('.connections .spark rect').length > 0 && document.querySelectorAll('.connections .spark polyline').length > 5")
	little("the last connection", func() {
		browser.Eval[any](p, "document.querySelector('.connections.grid').scrollTop = 1e9, 0")
		p.Wait("[...document.querySelectorAll('.connections .grid-row:not(.pending)')].some(r => r.dataset.index === '9999')")
	})
	p.Dark(true)
	p.Shoot("live-connections-dark")
	const last = `document.querySelector('.connections .grid-row[data-index="9999"]')?.innerText`
	was := browser.Eval[string](p, last)
	little("a second", func() {
		tick()
		p.Wait(fmt.Sprintf("%s && %[1]s !== %q", last, was))
	})
	quiet(t, p)

	// The server goes: the page says so.
	page.Close()
	s.CloseClientConnections()
	s.Listener.Close()
	p.Wait("document.querySelector('.pulse').innerText === 'connection lost'")
	if !slices.ContainsFunc(p.Requests(), func(u string) bool { return strings.HasSuffix(u, "/api/events") }) {
		t.Error("it never asked for events")
	}
}
