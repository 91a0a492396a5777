package gmp

import (
	"math/rand/v2"
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// TestUnanswered: requests are counted by pair and class, whether they are still followed or not; those that were answered, at whatever time, are not among those without an answer.
func TestUnanswered(t *testing.T) {
	all := func(packet.Addr, packet.Addr) bool { return true }
	get := func(at time.Duration, tid uint64, method mad.Method) seen {
		k := talk{r: rand.New(rand.NewPCG(1, 1)), now: int64(time.Hour + at)}
		from, to := uint16(6), uint16(1)
		if method&0x80 != 0 {
			from, to = to, from
		}
		k.say(from, to, mad.Header{Class: mad.ClassPerformance, ClassVersion: 1, Method: method, TID: tid, Attribute: mad.AttrPortCounters}, nil)
		k.list[0].time = k.now
		return k.list[0]
	}
	const s = time.Second
	var many []seen
	for n := range uint64(100) {
		many = append(many, get(time.Duration(n)*time.Millisecond, n+1, mad.Get))
	}
	for name, k := range map[string]struct {
		list                      []seen
		end                       time.Duration
		asked, unanswered, copies uint64
		answered                  bool
	}{
		"answered":                  {[]seen{get(0, 1, mad.Get), get(s, 1, mad.GetResp)}, 60 * s, 0, 0, 0, false},
		"not for long":              {[]seen{get(0, 1, mad.Get)}, 4 * s, 0, 0, 0, false},
		"for long":                  {[]seen{get(0, 1, mad.Get)}, 5 * s, 1, 1, 0, false},
		"retransmitted":             {[]seen{get(0, 1, mad.Get), get(s, 1, mad.Get)}, 3 * s, 1, 1, 1, false},
		"retransmitted just now":    {[]seen{get(0, 1, mad.Get), get(s, 1, mad.Get)}, s, 0, 0, 0, false},
		"retransmitted for long":    {[]seen{get(0, 1, mad.Get), get(s, 1, mad.Get), get(2*s, 1, mad.Get)}, 2 * s, 1, 1, 2, false},
		"answered, and asked again": {[]seen{get(0, 1, mad.Get), get(s, 1, mad.GetResp), get(2*s, 1, mad.Get)}, 60 * s, 0, 0, 0, false},
		"one of two":                {[]seen{get(0, 1, mad.Get), get(s, 1, mad.GetResp), get(2*s, 2, mad.Get)}, 60 * s, 2, 1, 0, true},
		"more than are followed":    {many, 60 * s, 100, 100, 0, false},
	} {
		v := New(new(rule.Recorder), all)
		for i := range k.list {
			v.Datagram(k.list[i].packet(uint64(i) + 1))
		}
		list := v.Unanswered(int64(time.Hour + k.end))
		var u subnet.Unanswered
		if len(list) > 0 {
			u = list[0]
		}
		if len(list) > 1 || u.Asked != k.asked || u.Requests != k.unanswered || u.Again != k.copies || (u.Answered != 0) != k.answered {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// TestServed: a class of a pair is served where all its requests were answered, and one was.
func TestServed(t *testing.T) {
	all := func(packet.Addr, packet.Addr) bool { return true }
	for name, k := range map[string]struct {
		answered []uint64 // transactions
		served   bool
	}{"both": {[]uint64{1, 2}, true}, "one": {[]uint64{2}, false}, "none": {nil, false}} {
		v := New(new(rule.Recorder), all)
		say := func(at int64, from, to uint16, method mad.Method, tid uint64) {
			x := talk{r: rand.New(rand.NewPCG(1, 1)), now: int64(time.Hour) + at}
			x.say(from, to, mad.Header{Class: mad.ClassPerformance, ClassVersion: 1, Method: method, TID: tid, Attribute: mad.AttrPortCounters}, nil)
			x.list[0].time = x.now
			v.Datagram(x.list[0].packet(uint64(at) + 1))
		}
		for tid := range uint64(2) {
			say(int64(tid), 6, 1, mad.Get, tid+1)
		}
		for i, tid := range k.answered {
			say(int64(10+i), 1, 6, mad.GetResp, tid)
		}
		list := v.Served()
		if k.served != (len(list) == 1 && list[0].Asked == 2 && list[0].From == packet.LIDAddr(6) && list[0].To == packet.LIDAddr(1)) || !k.served && len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
