package incident_test

import (
	"encoding/binary"
	"testing"
	"time"
)

// TestHeldBack: of a server of SMB Direct whose client granted it no send credits for seconds, and whose held answers leave in one burst right after a message that grants some, it is told that
// it had none; where the capture does not hold the negotiation, that the answers left with others right after a message of the client; never its disks. Where they leave at another
// time, or one of them is the only one and its server may have had credits, it is told as of any other server that takes long.
func TestHeldBack(t *testing.T) {
	talk := func(negotiated bool, credits uint16, asked int, after time.Duration) string {
		q := new(queue)
		if negotiated {
			q.send(0, words(binary.LittleEndian, 0x01000100, 255<<16, 1364, 8192, 1048576))
			q.send(1, words(binary.LittleEndian, 0x01000100, 0x0100, 255|uint32(credits)<<16, 0, 8388608, 1364, 8192, 1048576))
		}
		id := uint32(5)
		say := func(from int, granted uint16, b []byte) {
			binary.LittleEndian.PutUint16(b[2:], granted)
			q.send(from, b)
		}
		say(0, 1+credits, smbMessages.command(id)) // the server has one more
		say(1, 1, smbMessages.answer(id))
		for range 40 {
			id++
			say(0, 1, smbMessages.command(id))
			say(1, 1, smbMessages.answer(id))
			q.now += 5 * time.Millisecond
		}
		left := int(credits)
		for range 2 { // times without credits
			for ; left > 1; left-- {
				id++
				say(0, 0, smbMessages.command(id))
				say(1, 1, smbMessages.answer(id))
				q.now += 20 * time.Millisecond
			}
			for n := range asked {
				say(0, 0, smbMessages.command(id+1+uint32(n)))
				q.now += 20 * time.Millisecond
			}
			q.now += 3 * time.Second
			say(0, credits, words(binary.LittleEndian, 10|10<<16, 0, 0, 0, 0))
			q.now += after
			for range asked {
				id++
				say(1, 1, smbMessages.answer(id))
			}
			left += int(credits) - asked
			q.now += time.Second
		}
		return toldReasons(t, q.list)
	}
	const (
		took  = "10.0.0.2 QP 0x20 took "
		none  = "as it had no credit to send: 10.0.0.1 granted none for 3."
		kept  = "had at most one send credit left, which it keeps for a message that grants credits itself; 10.0.0.1 QP 0x1f granted it 10 in frame "
		twice = "answers: twice, each time for 3."
		posts = "fits: a program or driver of 10.0.0.1 that posted no receives in these times, and so granted no credits: 10.0.0.2 might not send the answers, whatever it had"
		right = "it sent it in one burst with others that it had held, right after a message of 10.0.0.1"
		disks = "its disks"
		log   = "the disks and the log"
	)
	unlike := []string{disks, log}
	contains(t, "no credits", talk(true, 10, 5, 0), []string{took, none, kept, twice, posts}, append(unlike, right))
	contains(t, "no credits, one answer", talk(true, 10, 1, 0), []string{took, none, kept, posts}, append(unlike, right))
	contains(t, "it began before", talk(false, 10, 5, 0), []string{took, right, twice, "completion events and interrupts"}, append(unlike, none))
	contains(t, "it began before, one answer", talk(false, 10, 1, 0), []string{took, disks, log}, []string{none, right})
	contains(t, "the answers leave later", talk(true, 10, 5, 50*time.Millisecond), []string{took, disks, log}, []string{none, right, posts})
}
