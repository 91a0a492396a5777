package cm_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/internal/testkit/sample"
	"ibwitness/mad"
	"ibwitness/rule"
)

var (
	simRuns = flag.Int("sim.runs", 60, "simulated conversations in each setting of TestInnocent; with 1 and -v the conversation is shown")
	simSeed = flag.Uint64("sim.seed", 0, "seed of the first of them")
)

// view is the tap positions, and whether the network does anything to packets.
type view struct {
	name    string
	taps    []int
	trouble bool
}

var views = []view{
	{"whole/A", []int{0}, false},
	{"whole/B", []int{1}, false},
	{"whole/middle", []int{inMiddle}, false},
	{"whole/both", []int{0, 1}, false},
	{"lossy/A", []int{0}, true},
	{"lossy/B", []int{1}, true},
	{"lossy/middle", []int{inMiddle}, true},
}

// converse simulates a conversation.
func converse(t *testing.T, v view, seed uint64, plant func(*world)) *world {
	r := rand.New(rand.NewPCG(seed, 11))
	w := newWorld(r, 2+r.IntN(2))
	w.taps = v.taps
	if v.trouble {
		w.loss = []float64{0, 0.02, 0.1, 0.3}[r.IntN(4)]
		w.double = []float64{0, 0.05}[r.IntN(2)]
		w.hold = []float64{0, 0.1}[r.IntN(2)]
		w.damage = []float64{0, 0.03}[r.IntN(2)]
	}
	if r.IntN(3) == 0 {
		w.begin = w.Now() + w.between(0, 4_000_000_000)
	}
	for n := range 1 + r.IntN(8) {
		a, b := w.hosts[r.IntN(2)], w.hosts[r.IntN(len(w.hosts))]
		if a == b {
			b = w.hosts[1-a.n]
		}
		service := mad.ServiceID(0x1060001 + uint64(r.IntN(2)))
		at := w.between(0, 4_000_000_000)
		if r.IntN(3) == 0 {
			at = w.between(0, 20_000_000)
		}
		switch k := r.IntN(6); {
		case k == 0 && w.begin == 0: // a capture that begins with one of the two REQs does not tell why it is not answered
			w.After(at, func() {
				a.connect(b, peerToPeer+mad.ServiceID(n), true)
				w.After(w.between(0, 200_000), func() { b.connect(a, peerToPeer+mad.ServiceID(n), true) })
			})
		case k == 1:
			id := uint32(0xC0 + r.IntN(3))
			w.After(at, func() { a.resolve(b, id) })
		default:
			w.After(at, func() { a.connect(b, service, false) })
		}
	}
	if plant != nil {
		plant(w)
	}
	w.run(t)
	return w
}

// show writes down what was seen and found.
func (w *world) show(found []rule.Finding) string {
	var s strings.Builder
	for i, x := range w.seen {
		fmt.Fprintf(&s, "%4d %14v tap %d %s\n", i+1, time.Duration(x.at-1<<40), x.tap, x.text)
		for _, f := range found {
			if f.Frame == uint64(i+1) && f.Class != rule.Event {
				fmt.Fprintf(&s, "       *** %v %v by %v QP 0x%x: expected %s, actual %s, %v (%s)\n", f.Rule, f.Class, f.Accused.Addr, f.Accused.QPN, f.Expected, f.Actual, f.Evidence, f.Detail)
			}
		}
	}
	return s.String()
}

// TestInnocent: nobody is accused while all hosts are correct, whatever the network does, wherever the tap is, whenever the capture begins.
func TestInnocent(t *testing.T) {
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			counts, shortest := map[rule.ID]int{}, map[rule.ID]string{}
			for n := range sample.Part(*simRuns, 4) {
				w := converse(t, v, *simSeed+uint64(n), nil)
				found := w.judge()
				if *simRuns == 1 && testing.Verbose() {
					t.Log(w.show(found))
				}
				var said []rule.ID
				for _, f := range found {
					if f.Class == rule.Violation && !slices.Contains(said, f.Rule) {
						said = append(said, f.Rule)
					}
				}
				for _, id := range said {
					counts[id]++
					if s := fmt.Sprintf("seed %d, %v:\n%s", *simSeed+uint64(n), w.encap, w.show(found)); shortest[id] == "" || len(s) < len(shortest[id]) {
						shortest[id] = s
					}
				}
			}
			for id, s := range shortest {
				t.Errorf("%v accuses in %d of %d conversations; %s", id, counts[id], *simRuns, s)
			}
		})
	}
}

// TestInnocentMended: conversations in which somebody innocent was accused once.
func TestInnocentMended(t *testing.T) {
	for _, seed := range []uint64{
		103555, // CM-SM-003: the passive side begins again after a REJ that the tap missed
		200724, // CM-ID-001: and after a REP whose first copy the tap missed
		201205, // CM-SM-005: a REQ with the ID of a connection in TimeWait, refused in the transaction of that
		201603, // RC-RTY-001, -003: the simulated requester went on for ever after a NAK
		202347, // CM-REJ-002: the REJ of a REP that the tap saw damaged, with the communication ID of an older exchange
	} {
		for _, v := range views {
			w := converse(t, v, seed, nil)
			found := w.judge()
			if slices.ContainsFunc(found, func(f rule.Finding) bool { return f.Class == rule.Violation }) {
				t.Errorf("seed %d, %s:\n%s", seed, v.name, w.show(found))
			}
		}
	}
}
