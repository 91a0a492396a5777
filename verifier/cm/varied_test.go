package cm_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/internal/testkit/disturb"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestVaried holds what is said of conversations with random changes in them. With -sim.runs=1 and -v, the one of -sim.seed is shown.
func TestVaried(t *testing.T) {
	sample.Skip(t, tally.Whole)
	var y tally.Tally
	if *simRuns == 1 && testing.Verbose() {
		variedConversations(t, *simSeed, func(c *disturb.Conversation, near []packet.Addr, rec *rule.Recorder) {
			t.Logf("near %v, %s", near, c.Show(rec.Findings))
		})
		return
	}
	for seed := range uint64(variedSeeds) {
		variedConversations(t, seed, func(_ *disturb.Conversation, _ []packet.Addr, rec *rule.Recorder) { y.Add(rec) })
	}
	y.Only("CM-", "EV-CONNECT", "EV-DISCONNECT", "EV-RE")
	y.Check(t, "testdata/varied.txt")
}

const (
	variedSeeds = 420 // simulated conversations
	variations  = 14  // of each
)

// variedConversations judges a conversation with random changes, several times with other ones.
func variedConversations(t *testing.T, seed uint64, take func(c *disturb.Conversation, near []packet.Addr, rec *rule.Recorder)) {
	w := converse(t, views[seed%uint64(len(views))], seed, nil)
	var list []packet.Packet
	for _, s := range w.seen {
		p := w.decode(slices.Clone(s.b))
		p.Time, p.Tap = s.at, uint16(s.tap)
		list = append(list, *p)
	}
	for k := range uint64(variations) {
		c := disturb.New(rand.New(rand.NewPCG(seed, 100+k)), list)
		c.Change(12)
		var near []packet.Addr
		for _, h := range w.hosts {
			if c.IntN(2) == 0 {
				near = append(near, h.addr)
			}
		}
		take(c, near, judged(c.List, near))
	}
}

// judged is what is said of datagrams.
func judged(list []packet.Packet, near []packet.Addr) *rule.Recorder {
	t := agent.NewTransport(near)
	last, several := int64(0), false
	for i := range list {
		p := list[i]
		p.Frame, last = uint64(i+1), max(last, p.Time)
		several = several || p.Tap > 0
		t.SetSeveral(several)
		t.Packet(&p)
	}
	t.Finish(last)
	agent.Reconcile(t)
	return &t.Rec
}
