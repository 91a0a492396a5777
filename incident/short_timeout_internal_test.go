package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestShortTimeout: where only a timer has a requester retransmit, nothing is asked for, and answers take longer than it, those of messages among them that were sent once, nothing was lost, and the queue pair beside it
// is named that has the same delay; not where a NAK asks for something, something was lost before the tap, answers of what was sent once are sooner, or it is known of too few rounds.
func TestShortTimeout(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	waits := func(from, took int64) (list []timing.AckWait) {
		for n := range int64(20) {
			list = append(list, timing.AckWait{At: from + n*ms, Took: time.Duration(took + n*us)})
		}
		return list
	}
	for _, k := range []struct {
		name string
		set  func(c *agent.Connection, k *qp.Trouble)
		want bool
	}{
		{"late", func(*agent.Connection, *qp.Trouble) {}, true},
		{"a NAK", func(c *agent.Connection, k *qp.Trouble) { k.Sum.Rounds[qp.SequenceAsked], c.Ends[1].NAKs = 1, 1 }, false},
		{"lost before the tap", func(_ *agent.Connection, k *qp.Trouble) { k.Sum.Before = 1 }, false},
		{"the answer had come", func(_ *agent.Connection, k *qp.Trouble) { k.AnswersSeen = 1 }, false},
		{"few are known", func(_ *agent.Connection, k *qp.Trouble) { k.Late.Ahead = 2 }, false},
		{"sooner", func(c *agent.Connection, _ *qp.Trouble) { c.Timing.Ends[0].Acks.List = waits(100*ms, 90*us) }, false},
	} {
		list := make([]agent.Connection, 3)
		for n, peer := range []byte{2, 2, 3} {
			c := &list[n]
			*c = agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: timing.New(nil)}
			c.Ends[0] = agent.End{Addr: addr(1), QPN: uint32(0x10 + n), QPNKnown: true, Messages: 60, Packets: 600, Bytes: 600_000, Last: 200 * ms}
			c.Ends[1] = agent.End{Addr: addr(peer), QPN: uint32(0x20 + n), QPNKnown: true, Packets: 60, Last: 200 * ms}
			c.Timing.Ends[0].Acks.List = slices.Concat(waits(1, 90*us), waits(100*ms, []int64{1500, 1500, 4}[n]*us))
		}
		c := &list[0]
		c.Timing.Ends[0].Copied.List = waits(100*ms, 1600*us)
		e := &c.Ends[0]
		e.Timer, e.Retransmissions = 290*us, 300
		e.Trouble = &qp.Trouble{Sum: qp.Stalls{Count: 20, Rounds: [qp.NumCauses]uint32{20}, Begun: 100 * ms, Last: 121 * ms, Ended: 122 * ms}, Again: qp.Sums{Packets: 300, Bytes: 300_000}}
		e.Trouble.Late.Rounds, e.Trouble.Late.Ahead = 2, 5
		k.set(c, e.Trouble)
		all := Of(&agent.Result{RDMA: 1000, Packets: 1000, First: 1, Last: 200 * ms, Connections: list})
		if len(all) != 1 {
			t.Fatalf("%s: %+v", k.name, all)
		}
		i := &all[0]
		told := i.What
		for _, f := range i.Facts {
			told += "\n" + f.Label + ": " + f.Text
		}
		told += "\n" + strings.Join(i.FitsWith, "; ") + "\n" + strings.Join(i.Next, "; ")
		for _, want := range []string{
			": its ACK timeout, about 290µs, is shorter than the answers take (1.6ms in the median, 1.62ms at most): nothing was lost, as far as the capture shows.",
			"answers: 1.6ms in the median, 1.62ms at most, of 40 messages", "; 100µs in the median of 20 before", "in 7 of the 20 rounds the ACK was of what had not been retransmitted yet",
			"nothing was retransmitted: QP 0x11 to QP 0x21 (1.51ms in the median, 1.52ms at most, of 20 messages), with a longer ACK timeout", "10.0.0.3 answered QP 0x12 within 23µs",
			"300,000 bytes of payload were copies that nothing needed: 2.00 times what there was to send", "code 6 is 262µs, code 14 is 67.1ms",
		} {
			if strings.Contains(told, want) != k.want {
				t.Errorf("%s: %q is told: %v\n%s", k.name, want, !k.want, told)
			}
		}
		for _, not := range []string{badCable, queueDrops, "without progress in all", "one lost for each"} {
			if k.want && strings.Contains(told, not) {
				t.Errorf("%s: %q is told\n%s", k.name, not, told)
			}
		}
	}
}
