package subnet

import "testing"

func TestPortByLID(t *testing.T) {
	var s Subnet
	if s.Port(5) != nil || s.Known() || (*Subnet)(nil).Port(5) != nil || s.Port(5).Knows(KnowsMTU) {
		t.Error("an empty subnet knows a port")
	}
	a, b := s.Node(1).Port(1), s.Node(2).Port(1)
	if other := s.SetLID(a, 8, 2); other != nil {
		t.Errorf("LID 8 was taken by %v", other)
	}
	for lid, want := range map[uint16]*Port{7: nil, 8: a, 11: a, 12: nil} {
		if s.Port(lid) != want {
			t.Errorf("LID %d is %v", lid, s.Port(lid))
		}
	}
	if other := s.SetLID(b, 10, 0); other != a {
		t.Errorf("LID 10 overlaps %v", other)
	}
	s.SetLID(a, 20, 0)
	if s.Port(8) != nil || s.Port(10) != b || s.Port(20) != a {
		t.Error("the LIDs that a port had are not taken away")
	}
	for _, lid := range []uint16{0, 0xC000, 0xFFFF} {
		if s.SetLID(b, lid, 0); s.Port(lid) != nil || b.LID != 0 {
			t.Errorf("LID %#x is that of a port", lid)
		}
	}
}

func TestMember(t *testing.T) {
	p := Port{PKeys: []uint16{0x7FFF, 0x8001}}
	for key, want := range map[uint16][2]bool{0xFFFF: {true, false}, 0x7FFF: {true, false}, 0x8001: {true, true}, 0x0001: {true, true}, 0x8002: {false, false}} {
		if m, f := p.Member(key); m != want[0] || f != want[1] {
			t.Errorf("P_Key %#x: %v %v", key, m, f)
		}
	}
}

func TestEgress(t *testing.T) {
	n := &Node{Type: Switch}
	n.SetLinear(1, append(make([]byte, 63), 7))
	if _, ok := n.Egress(3); ok {
		t.Error("a block that was not told is known")
	}
	if port, ok := n.Egress(127); !ok || port != 7 {
		t.Errorf("LID 127 leaves by %d, %v", port, ok)
	}
	s := Subnet{}
	if s.OnlySwitch() != nil {
		t.Error("a switch in an empty subnet")
	}
	s.Node(1).Type = Switch
	if s.OnlySwitch() != s.Node(1) {
		t.Error("the only switch is not found")
	}
	s.Node(2).Type = Switch
	if s.OnlySwitch() != nil {
		t.Error("one of two switches is the only one")
	}
}
