package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/qp"
)

// TestPathEntered: where all that was lost of several queue pairs came over one tap, or from one Ethernet address, and hardly any that lost nothing, that is named, by LLDP where that does, with what
// goes the other way there, the answers that may have been lost there, and what lost nothing elsewhere; not where one that lost nothing came by there too with many packets, some of what was lost came
// elsewhere, or taps show the same packets.
func TestPathEntered(t *testing.T) {
	const (
		bad, good = 0x98039B530000, 0x98039B510000
		mac       = "98:03:9b:53:00:00"
		from      = "Packets from 10.0.0.1 and 10.0.0.2 to 10.0.0.3 and 10.0.0.4 were lost before the tap, at least 24 times on 2 of 12 connections; both came "
		rest      = ", and none of the other 10 between the same hosts, which lost nothing, with about 9,000 packets: likely one path of several (a member of an ECMP group or LAG)."
		likely    = "at least 24 times on 2 of 12 connections; on the other 10 between the same hosts"
	)
	scene := func(taps int) *hashedScene { // tap 0 has the good path, and tap 1, where there is one, the bad one
		r := &hashedScene{agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, taps)}}
		r.add(1, 3, 4, 12)
		r.add(2, 4, 4, 12)
		r.add(1, 4, 4, 0)
		for n := range r.Connections {
			for e := range r.Connections[n].Ends {
				x := agent.Entry{Known: true, Source: good - uint64(e)}
				if e == 0 && (n == 0 || n == 4) {
					x.Source, x.Tap = bad, uint16(taps-1)
				}
				r.Connections[n].Ends[e].Path.Entry = x
			}
		}
		if taps > 1 {
			r.Taps[1].Interface = "Ethernet51/1"
		}
		return r
	}
	entry := func(r *hashedScene, n int) *agent.Entry { return &r.Connections[n].Ends[0].Path.Entry }
	for _, k := range []struct {
		name  string
		taps  int
		set   func(r *hashedScene)
		want  string // how the first begins; empty: several are told, of no path
		label string
		fact  string
	}{
		{"an address", 1, func(*hashedScene) {}, from + "from " + mac + rest, "lasts", "on and off until the capture ends"},
		{"named", 1, func(r *hashedScene) {
			r.Neighbors = []fabricagent.Neighbor{{Station: bad, System: "spine3", Port: "Ethernet8"}}
		}, from + "from " + mac + " (spine3 by LLDP, its port Ethernet8)" + rest, "", ""},
		{"named with several ports", 1, func(r *hashedScene) {
			r.Neighbors = []fabricagent.Neighbor{{Station: bad, System: "spine3", Port: "Ethernet8"}, {Station: bad, System: "spine3", Port: "Ethernet9"}}
		}, from + "from " + mac + " (spine3 by LLDP)" + rest, "", ""},
		{"and long before the end", 1, func(r *hashedScene) { r.Last = 3 * int64(time.Second) }, from + "from " + mac + rest, "lasts", ""},
		{"another came from there", 1, func(r *hashedScene) { entry(r, 2).Source = bad }, likely, "", ""},
		{"another with few packets did", 1, func(r *hashedScene) {
			entry(r, 2).Source = bad
			for e := range r.Connections[2].Ends {
				r.Connections[2].Ends[e].Packets, r.Connections[2].Ends[e].Messages = 70, 70
			}
		}, from + "from " + mac + ", and only 1, with 70 packets, of the other 10 between the same hosts", "", ""},
		{"one of them did not", 1, func(r *hashedScene) { entry(r, 4).Source = good }, likely, "", ""},
		{"one of them came from several", 1, func(r *hashedScene) { entry(r, 4).Source = 0 }, likely, "", ""},
		{"one of the others came from several", 1, func(r *hashedScene) { entry(r, 2).Source = 0 }, likely, "", ""},
		{"other hosts came from there", 1, func(r *hashedScene) {
			r.add(5, 3, 1, 0)
			*entry(r, 12) = agent.Entry{Known: true, Source: bad}
		}, likely, "", ""},
		{"other hosts did not", 1, func(r *hashedScene) {
			r.add(5, 3, 1, 0)
			*entry(r, 12) = agent.Entry{Known: true, Source: good}
		}, from, "others", "1 connection more between one of these hosts and others, in that direction, came by other ways, with 900 packets, and lost nothing"},
		{"an answer may have been", 1, func(r *hashedScene) {
			r.answerLost(2)
			r.add(1, 3, 1, 0)
			*entry(r, 12) = agent.Entry{Known: true, Source: good}
			entry(r, 2).Source = bad
		}, from, "answers", "only a timer had requests of the other direction retransmitted whose answers came by there, too, so that it fits that these were lost there: " +
			"by their UDP source port, 50200 from 10.0.0.1 to 10.0.0.3 (once)"},
		{"a tap", 2, func(*hashedScene) {}, from + "over tap 1 (Ethernet51/1), from " + mac + rest, "", ""},
		{
			"a tap, and the other way there", 2, func(r *hashedScene) { r.Connections[0].Ends[1].Path.Tap = 1 }, from + "over tap 1 (Ethernet51/1), from " + mac + rest,
			"other way", "what goes the other way over this tap, from 10.0.0.3 and 10.0.0.4 to 10.0.0.1 and 10.0.0.2, with 900 packets, shows no loss",
		},
		{"a tap, from several addresses", 2, func(r *hashedScene) { entry(r, 4).Source = good }, from + "over tap 1 (Ethernet51/1)" + rest, "", ""},
		{"several taps that show the same", 2, func(r *hashedScene) { r.Repeated = 1 }, "", "", ""},
		{"all over one tap", 2, func(r *hashedScene) { entry(r, 0).Tap, entry(r, 4).Tap = 0, 0 }, from + "from " + mac + rest, "", ""},
		{"all over one tap, from one address", 2, func(r *hashedScene) { *entry(r, 0), *entry(r, 4) = *entry(r, 1), *entry(r, 1) }, "", "", ""},
	} {
		r := scene(k.taps)
		k.set(r)
		list := Of(&r.Result)
		i := &list[0]
		entered := slices.ContainsFunc(i.Next, func(s string) bool { return strings.HasPrefix(s, "take that path out of the ECMP group or LAG") })
		fact := ""
		if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == k.label }); n >= 0 {
			fact = i.Facts[n].Text
		}
		want := strings.HasPrefix(k.want, from)
		if k.want == "" && strings.Contains(i.What, "one path of several") || !strings.Contains(i.What, k.want) || want != entered || want && (fact != k.fact || i.FitsWith[0] != onePath) {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}

