package smp

import (
	"runtime/debug"
	"strings"
	"testing"

	"ibwitness/internal/testkit/disturb"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// speaker makes conversations of which nothing is judged yet.
type speaker struct {
	list []packet.Packet
	now  int64
	tid  uint64
	key  uint64
	turn bool // the two sides of each link have changed places
}

// link is the port that sends on a side of a link.
func (t *speaker) link(n uint32) uint32 {
	if t.turn {
		return opposite(n)
	}
	return n
}

// say sends a datagram after a time.
func (t *speaker) say(after int64, from, to uint16, s *mad.SMP) {
	b := make([]byte, mad.Size)
	if s.Encode(b) != nil {
		panic("no room")
	}
	t.now += after
	t.list = append(t.list, packet.Packet{
		Encap: packet.Native, Opcode: sendOnly, Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, VL: 15, PayloadLen: mad.Size, Time: t.now,
		Payload: b, SLID: from, DLID: to, Src: packet.LIDAddr(from), Dst: packet.LIDAddr(to), PKey: 0xFFFF, ICRC: uint32(len(t.list)),
	})
}

// ask asks, and answers where there is an answer.
func (t *speaker) ask(after int64, m mad.Method, a mad.Attribute, modifier uint32, data, answer []byte) {
	t.tid++
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: m, TID: t.tid, Attribute: a, Modifier: modifier}, MKey: t.key, Data: data}
	if m == mad.Get {
		s.Data = make([]byte, mad.SMPDataSize)
	}
	t.say(after, 1, askedLID, &s)
	if answer != nil {
		s.Method, s.Data = mad.GetResp, answer
		t.say(100_000, askedLID, 1, &s)
	}
}

// near asks the first node on a directed route, over the first link.
func (t *speaker) near(after int64, m mad.Method, a mad.Attribute, data, answer []byte) {
	t.tid++
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: m, TID: t.tid, Attribute: a},
		DrSLID: permissive, DrDLID: permissive, Initial: []byte{0, 1}, Return: make([]byte, 64), Data: data,
	}
	s.SetHops(1, 1)
	t.say(after, permissive, permissive, &s)
	t.list[len(t.list)-1].Link = t.link(1)
	s.Return[1] = 1
	s.Method, s.Status, s.Data = mad.GetResp, 0x8000, answer
	t.say(1000, permissive, permissive, &s)
	t.list[len(t.list)-1].Link = t.link(2)
}

// passes has a packet of data pass a link.
func (t *speaker) passes(after int64, link uint32, from, to uint16) {
	t.now += after
	t.list = append(t.list, packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.RC, packet.SendOnly), Has: packet.HasLRH | packet.HasBTH, Time: t.now, Link: t.link(link),
		SLID: from, DLID: to, Src: packet.LIDAddr(from), Dst: packet.LIDAddr(to), PKey: 0xFFFF, DestQP: 0x11,
	})
}

// routed asks along a directed route of two hops, which a tap sees at the first, or at both.
func (t *speaker) routed(after int64, both bool, m mad.Method, a mad.Attribute, data, answer []byte) {
	t.tid++
	s := mad.SMP{
		Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: m, TID: t.tid, Attribute: a},
		DrSLID: permissive, DrDLID: permissive, Initial: []byte{0, 1, 3}, Return: make([]byte, 64), Data: data,
	}
	hop := func(after int64, n int, link uint32) {
		s.SetHops(n, 2)
		t.say(after, permissive, permissive, &s)
		t.list[len(t.list)-1].Link = t.link(link)
	}
	hop(after, 1, 1)
	s.Return[1] = 2
	if both {
		hop(1000, 2, 3)
	}
	s.Return[2] = 1
	s.Method, s.Status, s.Data = mad.GetResp, 0x8000, answer
	if both {
		hop(100_000, 2, 4)
	}
	hop(1000, 1, 2)
}

// info is the PortInfo of a node, with other values in it.
func info(k nodeKind, change map[string]uint64) []byte {
	b := k.data(mad.AttrPortInfo, 0)
	for name, n := range change {
		mad.LayoutPortInfo.Field(name).PutUint(b, n)
	}
	return b
}

func (t *speaker) meets(k nodeKind) {
	get := func(a mad.Attribute, modifier uint32) {
		t.ask(1_000_000, mad.Get, a, modifier, nil, k.data(a, modifier))
	}
	get(mad.AttrNodeInfo, 0)
	if k.kind == subnet.Switch {
		get(mad.AttrSwitchInfo, 0)
	}
	get(mad.AttrPortInfo, 0)
}

