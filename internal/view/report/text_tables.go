package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// events writes how often what happened, and to whom.
func (t *text) events() {
	type kind struct {
		id    rule.ID
		times int
		by    map[string]int
	}
	var kinds []*kind
	byID := map[rule.ID]*kind{}
	for i := range t.list {
		e := &t.list[i]
		if e.Class != rule.Event {
			continue
		}
		k := byID[e.Rule]
		if k == nil {
			k = &kind{id: e.Rule, by: map[string]int{}}
			byID[e.Rule] = k
			kinds = append(kinds, k)
		}
		k.times++
		who := party(&e.Accused)
		if who == "" {
			who = cmp.Or(e.Accused.Role.String(), "the network")
		}
		k.by[who]++
	}
	if len(kinds) == 0 {
		return
	}
	slices.SortStableFunc(kinds, func(a, b *kind) int { return b.times - a.times })
	t.heading("Events")
	tab := newTable(">count", "event", "by")
	for _, k := range kinds {
		who, all := byWhom(k.by), uint64(k.times)
		if n := t.res.Cover[k.id].Exercised; t.res.Forgotten.Events > 0 && n > all { // not all were kept
			all = n
			who += ", of the " + number(k.times) + " that are listed"
		}
		tab.add(number(all), k.id.Row().Name, who)
	}
	t.lines(tab.lines("  ", t.dim))
}

// byWhom lists the endpoints with the most events.
func byWhom(by map[string]int) string {
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	if len(names) == 1 {
		return names[0]
	}
	const most = 2
	more := len(names) - most
	names = names[:most]
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, number(by[name]))
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%s more", number(more)))
	}
	return enumerate(names)
}

const connectionsShown = 20

// connections writes two lines a connection, one an end: what each end sent.
func (t *text) connections() {
	list := t.res.Connections
	if len(list) == 0 {
		return
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	if !t.All && len(list) > connectionsShown {
		interest := t.interest()
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case interest[a] > interest[b]:
				return -1
			case interest[a] < interest[b]:
				return 1
			}
			return 0
		})
		order = order[:connectionsShown]
		slices.Sort(order)
	}
	title := "Connections"
	if hidden := len(list) - len(order); hidden > 0 {
		title += fmt.Sprintf(" (%d of %s, those with most to say; --all shows every one)", len(order), number(len(list)))
	}
	t.heading(title)
	tab := newTable("", "endpoint", ">packets", ">payload", ">messages", ">retrans.", ">NAKs", ">RNRs", ">PMTU", "learned by")
	for _, i := range order {
		c := &list[i]
		pmtu := "?"
		if c.PMTU != 0 {
			pmtu = strconv.Itoa(int(c.PMTU))
		} else if c.Service == packet.UD {
			pmtu = ""
		}
		lead, learned := c.Service.String(), c.PairedBy.String()
		for k := range c.Ends {
			e := &c.Ends[k]
			name := e.Addr.String() + " " + qp(e.QPN, e.QPNKnown)
			if e.Near {
				name += " (near)"
			}
			tab.add(lead, name, number(e.Packets), size(e.Bytes), quiet(e.Messages), quiet(uint64(e.Retransmissions)),
				quiet(uint64(e.NAKs-min(e.NAKs, e.RNRNAKs))), quiet(uint64(e.RNRNAKs)), pmtu, learned)
			lead, pmtu, learned = "", "", ""
		}
	}
	tab.fit(t.Width-2, ">packets", ">PMTU", "learned by", ">payload", ">messages", ">RNRs")
	t.lines(tab.lines("  ", t.dim))
}

// quiet writes a count, and a dash where nothing is there to count.
func quiet(n uint64) string {
	if n == 0 {
		return "–"
	}
	return number(n)
}

// interest weighs the connections: findings first, then recovery, then traffic.
func (t *text) interest() []uint64 {
	type end struct {
		addr packet.Addr
		qpn  uint32
	}
	weight := map[end]uint64{}
	for i := range t.list {
		e := &t.list[i]
		var w uint64
		switch {
		case e.Class == rule.Violation && e.Rule.Row().Severity == rule.Error:
			w = 1 << 48
		case e.Class != rule.Event:
			w = 1 << 40
		}
		for _, p := range []rule.Endpoint{e.Accused, e.Peer} {
			if w > 0 && p.QPNKnown {
				key := end{p.Addr, p.QPN}
				weight[key] = max(weight[key], w)
			}
		}
	}
	out := make([]uint64, len(t.res.Connections))
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		out[i] = recovery(c)
		for k := range c.Ends {
			if e := &c.Ends[k]; e.QPNKnown && len(weight) > 0 {
				out[i] += weight[end{e.Addr, e.QPN}]
			}
		}
	}
	return out
}

func recovery(c *agent.Connection) (w uint64) {
	for _, e := range c.Ends {
		w += (uint64(e.Retransmissions)+uint64(e.Duplicates)+uint64(e.NAKs)+uint64(e.RNRNAKs))<<20 + e.Packets
	}
	return w
}

// coverage says how much of the catalogue the traffic exercised.
func (t *text) coverage() {
	s := coverageOf(t.res).sentence()
	if !t.All {
		s += " --all lists them."
	}
	if !t.All {
		t.line("")
		t.prose("Rules   ", s)
		return
	}
	t.heading("Rules")
	t.prose("  ", s)
	tab := newTable("rule", "name", ">exercised", ">held", ">violated", ">not proven")
	var idle []string
	for _, id := range rule.Rules() {
		n := t.res.Cover[id]
		if n == (rule.Count{}) {
			idle = append(idle, id.String())
			continue
		}
		tab.add(id.String(), id.Row().Name, number(n.Exercised), number(n.Passed()), quiet(n.Violated), quiet(n.Unproven))
	}
	t.lines(tab.lines("  ", t.dim))
	if len(idle) > 0 {
		t.prose("  not exercised, so not verified: ", strings.Join(idle, ", "))
	}
}
