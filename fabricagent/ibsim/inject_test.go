package ibsim

import (
	"testing"

	"ibwitness/mad"
)

// TestInject: a port sends a MAD that its node would not: the hop pointer is on the link as it is given, and the node at the other end discards it or takes it.
func TestInject(t *testing.T) {
	s := newSession(t)
	from := End{s.f.Node("A"), 1}
	var passed []Passed
	s.f.Observe = func(p Passed) { passed = append(passed, p) }
	for _, c := range []struct {
		pointer, count int
		ok             bool
	}{{1, 1, true}, {2, 1, true}, {3, 1, false}, {1, 64, false}} {
		d, err := Directed(mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: mad.AttrNodeInfo}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		d.MAD[6], d.MAD[7] = uint8(c.pointer), uint8(c.count)
		passed = nil
		if at, ok := s.f.Inject(s.now, from, &d); ok != c.ok || ok && at.Node != s.f.Node("S") || len(passed) != 1 || passed[0].VL != 15 {
			t.Errorf("%+v: %v, %v, %d on the link", c, at, ok, len(passed))
		}
	}
	if _, ok := s.f.Inject(s.now, End{s.f.Node("S"), 8}, &Datagram{}); ok {
		t.Error("delivered by a port that is not linked")
	}
}
