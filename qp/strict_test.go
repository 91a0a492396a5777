package qp

import "testing"

func init() { Strict = true }

// TestStrict: a transition that is not possible panics, and says of which state.
func TestStrict(t *testing.T) {
	for name, do := range map[string]func(*SendQueue){
		"Gap.Fill of PSNs 0x000000 to 0x000000":    func(s *SendQueue) { s.Gap.Fill(5) },
		"Gap.Widen of PSNs 0x000000 to 0x000000":   func(s *SendQueue) { s.Gap.Widen(5) },
		"Gap.Explain of PSNs 0x000000 to 0x000000": func(s *SendQueue) { s.Gap.Explain() },
		"Gap.Begin of PSNs 0x000000 to 0x000000":   func(s *SendQueue) { s.Gap.Begin(5, 5, false) },
		"Retransmission.ContinueAt of none":        func(s *SendQueue) { s.Retransmission.ContinueAt(9) },
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
