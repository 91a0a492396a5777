package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// namespaces sends n Reads of 10.0.0.1 to each of some namespaces in turn, every 5 ms, each answered so much later; 0: it is not. Then comes one of the first namespace that is answered.
func namespaces(n int, took func(i int, namespace byte) time.Duration, list ...byte) []fabricagent.Frame {
	type due struct {
		at  time.Duration
		cid uint16
	}
	q, wait, cid := new(queue), []due(nil), uint16(0)
	until := func(at time.Duration) {
		slices.SortStableFunc(wait, func(a, b due) int { return int(a.at - b.at) })
		for ; len(wait) > 0 && wait[0].at <= at; wait = wait[1:] {
			q.now = max(q.now, wait[0].at)
			q.response(wait[0].cid)
		}
		q.now = max(q.now, at)
	}
	ask := func(i int, namespace byte, d time.Duration) {
		q.namespace = namespace
		if q.command(nvmeRead, cid); d > 0 {
			wait = append(wait, due{q.now + d, cid})
		}
		cid++
	}
	for i := range n {
		for _, x := range list {
			until(time.Duration(cid) * 5 * time.Millisecond)
			ask(i, x, took(i, x))
		}
	}
	until(q.now + 3*time.Second)
	ask(n, list[0], 100*time.Microsecond)
	until(q.now + time.Millisecond)
	return q.list
}

// flushes has each tenth Read on namespace 2 be a Flush, which is soon done.
func flushes(list []fabricagent.Frame) []fabricagent.Frame {
	n := 0
	for i := range list {
		changed(&list[i], func(p *packet.Packet) {
			if len(p.Payload) == 64 && p.Payload[4] == 2 {
				if n++; n%10 == 0 {
					p.Payload = slices.Clone(p.Payload)
					p.Payload[0] = nvmeFlush
					clear(p.Payload[24:64])
				}
			}
		})
	}
	return list
}

// TestTarget: of commands that take long, and of those that hang, it is told where all are of one namespace while those of others are answered soon; not where others are concerned, too, or there are none. How many took long, and when, is told.
func TestTarget(t *testing.T) {
	const usual = 100 * time.Microsecond
	slow := func(of ...byte) func(int, byte) time.Duration {
		return func(i int, x byte) time.Duration {
			if slices.Contains(of, x) && (i >= 40 && i < 43 || i >= 140 && i < 142) {
				return 200 * time.Millisecond
			}
			return usual
		}
	}
	brief := func(of ...byte) func(int, byte) time.Duration {
		return func(i int, x byte) time.Duration {
			if slices.Contains(of, x) && (i >= 40 && i < 46 || i >= 140 && i < 144) {
				return time.Duration(20+i%5) * time.Millisecond
			}
			return usual
		}
	}
	hangs := func(of ...byte) func(int, byte) time.Duration {
		return func(i int, x byte) time.Duration {
			if slices.Contains(of, x) && i >= 190 {
				return 0
			}
			return usual
		}
	}
	const open = " that are open work on namespace "
	for _, k := range []struct {
		name       string
		of         []fabricagent.Frame
		want, lack string
	}{
		{"slow", namespaces(200, slow(3), 1, 2, 3), "took 200ms to answer NVMe Read, command id 122, namespace 3 of 10.0.0.1 QP 0x1f: all 5 that took 10ms or longer, in 2 episodes, work on namespace 3; those on namespace 1 and namespace 2 took at most ", ""},
		{"slow, and all are of one opcode of two, of which others work on the other namespaces", flushes(namespaces(200, slow(3), 1, 2, 3)), "all 5 that took 10ms or longer, in 2 episodes, work on namespace 3", ""},
		{"slow in episodes, none for long", namespaces(200, brief(3), 1, 2, 3), "took 24ms to answer NVMe Read, command id 134, namespace 3 of 10.0.0.1 QP 0x1f: all 10 that took 10ms or longer, in 2 episodes, work on namespace 3; those on namespace 1 and namespace 2 took at most ", ""},
		{"slow in episodes on two, none for long", namespaces(200, brief(2, 3), 1, 2, 3), "", "work on"},
		{"slow on all", namespaces(200, slow(1, 2, 3), 1, 2, 3), "15 commands of 601 took 10ms or longer", "work on"},
		{"slow, and there are no others", namespaces(200, slow(3), 3), "5 commands of 201 took 10ms or longer", "work on"},
		{"hangs", namespaces(200, hangs(3), 1, 2, 3), "has not answered NVMe Read, command id 572, namespace 3 of 10.0.0.1 QP 0x1f for 3.14s: all 10 that are open work on namespace 3; 19 others were answered meanwhile, at most ", ""},
		{"two hang", namespaces(200, hangs(2, 3), 1, 2, 3), "has not answered", open},
		{"hangs, and there are no others", namespaces(200, hangs(3), 3), "has not answered", open},
	} {
		got := happened(t, k.of, agent.Options{Timing: true})
		if !strings.Contains(got, k.want) || k.lack != "" && strings.Contains(got, k.lack) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestEpisodesBegin: commands that were slow in several times begin with the first of these, and the one is named that took longest; those of a single time begin with that.
func TestEpisodesBegin(t *testing.T) {
	for _, first := range []bool{true, false} {
		list := namespaces(200, func(i int, x byte) time.Duration {
			switch {
			case x == 3 && i >= 40 && i < 43 && first:
				return 200 * time.Millisecond
			case x == 3 && i >= 140 && i < 142:
				return 230 * time.Millisecond
			}
			return 100 * time.Microsecond
		}, 1, 2, 3)
		for _, i := range incident.Of(judged(t, list, agent.Options{Timing: true})) {
			if i.Kind != incident.Slow {
				continue
			}
			said := strings.Contains(i.Facts[0].Text, ", sent at +")
			if named := i.End - i.Begin; !strings.Contains(i.What, "took 230ms") || said != first || (named > int64(300*time.Millisecond)) != first {
				t.Errorf("%t: %s %v, for %v", first, i.What, i.Facts, time.Duration(named))
			}
		}
	}
}
