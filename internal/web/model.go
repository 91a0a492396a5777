package web

import (
	"sync"
	"time"

	"ibwitness/agent"
	"ibwitness/internal/ladder"
	"ibwitness/internal/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Options say what a model is of.
type Options struct {
	Live    bool   // it goes on; else it is a finished run
	Title   string // interfaces or files
	Version string
	// Most is how many findings of each kind are kept: of a run that goes on the newest, of a finished one the first; 0: 10,000, and of a finished run 100,000.
	Most int
}

// Model is what is known of a run, bounded whatever the run finds. It is safe for concurrent use.
type Model struct {
	opt Options
	now func() time.Time

	mu       sync.Mutex
	changed  uint64 // raised with each change
	lastID   uint64
	stores   [numKinds]store
	counts   byKind
	suspects uint64 // not proven, of severity error
	byRule   [rule.NumRules]byKind
	newest   [rule.NumRules]int64    // time of the newest finding of each rule
	accused  map[packet.Addr]*byKind // the first so many
	others   byKind                  // against further ones
	troubled map[ladder.Flow]*byKind // violations, warnings and what is not proven, by connection: the first so many
	timeline timeline
	status   agent.Status
	done     *finished
	start    int64 // of the run, in nanoseconds since the Unix epoch; 0: not known yet
	conns    connections
}

const (
	mostAccused  = 4096
	mostTroubled = 1 << 16
)

// NewModel returns an empty model.
func NewModel(o Options) *Model {
	if o.Most <= 0 {
		o.Most = 100_000
		if o.Live {
			o.Most = 10_000
		}
	}
	m := &Model{opt: o, now: time.Now, accused: map[packet.Addr]*byKind{}, troubled: map[ladder.Flow]*byKind{}}
	for k := range m.stores {
		m.stores[k] = store{most: o.Most, first: !o.Live}
	}
	if o.Live {
		m.timeline.tail(int64(30 * time.Second))
	}
	m.conns.tracks = map[uint64]*track{}
	return m
}

// Found takes findings, in the order in which they are told.
func (m *Model) Found(list []rule.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range list {
		f := list[i]
		m.found(report.Entry{Finding: &f})
		m.timeline.add(f.Time, kindOf(&f))
	}
	m.changed++
}

func (m *Model) found(e report.Entry) {
	f := e.Finding
	if m.start == 0 {
		m.start = f.Time
	}
	k := kindOf(f)
	m.lastID++
	m.stores[k].add(entry{id: m.lastID, Entry: e})
	m.counts[k]++
	m.byRule[f.Rule][k]++
	m.newest[f.Rule] = max(m.newest[f.Rule], f.Time)
	if k == unproven && f.Rule.Row().Severity == rule.Error {
		m.suspects++
	}
	if k != event && !f.Accused.Addr.IsZero() {
		n := m.accused[f.Accused.Addr]
		if n == nil && len(m.accused) < mostAccused {
			n = new(byKind)
			m.accused[f.Accused.Addr] = n
		}
		if n == nil {
			n = &m.others
		}
		n[k]++
	}
	if k != event {
		key := ladder.FlowOf(f).Ordered()
		n := m.troubled[key]
		if n == nil && len(m.troubled) < mostTroubled {
			n = new(byKind)
			m.troubled[key] = n
		}
		if n != nil {
			n[k]++
		}
	}
}

// Status takes the counters of a run that goes on.
func (m *Model) Status(s *agent.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.start == 0 {
		m.start = s.Now
	}
	m.status = *s
	m.changed++
}

// entry is a finding that is kept.
type entry struct {
	report.Entry
	id   uint64
	text string // what is searched; made when it is needed
}

// store keeps so many findings of a kind.
type store struct {
	list  []entry // a ring: the oldest stands at head
	head  int
	most  int
	first bool // the first are kept and not the newest
	left  uint64
}

func (s *store) add(e entry) {
	switch {
	case len(s.list) < s.most:
		s.list = append(s.list, e)
	case s.first:
		s.left++
	default:
		s.list[s.head] = e
		s.head = (s.head + 1) % len(s.list)
		s.left++
	}
}

// at returns the entry that is the i-th oldest.
func (s *store) at(i int) *entry { return &s.list[(s.head+i)%len(s.list)] }

// find returns the entry with an id, or nil.
func (s *store) find(id uint64) *entry {
	low, high := 0, len(s.list)
	for low < high {
		mid := (low + high) / 2
		switch e := s.at(mid); {
		case e.id == id:
			return e
		case e.id < id:
			low = mid + 1
		default:
			high = mid
		}
	}
	return nil
}
