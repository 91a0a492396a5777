package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

const capture = "../../../testdata/captures/rnr_retry_exceeded.pcap"

// judged verifies a capture.
func judged(tb testing.TB, files ...string) *report.Run {
	tb.Helper()
	src, err := fabricagent.Open(files)
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: 1, Timing: true})
	if err != nil {
		tb.Fatal(err)
	}
	return &report.Run{Result: r}
}

// finishedServer serves a run over a capture.
func finishedServer(tb testing.TB, files ...string) *httptest.Server {
	tb.Helper()
	m := NewModel(Options{Title: "a capture"})
	m.Finish(judged(tb, files...))
	c := NewCapture(m, files)
	if err := c.Prepare(); err != nil {
		tb.Fatal(err)
	}
	page := NewServer(m, c)
	s := httptest.NewServer(page)
	tb.Cleanup(func() {
		page.Close() // the events that a browser listens to
		s.Close()
	})
	return s
}

// get asks a server, and reads its answer into v where that is not nil.
func get(t *testing.T, s *httptest.Server, path string, status int, v any) *http.Response {
	t.Helper()
	r, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != status {
		t.Fatalf("%s: %s: %s", path, r.Status, text)
	}
	if v != nil {
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatalf("%s: %v: %s", path, err, text)
		}
	}
	return r
}

// answered is what findings are asked for.
type answered struct {
	Total int
	Items []struct {
		ID    uint64
		Rule  string
		Show  string
		Frame uint64
	}
}

// TestFinished asks for all that the page asks for.
func TestFinished(t *testing.T) {
	s := finishedServer(t, capture)
	var sum struct {
		Verdict, Sentence, Also string
		Counts                  map[string]int
		RDMA                    int
		Rules                   report.Coverage
		Accused                 []struct{ Address string }
	}
	get(t, s, "/api/summary", 200, &sum)
	if sum.Verdict != "VIOLATED" || sum.Sentence != "4 violations of RC-RSP-043 (nak-duplicate) by 10.77.0.2" || sum.Also != "also 1 not proven, 20 events and 4 requests without a response" || sum.Counts["violation"] != 4 || sum.Counts["event"] != 20 || sum.RDMA != 24 || sum.Rules.Exercised == 0 {
		t.Errorf("%+v", sum)
	}
	for query, want := range map[string]int{
		"":                            5,
		"?class=violation":            4,
		"?class=event":                20,
		"?class=violation,event":      24,
		"?rule=RC-RNR-005":            1,
		"?endpoint=10.77.0.2":         5,
		"?endpoint=10.77.0.9":         0,
		"?q=further+0x38":             4,
		"?q=further+QP+0x38":          4,
		"?q=further+QP+56":            4,
		"?q=further+nobody":           0,
		"?class=violation&q=FRAME+18": 1,
		"?class=violation&upto=1":     0,
		"?class=event,violation,unproven&offset=20":    25,
		"?class=violation&rule=nak-duplicate&limit=2":  4,
		"?class=violation,warning,note,unproven,event": 25,
	} {
		var got answered
		get(t, s, "/api/findings"+query, 200, &got)
		if got.Total != want {
			t.Errorf("%s: %d findings, want %d", query, got.Total, want)
		}
	}
	for _, path := range []string{"/api/findings", "/api/connections"} {
		for _, offset := range []string{"1000", "4294967296", "9223372036854775807"} {
			var got answered
			if get(t, s, path+"?offset="+offset, 200, &got); len(got.Items) != 0 {
				t.Errorf("%s: %d items from %s on", path, len(got.Items), offset)
			}
		}
	}
	for query, want := range map[string]int{"?q=QP+0x38": 1, "?q=QP+56": 1, "?q=10.77.0.2+56": 1, "?q=0x3856": 0} {
		var got answered
		if get(t, s, "/api/connections"+query, 200, &got); got.Total != want {
			t.Errorf("%s: %d connections, want %d", query, got.Total, want)
		}
	}
	if b, err := json.Marshal(Summary{NotJudged: []agent.Note{{Reason: "of a class", Count: 3}}}); err != nil || !strings.Contains(string(b), `"not_judged":[{"reason":"of a class","count":3}]`) {
		t.Errorf("%s, %v", b, err)
	}
	var list answered
	get(t, s, "/api/findings?class=violation&order=newest&limit=2&offset=1", 200, &list)
	if len(list.Items) != 2 || list.Items[0].Frame != 18 || list.Items[1].Frame != 10 {
		t.Errorf("%+v", list)
	}
	var raw struct {
		Rows []struct {
			Frame uint64
			Mark  string
		}
	}
	get(t, s, fmt.Sprintf("/api/finding/%d/ladder", list.Items[0].ID), 200, &raw)
	marks := map[uint64]string{}
	for _, r := range raw.Rows {
		marks[r.Frame] = r.Mark
	}
	if marks[18] != "offending" || marks[17] != "proof" || marks[16] != "" {
		t.Errorf("%v", marks)
	}
	var conns struct {
		Total int
		Items []struct {
			Service string
			Trouble map[string]int
			Spark   struct{ Rate, Resent, RNR []float64 }
		}
	}
	get(t, s, "/api/connections", 200, &conns)
	if conns.Total != 1 || conns.Items[0].Service != "RC" || conns.Items[0].Trouble["violation"] != 4 || len(conns.Items[0].Spark.Rate) != points || len(conns.Items[0].Spark.RNR) != points {
		t.Errorf("%+v", conns)
	}
	var rules []Rule
	get(t, s, "/api/rules", 200, &rules)
	if len(rules) != rule.NumRules || rules[0].Text == "" {
		t.Errorf("%d rules", len(rules))
	}
	r := get(t, s, "/", 200, nil)
	if p := r.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") {
		t.Errorf("policy %q", p)
	}
	for path, status := range map[string]int{
		"/api/findings?class=x": 400, "/api/findings?rule=x": 400, "/api/findings?endpoint=x": 400, "/api/findings?limit=-1": 400, "/api/findings?limit=%zz": 400, "/api/findings?a;b": 400, "/api/findings?order=x": 400, "/api/connections?sort=x": 400,
		"/api/connections?sort=bytes&limit=%zz": 400, "/api/connections?offset=99999999999999999999": 400, "/api/findings?offset=9223372036854775807": 200, "/api/finding/9999": 404, "/api/finding/9999/ladder": 404,
		"/nothing": 404, "/page/main.js": 200, "/page/style.css": 200, "/page/../server.go": 404,
	} {
		get(t, s, path, status, nil)
	}
}

