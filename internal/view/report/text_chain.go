package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// chainSlack is by how much of its time, one in so many, a turn may begin earlier and end later than that which it waited for.
const chainSlack = 20

// chained tells long turns, and once only those that waited for another: of a host that answered its peers right after it had had an answer for which it waited as long.
func (t *text) chained(list []longTurn) (out []string) {
	order := make([]int, len(list))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].at, list[b].at) })
	had := map[packet.Addr][]int{} // the answers that a host has had until then
	waiting, follows := make([][]int, len(list)), make([]bool, len(list))
	for _, n := range order {
		a := &list[n]
		answers := had[a.c.Ends[a.by].Addr]
		for k := len(answers) - 1; k >= 0 && (a.at-list[answers[k]].at)*chainSlack <= 2*int64(a.most); k-- {
			if m := answers[k]; waitsFor(a, &list[m]) {
				waiting[m], follows[n] = append(waiting[m], n), true
				break
			}
		}
		asker := a.c.Ends[1-a.by].Addr
		had[asker] = append(had[asker], n)
	}
	for n := range list {
		if !follows[n] {
			out = append(out, list[n].said+t.waitingFor(list, waiting, n))
		}
	}
	return out
}

// waitsFor reports whether the host of turn a answered only when it had had the answer b.
func waitsFor(a, b *longTurn) bool {
	if b.most < timing.LongTurn || a.c == b.c || a.c.Ends[a.by].Addr != b.c.Ends[1-b.by].Addr {
		return false
	}
	slack := int64(b.most / chainSlack)
	began, ended := (a.at-int64(a.most))-(b.at-int64(b.most)), a.at-b.at
	return max(began, -began) <= slack && ended >= 0 && ended <= slack
}

// waitingFor tells who waited for turn n, directly or for one that did, as waiting says of each turn, and when it was.
func (t *text) waitingFor(list []longTurn, waiting [][]int, n int) string {
	var hosts, peers []packet.Addr
	most := time.Duration(0)
	add := func(to *[]packet.Addr, a packet.Addr) {
		if !slices.Contains(*to, a) {
			*to = append(*to, a)
		}
	}
	for todo := waiting[n]; len(todo) > 0; todo = todo[1:] {
		l := &list[todo[0]]
		add(&hosts, l.c.Ends[l.by].Addr)
		add(&peers, l.c.Ends[1-l.by].Addr)
		most, todo = max(most, l.most), append(todo, waiting[todo[0]]...)
	}
	if len(hosts) == 0 {
		return ""
	}
	root := &list[n]
	return fmt.Sprintf(" That was from %s to %s. Meanwhile %s waited for %s, for up to %s, and had the answer right after: all waited for %v.",
		offset(root.at-int64(root.most), t.res.First), offset(root.at, t.res.First), someHosts(peers), someHosts(hosts), span(most), root.c.Ends[root.by].Addr)
}
