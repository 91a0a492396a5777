package sma

import (
	"encoding/binary"
	"testing"

	"ibwitness/mad"
)

// configured is a switch whose port 0 has LID 3 and the manager at LID 1, SubnetTimeOut 18: 1.07 s.
func configured(t *testing.T, faults ...string) (sw, host *Node) {
	t.Helper()
	sw, host = pair(t, faults...)
	if _, status, _ := setInfo(t, sw, 0, 0, map[string]uint64{"LID": 3, "masterSMLID": 1, "masterSMSL": 2, "subnetTimeOut": 18}); status != 0 {
		t.Fatal(status)
	}
	return sw, host
}

// TestTrap: trap 128 goes to the manager, is repeated with its TID not faster than SubnetTimeOut, and ends with its TrapRepress (rules SMP-TRP-001 to -007).
func TestTrap(t *testing.T) {
	sw, _ := pair(t)
	if b, _ := sw.Trap(0); b != nil {
		t.Error("a trap without LID and manager")
	}
	sw, _ = configured(t)
	sw.Cut(second, 1)
	var tids []uint64
	var s mad.SMP
	for now := second; now < 4*second; now += second / 100 {
		b, port := sw.Trap(now)
		if b == nil {
			continue
		}
		if err := s.Decode(b); err != nil || port != 0 || s.Method != mad.Trap || s.Attribute != mad.AttrNotice || s.MKey != 0 {
			t.Fatalf("%+v, port %d: %v", s.Header, port, err)
		}
		tids = append(tids, s.TID)
	}
	n := func(name string) uint64 { return mad.LayoutNotice.Field(name).Uint(s.Data) }
	if len(tids) != 3 || tids[0] != tids[2] || n("trapNumber") != 128 || n("nodeType") != 2 || n("issuerLID") != 3 || binary.BigEndian.Uint16(s.Data[10:]) != 3 {
		t.Errorf("TIDs %v, % x", tids, s.Data)
	}
	if lid, sl := sw.Manager(1); lid != 1 || sl != 2 {
		t.Error(lid, sl)
	}
	repress(t, sw, tids[0]+1)
	if b, _ := sw.Trap(10 * second); b == nil {
		t.Error("another TID has ended the trap")
	}
	repress(t, sw, tids[0])
	if b, _ := sw.Trap(20 * second); b != nil {
		t.Error("the trap goes on")
	}
}

func repress(t *testing.T, n *Node, tid uint64) {
	t.Helper()
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.TrapRepress, Attribute: mad.AttrNotice, TID: tid}}
	b := make([]byte, mad.Size)
	if err := s.Encode(b); err != nil || n.Receive(0, 1, b) != nil {
		t.Error("TrapRepress is answered", err)
	}
}

// TestTrapNumbers: traps 144 and 256 (table T14).
func TestTrapNumbers(t *testing.T) {
	_, host := pair(t)
	for _, st := range []uint64{Armed, Active} {
		if _, status, _ := setInfo(t, host, 1, 0, map[string]uint64{"LID": 4, "masterSMLID": 1, "MKey": 5, "portState": st}); status != 0 && st == Armed {
			t.Fatal(status)
		}
		if st == Armed {
			setInfo(t, host, 1, 5, map[string]uint64{"portState": Active})
		}
	}
	for _, c := range []struct {
		do     func()
		number uint64
		at     int
		want   uint64
	}{
		{func() { host.SetSM(0, new(SM)) }, 144, 16, piCapability.Uint(host.PortInfo(1)) | CapSM},
		{func() { setInfo(t, host, 1, 5, map[string]uint64{"linkWidthEnabled": 1}) }, 144, 18, (piCapability.Uint(host.PortInfo(1))|CapSM)<<16&0xFFFFFFFF | 2},
		{func() { setInfo(t, host, 1, 6, nil) }, 256, 20, 1},
	} {
		host.traps, host.ports[1].trapSent = nil, false
		c.do()
		b, port := host.Trap(0)
		if b == nil {
			t.Errorf("trap %d is not sent", c.number)
			continue
		}
		d := b[mad.SMPData:]
		if n := mad.LayoutNotice.Field("trapNumber").Uint(d); n != c.number || port != 1 || uint64(binary.BigEndian.Uint32(d[c.at:])) != c.want || binary.BigEndian.Uint16(d[12:]) != 4 {
			t.Errorf("trap %d, not %d, of port %d: % x", n, c.number, port, d)
		}
	}
}

