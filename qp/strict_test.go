package qp

import "testing"

func init() { Strict = true }

// TestStrict: a transition that is not possible panics, and says of which state.
func TestStrict(t *testing.T) {
	for name, do := range map[string]func(*SendQueue){
		"FillGap of PSNs 0x000000 to 0x000000":    func(s *SendQueue) { s.FillGap(5) },
		"WidenGap of PSNs 0x000000 to 0x000000":   func(s *SendQueue) { s.WidenGap(5) },
		"ExplainGap of PSNs 0x000000 to 0x000000": func(s *SendQueue) { s.ExplainGap() },
		"BeginGap of PSNs 0x000000 to 0x000000":   func(s *SendQueue) { s.BeginGap(5, 5, false) },
		"ContinueRetransmission of none":          func(s *SendQueue) { s.ContinueRetransmission(9) },
	} {
		func() {
			defer func() {
				if got, want := recover(), "qp: "+name; got != want {
					t.Errorf("got %v, want %q", got, want)
				}
			}()
			var s SendQueue
			s.Join(7)
			do(&s)
		}()
	}
}
