package incident_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestCreditsEnd: of a client of SMB Direct whose server grants it no more send credits it is told that it waits for those, and likewise of a server: for certain where the capture holds the negotiation, and as it seems
// where far more messages came without a grant than ever before; not where the grants go on.
func TestCreditsEnd(t *testing.T) {
	talk := func(negotiated bool, grants func(from, n int) bool) string {
		q := new(queue)
		if negotiated {
			q.send(0, words(binary.LittleEndian, 0x01000100, 255<<16, 1364, 8192, 1048576))
			q.send(1, words(binary.LittleEndian, 0x01000100, 0x0100, 255|20<<16, 0, 8388608, 1364, 8192, 1048576))
		}
		say := func(from, n int, b []byte) {
			granted := uint16(0)
			if grants(from, n) {
				granted = 1
			}
			if from == 0 && n == 0 {
				granted = 21
			}
			binary.LittleEndian.PutUint16(b[2:], granted)
			q.send(from, b)
		}
		for n := range 60 {
			say(0, n, smbMessages.command(uint32(n+5)))
			if n < 59 {
				say(1, n, smbMessages.answer(uint32(n+5)))
			}
			q.now += 5 * time.Millisecond
		}
		for k := range 2 { // others go on
			f := q.list[4+k]
			f.Data, f.Time = slices.Clone(f.Data), f.Time+int64(8*time.Second)
			changed(&f, func(p *packet.Packet) { p.DestQP += 0x100 })
			q.list = append(q.list, f)
		}
		return toldReasons(t, q.list)
	}
	const (
		hangs  = "10.0.0.2 QP 0x20 has not answered SMB2 READ, message id 64 of 10.0.0.1 QP 0x1f"
		client = "credits: 10.0.0.1 QP 0x1f has used up its own send credits in frame 241: 10.0.0.2 QP 0x20 granted it the last 1 in frame 163; what else it has to send waits for those of 10.0.0.2"
		seems  = "credits: 10.0.0.2 QP 0x20 granted 10.0.0.1 QP 0x1f the last 1 in frame 159, and none for the 20 messages that it sent after that, the last in frame 237; before, it had after 1 message at most: it seems that 10.0.0.1 has used its credits up, and waits for those of 10.0.0.2"
		answer = "credits: 10.0.0.1 QP 0x1f granted 10.0.0.2 QP 0x20 the last 1 in frame 157, and none for the 20 messages that it sent after that, the last in frame 235; before, it had after 1 message at most: it seems that 10.0.0.2 has used its credits up, and waits for those of 10.0.0.1"
		none   = "a program of 10.0.0.2 that posts no receives any more, and so grants no credits"
		mayBe  = "a program of 10.0.0.1 that posts no receives any more, and so grants no credits: the answer may be there, and wait for that"
	)
	never := func(of, since int) func(int, int) bool {
		return func(from, n int) bool { return from != of || n < since }
	}
	contains(t, "the server grants none, negotiated", talk(true, never(1, 40)), []string{hangs, client, none}, []string{mayBe})
	contains(t, "the server grants none", talk(false, never(1, 40)), []string{hangs, seems, none}, []string{mayBe})
	contains(t, "the client grants none, negotiated", talk(true, never(0, 39)), []string{hangs, "and has no send credit left: those of 10.0.0.1 QP 0x1f", "fits: " + mayBe},
		[]string{none, "a server that waits itself", "tasks that wait (state D)"})
	contains(t, "the client grants none", talk(false, never(0, 40)), []string{hangs, answer, mayBe}, []string{none})
	contains(t, "they grant", talk(true, never(2, 0)), []string{hangs}, []string{"credits: ", none, mayBe})
	contains(t, "they grant, and it began before", talk(false, never(2, 0)), []string{hangs}, []string{"credits: ", none, mayBe})
	contains(t, "the server grants seldom", talk(false, func(from, n int) bool { return from == 0 || n%15 == 9 && n < 50 }), []string{hangs}, []string{"credits: ", none})
}
