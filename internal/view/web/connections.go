package web

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/internal/view/ladder"
	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

const (
	points       = 60     // of a sparkline
	mostTracks   = 100000 // connections that are listed
	mostHistory  = 20000  // of them, those that have a history
	surveyPart   = 50     // at most one part in so many of the time goes into looking at connections
	surveyLowest = time.Second
)

// connections is what is known of connections.
type connections struct {
	tracks    map[uint64]*track
	histories int
	at        int64         // when they were looked at last
	pause     time.Duration // until they are looked at again, at least
	turn      uint64
	left      uint64 // more than can be listed
	evicted   uint64 // of a run, when they were looked at last
}

// track is one connection.
type track struct {
	id      uint64
	c       agent.Connection
	turn    uint64 // in which it was seen last
	rate    float32
	history *history // nil: none is kept
	quiet   int      // points since it last did something
}

// history is what a connection did in the last points, oldest first, in each second: payload bytes, request packets retransmitted, RNR NAKs.
type history struct {
	n                 int
	rate, resent, rnr [points]float32
}

func (h *history) add(rate, resent, rnr float32) {
	if h.n == points {
		copy(h.rate[:], h.rate[1:])
		copy(h.resent[:], h.resent[1:])
		copy(h.rnr[:], h.rnr[1:])
		h.n--
	}
	h.rate[h.n], h.resent[h.n], h.rnr[h.n] = rate, resent, rnr
	h.n++
}

type sums struct{ packets, bytes, resent, rnr uint64 }

func sumsOf(c *agent.Connection) (s sums) {
	for i := range c.Ends {
		e := &c.Ends[i]
		s.packets += e.Packets
		s.bytes += e.Bytes
		s.resent += uint64(e.Retransmissions)
		s.rnr += uint64(e.RNRNAKs)
	}
	return s
}

// Survey looks at the connections of a run that goes on, by their ids, where it is time to: what it takes is bounded to a small part of the
// time, however many there are. Where the run has just evicted some, it is time: what is kept of them here takes memory too. The connections are
// valid during the call only.
func (m *Model) Survey(now int64, each iter.Seq2[uint64, *agent.Connection]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.conns
	passed, evicted := now-s.at, m.status.Evicted
	if s.at != 0 && passed < int64(s.pause) && evicted == s.evicted {
		return
	}
	s.evicted = evicted
	began := m.now()
	s.turn++
	for id, c := range each {
		t := s.tracks[id]
		if t == nil {
			if len(s.tracks) >= mostTracks {
				s.left++
				continue
			}
			t = &track{id: id}
			s.tracks[id] = t
			if s.at == 0 {
				t.c = *c // what it did before is not known to be of this second
			} else {
				t.c.Ends = [2]agent.End{}
			}
		}
		s.sample(t, c, float32(float64(max(passed, 1))/1e9))
		t.turn = s.turn
	}
	for id, t := range s.tracks {
		if t.turn != s.turn {
			delete(s.tracks, id)
			if t.history != nil {
				s.histories--
			}
		}
	}
	s.at = now
	s.pause = max(surveyLowest-surveyLowest/10, surveyPart*m.now().Sub(began))
}

// sample adds a point to a connection.
func (s *connections) sample(t *track, c *agent.Connection, seconds float32) {
	was, is := sumsOf(&t.c), sumsOf(c)
	t.c = *c
	per := func(is, was uint64) float32 { return float32(is-min(is, was)) / seconds }
	t.rate = per(is.bytes, was.bytes)
	if t.quiet++; is.packets != was.packets {
		t.quiet = 0
	}
	switch {
	case t.history == nil && t.quiet == 0 && s.histories < mostHistory:
		t.history = new(history)
		s.histories++
	case t.history != nil && t.quiet > points:
		t.history = nil
		s.histories--
	}
	if t.history != nil {
		t.history.add(t.rate, per(is.resent, was.resent), per(is.rnr, was.rnr))
	}
}

// Connection is a connection as the page shows it.
type Connection struct {
	ID      uint64  `json:"id"`
	Rate    float32 `json:"rate"` // payload bytes a second, of late; of a finished run: all in all
	Trouble byKind  `json:"trouble"`
	Spark   *Spark  `json:"spark,omitempty"`
	*report.ConnectionLine
}

// Spark is the history of a connection, oldest first, in each second: payload bytes, request packets retransmitted, RNR NAKs. What is all zero is left out.
type Spark struct {
	Rate   []float32 `json:"rate"`
	Resent []float32 `json:"resent,omitempty"`
	RNR    []float32 `json:"rnr,omitempty"`
}

func (h *history) spark() *Spark {
	if h == nil {
		return nil
	}
	some := func(list []float32) []float32 {
		if !slices.ContainsFunc(list, func(v float32) bool { return v != 0 }) {
			return nil
		}
		out := make([]float32, len(list))
		for i, v := range list {
			out[i] = float32(int64(v*1000+0.5)) / 1000
		}
		return out
	}
	s := &Spark{some(h.rate[:h.n]), some(h.resent[:h.n]), some(h.rnr[:h.n])}
	if s.Rate == nil {
		s.Rate = make([]float32, h.n)
	}
	return s
}

