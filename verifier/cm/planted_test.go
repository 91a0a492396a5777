package cm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// planted is a fault of one host: in one message of a kind.
type planted struct {
	host int
	attr mad.Attribute
	nth  int
	// change spoils the message, and returns how often it is sent.
	change func(b []byte) int
	done   bool
}

// apply spoils a message, if it is the one.
func (f *planted) apply(c *conn, a mad.Attribute, b []byte) int {
	if f.host != c.n || f.attr != a || f.done {
		return 1
	}
	if f.nth--; f.nth > 0 {
		return 1
	}
	f.done = true
	return f.change(b)
}

// lengths are how many bytes of each message mean something.
var lengths = map[mad.Attribute]int{
	mad.AttrREQ: 140, mad.AttrMRA: 10, mad.AttrREJ: 12, mad.AttrREP: 36, mad.AttrRTU: 8, mad.AttrDREQ: 12, mad.AttrDREP: 8, mad.AttrLAP: 64, mad.AttrAPR: 10,
}

// newFault draws a fault.
func newFault(r *rand.Rand) (*planted, string) {
	attrs := []mad.Attribute{mad.AttrREQ, mad.AttrREQ, mad.AttrREP, mad.AttrREP, mad.AttrMRA, mad.AttrREJ, mad.AttrRTU, mad.AttrDREQ, mad.AttrDREP, mad.AttrLAP, mad.AttrAPR}
	f := &planted{host: r.IntN(2), attr: attrs[r.IntN(len(attrs))], nth: 1 + r.IntN(2)}
	at, mask := 0, byte(1)<<r.IntN(8)
	what := ""
	switch k := r.IntN(12); {
	case k == 0:
		f.change, what = func([]byte) int { return 0 }, "left out"
		return f, what
	case k == 1:
		f.change, what = func([]byte) int { return 2 }, "sent twice"
		return f, what
	case k < 4:
		at = []int{2, 3, 4, 5, 8, 15, 20, 23}[r.IntN(8)] // of the header: class version, method, status, transaction, modifier
	default:
		at = r.IntN(lengths[f.attr])
		if f.attr == mad.AttrREQ && at >= 88 && at < 95 {
			at = 95 // not what the address vectors of the simulation do not follow
		}
		at += mad.HeaderSize
	}
	f.change = func(b []byte) int { b[at] ^= mask; return 1 }
	return f, fmt.Sprintf("bit 0x%02x of byte %d changed", mask, at-mad.HeaderSize)
}

// TestPlanted: with one fault of one host in a conversation, nobody else is accused.
func TestPlanted(t *testing.T) {
	for _, v := range views[:4] {
		t.Run(v.name, func(t *testing.T) {
			planted, found, wrong := map[string]int{}, map[string]int{}, map[rule.ID]string{}
			counts := map[rule.ID]int{}
			for n := range sample.Part(*simRuns, 4) {
				seed := *simSeed + uint64(n)
				var what string
				w := converse(t, v, seed, func(w *world) { w.fault, what = newFault(rand.New(rand.NewPCG(seed, 13))) })
				if !w.fault.done {
					continue
				}
				h := mad.Header{Class: mad.ClassCM, Attribute: w.fault.attr}
				name := h.AttributeName()
				planted[name]++
				list := w.judge()
				guilty := w.hosts[w.fault.host].addr
				if slices.ContainsFunc(list, func(f rule.Finding) bool { return f.Class == rule.Violation && f.Accused.Addr == guilty }) {
					found[name]++
				}
				for _, f := range list {
					if f.Class != rule.Violation || f.Accused.Addr == guilty || f.Accused.Addr == (packet.Addr{}) {
						continue
					}
					counts[f.Rule]++
					if s := fmt.Sprintf("seed %d, %s of %v: %s\n%s", seed, name, guilty, what, w.show(list)); wrong[f.Rule] == "" || len(s) < len(wrong[f.Rule]) {
						wrong[f.Rule] = s
					}
				}
			}
			for id, s := range wrong {
				t.Errorf("%v accuses an innocent host, %d times; %s", id, counts[id], s)
			}
			t.Logf("planted %v, found %v", planted, found)
			if all, some := sum(planted), sum(found); 4*some < all {
				t.Errorf("%d faults found of %d", some, all)
			}
		})
	}
}

// TestTally holds what is said of conversations with a fault or none, wherever the taps are.
func TestTally(t *testing.T) {
	sample.Skip(t, tally.Whole)
	var y tally.Tally
	for _, v := range views {
		for seed := range uint64(120) {
			w := converse(t, v, seed, func(w *world) {
				if seed%4 > 0 {
					w.fault, _ = newFault(rand.New(rand.NewPCG(seed, 17)))
				}
			})
			y.Add(w.recorded())
		}
	}
	y.Check(t, "testdata/tally.txt")
}

func sum(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}
