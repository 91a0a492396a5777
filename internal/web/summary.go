package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ibwitness/agent"
	"ibwitness/internal/report"
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
	Counts   byKind `json:"counts"` // one that represents others as one
	Times    byKind `json:"times"`  // these too

	Packets     uint64 `json:"packets"` // frames, of any protocol
	RDMA        uint64 `json:"rdma"`
	Dropped     uint64 `json:"dropped"`
	Repeated    uint64 `json:"repeated"`
	Undecoded   uint64 `json:"undecoded"`
	Open        uint64 `json:"open"` // requests without a response
	Connections int    `json:"connections"`
	Forgotten   uint64 `json:"forgotten"` // connections, for whatever reason
	First       string `json:"first,omitempty"`
	Last        string `json:"last,omitempty"`
	Span        int64  `json:"span"` // nanoseconds from First to Last
	Lag         int64  `json:"lag"`  // nanoseconds that a run that goes on lags the clock

	Rules    report.Coverage `json:"rules"`
	ByRule   []*RuleCount    `json:"by_rule"` // rules that findings are of, the gravest first
	Accused  []*Accused      `json:"accused"` // the most accused
	Others   byKind          `json:"others"`  // findings against endpoints that are not listed
	open     agent.Open
	guilty   byKind        // how many endpoints there are findings against
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

// Summary tells the verdict and what it rests on.
func (m *Model) Summary() *Summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &Summary{
		Live: m.opt.Live, Title: m.opt.Title, Version: m.opt.Version, Changed: m.changed, Counts: m.counts, Times: m.times,
		ByRule: []*RuleCount{}, Accused: []*Accused{}, Problems: []string{}, NotJudged: []agent.Note{}, Taps: []string{}, Notes: []string{},
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
	s.accused(m)
	if m.done != nil {
		s.finished(m)
	} else {
		s.live(m)
	}
	s.Timeline = m.timeline.json()
	s.Sentence = sentence(s)
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
	type counted struct {
		addr packet.Addr
		*byKind
	}
	list := make([]counted, 0, len(m.accused))
	for a, n := range m.accused {
		for k := range n {
			s.guilty[k] += min(n[k], 1)
		}
		list = append(list, counted{a, n})
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(graver(a.byKind, b.byKind), cmp.Compare(a.addr.Hi, b.addr.Hi), cmp.Compare(a.addr.Lo, b.addr.Lo))
	})
	s.Others = m.others
	for i, c := range list {
		if i < shownAccused {
			s.Accused = append(s.Accused, &Accused{c.addr.String(), *c.byKind})
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
		s.Verdict = report.Violated.String()
	case m.suspects > 0:
		s.Verdict = report.NotProven.String()
	case st.RDMA <= st.Unjudged+st.Repeated:
		s.Verdict = report.NotJudged.String()
	case st.Open.Requests > 0:
		s.Verdict = report.Open.String()
	default:
		s.Verdict = report.Clean.String()
	}
}

// sentence says the verdict in words, as the first lines of check do.
func sentence(s *Summary) string {
	broken, accused, guilty := 0, []string{}, uint64(0)
	of := func(k kind) {
		guilty = s.guilty[k]
		for _, r := range s.ByRule {
			if r.Counts[k] > 0 {
				broken++
			}
		}
		for _, a := range s.Accused {
			if a.Counts[k] > 0 {
				accused = append(accused, a.Address)
			}
		}
	}
	tell := func(k kind, noun, whom string) string {
		of(k)
		const most = 3
		t := fmt.Sprintf("%s of %s", count(s.Counts[k], noun), count(uint64(broken), "rule"))
		switch {
		case guilty == 0:
		case guilty <= most:
			t += " " + whom + " " + enumerate(accused)
		default:
			t += " " + whom + " " + enumerate(append(accused[:most:most], grouped(guilty-most)+" more"))
		}
		if n := s.Times[k]; n > s.Counts[k] {
			t += ", " + grouped(n) + " times in all"
		}
		return t
	}
	switch s.Verdict {
	case report.Violated.String():
		return tell(violation, "violation", "by")
	case report.Warned.String():
		return tell(warning, "warning", "by")
	case report.NotProven.String():
		return "no violation is proven; open: " + tell(unproven, "suspicion", "against")
	case report.Incomplete.String():
		return "nothing violated in the part that was judged"
	case report.Open.String():
		return fmt.Sprintf("nothing violated; %d of %d rules exercised; %s", s.Rules.Exercised, s.Rules.Total, report.OpenRequests(&s.open))
	case report.NotJudged.String():
		if s.RDMA > 0 {
			return report.Unjudged(s.RDMA, s.NotJudged)
		}
		if s.Live {
			return "no InfiniBand or RoCE packet yet"
		}
		return "no InfiniBand or RoCE packet in " + count(s.Packets, "frame")
	}
	return fmt.Sprintf("nothing violated; %d of %d rules exercised", s.Rules.Exercised, s.Rules.Total)
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