// ConnectionsQuery says which connections are wanted.
type ConnectionsQuery struct {
	Sort   string // "activity", "trouble", "retransmissions", "rnr", "packets", "bytes" (most first) or "first" (in the order of their first packet)
	Text   string // all of these words are in it
	Offset int
	Limit  int
}

// Connections is a page of connections.
type Connections struct {
	Total  int           `json:"total"`
	Unseen uint64        `json:"unseen"` // beyond those that are listed
	Step   float64       `json:"step"`   // seconds from point to point of the sparklines
	Items  []*Connection `json:"items"`
}

// orders are what connections are sorted by.
var orders = map[string]func(t *track, trouble *byKind) float64{
	"activity":        func(t *track, _ *byKind) float64 { return float64(t.rate) },
	"trouble":         func(t *track, n *byKind) float64 { return trouble(t, n) },
	"retransmissions": func(t *track, _ *byKind) float64 { return float64(sumsOf(&t.c).resent) },
	"rnr":             func(t *track, _ *byKind) float64 { return float64(sumsOf(&t.c).rnr) },
	"packets":         func(t *track, _ *byKind) float64 { return float64(sumsOf(&t.c).packets) },
	"bytes":           func(t *track, _ *byKind) float64 { return float64(sumsOf(&t.c).bytes) },
	"first":           func(t *track, _ *byKind) float64 { return -float64(t.c.First) },
}

// trouble weighs what went wrong on a connection: what is graver always comes first.
func trouble(t *track, n *byKind) float64 {
	s := sumsOf(&t.c)
	w := min(float64(s.resent+s.rnr), 1e5)
	if n != nil {
		w += 1e15*min(float64(n[violation]), 1e5) + 1e10*min(float64(n[warning]), 1e5) + 1e5*min(float64(n[unproven]), 1e5)
	}
	return w
}

// Connections answers a query.
func (m *Model) Connections(q ConnectionsQuery) *Connections {
	weigh := orders[q.Sort]
	if weigh == nil {
		weigh = orders["trouble"]
	}
	words := strings.Fields(strings.ToLower(q.Text))
	m.mu.Lock()
	defer m.mu.Unlock()
	type weighed struct {
		*track
		trouble *byKind
		weight  float64
	}
	list := make([]weighed, 0, len(m.conns.tracks))
	for _, t := range m.conns.tracks {
		if !t.has(words) {
			continue
		}
		n := m.troubled[flowOf(&t.c).Ordered()]
		list = append(list, weighed{t, n, weigh(t, n)})
	}
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.id, b.id)) })
	out := &Connections{Total: len(list), Unseen: m.conns.left, Step: m.step(), Items: []*Connection{}}
	for _, w := range list[min(q.Offset, len(list)):min(q.Offset+q.Limit, len(list))] {
		c := w.shown(w.trouble)
		for k := range c.Ends {
			c.Ends[k].Timing = nil // Numbers has it
		}
		out.Items = append(out.Items, c)
	}
	return out
}

// shown is what the page shows of a connection. trouble may be nil.
func (t *track) shown(trouble *byKind) *Connection {
	c := &Connection{ID: t.id, Rate: t.rate, Spark: t.history.spark(), ConnectionLine: report.ConnectionLineOf(&t.c)}
	if trouble != nil {
		c.Trouble = *trouble
	}
	return c
}

// Numbers is a connection with what its messages took, where that was measured.
type Numbers struct {
	*Connection
	Step float64 `json:"step"` // seconds from point to point of its history
}

// Numbers returns those of a connection; nil: there is none of that number.
func (m *Model) Numbers(id uint64) *Numbers {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.conns.tracks[id]
	if t == nil {
		return nil
	}
	n := &Numbers{t.shown(m.troubled[flowOf(&t.c).Ordered()]), m.step()}
	if m.done != nil {
		if m.done.shared == nil {
			m.done.shared = report.Sharing(m.done.run.Result.Connections)
		}
		m.done.shared.Tell(&t.c, n.ConnectionLine)
	}
	return n
}

// step is how many seconds it is from one point of a sparkline to the next.
func (m *Model) step() float64 {
	if m.done != nil {
		return float64(m.done.step) / 1e9
	}
	return max(surveyLowest, m.conns.pause).Seconds()
}

func (t *track) has(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(t.c.Service.String() + " " + t.c.Encap.String())
	for i := range t.c.Ends {
		e := &t.c.Ends[i]
		text += " " + e.Addr.String()
		if e.QPNKnown {
			text += fmt.Sprintf(" qp 0x%x %d", e.QPN, e.QPN)
		}
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// flowOf is what a finding on the connection would say of its ends.
func flowOf(c *agent.Connection) (w ladder.Flow) {
	for i := range c.Ends {
		e := &c.Ends[i]
		w[i] = rule.Endpoint{Addr: e.Addr, QPN: e.QPN, QPNKnown: e.QPNKnown}
	}
	return w
}