// TestRelay: hop pointer, return path and egress of a directed route at a switch and at a host (C14-6, C14-9, C14-13, table T17).
func TestRelay(t *testing.T) {
	const perm = mad.PermissiveLID
	for _, c := range []struct {
		name           string
		host, own      bool
		hp, hc         int
		back           bool
		slid, dlid     uint16
		want           Route
		out, left, ret uint8 // egress, hop pointer after it, ReturnPath at the previous hop pointer
	}{
		{"out 1", true, true, 0, 2, false, perm, perm, Forward, 2, 1, 0},
		{"out 1 from the link", false, false, 0, 2, false, perm, perm, Discard, 0, 0, 0},
		{"out 2", false, false, 1, 2, false, perm, perm, Forward, 3, 2, 7},
		{"out 2 at a host", true, false, 1, 2, false, perm, perm, Discard, 0, 1, 0},
		{"out 3", false, false, 2, 2, false, perm, perm, Deliver, 0, 3, 7},
		{"out 3 by LID", false, false, 2, 2, false, perm, 5, ByLID, 0, 3, 7},
		{"out 3 by LID at a host", true, false, 2, 2, false, perm, 5, Discard, 0, 3, 2},
		{"out 4", false, false, 3, 2, false, perm, perm, Deliver, 0, 3, 0},
		{"out 5", false, false, 4, 2, false, perm, perm, Discard, 0, 4, 0},
		{"no hop", true, true, 0, 0, false, perm, perm, Deliver, 0, 1, 0},
		{"limit", false, false, 1, 64, false, perm, perm, Discard, 0, 1, 0},
		{"no such port", false, false, 2, 3, false, perm, perm, Discard, 0, 2, 0},
		{"ret 1", true, true, 3, 2, true, perm, perm, Forward, 2, 2, 0},
		{"ret 2", false, false, 2, 2, true, perm, perm, Forward, 1, 1, 0},
		{"ret 2 at a host", true, false, 2, 2, true, perm, perm, Discard, 0, 2, 0},
		{"ret 3", true, false, 1, 2, true, perm, perm, Deliver, 0, 0, 0},
		{"ret 3 by LID", false, false, 1, 2, true, 5, perm, ByLID, 0, 0, 0},
		{"ret 4", true, false, 0, 2, true, perm, perm, Deliver, 0, 0, 0},
		{"ret 5", false, false, 4, 2, true, perm, perm, Discard, 0, 4, 0},
	} {
		n, port := node(t, switchConfig()), uint8(7)
		if c.host {
			n, port = node(t, hostConfig()), 2
		}
		s := mad.SMP{
			Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.Get}, DrSLID: c.slid, DrDLID: c.dlid,
			Initial: []byte{0, 2, 3, 99}, Return: make([]byte, 64),
		}
		if c.back {
			s.Method, s.Status, s.Return = mad.GetResp, direction, []byte{0, 1, 2}
		}
		s.SetHops(c.hp, c.hc)
		b := make([]byte, mad.Size)
		if err := s.Encode(b); err != nil {
			t.Fatal(err)
		}
		route, out := n.Relay(port, c.own, b)
		if route != c.want || route == Forward && out != c.out || route != Discard && b[6] != c.left || !c.back && route != Discard && c.hp > 0 && b[192+c.hp] != c.ret {
			t.Errorf("%s: %v out of port %d, hop pointer %d, return path % x", c.name, route, out, b[6], b[192:196])
		}
	}
}

