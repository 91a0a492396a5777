package scenario

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// TestLogBothQueues: error completions accuse nobody where send and receive requests have the same IDs, in whichever order the two queues are flushed.
func TestLogBothQueues(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	for seed := *first; seed < *first+uint64(sample.Part(*runs, 4)); seed++ {
		c := rand.New(rand.NewPCG(seed, 5))
		text := fmt.Sprintf(`hcas: {a: 10.0.0.1, b: 10.0.0.2}
near: a
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: 5000, repeat: %d}
  - {qp: a1, op: receive, length: 5000, repeat: %d}
  - {qp: a1, op: send, length: 5000, repeat: %d, every: %dns}
  - {qp: b1, op: send, length: 5000, repeat: %d, every: %dns}
  - {qp: a1, op: modify, state: ERR, at: %dns}
  - {qp: b1, op: modify, state: ERR, at: %dns}
`, 1+c.IntN(30), 1+c.IntN(30), 1+c.IntN(20), c.IntN(3000), 1+c.IntN(20), c.IntN(3000), 2000+c.IntN(40000), 2000+c.IntN(60000))
		wrong, _ := judgeWith(t, fmt.Sprintf("seed%d.yaml", seed), text, rule.Unproven, &verifier.Profile{}, func(logs []*hcaagent.Log) {
			for _, l := range logs {
				mingle(l, c)
				renumber(l, []uint64{1 << 40, 7, 1}[seed%3])
			}
		})
		if wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
}

// renumber gives the send and the receive requests of each queue pair IDs from 0 on, of which there are so many.
func renumber(l *hcaagent.Log, most uint64) {
	type queue struct {
		qpn     uint32
		receive bool
	}
	next, ids := map[queue]uint64{}, map[uint64]uint64{}
	id := func(q queue, old uint64) uint64 {
		ids[old] = next[q] % most
		next[q]++
		return ids[old]
	}
	for i := range l.Events {
		switch e := &l.Events[i]; e.Kind {
		case cq.EvPostSend:
			r := *e.Send
			r.ID, e.Send = id(queue{e.QP.QPN, false}, r.ID), &r
		case cq.EvPostReceive:
			r := *e.Receive
			r.ID, e.Receive = id(queue{e.QP.QPN, true}, r.ID), &r
		case cq.EvCompletion:
			c := *e.Completion
			c.ID, e.Completion = ids[c.ID], &c
		}
	}
}

// mingle puts the error completions of the two queues of each queue pair in another order.
func mingle(l *hcaagent.Log, c *rand.Rand) {
	posted, received := map[uint64]int{}, map[uint64]int{}
	errors := map[uint32][]int{}
	var qpns []uint32
	for i := range l.Events {
		switch e := &l.Events[i]; {
		case e.Kind == cq.EvPostSend:
			posted[e.Send.ID] = i
		case e.Kind == cq.EvPostReceive:
			posted[e.Receive.ID], received[e.Receive.ID] = i, 1
		case e.Kind == cq.EvCompletion && e.Completion.Status != cq.Success:
			n := e.Completion.QP.QPN
			if errors[n] == nil {
				qpns = append(qpns, n)
			}
			errors[n] = append(errors[n], i)
		}
	}
	for _, n := range qpns {
		var queues [2][]*cq.Completion
		for _, i := range errors[n] {
			x := l.Events[i].Completion
			queues[received[x.ID]] = append(queues[received[x.ID]], x)
		}
		for _, i := range errors[n] {
			k := c.IntN(2)
			if q := queues[k]; len(q) == 0 || posted[q[0].ID] > i {
				k = 1 - k
			}
			l.Events[i].Completion, queues[k] = queues[k][0], queues[k][1:]
		}
	}
}
