package live

import (
	"math/rand/v2"
	"testing"
	"time"

	"ibwitness/internal/testkit/veth"
)

// TestHeldUp: however long the program is held up at any moment, the time up to which all frames were delivered is none of which one is still to come.
func TestHeldUp(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s, err := Open(Options{Interfaces: []string{"right"}, Hold: time.Millisecond, Idle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send := veth.Sender(t, "left")
	frame := ethernet(make([]byte, 60), etherRoCE)
	var sent []int64 // when, of those that have not come
	random, came := rand.New(rand.NewPCG(1, 1)), 0
	s.clock = func() time.Time {
		if random.IntN(5) == 0 {
			sent = append(sent, time.Now().UnixNano())
			send(frame)
			time.Sleep(200 * time.Millisecond) // as if it were stopped
		}
		return time.Now()
	}
	for came < 12 {
		b, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		n := min(len(b.Frames), len(sent))
		came, sent = came+n, sent[n:]
		b.Release()
		if len(sent) > 0 && s.Now() > sent[0] {
			t.Fatalf("a frame is to come, %v before the time up to which all were delivered", time.Duration(s.Now()-sent[0]))
		}
	}
}