// TestPathLeft: what was lost after several taps, each at a link of its own, left over one of them: that link is named, in that direction, though a host has no queue pair that lost nothing; not where all of
// it is with that host, something lost left over another, or packets that lost nothing left there, too.
func TestPathLeft(t *testing.T) {
	const told, other = "; both left over tap 1 (Ethernet51/1)", "the far end of tap 1 (Ethernet51/1)"
	for _, k := range []struct {
		name string
		set  func(r *hashedScene)
		told bool
	}{
		{"over one", func(*hashedScene) {}, true},
		{"over two", func(r *hashedScene) { r.Connections[4].Ends[0].Path.Entry.Tap = 0 }, false},
		{"and what lost nothing", func(r *hashedScene) {
			for _, n := range []int{1, 2, 3, 5} {
				r.Connections[n].Ends[0].Path.Entry.Tap = 1
			}
		}, false},
		{"a host of which all lost something", func(r *hashedScene) {
			r.Connections = append(r.Connections[:1:1], r.Connections[4:]...) // 10.0.0.3 is left with that one
		}, true},
	} {
		r := &hashedScene{agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 2)}}
		r.Taps[1].Interface = "Ethernet51/1"
		r.add(1, 3, 4, 12)
		r.add(2, 4, 4, 12)
		r.add(1, 4, 4, 0)
		for n := range r.Connections {
			for e := range r.Connections[n].Ends {
				x := &r.Connections[n].Ends[e]
				x.Path.Entry = agent.Entry{Known: true}
				if k := x.Trouble; k != nil && e == 0 {
					k.Asked.Before, k.Asked.After = 0, k.Asked.Before
					k.Missing = qp.Missing{}
				}
			}
		}
		r.Connections[0].Ends[0].Path.Entry.Tap, r.Connections[4].Ends[0].Path.Entry.Tap = 1, 1
		k.set(r)
		list := Of(&r.Result)
		got := list[0].What + strings.Join(list[0].Next, "; ")
		if strings.Contains(got, told) != k.told || strings.Contains(got, other) != k.told {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
