// Package closure adds up what runs have covered: documents of coverage, their union, which run adds what, what is missing, and whether a plan is met.
package closure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"ibwitness/agent"
	"ibwitness/coverage"
	"ibwitness/rule"
)

// Format and Version are what a document says of itself. A reader takes documents of its own version only.
const (
	Format  = "ibwitness-coverage"
	Version = 1
)

// Document is what one or several runs have covered.
type Document struct {
	Runs []Run // by name; no two are equal
}

// Run is what one run has covered.
type Run struct {
	Name    string   `json:"name"`
	Files   []string `json:"files,omitempty"`
	Packets uint64   `json:"packets"`  // InfiniBand and RoCE packets
	Errors  uint64   `json:"errors"`   // violations of severity error
	First   int64    `json:"first_ns"` // time of the first frame, nanoseconds since the Unix epoch
	Last    int64    `json:"last_ns"`
	Items   []Count  `json:"items"` // those that it has seen, in the order of the catalogue, then by name
}

// Count is how often an item was seen.
type Count struct {
	Name     string `json:"name"`
	Count    uint64 `json:"count"`
	Violated uint64 `json:"violated,omitempty"` // of a rule: how often it was violated
	Unproven uint64 `json:"unproven,omitempty"` // and how often that is not proven
}

// Of returns the document of one run.
func Of(name string, r *agent.Result) *Document {
	run := Run{Name: name, Packets: r.RDMA, Errors: r.Violations(rule.Error), First: r.First, Last: r.Last}
	for i := range r.Taps {
		if f := r.Taps[i].File; f != "" {
			run.Files = append(run.Files, f)
		}
	}
	for _, i := range coverage.Items() {
		if n := i.Count(&r.Shown, &r.Cover); n != (rule.Count{}) {
			run.Items = append(run.Items, Count{i.Name, n.Exercised, n.Violated, n.Unproven})
		}
	}
	return &Document{Runs: []Run{run}}
}

// Merge returns the runs of all documents, each once.
func Merge(docs ...*Document) *Document {
	all := &Document{}
	for _, d := range docs {
		all.Runs = append(all.Runs, d.Runs...)
	}
	slices.SortFunc(all.Runs, compare)
	all.Runs = slices.CompactFunc(all.Runs, func(a, b Run) bool { return compare(a, b) == 0 })
	return all
}

// compare orders runs by name, and those of one name by what is in them.
func compare(a, b Run) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last), cmp.Compare(a.Packets, b.Packets), cmp.Compare(a.Errors, b.Errors),
		slices.Compare(a.Files, b.Files), slices.CompareFunc(a.Items, b.Items, func(x, y Count) int {
			return cmp.Or(strings.Compare(x.Name, y.Name), cmp.Compare(x.Count, y.Count), cmp.Compare(x.Violated, y.Violated), cmp.Compare(x.Unproven, y.Unproven))
		}))
}

// Names returns the names of the runs, each another one: of runs with the same name those after the first are numbered.
func (d *Document) Names() []string {
	names, taken := make([]string, len(d.Runs)), map[string]bool{}
	for i := range d.Runs {
		taken[d.Runs[i].Name] = true
	}
	for i := range d.Runs {
		names[i] = d.Runs[i].Name
		if i == 0 || d.Runs[i-1].Name != names[i] {
			continue
		}
		for n := 2; taken[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s (%d)", d.Runs[i].Name, n)
		}
		taken[names[i]] = true
	}
	return names
}

// Total is what all runs together have seen of an item.
type Total struct {
	Count
	Item *coverage.Item // nil: another version of the program counts it
	Runs []int          // those that have seen it, by index
}

// Group is the name of the group that the item is of.
func (t *Total) Group() string { return groupOf(t.Name) }

func groupOf(name string) string {
	g, _, _ := strings.Cut(name, "/")
	return g
}

