package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// TestSentNothing: of a receiver that was not ready until the retries were used up it is told that its program had sent nothing for long
// before, though it took messages; not where it had answered all of them.
func TestSentNothing(t *testing.T) {
	const (
		stopped = "program: 10.0.0.2 QP 0x20 sent no message on the connection after +"
		took    = ", though it took 10 messages of 10.0.0.1 from +0.054 s on"
		fits    = "fits: a program on 10.0.0.2 that stopped or waits (a lock, its disks), at least for this connection"
	)
	scene := func(answered bool) string {
		q := new(queue)
		for range 40 {
			q.send(0, make([]byte, 100))
			q.now += 100 * time.Microsecond
			q.send(1, make([]byte, 100))
			q.now += time.Millisecond
		}
		for range 10 {
			q.now += 10 * time.Millisecond
			q.send(0, make([]byte, 100))
			if answered {
				q.now += 100 * time.Microsecond
				q.send(1, make([]byte, 100))
			}
		}
		q.now += 10 * time.Millisecond
		for range 7 {
			psn := q.psn[0]
			q.write(0, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, AckReq: true, Payload: make([]byte, 100)})
			rnr := &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: 0x20 | 14, MSN: uint32(psn)}
			q.write(1, q.now+2*time.Microsecond, rnr)
			q.now += 1300 * time.Microsecond
		}
		q.now += 3 * time.Second
		ack := &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[1] - 1, Syndrome: packet.CreditInvalid, MSN: uint32(q.psn[1])}
		q.write(0, q.now, ack)
		list := incident.Of(judged(t, q.list, agent.Options{Timing: true}))
		var b strings.Builder
		told(&b, "frames", list)
		for n := range list {
			b.WriteString("fits: " + strings.Join(list[n].FitsWith, "; or ") + "\n")
		}
		return b.String()
	}
	contains(t, "it stopped", scene(false), []string{"was not ready for a SEND of 100 bytes", stopped, took, fits}, nil)
	contains(t, "it answered all", scene(true),
		[]string{"was not ready for a SEND of 100 bytes", "fits: a receiver that posts receives too late"}, []string{stopped})
}

// TestBurstTaken: of a receiver that took some messages of a burst, after a pause, and refused the next, it is told how many; that its
// program had stopped only where it was silent for long against what its answers took.
func TestBurstTaken(t *testing.T) {
	scene := func(taken int, turn time.Duration) string {
		q := new(queue)
		for range 40 {
			q.send(0, make([]byte, 100))
			q.now += turn
			q.send(1, make([]byte, 100))
			q.now += time.Millisecond
		}
		q.now += 80 * time.Millisecond
		for range taken {
			q.send(0, make([]byte, 100))
		}
		for range 4 {
			psn := q.psn[0]
			for k := range 2 { // what follows is refused, too
				q.write(0, q.now, &packet.Packet{
					Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn.Add(k), AckReq: true, Payload: make([]byte, 100),
				})
				q.now += time.Microsecond
			}
			rnr := &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: 0x20 | 14, MSN: uint32(psn)}
			q.write(1, q.now+2*time.Microsecond, rnr)
			q.now += 1300 * time.Microsecond
		}
		q.now += 3 * time.Second
		q.write(0, q.now, &packet.Packet{
			Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[1] - 1, Syndrome: packet.CreditInvalid, MSN: uint32(q.psn[1]),
		})
		list := incident.Of(judged(t, q.list, agent.Options{Timing: true}))
		var b strings.Builder
		told(&b, "frames", list)
		return b.String()
	}
	const (
		burst = "burst: it took 12 messages, which came within "
		next  = ", and refused the next: it seems that it had as many"
		none  = "sent no message on the connection after "
	)
	contains(t, "a burst", scene(12, 2*time.Millisecond), []string{burst, next}, []string{none})
	contains(t, "a burst, and it answers soon otherwise", scene(12, 100*time.Microsecond),
		[]string{burst, next, none, ", though it took 12 messages of 10.0.0.1 from +0.124 s on"}, nil)
	contains(t, "few messages", scene(3, 100*time.Microsecond), []string{"was not ready for a SEND of 100 bytes"}, []string{"burst: ", none})
}
