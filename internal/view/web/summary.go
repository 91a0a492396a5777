package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ibwitness/agent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Summary is the verdict at a glance.
type Summary struct {
	Live     bool   `json:"live"`
	Title    string `json:"title"`
	Version  string `json:"version"`
	Changed  uint64 `json:"changed"` // raised with each change
	Verdict  string `json:"verdict"` // as check says it
	Sentence string `json:"sentence"`
	Also     string `json:"also"`   // what is counted beside the verdict
	Counts   byKind `json:"counts"` // one that represents others as one
	Times    byKind `json:"times"`  // these too

	Packets     uint64 `json:"packets"` // frames, of any protocol
	RDMA        uint64 `json:"rdma"`
	Dropped     uint64 `json:"dropped"`
	Repeated    uint64 `json:"repeated"`
	Undecoded   uint64 `json:"undecoded"`
	Open        uint64 `json:"open"` // requests without a response
	Connections int    `json:"connections"`
	Messages    int    `json:"messages"`  // operations of queue pairs whose messages were measured
	Forgotten   uint64 `json:"forgotten"` // connections, for whatever reason
	First       string `json:"first,omitempty"`
	Last        string `json:"last,omitempty"`
	Span        int64  `json:"span"` // nanoseconds from First to Last
	Lag         int64  `json:"lag"`  // nanoseconds that a run that goes on lags the clock

	Incidents     []happened `json:"incidents"`      // what happened
	MoreIncidents int        `json:"more_incidents"` // that are not among them
	Observations  []string   `json:"observations"`   // what is told beside them, when the run is over

	Rules    report.Coverage `json:"rules"`
	ByRule   []*RuleCount    `json:"by_rule"` // rules that findings are of, the gravest first
	Accused  []*Accused      `json:"accused"` // the most accused
	Others   byKind          `json:"others"`  // findings against endpoints that are not listed
	verdict  report.Verdict
	open     agent.Open
	suspects tally         // not proven, of severity error
	guilty   []guilty      // the endpoints that there are findings against, the most accused first
	Timeline *timelineJSON `json:"timeline,omitempty"`
	Left     byKind        `json:"left"` // findings that are not kept

	Problems  []string     `json:"problems"`   // with the input
	NotJudged []agent.Note `json:"not_judged"` // what was not judged and why
	Taps      []string     `json:"taps"`
	Notes     []string     `json:"notes"` // what the page should say of itself
}

// RuleCount is how many findings there are of a rule.
type RuleCount struct {
	Rule     string `json:"rule"`
	Name     string `json:"name"`
	Severity string `json:"severity"`
	Event    bool   `json:"event"`
	Counts   byKind `json:"counts"`
	Newest   string `json:"newest"`
}

// Accused is how many findings there are against an endpoint.
type Accused struct {
	Address string `json:"address"`
	Counts  byKind `json:"counts"`
}

const shownAccused = 100

// guilty is an endpoint that there are findings against.
type guilty struct {
	addr packet.Addr
	*against
}

// Summary tells the verdict and what it rests on.
func (m *Model) Summary() *Summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &Summary{
		Live: m.opt.Live, Title: m.opt.Title, Version: m.opt.Version, Changed: m.changed, Counts: m.counts, Times: m.times,
		ByRule: []*RuleCount{}, Accused: []*Accused{}, Problems: []string{}, NotJudged: []agent.Note{}, Taps: []string{}, Notes: []string{},
		Incidents: append([]happened{}, m.incidents...), MoreIncidents: m.moreIncidents, Observations: append([]string{}, m.observations...),
	}
	for k := range m.stores {
		s.Left[k] = m.stores[k].left
	}
	for id, n := range m.byRule {
		if n == (byKind{}) {
			continue
		}
		row := rule.ID(id).Row()
		s.ByRule = append(s.ByRule, &RuleCount{row.ID, row.Name, row.Severity.String(), rule.ID(id).IsEvent(), n, stamp(m.newest[id])})
	}
	slices.SortStableFunc(s.ByRule, func(a, b *RuleCount) int { return graver(&a.Counts, &b.Counts) })
	s.suspects = m.suspects
	s.accused(m)
	if m.done != nil {
		s.finished(m)
	} else {
		s.live(m)
	}
	s.Timeline = m.timeline.json()
	if m.done != nil {
		s.Verdict, s.Sentence = m.done.word, m.done.sentence
	} else {
		s.Verdict, s.Sentence = s.verdict.String(), sentence(s)
	}
	also := report.Also{Warnings: m.counts[warning], Notes: m.counts[note], Unproven: m.counts[unproven], Suspicions: m.suspects.entries, Events: m.counts[event], Open: s.Open}
	if m.done != nil {
		also.Waived = uint64(len(m.done.run.Result.Waived))
	}
	s.Also = also.Sentence(s.verdict)
	return s
}

