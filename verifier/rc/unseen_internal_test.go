package rc

import (
	"testing"

	"ibwitness/qp"
)

// TestAnswersUnseen: the tap lacks the direction of a peer that has sent nothing where its requester has sent many packets; few may all be on their way.
func TestAnswersUnseen(t *testing.T) {
	for _, k := range []struct {
		sent, answers int
		unseen        bool
	}{{unseenFrom - 1, 0, false}, {unseenFrom, 0, true}, {unseenFrom, 1, false}} {
		var c qp.Pair
		c.Ends[0].Direction, c.Ends[1].Direction = new(qp.Direction), new(qp.Direction)
		for range k.sent {
			c.Ends[0].CountPacket(64)
		}
		for range k.answers {
			c.Ends[1].CountPacket(0)
		}
		if got := answersUnseen(&c, 0); got != k.unseen {
			t.Errorf("%d packets, %d answers: %t", k.sent, k.answers, got)
		}
	}
}
