package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ibwitness/internal/difference"
)

// differenceShown is how many lines of a kind are shown unless all are asked for.
const differenceShown = 10

// Difference is two runs to compare, and what they are called.
type Difference struct {
	*difference.Difference
	A, B string
}

// Sentence says what differs.
func (d *Difference) Sentence() string {
	var what []string
	if n := len(d.New); n > 0 {
		what = append(what, count(n, "finding or incident")+" new")
	}
	if n := len(d.Slower); n > 0 {
		what = append(what, count(n, "time")+" longer")
	}
	if len(d.Worse) > 0 {
		what = append(what, "more retransmitted")
	}
	switch {
	case len(what) > 0:
		return "B is worse than A: " + enumerate(what)
	case d.Same():
		return "B is as A is, as far as they can be compared"
	}
	return "B has nothing new, and is not slower"
}

// WriteText writes it for people.
func (d *Difference) WriteText(w io.Writer, o Options) error {
	var out strings.Builder
	ink := newPaint(o.Color)
	word, tone := "SAME", ink.green
	switch {
	case d.Regressed():
		word, tone = "WORSE", ink.red
	case !d.Same():
		word = "NOT WORSE"
	}
	fmt.Fprintf(&out, "%s  %s\n\n  A  %s\n  B  %s\n", tone(word), d.Sentence(), printable(d.A), printable(d.B))
	if d.Together {
		out.WriteString("\nThe runs have no two hosts in common: all of a run is compared together.\n")
	}
	section := func(title string, tab *table) {
		if len(tab.rows) == 0 {
			return
		}
		more := 0
		if n := len(tab.rows); !o.All && n > differenceShown+1 {
			more, tab.rows = n-differenceShown, tab.rows[:differenceShown]
		}
		fmt.Fprintf(&out, "\n%s\n", ink.bold(title))
		for _, l := range tab.lines("  ", ink.dim) {
			out.WriteString(l + "\n")
		}
		if more > 0 {
			fmt.Fprintf(&out, "  … and %s more (--all)\n", number(more))
		}
	}
	counts := func(list []difference.Count, b bool) *table {
		tab := newTable(">count", "what", "who")
		for _, c := range list {
			n, what := c.A, c.What
			if b {
				n = c.B
			}
			if c.Rule != "" {
				what = c.Rule + " " + what
			}
			tab.add(number(n), what, c.Who)
		}
		return tab
	}
	times := func(list []difference.Quantile) *table {
		tab := newTable("hosts", "operation", "", ">A", ">B", ">times", ">messages")
		for i := range list {
			q := &list[i]
			tab.add(q.Hosts.String(), q.Op.String(), fmt.Sprintf("p%.0f", 100*q.Share), short(q.A), short(q.B), ratio(q.Times()), number(q.Of[0])+", "+number(q.Of[1]))
		}
		return tab
	}
	rates := func(list []difference.Rate, value func(float64) string) *table {
		tab := newTable("hosts", ">A", ">B", ">times")
		for _, r := range list {
			times := "–"
			if r.A > 0 {
				times = ratio(r.B / r.A)
			}
			tab.add(r.Hosts.String(), value(r.A), value(r.B), times)
		}
		return tab
	}
	section("New in B", counts(d.New, true))
	section("Slower in B", times(d.Slower))
	section("Retransmitted more in B", rates(d.Worse, percent))
	settings := newTable("hosts", "setting", "A", "B")
	for _, s := range d.Settings {
		settings.add(s.Hosts.String(), s.What, s.A, s.B)
	}
	section("Other settings", settings)
	section("Payload a second, as the load is or can be", rates(d.Rates, func(v float64) string { return size(uint64(v)) }))
	section("Gone in B", counts(d.Gone, false))
	section("Faster in B", times(d.Faster))
	section("Retransmitted less in B", rates(d.Better, percent))
	only := newTable("", "")
	for k, list := range [][]difference.Hosts{d.OnlyA, d.OnlyB} {
		for _, h := range list {
			only.add([...]string{"A", "B"}[k], h.String())
		}
	}
	section("Only in one run", only)
	fmt.Fprintf(&out, "\nCompared  %s of hosts that both runs have\n", count(d.Compared, "operation"))
	_, err := io.WriteString(w, out.String())
	return err
}

func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }

func percent(v float64) string { return fmt.Sprintf("%.2g %%", 100*v) }

type jsonDifference struct {
	Kind      string  `json:"kind"` // new, gone, slower, faster, retransmitted, payload, setting, only
	From      string  `json:"from,omitempty"`
	To        string  `json:"to,omitempty"`
	Rule      string  `json:"rule,omitempty"`
	Incident  string  `json:"incident,omitempty"`
	Who       string  `json:"who,omitempty"`
	Setting   string  `json:"setting,omitempty"`
	Operation string  `json:"operation,omitempty"`
	Share     float64 `json:"share,omitempty"`
	A         any     `json:"a,omitempty"`
	B         any     `json:"b,omitempty"`
}

type jsonComparison struct {
	Kind      string `json:"kind"` // comparison
	A         string `json:"a"`
	B         string `json:"b"`
	Regressed bool   `json:"regressed"`
	Same      bool   `json:"same"`
	Together  bool   `json:"together"` // no two hosts are in both runs
	Compared  int    `json:"compared"` // operations of hosts
}

// WriteJSON writes it for programs: a line for each difference, and one for all.
func (d *Difference) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var err error
	put := func(h difference.Hosts, l jsonDifference) {
		if h != (difference.Hosts{}) {
			l.From, l.To = h.From.String(), h.To.String()
		}
		if err == nil {
			err = enc.Encode(&l)
		}
	}
	counts := func(kind string, list []difference.Count) {
		for _, c := range list {
			l := jsonDifference{Kind: kind, Rule: c.Rule, Who: c.Who, A: c.A, B: c.B}
			if c.Rule == "" {
				l.Incident = c.What
			}
			put(difference.Hosts{}, l)
		}
	}
	times := func(kind string, list []difference.Quantile) {
		for _, q := range list {
			put(q.Hosts, jsonDifference{Kind: kind, Operation: q.Op.String(), Share: q.Share, A: q.A.Seconds(), B: q.B.Seconds()})
		}
	}
	rates := func(kind string, list []difference.Rate) {
		for _, r := range list {
			put(r.Hosts, jsonDifference{Kind: kind, A: r.A, B: r.B})
		}
	}
	counts("new", d.New)
	counts("gone", d.Gone)
	times("slower", d.Slower)
	times("faster", d.Faster)
	rates("retransmitted", d.Worse)
	rates("retransmitted", d.Better)
	rates("payload", d.Rates)
	for _, s := range d.Settings {
		put(s.Hosts, jsonDifference{Kind: "setting", Setting: s.What, A: s.A, B: s.B})
	}
	for _, h := range d.OnlyA {
		put(h, jsonDifference{Kind: "only", A: true})
	}
	for _, h := range d.OnlyB {
		put(h, jsonDifference{Kind: "only", B: true})
	}
	if err != nil {
		return err
	}
	return enc.Encode(&jsonComparison{"comparison", d.A, d.B, d.Regressed(), d.Same(), d.Together, d.Compared})
}