// TestHTML writes the page as one file: its data is there, in no way that a text in it could end.
func TestHTML(t *testing.T) {
	var page bytes.Buffer
	run := judged(t, capture)
	run.Problems = append(run.Problems, report.Problem{Message: "</script><script>alert(1)</script><!--"})
	if err := WriteHTML(&page, run, Options{Title: "</title><b>"}, []string{capture}); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	_, after, _ := strings.Cut(text, `<script type="application/json" id="data">`)
	data, _, _ := strings.Cut(after, "</script>")
	var d struct {
		Summary  struct{ Problems []string }
		Findings []Finding
		Ladders  map[string]struct{ Rows []struct{ Row string } }
		Rows     map[string]struct{ Frame uint64 }
	}
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Findings) != 25 || len(d.Ladders) != 25 || len(d.Summary.Problems) != 1 || strings.Contains(data, "<") {
		t.Errorf("%d findings, %d ladders, %d problems", len(d.Findings), len(d.Ladders), len(d.Summary.Problems))
	}
	for id, l := range d.Ladders {
		for _, r := range l.Rows {
			if d.Rows[r.Row].Frame == 0 {
				t.Errorf("ladder %s has no row %s", id, r.Row)
			}
		}
	}
	if n := strings.Count(text, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
}

// endless makes findings of a run that goes on.
func endless(n int, first int64) (list []rule.Finding) {
	for i := range n {
		f := rule.Finding{
			Rule: rule.RCPSN004, Class: rule.Violation, HasBTH: true, Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: packet.PSN(i), Time: first + int64(i)*1000, Frame: uint64(i) + 1,
			Accused: rule.Endpoint{Role: rule.Requester, Addr: packet.IPv4Addr([]byte{10, 0, byte(i >> 8), byte(i)}), QPN: uint32(i), QPNKnown: true},
			Peer:    rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 1, 0, 1}), QPN: 7, QPNKnown: true}, Expected: "PSN 0x000001", Actual: "PSN 0x000002",
		}
		if i%10 == 9 {
			f.Rule, f.Class = rule.EvRetransmission, rule.Event
		}
		list = append(list, f)
	}
	return list
}

