package incident_test

import (
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// measured is what a scenario tells where its messages are measured: each incident with what it fits first and what to look at first.
func measured(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	list := incident.Of(judged(t, frames(t, text), agent.Options{Timing: true}))
	told(&b, "frames", list)
	for i := range list {
		x := &list[i]
		if len(x.FitsWith) > 0 && len(x.Next) > 0 {
			b.WriteString("fits first: " + x.FitsWith[0] + "\nnext first: " + x.Next[0] + "\n")
		}
	}
	return b.String()
}

// contains reports the texts of a list that a text does not hold, and those of another that it does.
func contains(t *testing.T, name, got string, want, not []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s: no %q in\n%s", name, w, got)
		}
	}
	for _, n := range not {
		if strings.Contains(got, n) {
			t.Errorf("%s: %q in\n%s", name, n, got)
		}
	}
}

// Beginnings of what is told of a path MTU.
const (
	fitsMTU = "fits first: a path from 10.1.0.2 to 10.1.0.1 whose MTU is smaller than the path MTU of the queue pair"
	nextMTU = "next first: the MTU of both interfaces and of every switch port from 10.1.0.2 to 10.1.0.1: ping -M do -s 4116 10.1.0.1 on 10.1.0.2"
	smaller = "From 10.1.0.2 to 10.1.0.1, 10 READs in packets of up to 1,000 bytes were answered, and none in larger ones."
	sizes   = "in packets of up to"
)

// TestSizesOfReads: of READs whose large responses the path drops, before the tap or after it, it is told which sizes were answered, and the path MTU comes first; not where one as large was answered, nor
// where it is small ones that are not answered.
func TestSizesOfReads(t *testing.T) {
	const (
		head = `
about: READs whose large responses the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c2: {hca: c, peer: a2}, a2: {hca: a, peer: c2}, c3: {hca: c, peer: b3}, b3: {hca: b, peer: c3}}
taps: [TAP]
work:
  - {qp: a1, op: read, length: FIRST, repeat: 10, every: 1ms}
  - {qp: a1, op: read, length: LENGTH, at: 40ms}
  - {qp: c2, op: write, length: 8, repeat: 30, every: 100ms}
  - {qp: c3, op: write, length: 8, repeat: 30, every: 100ms}
errors:
  - {do: drop, from: b, to: a, op: [DROP], nth: NTH, count: all, where: WHERE}
`
		all, long = "read_response_first, read_response_middle, read_response_last", "read_response_first, read_response_middle"
		asked     = "10.1.0.1 QP 0x9bc sent an RDMA READ of 65,636 bytes 8 times in "
		never     = "never answered it."
		taken     = "answered each time, and the answers passed the tap, but were lost after it or not taken."
	)
	for _, k := range []struct {
		name, tap, first, length, drop, nth, where string
		want, not                                  []string
	}{
		{"at the requester", "a", "1000", "65636", all, "1", "before", []string{asked, never + " " + smaller, fitsMTU, nextMTU}, []string{taken}},
		{"at the requester, but the last", "a", "1000", "65636", long, "1", "before", []string{
			asked, "QP 0xa32 answered, and the capture holds only a part of that: no packet of it has more than 100 bytes. " + smaller, fitsMTU, nextMTU, "size: it asks for packets with 4,096 bytes",
		}, []string{taken, never}},
		{"at the responder", "b", "1000", "65636", all, "1", "after", []string{asked, taken + " " + smaller, fitsMTU, nextMTU}, []string{never}},
		{"between", "middle", "1000", "65636", all, "1", "before", []string{asked, never + " " + smaller, fitsMTU, nextMTU}, []string{taken}},
		{"between, before what drops all but the last", "middle", "1000", "65636", long, "1", "after", []string{asked, taken + " " + smaller, fitsMTU, nextMTU}, []string{never, "loss (", "path that fails"}},
		{"as large ones were answered", "a", "8192", "65636", all, "21", "before", []string{asked, never}, []string{sizes, "MTU is smaller"}},
		{"as large ones were taken", "b", "8192", "65636", all, "21", "after", []string{asked, taken}, []string{sizes, "MTU is smaller"}},
		{"small ones", "a", "1000", "200", "read_response_only", "11", "before", []string{"sent an RDMA READ of 200 bytes 8 times", never}, []string{sizes, "MTU is smaller"}},
	} {
		text := strings.NewReplacer("TAP", k.tap, "FIRST", k.first, "LENGTH", k.length, "DROP", k.drop, "NTH", k.nth, "WHERE", k.where).Replace(head)
		contains(t, k.name, measured(t, text), k.want, k.not)
	}
}

