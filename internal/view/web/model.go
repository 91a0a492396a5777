package web

import (
	"sync"
	"time"

	"ibwitness/agent"
	"ibwitness/internal/view/ladder"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Options say what a model is of.
type Options struct {
	Live    bool   // it goes on; else it is a finished run
	Title   string // interfaces or files
	Version string
	// Most is how many findings of each kind are kept, one that represents others as one: of a run that goes on those that were reported last, of a finished one the first; 0:
	// 10,000, and of a finished run 100,000.
	Most int
}

// Model is what is known of a run, bounded whatever the run finds. It is safe for concurrent use.
type Model struct {
	opt Options
	now func() time.Time

	mu       sync.Mutex
	changed  uint64 // raised with each change
	folder   report.Folder
	stores   [numKinds]store
	rows     map[uint64]*entry // those that are kept, by their IDs and those of the entries that were merged into them
	lastID   uint64            // of the newest entry that there ever was
	counts   byKind            // of entries, as all counts that follow
	times    byKind            // of findings: those that an entry represents
	suspects tally             // not proven, of severity error
	byRule   [rule.NumRules]byKind
	newest   [rule.NumRules]int64     // time of the newest finding of each rule
	accused  map[packet.Addr]*against // the first so many
	others   against                  // further ones
	troubled map[ladder.Flow]*byKind  // violations, warnings and what is not proven, by connection: the first so many
	timeline timeline
	status   agent.Status
	done     *finished
	start    int64 // of the run, in nanoseconds since the Unix epoch; 0: not known yet
	conns    connections

	incidents     []happened // of a run that goes on the newest first, else the gravest first
	moreIncidents int
	observations  []string // of a run that is over
}

// tally is how many entries there are, and how many findings these represent.
type tally struct{ entries, times uint64 }

// against is how many findings there are against an endpoint.
type against struct {
	byKind
	suspects uint64 // of what is not proven: that of severity error
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
	m := &Model{opt: o, now: time.Now, rows: map[uint64]*entry{}, accused: map[packet.Addr]*against{}, troubled: map[ladder.Flow]*byKind{}}
	for k := range m.stores {
		m.stores[k] = store{most: o.Most, first: !o.Live}
	}
	if o.Live {
		m.timeline.tail(int64(30 * time.Second))
	}
	m.conns.tracks = map[uint64]*track{}
	return m
}

// Found takes findings, in the order in which they are told, and returns those that the page lists: the others repeat what it lists.
func (m *Model) Found(list []rule.Finding) (listed []rule.Finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range list {
		f := list[i]
		k := kindOf(&f)
		m.timeline.add(f.Time, k)
		e, merged := m.folder.Add(&f)
		for _, x := range merged {
			m.count(x.Finding, -1)
			m.stores[k].merge(m.rows, x.ID, e.ID)
		}
		if e.Finding == &f {
			m.list(e)
			listed = append(listed, f)
			continue
		}
		m.times[k]++
		if suspect(&f) {
			m.suspects.times++
		}
		m.newest[f.Rule] = max(m.newest[f.Rule], f.Time)
		m.stores[k].again(m.rows[e.ID])
	}
	m.changed++
	return listed
}

// list takes an entry that is new.
func (m *Model) list(e *report.Entry) {
	f := e.Finding
	if m.start == 0 {
		m.start = f.Time
	}
	k := kindOf(f)
	m.lastID = e.ID
	m.count(f, 1)
	m.times[k] += e.Times()
	if suspect(f) {
		m.suspects.times += e.Times()
	}
	m.newest[f.Rule] = max(m.newest[f.Rule], e.Last().Time)
	if gone := m.stores[k].add(m.rows, &entry{Entry: e, ids: []uint64{e.ID}}); gone != nil {
		m.folder.Forget(gone.Entry)
	}
}

// count counts an entry that begins with a finding, once more or once less.
func (m *Model) count(f *rule.Finding, by int) {
	k, d := kindOf(f), uint64(by) // -1 wraps, and takes one away
	m.counts[k] += d
	m.byRule[f.Rule][k] += d
	if suspect(f) {
		m.suspects.entries += d
	}
	if k != event && !f.Accused.Addr.IsZero() {
		n := m.accused[f.Accused.Addr]
		if n == nil && len(m.accused) < mostAccused {
			n = new(against)
			m.accused[f.Accused.Addr] = n
		}
		if n == nil {
			n = &m.others
		}
		n.byKind[k] += d
		if suspect(f) {
			n.suspects += d
		}
	}
	if k != event {
		key := ladder.FlowOf(f).Ordered()
		n := m.troubled[key]
		if n == nil && len(m.troubled) < mostTroubled {
			n = new(byKind)
			m.troubled[key] = n
		}
		if n != nil {
			n[k] += d
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
