package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// hashedScene is a run of queue pairs between hosts, each with UDP source ports of its own.
type hashedScene struct{ agent.Result }

// add adds n queue pairs from one host to another, the first of which loses packets so often before the tap.
func (r *hashedScene) add(from, to byte, n int, losses uint32) {
	for k := range n {
		s := lossScene{from: from, to: to, packets: 900}
		if k == 0 {
			s.before = losses
		}
		c := s.connection(len(r.Connections))
		c.Ends[1].Messages = 0
		for e := range c.Ends {
			c.Ends[e].Path = agent.Path{Known: true, Port: uint16(50000 + 100*len(r.Connections) + e)}
		}
		c.Ends[1].SequenceNAKs = s.before
		r.Connections = append(r.Connections, c)
	}
}

// answerLost has the receiver of a queue pair send a request whose answer is lost, so that its timer has it retransmitted.
func (r *hashedScene) answerLost(n int) {
	const ms = int64(time.Millisecond)
	s := qp.Stall{Since: 100 * ms, Begun: 167 * ms, Last: 167 * ms, Ended: 168 * ms, Packets: 1, Request: qp.StalledRequest{Frame: 70}}
	s.Rounds[qp.TimerExpired] = 1
	e := &r.Connections[n].Ends[1]
	e.Messages = 10
	e.Trouble = &qp.Trouble{Longest: [4]qp.Stall{s}}
	e.Trouble.Sum = qp.Stalls{Count: 1, Rounds: s.Rounds, Begun: s.Begun, Last: s.Last, Ended: s.Ended, Lost: 68 * ms}
	e.Trouble.Again.Packets = 1
}

// numbered has a host number its packets, of which it lacks one from before a request until so many milliseconds.
func (r *hashedScene) numbered(host byte, until int64, lacks bool) {
	const ms = int64(time.Millisecond)
	holes := []agent.Hole{{Packets: 1, Before: 69, After: 75, From: 99 * ms, To: until * ms, Lacks: lacks}}
	r.Numbered = []agent.Numbering{{Host: packet.IPv4Addr([]byte{10, 0, 0, host}), Steps: 999, Holes: holes}}
}

// TestPathAcross: what is lost on a few of the queue pairs from several hosts to several others, of which most lose nothing, is one incident, of one
// path of several, with its UDP source ports and the answers that were lost on it; not where a host has none that loses nothing, packets are lost
// both ways, it may be chance, or nothing ties the hosts to one another.
func TestPathAcross(t *testing.T) {
	const (
		told = "Packets from 10.0.0.1 and 10.0.0.2 to 10.0.0.3 and 10.0.0.4 were lost before the tap, at least 24 times on 2 of 12 connections; " +
			"on the other 10 between the same hosts, with about 9,000 packets, nothing: likely one path of several (a member of an ECMP group or LAG)."
		across = "Packets from 10.0.0.1 and 10.0.0.2"
		ports  = "the UDP source ports of what was lost: 50000 from 10.0.0.1 to 10.0.0.3 (12 times, 12 NAKs) " +
			"and 50400 from 10.0.0.2 to 10.0.0.4 (12 times, 12 NAKs)"
		answers = "on 1 of these 2 connections only a timer had requests of the other direction retransmitted, once in all: " +
			"answers that were lost on that path fit"
		gone = "; once, by the IPv4 identifications, a packet that the answering host sent right after the request was lost before the tap, " +
			"likely the answer"
	)
	oneMore, thirteen := strings.Replace(told, "24", "25", 1), strings.Replace(ports, "12 times", "13 times", 1)
	oneFewer := strings.NewReplacer("of 12", "of 11", "other 10", "other 9", "9,000", "8,100").Replace(told)
	two := func(r *hashedScene) { r.add(1, 3, 4, 12); r.add(2, 4, 4, 12) }
	tied := func(r *hashedScene) { two(r); r.add(1, 4, 4, 0) }
	lost := func(r *hashedScene) { tied(r); r.answerLost(0) }
	for _, k := range []struct {
		name  string
		set   func(r *hashedScene)
		want  string // how the first begins; empty: no incident tells of several hosts on both sides
		paths string
		said  string // of answers
	}{
		{"two of twelve", func(r *hashedScene) { tied(r) }, told, ports, ""},
		{"and an answer", func(r *hashedScene) { lost(r) }, told, ports, answers},
		{"and an answer that was numbered", func(r *hashedScene) { lost(r); r.numbered(1, 110, false) }, oneMore, thirteen, answers + gone},
		{"what is missing is of a stream", func(r *hashedScene) { lost(r); r.numbered(1, 110, true) }, told, ports, answers},
		{"nothing came until the copy", func(r *hashedScene) { lost(r); r.numbered(1, 170, false) }, told, ports, answers},
		{"answers of others", func(r *hashedScene) { tied(r); r.answerLost(1) }, oneFewer, ports, ""},
		{"an answer, and one of others", func(r *hashedScene) { lost(r); r.answerLost(1) }, across, ports, answers},
		{"nothing ties them", two, "", "", ""},
		{"a host whose queue pairs all lose", func(r *hashedScene) { r.add(1, 3, 4, 12); r.add(2, 4, 1, 12); r.add(1, 4, 8, 0) }, "", "", ""},
		{"both ways", func(r *hashedScene) { tied(r); r.add(3, 1, 1, 9) }, "", "", ""},
		{"chance", func(r *hashedScene) { r.add(1, 3, 4, 2); r.add(2, 4, 4, 1); r.add(1, 4, 4, 0) }, "", "", ""},
	} {
		r := &hashedScene{agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}}
		k.set(r)
		list := Of(&r.Result)
		i := &list[0]
		if k.want == "" {
			if slices.ContainsFunc(list, func(i Incident) bool { return strings.HasPrefix(i.What, across) }) {
				t.Errorf("%s: %+v", k.name, list)
			}
			continue
		}
		said := func(label string) string {
			if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == label }); n >= 0 {
				return i.Facts[n].Text
			}
			return ""
		}
		fits := i.FitsWith[0] == onePath && i.Next[0] == hashedTo
		if !fits || !strings.HasPrefix(i.What, k.want) || said("paths") != k.paths || said("answers") != k.said {
			t.Errorf("%s: %+v", k.name, list)
		}
		if beside := strings.Contains(i.What, "At the same time 10.0.0.3 QP 0x2"); len(list) != 1 || beside != strings.Contains(k.name, "of others") {
			t.Errorf("%s: %d incidents, the first: %s", k.name, len(list), i.What)
		}
	}
}

// TestAnswersGone: where IPv4 identifications show that the first packet of the answering host after a request was lost before the tap, its answer
// was lost there; else it may have been lost anywhere.
func TestAnswersGone(t *testing.T) {
	for _, k := range []struct {
		name  string
		until int64
		lacks bool
		want  bool
	}{{"lost", 110, false, true}, {"of a stream", 110, true, false}, {"nothing came until the copy", 170, false, false}} {
		r := &hashedScene{agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}}
		r.add(1, 3, 1, 0)
		r.answerLost(0)
		r.numbered(1, k.until, k.lacks)
		i := Of(&r.Result)[0]
		said := slices.ContainsFunc(i.Facts, func(f Fact) bool {
			return f.Label == "where" && f.Text == "once on the way back, before the tap: by the IPv4 identifications of the answering host, "+
				"a packet that it sent right after the request was lost there, likely the answer"
		})
		if said != k.want || slices.Contains(i.FitsWith, tooShort) == k.want {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