// TestSizesAfterError: that the queue pair of a READ whose large responses vanish takes no small requests either, once its retries are used up, does not speak against the path MTU; that a small request of another
// queue pair is not answered that way does.
func TestSizesAfterError(t *testing.T) {
	const head = `
about: READs whose large responses the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [a]
work:
  - {qp: a1, op: read, length: 1000, repeat: 10, every: 1ms}
  - {qp: a1, op: read, length: 65636, at: 40ms}
  - {qp: b1, op: write, length: 8, repeat: 60, every: 100ms, at: 50ms}
  - {qp: b2, op: write, length: 8, repeat: 60, every: 100ms, at: 50ms}
errors:
  - {do: drop, from: b, to: a, op: [read_response_first, read_response_middle, read_response_last], count: all}
`
	const told = "From 10.1.0.2 to 10.1.0.1, "
	contains(t, "one queue pair", measured(t, head), []string{told, fitsMTU, "fits first: a queue pair of 10.1.0.1 that is in the error state"}, nil)
	contains(t, "another too", measured(t, head+"  - {do: drop, from: a, to: b, op: ack, nth: 8, count: all}\n"), []string{"never answered it"}, []string{told, fitsMTU})
}

// TestSizesOfAcknowledgments: where nothing but acknowledgments comes the other way, and goes on to, that is told; not where they do not come either.
func TestSizesOfAcknowledgments(t *testing.T) {
	const head = `
about: a READ whose large responses the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 8192, repeat: 4}
  - {qp: a1, op: read, length: LENGTH, at: 40ms}
  - {qp: a2, op: write, length: 8192, repeat: 30, every: 100ms}
errors:
  - {do: drop, from: b, to: a, op: read_response, count: all}
`
	const told = "From 10.1.0.2 to 10.1.0.1, acknowledgments came of 34 messages, and no response to a READ."
	contains(t, "large", measured(t, strings.Replace(head, "LENGTH", "65536", 1)), []string{told, fitsMTU, nextMTU, "which have none, came from 10.1.0.2 to 10.1.0.1, the newest "}, nil)
	contains(t, "small", measured(t, strings.Replace(head, "LENGTH", "512", 1)), []string{"never answered it"}, []string{"From 10", fitsMTU})
	contains(t, "no acknowledgments", measured(t, strings.Replace(head, "LENGTH", "65536", 1)+"  - {do: drop, from: b, to: a, op: ack, nth: 5, count: all}\n"), []string{"never answered it"}, []string{"From 10", fitsMTU})
}

// TestSizesTogether: the sizes that were answered on all queue pairs between two hosts count: those of new queue pairs after each error, and of one that sends small messages while the capture holds but
// retransmissions of the other.
func TestSizesTogether(t *testing.T) {
	const head = `
about: requests whose large packets the path drops
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
taps: [middle]
work:
`
	const (
		drop = "errors:\n  - {do: drop, from: a, op: [write_first, write_middle, write_last, send_first, send_middle, send_last], count: all, where: after}\n"
		fits = "fits first: a path from 10.1.0.1 to 10.1.0.2 whose MTU is smaller than the path MTU of the queue pair"
		next = "next first: the MTU of both interfaces and of every switch port from 10.1.0.1 to 10.1.0.2: ping -M do -s 41%s 10.1.0.2 on 10.1.0.1"
	)
	one := func(qp, op, at string) string {
		return "  - {qp: " + qp + ", op: " + op + ", length: 200, at: " + at + "}\n  - {qp: " + qp + ", op: " + op + ", length: 16384, at: " + at + "}\n"
	}
	receives := "  - {qp: b1, op: receive, length: 65536, repeat: 4}\n  - {qp: b2, op: receive, length: 65536, repeat: 4}\n  - {qp: b3, op: receive, length: 65536, repeat: 4}\n"
	for _, k := range []struct {
		name, work string
		want, not  []string
	}{
		{"WRITEs", one("a1", "write", "1ms") + one("a2", "write", "1s") + one("a3", "write", "2s"), []string{
			"From 10.1.0.1 to 10.1.0.2, 3 messages in packets of up to 200 bytes were answered, and none in larger ones.", fits, strings.Replace(next, "%s", "28", 1), "on 3 connections",
			"; 3 requests with larger ones were not, the oldest on each of as many connections",
		}, nil},
		{"and more after them", one("a1", "write", "1ms") + "  - {qp: a1, op: write, length: 16384, at: 1ms}\n" + one("a2", "write", "1s"), []string{
			"; 2 requests with larger ones were not, the oldest on each of as many connections, where 3 wait in all",
		}, []string{"the other way"}},
		{"and READs", one("a1", "write", "1ms") + one("a2", "write", "1s") + "  - {qp: a3, op: read, length: 16384, at: 1s}\n", []string{
			"; packets as large of 10.1.0.2 were answered the other way",
		}, []string{"wait in all"}},
		{"SENDs", receives + one("a1", "send", "1ms") + one("a2", "send", "1s"), []string{"2 messages in packets of up to 200 bytes were answered", fits, strings.Replace(next, "%s", "12", 1)}, nil},
		{"beside small ones", "  - {qp: a1, op: write, length: 16384, at: 1ms}\n  - {qp: a2, op: write, length: 2500, repeat: 30, every: 100ms}\n", []string{
			"From 10.1.0.1 to 10.1.0.2, 30 messages in packets of up to 2,500 bytes were answered", fits, "the newest ",
		}, nil},
		{"beside some that are as large", "  - {qp: a1, op: write, length: 16384, at: 1ms}\n  - {qp: a2, op: write, length: 200, repeat: 30, every: 100ms}\n  - {qp: a2, op: write, length: 4096, at: 2s}\n", nil, []string{sizes, fits}},
		{"smaller ones before, and none since", "  - {qp: a1, op: write, length: 2500, repeat: 3}\n  - {qp: a1, op: write, length: 16384, at: 1ms}\n", []string{"never answered it"}, []string{sizes, fits}},
		{"one smaller one", one("a1", "write", "1ms"), []string{"never answered it", fits}, []string{sizes}},
	} {
		contains(t, k.name, measured(t, head+k.work+drop), k.want, k.not)
	}
	got := measured(t, strings.Replace(head, "retry_cnt: 7", "retry_cnt: 1", 1)+one("a1", "write", "1ms")+one("a2", "write", "1s")+drop)
	contains(t, "retransmitted once", got, []string{"sent an RDMA WRITE of 16,384 bytes twice in ", "2 messages in packets of up to 200 bytes were answered", fits}, nil)
}

