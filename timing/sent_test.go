package timing

import (
	"testing"
	"time"
)

// TestRuns: the messages after those that are kept one by one are kept in runs without a long pause, as many as there is room for; of two ends that are one, too.
func TestRuns(t *testing.T) {
	sent := func(e *End, n int, from time.Duration) (at time.Duration) {
		for at = from; n > 0; n-- {
			e.NoteSent(Sent{Begin: int64(at), End: int64(at + time.Microsecond)})
			if at += 10 * time.Microsecond; n%16 == 1 {
				at += 5 * time.Millisecond
			}
		}
		return at
	}
	e := new(End)
	sent(e, MostSent, time.Second)
	if list, until := e.Runs(); list != nil || until != 0 {
		t.Errorf("%v until %d, want none", list, until)
	}
	at := sent(e, 48, time.Minute)
	list, until := e.Runs()
	if len(list) != 3 || until != 0 || list[0] != (Run{int64(time.Minute), int64(time.Minute + 151*time.Microsecond), 16}) {
		t.Errorf("%v until %d", list, until)
	}
	g := new(End)
	sent(g, MostSent+16, 2*time.Minute)
	if e.mergeSent(g); len(e.Sent) != MostSent || len(e.runs.list) < 4 || e.runs.list[0].Begin != int64(time.Minute) || e.runs.list[0].Count != 16 {
		t.Errorf("%d messages, %v", len(e.Sent), e.runs.list)
	}
	sent(e, 16*MostRuns, at+time.Hour)
	if list, until = e.Runs(); len(list) != MostRuns || until != list[MostRuns-1].End {
		t.Errorf("%d until %d", len(list), until)
	}
}