// boundTalks are conversations in which all is well.
func boundTalks() map[string]func(t *speaker) {
	adapter, hub := nodeKinds[0], nodeKinds[2]
	keyed := func(more map[string]uint64) []byte {
		b := info(adapter, map[string]uint64{"MKey": 7, "MKeyLeasePeriod": 3, "MKeyProtectBits": 1})
		for name, n := range more {
			mad.LayoutPortInfo.Field(name).PutUint(b, n)
		}
		return b
	}
	set := func(b []byte) []byte {
		piState.PutUint(b, 0)
		piPhysical.PutUint(b, 0)
		return b
	}
	return map[string]func(t *speaker){
		"keys": func(t *speaker) {
			t.meets(adapter)
			t.ask(1e9, mad.Set, mad.AttrPortInfo, 0, set(keyed(nil)), keyed(nil))
			t.key = 7
			t.ask(2e9, mad.Get, mad.AttrPortInfo, 0, nil, keyed(nil))
			t.key = 9
			t.ask(1e9, mad.Set, mad.AttrSLtoVL, 0, make([]byte, 64), nil)
			t.ask(1e8, mad.Get, mad.AttrPortInfo, 0, nil, keyed(map[string]uint64{"MKey": 0, "MKeyViolations": 1}))
			t.key = 7
			t.ask(1e8, mad.Get, mad.AttrPortInfo, 0, nil, keyed(map[string]uint64{"MKeyViolations": 1}))
		},
		"a lease": func(t *speaker) {
			t.meets(adapter)
			t.ask(1e9, mad.Set, mad.AttrPortInfo, 0, set(keyed(nil)), keyed(nil))
			t.key = 9
			t.ask(1e9, mad.Set, mad.AttrSLtoVL, 0, make([]byte, 64), nil)
			t.ask(5e9, mad.Get, mad.AttrPortInfo, 0, nil, keyed(map[string]uint64{"MKeyProtectBits": 0, "MKeyViolations": 1}))
			t.ask(1e9, mad.Set, mad.AttrPortInfo, 0, set(keyed(map[string]uint64{"MKey": 0, "MKeyProtectBits": 0})), nil)
		},
		"a key apart": func(t *speaker) {
			t.meets(adapter)
			t.key = 0
			for _, change := range []map[string]uint64{{"MKey": 7}, {"MKey": 7, "MKeyProtectBits": 1}, {"MKey": 7, "MKeyProtectBits": 2}, {"MKey": 7, "MKeyProtectBits": 2, "MKeyLeasePeriod": 9}} {
				t.ask(2e9, mad.Set, mad.AttrPortInfo, 0, set(info(adapter, change)), info(adapter, change))
				t.key = 7
			}
		},
		"traps": func(t *speaker) {
			t.meets(adapter)
			s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Trap, TID: 77, Attribute: mad.AttrNotice}, Data: make([]byte, 64)}
			for name, v := range map[string]uint64{"isGeneric": 1, "noticeType": 1, "nodeType": mad.ProducerCA, "trapNumber": 144, "issuerLID": askedLID} {
				mad.LayoutNotice.Field(name).PutUint(s.Data, v)
			}
			t.say(1e9, askedLID, 1, &s)
			t.say(2e9, askedLID, 1, &s)
			s.Method = mad.TrapRepress
			t.say(1e6, 1, askedLID, &s)
			s.Method, s.TID = mad.Trap, 78
			t.say(2e9, askedLID, 1, &s)
			t.say(2e9, askedLID, 1, &s)
			mad.LayoutNotice.Field("trapNumber").PutUint(s.Data, 257)
			s.Data[15], s.Data[18], s.Data[19], s.TID = askedLID, 0x44, 0x44, 79
			t.say(2e9, askedLID, 1, &s)
		},
		"a directed route": func(t *speaker) {
			for range 5 { // until the tap is known to be on one link
				t.routed(1e8, false, mad.Get, mad.AttrNodeInfo, make([]byte, 64), adapter.data(mad.AttrNodeInfo, 0))
			}
			t.routed(1e8, false, mad.Get, mad.AttrPortInfo, make([]byte, 64), adapter.data(mad.AttrPortInfo, 0))
		},
		"a route at two hops": func(t *speaker) {
			t.routed(1e8, true, mad.Get, mad.AttrNodeInfo, make([]byte, 64), adapter.data(mad.AttrNodeInfo, 0))
			t.routed(1e8, true, mad.Get, mad.AttrPortInfo, make([]byte, 64), adapter.data(mad.AttrPortInfo, 0))
		},
		"forwarding": func(t *speaker) {
			t.near(1e9, mad.Get, mad.AttrNodeInfo, make([]byte, 64), hub.data(mad.AttrNodeInfo, 0))
			t.near(1e8, mad.Get, mad.AttrSwitchInfo, make([]byte, 64), hub.data(mad.AttrSwitchInfo, 0))
			who := adapter.data(mad.AttrNodeInfo, 0)
			niGUID.PutUint(who, 0x201)
			niPortGUID.PutUint(who, 0x202)
			t.routed(1e8, true, mad.Get, mad.AttrNodeInfo, make([]byte, 64), who)
			t.routed(1e8, true, mad.Get, mad.AttrPortInfo, make([]byte, 64), info(adapter, map[string]uint64{"LID": 6}))
			table := make([]byte, 64)
			table[6], table[7], table[8] = 3, 2, 255
			t.near(1e8, mad.Set, mad.AttrLinearForwarding, table, table)
			t.passes(2e9, 3, 9, 6)
			t.passes(1e3, 3, 9, 7) // has lost its way
			t.passes(1e3, 3, 9, 8) // has no way
			table[6] = 2
			t.near(1e8, mad.Set, mad.AttrLinearForwarding, table, table)
			t.passes(2e9, 3, 9, 6) // has lost it, and is where it shall be
			t.passes(1e3, 1, 9, 7)
		},
		"tables": func(t *speaker) {
			t.meets(hub)
			for _, a := range []mad.Attribute{mad.AttrLinearForwarding, mad.AttrPKeyTable} {
				t.ask(1e9, mad.Set, a, 0, hub.data(a, 0), hub.data(a, 0))
				t.ask(2e9, mad.Get, a, 0, nil, hub.data(a, 0))
			}
		},
		"a repetition": func(t *speaker) {
			t.meets(adapter)
			t.ask(1e9, mad.Set, mad.AttrPKeyTable, 0, adapter.data(mad.AttrPKeyTable, 0), nil)
			t.tid--
			t.ask(1e9, mad.Set, mad.AttrPKeyTable, 0, adapter.data(mad.AttrPKeyTable, 0), adapter.data(mad.AttrPKeyTable, 0))
			t.ask(2e9, mad.Get, mad.AttrPKeyTable, 0, nil, adapter.data(mad.AttrPKeyTable, 0))
		},
		"managers": func(t *speaker) {
			manager := func(guid, priority, state, count uint64) []byte {
				b := make([]byte, 64)
				smGUID.PutUint(b, guid)
				smPriority.PutUint(b, priority)
				smState.PutUint(b, state)
				smCount.PutUint(b, count)
				return b
			}
			t.ask(1e9, mad.Get, mad.AttrSMInfo, 0, nil, manager(5, 3, master, 10))
			t.ask(1e9, mad.Get, mad.AttrSMInfo, 0, nil, manager(6, 3, master, 10))
			t.ask(59e9, mad.Get, mad.AttrSMInfo, 0, nil, manager(6, 3, master, 11))
			t.ask(1e9, mad.Get, mad.AttrSMInfo, 0, nil, manager(6, 3, standby, 12))
			t.ask(1e9, mad.Set, mad.AttrSMInfo, 2, make([]byte, 64), manager(5, 3, master, 12))
		},
	}
}

// TestBounds holds what is said at the bounds of all fields and times of conversations.
func TestBounds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	var out strings.Builder
	talks := boundTalks()
	talks["forwarding the other way"] = func(s *speaker) {
		s.turn = true
		talks["forwarding"](s)
	}
	for i, name := range []string{"keys", "a lease", "a key apart", "traps", "a directed route", "a route at two hops", "tables", "forwarding", "forwarding the other way", "a repetition", "managers"} {
		if i%sample.Stride(4) > 0 {
			continue
		}
		s := &speaker{now: 1 << 50}
		talks[name](s)
		out.WriteString(disturb.Bounds(name, s.list, func(list []packet.Packet) []rule.Finding {
			rec := new(rule.Recorder)
			v := New(rec, func(packet.Addr) bool { return true })
			for i := range list {
				p := list[i]
				if p.Frame = uint64(i + 1); Is(&p) {
					v.Packet(&p, true)
				} else {
					v.Leaves(&p)
				}
			}
			v.Finish()
			return rec.Findings
		}))
	}
	tally.Text(t, "testdata/bounds.txt", out.String())
}