// graver orders by the gravest kind first.
func graver(a, b *byKind) int {
	for k := range a {
		if c := cmp.Compare(b[k], a[k]); c != 0 {
			return c
		}
	}
	return 0
}

func (s *Summary) accused(m *Model) {
	for a, n := range m.accused {
		s.guilty = append(s.guilty, guilty{a, n})
	}
	if m.done != nil && len(m.done.damaged) < len(s.guilty) {
		s.guilty = slices.DeleteFunc(s.guilty, func(g guilty) bool { return m.done.damaged[g.addr] })
	}
	slices.SortFunc(s.guilty, func(a, b guilty) int {
		return cmp.Or(graver(&a.byKind, &b.byKind), a.addr.Compare(b.addr))
	})
	s.Others = m.others.byKind
	for i, c := range s.guilty {
		if i < shownAccused {
			s.Accused = append(s.Accused, &Accused{c.addr.String(), c.byKind})
			continue
		}
		for k, n := range c.byKind {
			s.Others[k] += n
		}
	}
}

func (s *Summary) live(m *Model) {
	st := &m.status
	s.Packets, s.RDMA, s.Dropped, s.Repeated, s.Undecoded = st.Packets, st.RDMA, st.Dropped, st.Repeated, st.Undecoded
	s.Open, s.open = st.Open.Requests, st.Open
	s.Connections, s.Forgotten = st.Connections, st.Forgotten+st.Evicted+st.Relearned
	if m.start != 0 {
		s.First, s.Last, s.Span = stamp(m.start), stamp(max(st.Now, m.start)), max(0, st.Now-m.start)
	}
	if st.Now != 0 {
		s.Lag = max(0, m.now().UnixNano()-st.Now)
	}
	if st.Now != 0 {
		m.timeline.reach(st.Now)
	}
	s.Rules = report.CoverageOf(&agent.Result{Cover: st.Cover})
	switch {
	case m.counts[violation] > 0:
		s.verdict = report.Violated
	case m.suspects.entries > 0:
		s.verdict = report.NotProven
	case st.RDMA <= st.Unjudged+st.Repeated:
		s.verdict = report.NotJudged
	case st.Open.Requests > 0:
		s.verdict = report.Open
	default:
		s.verdict = report.Clean
	}
}

// sentence says the verdict of a run that goes on in words, as the first lines of check do.
func sentence(s *Summary) string {
	incidents := len(s.Incidents) + s.MoreIncidents
	held := report.NothingViolated(incidents, s.Rules.Exercised, s.Rules.Total)
	switch s.verdict {
	case report.Violated:
		return s.breach(violation, "violation", "by")
	case report.NotProven:
		return report.NothingProven(incidents) + s.breach(unproven, "suspicion", "against")
	case report.Open:
		return held + "; " + report.OpenRequests(&s.open)
	case report.NotJudged:
		if s.RDMA > 0 {
			return report.Unjudged(s.RDMA, s.NotJudged)
		}
		return "no InfiniBand or RoCE packet yet"
	}
	return held
}

// breach counts findings of a kind, their rules and who is accused: "4 violations of 2 rules by 10.0.0.2". Of what is not proven only that of severity
// error counts.
func (s *Summary) breach(k kind, noun, whom string) string {
	broken, rules := uint64(0), ""
	for _, r := range s.ByRule {
		if r.Counts[k] > 0 && (k != unproven || r.Severity == rule.Error.String()) {
			broken++
			rules = report.OneRule(r.Rule, r.Name)
		}
	}
	if broken != 1 {
		rules = count(broken, "rule")
	}
	var who []string
	for _, g := range s.guilty {
		if n := g.byKind[k]; k == unproven && g.suspects > 0 || k != unproven && n > 0 {
			who = append(who, g.addr.String())
		}
	}
	const most = 3
	if len(who) > most+1 {
		who = append(who[:most], count(uint64(len(who)-most), "other"))
	}
	found := tally{s.Counts[k], s.Times[k]}
	if k == unproven {
		found = s.suspects
	}
	t := fmt.Sprintf("%s of %s", count(found.entries, noun), rules)
	if len(who) > 0 {
		t += " " + whom + " " + enumerate(who)
	}
	if found.times > found.entries {
		t += ", " + grouped(found.times) + " times in all"
	}
	return t
}

func count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// grouped writes 1234567 as 1,234,567.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func enumerate(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		t := words[0]
		for _, w := range words[1 : n-1] {
			t += ", " + w
		}
		return t + " and " + words[n-1]
	}
}
