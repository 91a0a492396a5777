package gmp

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/internal/testkit/disturb"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

var showVaried = flag.Int("varied.show", -1, "with -v, the conversation of TestVaried of this seed is shown, in all its variations")

// judged is what verifiers say of datagrams, one for each subscriber, as the shards of the engine have them. near are the LIDs that the tap is at.
func judged(list []packet.Packet, s *subnet.Subnet, near []uint16) *rule.Recorder {
	rec, _ := counted(list, s, near, len(list))
	return rec
}

// counted tells also what was skipped and is open. Before one of the datagrams the capture has missed something.
func counted(list []packet.Packet, s *subnet.Subnet, near []uint16, missed int) (*rule.Recorder, string) {
	rec := new(rule.Recorder)
	var all []*Verifier
	lossy := false
	for range 2 {
		v := New(rec, func(a, _ packet.Addr) bool {
			return !lossy && slices.ContainsFunc(near, func(lid uint16) bool { return a == packet.LIDAddr(lid) })
		})
		v.Subnet = s
		all = append(all, v)
	}
	end := int64(0)
	for i := range list {
		p := list[i]
		p.Frame, end = uint64(i)+1, max(end, p.Time)
		if i == missed {
			all[0].Forget()
			all[1].Forget()
		}
		all[min(p.SLID, p.DLID)%2].Datagram(&p)
	}
	counts := ""
	for _, v := range all {
		counts += fmt.Sprint(v.Open(end), v.Skipped)
		v.Finish(end)
	}
	Reconcile(func(int) {}, all...)
	return rec, counts
}

// TestWide: in conversations of all kinds nobody is accused, wherever the tap is.
func TestWide(t *testing.T) {
	for seed := range uint64(sample.Part(400, 8)) {
		r := rand.New(rand.NewPCG(seed, 4))
		list, s := widely(r), fabric(r)
		var near []uint16
		for lid := range uint16(administrator) {
			if r.IntN(2) == 0 {
				near = append(near, lid+1)
			}
		}
		if rec := judged(list, s, near); len(of(rec, rule.Violation)) > 0 {
			t.Errorf("seed %d: %v", seed, of(rec, rule.Violation))
		}
		rec := judged(list[r.IntN(len(list)):], s, nil)
		if bad := of(rec, rule.Violation); len(bad) > 0 {
			t.Errorf("seed %d, joined late: %v", seed, bad)
		}
		lossy := slices.DeleteFunc(slices.Clone(list), func(packet.Packet) bool { return r.IntN(10) == 0 })
		if bad := of(judged(lossy, s, nil), rule.Violation); len(bad) > 0 {
			t.Errorf("seed %d, lossy: %v", seed, bad)
		}
	}
}

// TestVaried holds what is said of conversations of all kinds with random changes in them.
func TestVaried(t *testing.T) {
	sample.Skip(t, tally.Whole)
	var y tally.Tally
	for seed := range uint64(1000) {
		if *showVaried >= 0 && uint64(*showVaried) != seed {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 5))
		list, s := widely(r), fabric(r)
		for k := range uint64(12) {
			c := disturb.New(rand.New(rand.NewPCG(seed, 100+k)), list)
			c.Change(8)
			var near []uint16
			for lid := range uint16(administrator) {
				if c.IntN(2) == 0 {
					near = append(near, lid+1)
				}
			}
			rec, counts := counted(c.List, s, near, c.IntN(4*len(c.List)+1))
			if *showVaried >= 0 {
				t.Logf("near %v, %s", near, c.Show(rec.Findings))
			}
			y.Add(rec)
			y.Note(counts)
		}
	}
	if *showVaried < 0 {
		y.Check(t, "testdata/varied.txt")
	}
}