// TestBounded: of a run that goes on for long the newest findings are kept, and the others are counted.
func TestBounded(t *testing.T) {
	m := NewModel(Options{Live: true, Most: 100})
	m.Found(endless(100_000, 1e18))
	got, err := m.Findings(FindingsQuery{Newest: true, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 100 || got.Items[0].ID != 99_999 || got.Left[violation] != 90_000-100 || got.Left[event] != 10_000-100 {
		t.Errorf("%+v", got)
	}
	s := m.Summary()
	if s.Counts[violation] != 90_000 || s.Counts[event] != 10_000 || len(s.Accused) != shownAccused || s.Others[violation] != 90_000-sum(s.Accused) {
		t.Errorf("%v, %d accused, others %v", s.Counts, len(s.Accused), s.Others)
	}
	if len(m.accused) > mostAccused || len(m.troubled) > mostTroubled {
		t.Errorf("%d accused, %d connections in trouble", len(m.accused), len(m.troubled))
	}
	if _, _, ok := m.Finding(5); ok {
		t.Error("an old finding is still kept")
	}
	if f, _, ok := m.Finding(99_999); !ok || f.Show != "violation" {
		t.Error("a new finding is not kept")
	}
}

// systematic makes findings of a run in which one endpoint breaks one rule with each packet, and others begin to now and then.
func systematic(n, others int, first int64) (list []rule.Finding) {
	for i := range n {
		f := endless(1, first+int64(i)*1e6)[0]
		f.Frame, f.PSN = uint64(i)+1, packet.PSN(i)
		f.Expected, f.Actual = fmt.Sprintf("PSN %v", f.PSN), fmt.Sprintf("PSN %v", f.PSN+1)
		f.Accused.QPN = 0xfa
		list = append(list, f)
		if every := n / (others + 1); others > 0 && i%every == every-1 && i < every*others {
			o := endless(i+2, first+int64(i)*1e6)[i+1]
			o.Rule, o.Class, o.Frame = rule.BTH012, rule.Violation, f.Frame
			list = append(list, o)
		}
	}
	return list
}

// TestSystematic: a rule that is broken again and again is one finding with a count, and leaves room for others; once they are more than there is
// room for, those go that have not been told of for longest.
func TestSystematic(t *testing.T) {
	m := NewModel(Options{Live: true, Most: 10})
	var listed []rule.Finding
	for _, f := range systematic(1000, 7, 1e18) {
		listed = append(listed, m.Found([]rule.Finding{f})...) // as they come
	}
	if len(listed) != 5+7 {
		t.Errorf("%d are listed at first", len(listed))
	}
	got, err := m.Findings(FindingsQuery{Limit: 20, ID: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 8 || got.Times != 1007 || got.Left != (byKind{}) {
		t.Fatalf("%+v", got)
	}
	f := got.Items[0]
	if f.ID != 1 || f.Count != 1000 || f.Frame != 1 || f.LastFrame != 1000 || f.At != 0 || f.Last != 999e6 || len(f.Frames) != 10 || f.Frames[9] != 10 {
		t.Errorf("%+v, %+v", f, f.Line)
	}
	if got.Opened == nil || got.Opened.ID != 1 {
		t.Errorf("the third one is represented by %+v", got.Opened)
	}
	s := m.Summary()
	if s.Counts[violation] != 8 || s.Times[violation] != 1007 || s.Sentence != "8 violations of 2 rules by 10.0.0.0, 10.0.0.125, 10.0.0.250 and 5 others, 1,007 times in all" {
		t.Errorf("%v, %v: %s", s.Counts, s.Times, s.Sentence)
	}
	if s.Accused[0].Counts[violation] != 1 || s.ByRule[1].Counts[violation] != 1 {
		t.Errorf("%+v, %+v", s.Accused[0], s.ByRule[1])
	}

	// It goes on, and others come: it stays, with its first frame.
	for i := range 20 {
		m.Found(endless(40+i, 2e18)[39+i:])
		m.Found(systematic(1, 0, 2e18+int64(i)))
	}
	if got, err = m.Findings(FindingsQuery{Class: "violation", Limit: 20}); err != nil {
		t.Fatal(err)
	}
	if got.Total != 10 || got.Items[0].ID != 1 || got.Items[0].Count != 1020 || got.Left[violation] != 8+18-10 {
		t.Errorf("%+v, %+v", got, got.Items[0].Line)
	}
	if len(m.rows) != 10+4+2 { // with those that were merged, and two events
		t.Errorf("%d are found by their IDs", len(m.rows))
	}

	// Once it is forgotten it begins again.
	m.Found(endless(200, 3e18)[100:])
	if _, _, ok := m.Finding(1); ok {
		t.Error("it is still kept")
	}
	if again := m.Found(systematic(1, 0, 4e18)); len(again) != 1 || len(m.rows) != 10+10 {
		t.Errorf("%d are listed; %d are found by their IDs", len(again), len(m.rows))
	}
}

func sum(list []*Accused) (n uint64) {
	for _, a := range list {
		n += a.Counts[violation]
	}
	return n
}

// live serves the page of a run that goes on, which is told of changes at once.
func live(t *testing.T) (*Model, *httptest.Server) {
	t.Helper()
	m := NewModel(Options{Live: true, Title: "eth0"})
	page := NewServer(m, nil)
	page.every = 10 * time.Millisecond
	s := httptest.NewServer(page)
	t.Cleanup(s.Close)
	t.Cleanup(page.Close)
	return m, s
}

// TestEvents: what is found is told while it is found.
func TestEvents(t *testing.T) {
	m, s := live(t)
	r, err := http.Get(s.URL + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	next := func() (sum Summary) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var told struct {
					Changed uint64
					Verdict string
					Counts  map[string]uint64
				}
				if err := json.Unmarshal([]byte(data), &told); err != nil {
					t.Fatal(err)
				}
				sum.Changed, sum.Verdict, sum.Counts[violation] = told.Changed, told.Verdict, told.Counts["violation"]
				return sum
			}
		}
		t.Fatal("the events ended")
		return sum
	}
	if first := next(); first.Verdict != "NOT JUDGED" {
		t.Errorf("%+v", first)
	}
	m.Status(&agent.Status{Now: 1e18, RDMA: 5})
	if second := next(); second.Verdict != "CLEAN" {
		t.Errorf("%+v", second)
	}
	m.Found(endless(5, 1e18))
	if third := next(); third.Verdict != "VIOLATED" || third.Counts[violation] != 5 {
		t.Errorf("%+v", third)
	}
}

// TestSurvey: connections have their history, and those that are gone are forgotten.
func TestSurvey(t *testing.T) {
	m := NewModel(Options{Live: true})
	conns := map[uint64]*agent.Connection{}
	for i := range uint64(50) {
		conns[i] = &agent.Connection{Service: packet.RC, Ends: [2]agent.End{{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(i)}), QPN: uint32(i), QPNKnown: true}, {Addr: packet.IPv4Addr([]byte{10, 9, 0, 1}), QPN: 1, QPNKnown: true}}}
	}
	each := func(yield func(uint64, *agent.Connection) bool) {
		for id, c := range conns {
			if !yield(id, c) {
				return
			}
		}
	}
	for second := range int64(5) {
		for i, c := range conns {
			c.Ends[0].Packets += 10
			c.Ends[0].Bytes += 1000 * i
			c.Ends[1].RNRNAKs += uint32(i / 49)
		}
		m.Survey(1e18+second*1e9, each)
	}
	got := m.Connections(ConnectionsQuery{Sort: "activity", Limit: 2})
	if got.Total != 50 || len(got.Items) != 2 || got.Items[0].ID != 49 || got.Items[0].Rate != 49000 || got.Items[1].ID != 48 {
		t.Fatalf("%+v", got)
	}
	if s := got.Items[0].Spark; len(s.Rate) != 4 || s.Rate[3] != 49000 || len(s.RNR) != 4 || s.RNR[3] != 1 || s.Resent != nil {
		t.Errorf("%+v", s)
	}
	m.Found([]rule.Finding{{Rule: rule.RCPSN004, Class: rule.Violation, Accused: rule.Endpoint{Role: rule.Requester, Addr: conns[3].Ends[0].Addr, QPN: 3, QPNKnown: true}, Peer: rule.Endpoint{Addr: conns[3].Ends[1].Addr, QPN: 1, QPNKnown: true}}})
	if got = m.Connections(ConnectionsQuery{Sort: "trouble", Limit: 1}); got.Items[0].ID != 3 || got.Items[0].Trouble[violation] != 1 {
		t.Errorf("%+v", got.Items[0])
	}
	if got = m.Connections(ConnectionsQuery{Text: "10.0.0.7", Limit: 5}); got.Total != 1 || got.Items[0].ID != 7 {
		t.Errorf("%+v", got)
	}
	delete(conns, 49)
	m.Survey(1e18+6e9, each)
	if got = m.Connections(ConnectionsQuery{Sort: "activity", Limit: 1}); got.Total != 49 {
		t.Errorf("%d connections", got.Total)
	}
	delete(conns, 48)
	m.conns.pause = 10 * time.Second // of a machine that is busy
	m.Survey(1e18+7e9, each)
	if got = m.Connections(ConnectionsQuery{Sort: "activity", Limit: 1}); got.Total != 49 {
		t.Errorf("%d connections", got.Total)
	}
	m.Status(&agent.Status{Evicted: 1})
	m.Survey(1e18+8e9, each)
	if got = m.Connections(ConnectionsQuery{Sort: "activity", Limit: 1}); got.Total != 48 {
		t.Errorf("%d connections are listed after an eviction", got.Total)
	}
}

// BenchmarkSurvey looks at many connections, as a run does at each tick.
func BenchmarkSurvey(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("connections=%d", n), func(b *testing.B) {
			m, conns, now := NewModel(Options{Live: true}), many(n), int64(1e18)
			each := func(yield func(uint64, *agent.Connection) bool) {
				for i := range conns {
					conns[i].Ends[0].Packets++
					yield(uint64(i)+1, &conns[i])
				}
			}
			for b.Loop() {
				now += 1e9
				m.conns.pause = 0
				m.Survey(now, each)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/connection")
		})
	}
}
