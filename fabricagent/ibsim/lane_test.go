package ibsim

import (
	"testing"

	"ibwitness/mad"
)

// TestLanes: a packet that is not of subnet management leaves a switch on the VL that its table has for the SL, and is dropped where that is 15.
func TestLanes(t *testing.T) {
	s := newSession(t)
	s.port(0, map[string]uint64{"LID": 2, "masterSMLID": 1}, 1)
	s.both(mad.AttrLinearForwarding, 0, []byte{255, 1, 0}, 1)
	info := append([]byte(nil), s.ask(mad.Get, mad.AttrSwitchInfo, 0, nil, 1)...)
	mad.LayoutSwitchInfo.Field("linearFDBTop").PutUint(info, 2)
	s.both(mad.AttrSwitchInfo, 0, info, 1)
	for state := range uint64(2) {
		s.port(0, map[string]uint64{"LID": 1, "masterSMLID": 1, "portState": 3 + state})
		s.port(1, map[string]uint64{"portState": 3 + state}, 1)
	}
	s.both(mad.AttrSLtoVL, 0x0001, []byte{0, 0x02, 0xF0}, 1) // SL 3 on VL 2, SL 4 is dropped, the others on VL 0
	var last Passed
	s.f.Observe = func(p Passed) { last = p }
	for sl, want := range []uint8{0, 0, 0, 2, 15, 0} {
		d := Datagram{SLID: 1, DLID: 2, SrcQP: 1, DestQP: 1, SL: uint8(sl)}
		h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: mad.Get, Attribute: mad.AttrClassPortInfo}
		if err := h.Encode(d.MAD[:]); err != nil {
			t.Fatal(err)
		}
		at, ok := s.f.Carry(s.now, End{s.f.Node("A"), 1}, &d)
		if !ok || at.Node != s.f.Node("S") || last.VL != 0 || last.SL != uint8(sl) {
			t.Fatalf("SL %d: %v, %v, %+v", sl, at, ok, last)
		}
		answer := Datagram{SLID: 2, DLID: 1, SrcQP: 1, DestQP: 1, SL: uint8(sl)}
		copy(answer.MAD[:], at.Node.Receive(s.now, at.Port, d.MAD[:]))
		_, ok = s.f.Carry(s.now, at, &answer)
		if ok != (want != 15) || ok && last.VL != want {
			t.Errorf("SL %d: VL %d, %v, want %d", sl, last.VL, ok, want)
		}
	}
	s.j.innocent(t)
}
