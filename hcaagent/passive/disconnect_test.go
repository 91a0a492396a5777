package passive

import (
	"testing"

	"ibwitness/mad"
)

func TestReject(t *testing.T) {
	s := newScript(t, Options{})
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, rej(0, idA))
	s.want("rejected a/0x11 b/0x0: consumer reject")
	s.send(hostB, hostA, rej(0, idA))
	s.send(hostB, hostA, rep())
	s.send(hostA, hostB, rej(idA, 0x55))
	s.want()

	s = newScript(t, Options{})
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, rep())
	s.send(hostA, hostB, rej(idA, idB)) // the active side takes the REP back
	s.want(connected, "rejected a/0x11 b/0x22: consumer reject")
	s.knows(hostB, 0x22, false)
	s.send(hostB, hostA, rej(1, 2)) // of a REQ that was missed
	s.send(hostB, hostA, rej(1, 2))
	s.want("rejected a/0x0 b/0x0: consumer reject")
	taken := rej(1, 3)
	taken.Rejected = mad.AnsweredREP // of a REP that was missed
	s.send(hostA, hostB, taken)
	s.want()
	if st := s.agent.Stats(); st.Unmatched != 2 {
		t.Errorf("%+v", st)
	}
}

// TestMissed: the capture began in the middle of an exchange.
func TestMissed(t *testing.T) {
	t.Run("REQ", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostB, hostA, rep())
		s.want()
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.want(disconnected)
		if f := s.facts; len(f) != 0 {
			t.Error(f)
		}
	})
	t.Run("REP", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostA, hostB, dreq(idA, idB, 0x22))
		s.send(hostB, hostA, drep(idB, idA))
		s.want(disconnected)
	})
	t.Run("REP, passive side disconnects", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostB, hostA, dreq(idB, idA, 0x12)) // not this QP
		s.want()
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.want("disconnected a/0x11 b/0x0")
	})
	t.Run("DREQ", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostB, hostA, rep())
		s.send(hostA, hostB, dreq(idA, idB, 0x23)) // names another QP: the peer ignores it
		s.want(connected)
		s.send(hostB, hostA, drep(idB, idA))
		s.want(disconnected)
	})
	t.Run("REQ and REP", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, dreq(idA, idB, 0x22))
		s.send(hostA, hostB, dreq(idA, idB, 0x22))
		s.want("disconnected a/0x0 b/0x22")
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.send(hostB, hostA, drep(idB, idA))
		s.want(disconnected)
		s.send(hostA, hostB, dreq(idA, 0xB7, 0x24)) // the same ID with another peer ID
		s.send(hostA, hostB, drep(1, 2))
		s.want()
		if st := s.agent.Stats(); st.Unmatched != 2 {
			t.Errorf("%+v", st)
		}
	})
}

// TestBy: a disconnection is told by the end that sent the DREQ, though only the DREP was seen, and a refusal by the end that sent the REJ.
func TestBy(t *testing.T) {
	for name, k := range map[string]struct {
		end func(*script)
		by  int
	}{
		"DREQ of the active side":  {func(s *script) { s.send(hostA, hostB, dreq(idA, idB, 0x22)) }, 0},
		"DREQ of the passive side": {func(s *script) { s.send(hostB, hostA, dreq(idB, idA, 0x11)) }, 1},
		"DREP of the active side":  {func(s *script) { s.send(hostA, hostB, drep(idA, idB)) }, 1},
		"DREP of the passive side": {func(s *script) { s.send(hostB, hostA, drep(idB, idA)) }, 0},
		"REJ of the active side":   {func(s *script) { s.send(hostA, hostB, rej(idA, idB)) }, 0},
		"REJ of the passive side":  {func(s *script) { s.send(hostB, hostA, rej(idB, idA)) }, 1},
	} {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostB, hostA, rep())
		s.facts = nil
		if k.end(s); len(s.facts) != 1 || s.facts[0].By != k.by {
			t.Errorf("%s: %+v", name, s.facts)
		}
	}
}