// Totals returns the sums of all items: those of the catalogue in its order, after those of a group the ones that only other versions count, by name.
func (d *Document) Totals() []Total {
	var list []Total
	at := map[string]int{}
	for i := range coverage.Items() {
		item := &coverage.Items()[i]
		at[item.Name] = len(list)
		list = append(list, Total{Count: Count{Name: item.Name}, Item: item})
	}
	for n := range d.Runs {
		for _, c := range d.Runs[n].Items {
			i, ok := at[c.Name]
			if !ok {
				i = len(list)
				at[c.Name] = i
				list = append(list, Total{Count: Count{Name: c.Name}})
			}
			t := &list[i]
			t.Count.Count, t.Violated, t.Unproven = sum(t.Count.Count, c.Count), sum(t.Violated, c.Violated), sum(t.Unproven, c.Unproven)
			if c.Count > 0 {
				t.Runs = append(t.Runs, n)
			}
		}
	}
	slices.SortFunc(list, func(a, b Total) int {
		return cmp.Or(cmp.Compare(groupPlace(a.Group()), groupPlace(b.Group())), cmp.Compare(place(a.Name), place(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return list
}

// sum adds, and stays at the greatest number where that is too much.
func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// file is a document as it is written: the runs, and their sums by group, all items included.
type file struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Runs    []Run   `json:"runs"`
	Groups  []group `json:"groups"`
}

type group struct {
	Name  string  `json:"name"`
	Seen  int     `json:"seen"`
	Of    int     `json:"of"`
	Items []Count `json:"items"`
}

func (d *Document) groups() (list []group) {
	for _, t := range d.Totals() {
		if len(list) == 0 || list[len(list)-1].Name != t.Group() {
			list = append(list, group{Name: t.Group()})
		}
		g := &list[len(list)-1]
		g.Of++
		if t.Count.Count > 0 {
			g.Seen++
		}
		g.Items = append(g.Items, t.Count)
	}
	return list
}

// WriteJSON writes the document, an item a line.
func (d *Document) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	line := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // of strings and numbers
		}
		return text
	}
	items := func(list []Count) {
		b.WriteString(`"items":[`)
		for i, c := range list {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n    ")
			b.Write(line(c))
		}
		b.WriteString("\n  ]}")
	}
	fmt.Fprintf(&b, "{\"format\":%q,\"version\":%d,\n\"runs\":[", Format, Version)
	for i, r := range d.Runs {
		if i > 0 {
			b.WriteByte(',')
		}
		list := r.Items
		r.Items = []Count{}
		b.WriteString("\n  ")
		b.Write(bytes.TrimSuffix(line(r), []byte(`"items":[]}`)))
		items(list)
	}
	b.WriteString("\n],\n\"groups\":[")
	for i, g := range d.groups() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n  {\"name\":%s,\"seen\":%d,\"of\":%d,", line(g.Name), g.Seen, g.Of)
		items(g.Items)
	}
	b.WriteString("\n]}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// Read reads a document. Errors say what is wrong and what to do, and name no file.
func Read(r io.Reader) (*Document, error) {
	dec := json.NewDecoder(r)
	var f file
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("closure: it is no document of coverage (%w): give what --coverage or `ibwitness coverage merge --format json` has written", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("closure: there is more after the document: give one document a file")
	}
	switch {
	case f.Format != Format:
		return nil, fmt.Errorf("closure: its format is %q and not %q: give what --coverage or `ibwitness coverage merge --format json` has written", f.Format, Format)
	case f.Version != Version:
		return nil, fmt.Errorf("closure: it is of version %d, and this program reads version %d: write it again with this program", f.Version, Version)
	case len(f.Runs) == 0:
		return nil, errors.New("closure: it has no run: write it again")
	}
	for i := range f.Runs {
		if err := f.Runs[i].check(); err != nil {
			return nil, err
		}
	}
	d := Merge(&Document{Runs: f.Runs})
	if err := d.agrees(f.Groups); err != nil {
		return nil, err
	}
	return d, nil
}

// check reports what is wrong with a run, and brings its items into their order.
func (r *Run) check() error {
	if r.Name == "" || strings.ContainsFunc(r.Name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return fmt.Errorf("closure: a run is named %q: name it in letters that can be printed", r.Name)
	}
	for _, c := range r.Items {
		if g, rest, ok := strings.Cut(c.Name, "/"); !ok || g == "" || rest == "" || strings.ContainsFunc(c.Name, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return fmt.Errorf("closure: run %q has an item %q: an item is named GROUP/NAME", r.Name, c.Name)
		}
		if c == (Count{Name: c.Name}) {
			return fmt.Errorf("closure: run %q lists item %q, which it has not seen: leave it out", r.Name, c.Name)
		}
	}
	slices.SortFunc(r.Items, func(a, b Count) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), strings.Compare(a.Name, b.Name))
	})
	for i := 1; i < len(r.Items); i++ {
		if r.Items[i].Name == r.Items[i-1].Name {
			return fmt.Errorf("closure: run %q lists item %q twice: leave one out", r.Name, r.Items[i].Name)
		}
	}
	return nil
}

// place is the place of an item in the catalogue; those that are not in it come last.
func place(name string) int {
	if i := coverage.Index(name); i >= 0 {
		return i
	}
	return math.MaxInt
}

// groupPlace is the place of a group; those that the catalogue does not have come last.
func groupPlace(name string) int {
	if i := slices.Index(coverage.Groups(), name); i >= 0 {
		return i
	}
	return len(coverage.Groups())
}

// agrees reports an item whose sum is not that of the runs.
func (d *Document) agrees(groups []group) error {
	sums := map[string]Count{}
	for _, t := range d.Totals() {
		sums[t.Name] = t.Count
	}
	for _, g := range groups {
		for _, c := range g.Items {
			if got, ok := sums[c.Name]; ok && got != c || !ok && c.Count != 0 {
				return fmt.Errorf("closure: the sum of %q, %d, is not that of the runs, %d: the document was changed by hand; write it again", c.Name, c.Count, got.Count)
			}
		}
	}
	return nil
}
