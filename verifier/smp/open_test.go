package smp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// TestMemory: of more blocks of tables and ports than a subnet has, no more are kept than most.
func TestMemory(t *testing.T) {
	v := New(new(rule.Recorder), func(packet.Addr) bool { return true })
	x := &exchange{at: place{node: &subnet.Node{GUID: 1, Type: subnet.Switch}}, Header: mad.Header{Attribute: mad.AttrLinearForwarding}}
	for i := range uint32(most + 1) {
		x.Modifier = i
		v.asBlock(x)
		v.of(new(subnet.Port))
	}
	if len(v.tables) > most || len(v.ports) > most {
		t.Errorf("%d blocks and %d ports are kept", len(v.tables), len(v.ports))
	}
}

// TestOpen: requests without an answer are counted once their node had its time, and those that were asked again and answered are not.
func TestOpen(t *testing.T) {
	const get, info = mad.Get, mad.AttrSMInfo
	answer, none := make([]byte, mad.SMPDataSize), []byte(nil)
	for name, c := range map[string]struct {
		say   func(s *speaker)
		after time.Duration // the newest packet the capture ends
		want  Open
	}{
		"answered":    {func(s *speaker) { s.ask(0, get, info, 0, none, answer) }, time.Hour, Open{}},
		"not yet":     {func(s *speaker) { s.ask(0, get, info, 0, none, none) }, 4 * time.Second, Open{}},
		"late":        {func(s *speaker) { s.ask(0, get, info, 0, none, none) }, 5 * time.Second, Open{Requests: 1, Since: 1e9, Frame: 1}},
		"an hour ago": {func(s *speaker) { s.ask(0, get, info, 0, none, none) }, time.Hour, Open{Requests: 1, Since: 1e9, Frame: 1}},
		"then silence": {func(s *speaker) {
			s.ask(0, get, info, 0, none, none)
			s.ask(20e9, get, mad.AttrNodeInfo, 0, none, answer)
		}, 0, Open{Requests: 1, Since: 1e9, Frame: 1}},
		"answered later": {func(s *speaker) { s.ask(0, get, info, 0, none, none); s.ask(20e9, get, info, 0, none, answer) }, time.Hour, Open{}},
		"asked again":    {func(s *speaker) { s.ask(0, get, info, 0, none, none); s.ask(1e9, get, info, 0, none, none) }, time.Hour, Open{Requests: 1, Since: 1e9, Frame: 1, Again: true}},
		"long ago": {func(s *speaker) {
			s.ask(0, get, info, 0, none, none)
			s.ask(9e9, get, info, 0, none, none)
			s.ask(9e9, get, info, 0, none, answer)
		}, time.Hour, Open{}},
		"another question": {func(s *speaker) { s.ask(0, get, info, 0, none, none); s.ask(1e9, get, info, 1, none, answer) }, time.Hour, Open{Requests: 1, Since: 1e9, Frame: 1}},
		"two":              {func(s *speaker) { s.ask(0, get, info, 0, none, none); s.ask(0, mad.Set, info, 2, answer, none) }, time.Hour, Open{Requests: 2, Since: 1e9, Frame: 1}},
		"a trap":           {func(s *speaker) { s.ask(0, mad.Trap, mad.AttrNotice, 0, answer, none) }, time.Hour, Open{}},
		"on a route":       {func(s *speaker) { s.near(0, get, info, answer, answer); s.list = s.list[:1] }, time.Hour, Open{Requests: 1, Since: 1e9, Frame: 1}},
	} {
		s := speaker{now: 1e9}
		c.say(&s)
		for _, mine := range []bool{true, false} {
			var rec rule.Recorder
			v := New(&rec, func(packet.Addr) bool { return false })
			end := int64(0)
			for i := range s.list {
				p := s.list[i]
				p.Frame, end = uint64(i+1), p.Time+int64(c.after)
				v.Packet(&p, mine)
			}
			var want []Open
			if mine && c.want.Requests > 0 { // else another shard tells of it
				want = append(want, c.want)
			}
			if got := v.Open(end); !slices.Equal(got, want) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// TestOpenRefused: a Set with a wrong M_Key is to have no answer.
func TestOpenRefused(t *testing.T) {
	for key, want := range map[uint64]uint64{7: 1, 9: 0} {
		var s speaker
		boundTalks()["keys"](&s)
		s.list = s.list[:len(s.list)-5] // up to the Set, of SLtoVL
		s.key = key
		s.ask(1e9, mad.Set, mad.AttrSLtoVL, 0, make([]byte, mad.SMPDataSize), nil)
		var rec rule.Recorder
		v := New(&rec, func(packet.Addr) bool { return true })
		for i := range s.list {
			p := s.list[i]
			p.Frame = uint64(i + 1)
			v.Packet(&p, true)
		}
		if got := v.Open(s.now + int64(time.Minute)); uint64(len(got)) != want {
			t.Errorf("%+v open of a Set with M_Key %d, want %d", got, key, want)
		}
	}
}

// TestUnanswered: requests without an answer are told once their node had its time, or a second after they were repeated.
func TestUnanswered(t *testing.T) {
	const get, info = mad.Get, mad.AttrSMInfo
	answer, none := make([]byte, mad.SMPDataSize), []byte(nil)
	ask := func(s *speaker) { s.ask(0, get, info, 0, none, none) }
	for name, c := range map[string]struct {
		say             func(s *speaker)
		after           time.Duration // the newest packet the capture ends
		requests, again uint64
		route           string
	}{
		"answered":       {func(s *speaker) { s.ask(0, get, info, 0, none, answer) }, time.Hour, 0, 0, ""},
		"not for long":   {ask, 4 * time.Second, 0, 0, ""},
		"for long":       {ask, 5 * time.Second, 1, 0, ""},
		"repeated":       {func(s *speaker) { ask(s); s.ask(1e9, get, info, 0, none, none) }, 2 * time.Second, 1, 1, ""},
		"answered later": {func(s *speaker) { ask(s); s.ask(20e9, get, info, 0, none, answer) }, time.Hour, 0, 0, ""},
		"two":            {func(s *speaker) { ask(s); s.ask(0, mad.Set, info, 2, answer, none) }, time.Hour, 2, 0, ""},
		"on a route":     {func(s *speaker) { s.near(0, get, info, answer, answer); s.list = s.list[:1] }, time.Hour, 1, 0, "0,"},
	} {
		s := speaker{now: 1e9}
		c.say(&s)
		v := New(new(rule.Recorder), func(packet.Addr) bool { return false })
		end := int64(0)
		for i := range s.list {
			p := s.list[i]
			p.Frame, end = uint64(i+1), p.Time+int64(c.after)
			v.Packet(&p, true)
		}
		var u subnet.Unanswered
		list := v.Unanswered(end)
		if len(list) > 0 {
			u = list[0]
		}
		if len(list) > 1 || u.Requests != c.requests || u.Again != c.again || !strings.HasPrefix(u.Route, c.route) || c.route == "" && u.Route != "" {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