// TestSizesOfLostHost: a host that answers no other host either is not told to be lost to large packets only, though only large ones were not answered on one connection.
func TestSizesOfLostHost(t *testing.T) {
	const (
		head = `
about: a host that goes down
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c2: {hca: c, peer: b2}, b2: {hca: b, peer: c2}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 200, repeat: 5}
  - {qp: c2, op: write, length: 200, repeat: 30, every: 10ms}
  - {qp: a1, op: write, length: 16384, at: 100ms}
errors:
`
		large = "{do: drop, from: a, to: b, op: [write_first, write_middle, write_last], count: all, where: after}\n"
		sized = "5 messages in packets of up to 200 bytes were answered, and none in larger ones."
		fits  = "fits first: a path from 10.1.0.1 to 10.1.0.2 whose MTU is smaller"
	)
	contains(t, "a path", measured(t, head+"  - "+large), []string{"never answered it", sized, fits}, nil)
	contains(t, "a host", measured(t, head+"  - "+large+"  - {do: drop, from: c, to: b, nth: 10, count: all, where: after}\n"), []string{"never answered it"}, []string{sized, fits})
}

// TestSizesOfKept: where messages are not measured, those that are kept tell of the responses to a READ that were not taken.
func TestSizesOfKept(t *testing.T) {
	const head = `
about: READs whose large responses the path drops after the tap
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
  - {qp: a1, op: read, length: FIRST, repeat: 10, every: 1ms}
  - {qp: a1, op: read, length: 65536, at: 40ms}
  - {qp: a2, op: write, length: 8, repeat: 60, every: 100ms}
errors:
  - {do: drop, from: b, op: [read_response_first, read_response_middle, read_response_last], nth: NTH, count: all, where: after}
`
	const size = "size: it asks for packets with 4,096 bytes of payload; the largest READ that was answered just before was of 1,000 bytes"
	with := func(first, nth string) string {
		return reasons(t, strings.NewReplacer("FIRST", first, "NTH", nth).Replace(head))
	}
	contains(t, "small ones", with("1000", "1"), []string{"answered each time", size, fitsMTU[len("fits first: "):]}, nil)
	contains(t, "large ones", with("8192", "21"), []string{"answered each time"}, []string{"size: ", "MTU is smaller"})
}

