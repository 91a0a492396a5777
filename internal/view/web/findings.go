package web

import (
	"container/list"
	"fmt"
	"strings"
	"time"

	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Finding is a finding as the page shows it.
type Finding struct {
	ID   uint64 `json:"id"`
	Show string `json:"show"` // its kind: violation, warning, note, unproven, event
	At   int64  `json:"at"`   // nanoseconds after the run began
	Last int64  `json:"last"` // of the last one that it represents, likewise
	*report.Line
}

// FindingsQuery says which findings are wanted.
type FindingsQuery struct {
	Class    string // names of kinds, with commas between; empty: all but events
	Rule     string // its id; empty: any
	Endpoint string // address of the accused or its peer; empty: any
	Text     string // all of these words are in the finding
	Upto     uint64 // newest id; 0: no bound
	ID       uint64 // of a finding that is wanted besides; 0: none
	Newest   bool   // newest first
	Offset   int
	Limit    int
}

// Findings is a page of findings.
type Findings struct {
	Total  int        `json:"total"`  // that the query finds
	Times  uint64     `json:"times"`  // findings that these represent
	Newest uint64     `json:"newest"` // id of the newest finding that there is
	Left   byKind     `json:"left"`   // findings of each kind that are no longer kept
	Items  []*Finding `json:"items"`
	Opened *Finding   `json:"opened,omitempty"` // the one that is wanted besides, or that represents it by now
}

// filter is a query, understood.
type filter struct {
	kinds    kinds
	rule     rule.ID
	anyRule  bool
	endpoint packet.Addr
	anyone   bool
	words    []string
	upto     uint64
}

func (q *FindingsQuery) filter() (f filter, err error) {
	f.anyRule, f.anyone, f.upto = true, true, q.Upto
	if f.kinds, err = parseKinds(q.Class); err != nil {
		return f, err
	}
	if q.Rule != "" {
		id, ok := rule.Lookup(q.Rule)
		if !ok {
			return f, fmt.Errorf("web: there is no rule %q", q.Rule)
		}
		f.rule, f.anyRule = id, false
	}
	if q.Endpoint != "" {
		if f.endpoint, err = packet.ParseAddr(q.Endpoint); err != nil {
			return f, fmt.Errorf("web: %q is no address", q.Endpoint)
		}
		f.anyone = false
	}
	f.words = strings.Fields(strings.ToLower(q.Text))
	return f, nil
}

func (f *filter) takes(e *entry) bool {
	if !f.anyRule && e.Rule != f.rule || !f.anyone && e.Accused.Addr != f.endpoint && e.Peer.Addr != f.endpoint || f.upto != 0 && e.ID > f.upto {
		return false
	}
	if len(f.words) == 0 {
		return true
	}
	if e.text == "" {
		e.text = searched(e.Finding)
	}
	for _, w := range f.words {
		if !strings.Contains(e.text, w) {
			return false
		}
	}
	return true
}

// searched is the text of a finding that words are looked for in: all that the page and the JSON lines print of it, in hexadecimal and decimal.
func searched(f *rule.Finding) string {
	row := f.Rule.Row()
	parts := []string{row.ID, row.Name, kindOf(f).String(), f.Accused.Role.String(), f.Expected, f.Actual, f.Detail, fmt.Sprintf("frame %d", f.Frame)}
	for _, e := range []*rule.Endpoint{&f.Accused, &f.Peer} {
		if !e.Addr.IsZero() {
			parts = append(parts, e.Addr.String())
		}
		parts = append(parts, e.Node.Description)
		if e.Node.GUID != 0 {
			parts = append(parts, fmt.Sprintf("GUID 0x%016x", e.Node.GUID))
		}
		if e.Node.Route != "" {
			parts = append(parts, "directed route "+e.Node.Route)
		}
		if e.QPNKnown {
			parts = append(parts, fmt.Sprintf("QP 0x%x %d", e.QPN, e.QPN))
		}
	}
	if f.HasBTH {
		parts = append(parts, f.Opcode.String(), fmt.Sprintf("PSN %v %d", f.PSN, f.PSN))
	}
	return strings.ToLower(strings.Join(parts, " "))
}

// Findings answers a query.
func (m *Model) Findings(q FindingsQuery) (*Findings, error) {
	f, err := q.filter()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &Findings{Newest: m.lastID, Items: []*Finding{}}
	var at [numKinds]*list.Element // the next of each store, oldest first or newest first
	for k := range m.stores {
		s := &m.stores[k]
		out.Left[k] = s.left
		if f.kinds[k] {
			at[k] = s.end(q.Newest)
		}
	}
	if e := m.rows[q.ID]; e != nil {
		out.Opened = m.finding(e)
	}
	for {
		var next *entry
		from := kind(0)
		for k, el := range at {
			if el == nil {
				continue
			}
			if e := entryOf(el); next == nil || e.ID > next.ID == q.Newest {
				next, from = e, kind(k)
			}
		}
		if next == nil {
			return out, nil
		}
		if at[from] = next.row.Next(); q.Newest {
			at[from] = next.row.Prev()
		}
		if !f.takes(next) {
			continue
		}
		if n := out.Total; n >= q.Offset && n < q.Offset+q.Limit {
			out.Items = append(out.Items, m.finding(next))
		}
		out.Total++
		out.Times += next.Times()
	}
}

func (m *Model) finding(e *entry) *Finding {
	return &Finding{ID: e.ID, Show: kindOf(e.Finding).String(), At: e.Time - m.start, Last: e.Last().Time - m.start, Line: report.LineOf(e.Entry)}
}

// Finding returns the finding with an id, or the one that represents it by now.
func (m *Model) Finding(id uint64) (*Finding, *rule.Finding, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.rows[id]
	if e == nil {
		return nil, nil, false
	}
	f := *e.Finding
	return m.finding(e), &f, true
}

// told reports whether a finding ever had an id; it may have been forgotten.
func (m *Model) told(id uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return 0 < id && id <= m.lastID
}

func stamp(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z07:00")
}