// TestEgress: packets go by the table, and are dropped beyond LinearFDBTop and for ports that are not there (rule SMP-LF-002).
func TestEgress(t *testing.T) {
	sw, host := configured(t)
	block := make([]byte, 64)
	block[4], block[5], block[6] = 2, 99, 1
	ask(t, sw, asked{port: 1, method: mad.Set, attribute: mad.AttrLinearForwarding, data: block})
	b := get(t, sw, 1, mad.AttrSwitchInfo, 0)
	siLinearTop.PutUint(b, 5)
	ask(t, sw, asked{port: 1, method: mad.Set, attribute: mad.AttrSwitchInfo, data: b})
	for _, c := range []struct {
		lid  uint16
		own  bool
		port uint8
		want Route
		out  uint8
	}{{3, false, 1, Deliver, 0}, {4, false, 1, Forward, 2}, {4, false, 2, Discard, 0}, {5, false, 1, Discard, 0}, {6, true, 0, Discard, 0}} {
		if route, out := sw.Unicast(c.port, c.own, c.lid); route != c.want || out != c.out {
			t.Errorf("LID %d: %v out of port %d", c.lid, route, out)
		}
	}
	if route, out := host.Unicast(1, true, 9); route != Forward || out != 1 {
		t.Error(route, out)
	}
}

// TestPerformance: counters are selected, set, added up and stay at their greatest value (rules MAD-CPI-001, MAD-PM-001).
func TestPerformance(t *testing.T) {
	n := node(t, switchConfig())
	asks := func(m mad.Method, a mad.Attribute, set map[string]uint64) ([]byte, mad.Status) {
		h := mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: m, Attribute: a, TID: 5}
		b := make([]byte, mad.Size)
		if err := h.Encode(b); err != nil {
			t.Fatal(err)
		}
		for f, v := range set {
			mad.LayoutPortCounters.Field(f).PutUint(b[64:], v)
		}
		out := n.Receive(0, 1, b)
		if out == nil {
			t.Fatal("no answer")
		}
		var r mad.Header
		if err := mad.DecodeHeader(out, &r); err != nil || r.Method != mad.GetResp || r.TID != 5 {
			t.Fatal(r, err)
		}
		return out[64:], mad.Status(r.Status)
	}
	c := func(b []byte, name string) uint64 { return mad.LayoutPortCounters.Field(name).Uint(b) }
	if b, status := asks(mad.Get, mad.AttrClassPortInfo, nil); status != 0 || b[0] != 1 || b[1] != 1 {
		t.Errorf("ClassPortInfo: %v, % x", status, b[:8])
	}
	n.Count(1, XmitData, 1<<33)
	n.Count(2, XmitData, 5)
	n.Count(2, LinkDowned, 300)
	b, status := asks(mad.Get, mad.AttrPortCounters, map[string]uint64{"portSelect": 2})
	if status != 0 || c(b, "portXmitData") != 5 || c(b, "linkDownedCounter") != 255 {
		t.Errorf("port 2: %v, % x", status, b[:44])
	}
	if b, _ := asks(mad.Get, mad.AttrPortCounters, map[string]uint64{"portSelect": 255}); c(b, "portXmitData") != 0xFFFFFFFF {
		t.Errorf("all ports: % x", b[:44])
	}
	if b, _ := asks(mad.Get, mad.AttrPortCountersExtended, map[string]uint64{"portSelect": 1}); mad.LayoutPortCountersExtended.Field("portXmitData").Uint(b) != 1<<33 {
		t.Errorf("extended: % x", b[:72])
	}
	b, _ = asks(mad.Set, mad.AttrPortCounters, map[string]uint64{"portSelect": 2, "counterSelect": 1 << 2})
	if c(b, "portXmitData") != 5 || c(b, "linkDownedCounter") != 0 {
		t.Errorf("set: % x", b[:44])
	}
	for name, s := range map[string]mad.Status{"port": mad.StatusValue, "attribute": mad.StatusAttribute, "method": mad.StatusMethod} {
		m, a, port := mad.Get, mad.AttrPortCounters, uint64(9)
		switch name {
		case "attribute":
			a = mad.AttrPortSamplesControl
		case "method":
			m = mad.Send
		}
		if _, status := asks(m, a, map[string]uint64{"portSelect": port}); status != s {
			t.Errorf("%s: %v", name, status)
		}
	}
}