// TestOnlyEnds: a WRITE or SEND of which only the last packet comes to the tap each time is told so, with the path MTU first, where no packet as large as that comes that way; not where one does.
func TestOnlyEnds(t *testing.T) {
	const (
		head = `
about: requests whose large packets the path drops before the tap
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
  - {qp: b1, op: receive, length: 65536, repeat: 4}
  - {qp: a1, op: write, length: 200, repeat: 5}
  - {qp: a1, op: OP, length: 65636, at: 10ms}
  - {qp: a2, op: write, length: LENGTH, repeat: 10, every: 100ms}
errors:
  - {do: drop, from: a, op: [write_first, write_middle, send_first, send_middle], nth: NTH, count: all}
`
		fits = "fits first: a path from 10.1.0.1 to the tap whose MTU is smaller than the path MTU of the queue pair: full packets vanish, the shorter last one arrives"
		next = "next first: the MTU of both interfaces and of every switch port from 10.1.0.1 to 10.1.0.2: ping -M do -s 41"
	)
	with := func(op, length, nth string) string {
		return measured(t, strings.NewReplacer("OP", op, "LENGTH", length, "NTH", nth).Replace(head))
	}
	contains(t, "WRITE", with("write", "300", "1"), []string{"sent the end of an RDMA WRITE, nothing before which is in the capture, ", fits, next + "28"}, []string{"0 bytes;"})
	contains(t, "SEND", with("send", "300", "1"), []string{"sent the end of a SEND, nothing before which is in the capture, ", fits, next + "12"}, nil)
	contains(t, "beside full ones", with("write", "4096", "1"), []string{"nothing before which is in the capture, "}, []string{fits})
}

// TestReplaced: where the connection of a READ whose answers are not taken is replaced by another soon, its retries are taken to be used up though they were few; not where none follows.
func TestReplaced(t *testing.T) {
	const head = `
about: READs whose large responses the path drops after the tap
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, c3: {hca: c, peer: b3}, b3: {hca: b, peer: c3}}
taps: [b]
work:
  - {qp: a1, op: read, length: 1000, repeat: 10, every: 1ms}
  - {qp: a1, op: read, length: 65536, at: 40ms}
  - {qp: c3, op: write, length: 8, repeat: 60, every: 100ms}
  - {qp: FROM, op: read, length: 1000, at: 700ms}
errors:
  - {do: drop, from: b, to: a, op: [read_response_first, read_response_middle, read_response_last], count: all, where: after}
`
	const taken = "answered each time, and the answers passed the tap, but were lost after it or not taken."
	contains(t, "by another", measured(t, strings.Replace(head, "FROM", "a2", 1)), []string{"sent an RDMA READ of 65,536 bytes 4 times", taken, fitsMTU}, nil)
	contains(t, "by none", measured(t, strings.Replace(head, "FROM", "c3", 1)), []string{"interrupted (proven)"}, []string{taken})
}

// TestAlsoSized: a request to another host with packets as large as those that vanish fits that too; a smaller one does not.
func TestAlsoSized(t *testing.T) {
	const scene = `
about: a host whose large packets vanish on the way to two others
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: c1}, c1: {hca: c, peer: a3}}
taps: [middle]
work:
  - {qp: a2, op: write, length: 1000, repeat: 200, every: 10ms}
  - {qp: a1, op: write, length: 100}
  - {qp: a3, op: write, length: 3000}
  - {qp: a1, op: write, length: 4096, at: 100ms}
  - {qp: a3, op: write, length: %d, at: 150ms}
errors:
  - {do: drop, from: a, to: b, psn: 0x100001, count: all, where: after}
  - {do: drop, from: a, to: c, op: request, nth: 2, count: all, where: after}
`
	const also = "fits: the same as of what 10.1.0.1 sends to another host, see there"
	for length, want := range map[int]bool{4096: true, 1000: false} {
		list := incident.Of(judged(t, frames(t, fmt.Sprintf(scene, length)), agent.Options{Timing: true}))
		got := ""
		for i := range list {
			got += list[i].What + "\nfits: " + strings.Join(list[i].FitsWith, "; ") + "\n"
		}
		if strings.Contains(got, also) != want {
			t.Errorf("%d bytes: %s", length, got)
		}
	}
}

// TestPerhapsBySize: a request that is larger than all of many that were answered, though hardly, may be lost by its size, which fits last; not where one as large was answered.
func TestPerhapsBySize(t *testing.T) {
	const scene = `
about: a host that answers nothing any more
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 1400, repeat: 40, every: 1ms}
  - {qp: a1, op: write, length: %d, at: 100ms}
errors:
  - {do: drop, from: a, to: b, op: request, nth: 41, count: all, where: after}
`
	for _, op := range []string{"write", "read"} {
		for length, want := range map[int]bool{2000: true, 1400: false} {
			text := strings.ReplaceAll(fmt.Sprintf(scene, length), "op: write", "op: "+op)
			list := incident.Of(judged(t, frames(t, text), agent.Options{Timing: true}))
			if len(list) != 1 || strings.Contains(strings.Join(list[0].FitsWith, "; "), "whose MTU is smaller") != want || strings.Contains(list[0].FitsWith[0], "MTU") {
				t.Errorf("%s of %d bytes: %+v", op, length, list)
			}
		}
	}
}
