package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
)

// TestHangsOverStep: messages that wait for as long as the clock of the capture stepped ahead hang for no time; where no message went on in its midst, nothing shows that it did.
func TestHangsOverStep(t *testing.T) {
	hangs := exchange{depth: 4, n: 400, took: stops(396)}
	for _, stepped := range []bool{true, false} {
		list := []agent.Connection{hangs.connection(1, 2), hangs.connection(3, 4)}
		r := after(list...)
		last := r.Last - int64(10*time.Second)
		r.Last = last + int64(30*time.Second)
		s := agent.Silence{From: last + 1, To: r.Last - 1000, Frame: 900}
		if stepped {
			for i := range list {
				s.GoesOn = append(s.GoesOn, agent.GoesOn{From: list[i].Ends[0].Addr, To: list[i].Ends[1].Addr, QPN: list[i].Ends[1].QPN})
			}
		}
		r.Silences = []agent.Silence{s}
		if got := reportOf(t, r); strings.Contains(got, "its program waits or hangs") == stepped || strings.Contains(got, "The clock of the capture stepped forward by about 30s, in frame 900") != stepped {
			t.Errorf("%v: %s", stepped, got)
		}
	}
}

// TestTurnsOverStep: an answer that came when the clock of the capture had stepped ahead was not late for that.
func TestTurnsOverStep(t *testing.T) {
	turns := exchange{depth: 1, n: 400, took: func(i int) time.Duration {
		if i == 300 {
			return 30 * time.Second
		}
		return answered
	}}
	for _, stepped := range []bool{true, false} {
		list := []agent.Connection{turns.connection(1, 2), turns.connection(3, 4)}
		r := after(list...)
		at := r.First + int64(300*answered)
		s := agent.Silence{From: at + int64(4*time.Millisecond), To: at + int64(30*time.Second), Frame: 900}
		if stepped {
			for i := range list {
				s.GoesOn = append(s.GoesOn, agent.GoesOn{From: list[i].Ends[0].Addr, To: list[i].Ends[1].Addr, QPN: list[i].Ends[1].QPN})
			}
		}
		r.Silences = []agent.Silence{s}
		if got := reportOf(t, r); strings.Contains(got, "with one of its own: usually") == stepped {
			t.Errorf("%v: %s", stepped, got)
		}
	}
}
