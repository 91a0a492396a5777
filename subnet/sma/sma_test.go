package sma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/subnet"
)

const second = int64(time.Second)

// node makes one of a fabric of tests; change may alter what it is.
func node(t *testing.T, c Config, faults ...string) *Node {
	t.Helper()
	c.Faults = faults
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func switchConfig() Config {
	c := SwitchConfig(0x1000, "switch", 8)
	c.EnhancedPort0, c.Led = true, true
	return c
}

// randomConfig is a switch that forwards by its RandomForwardingTable.
func randomConfig() Config {
	c := switchConfig()
	c.LinearCap, c.RandomCap = 0, 40
	return c
}

// TestRandomForwarding: a switch has a RandomForwardingTable in place of a linear one, in blocks of 16 entries, and forwards by the entry that has the LID, among those
// of its LMC, else to DefaultPort (sections 14.2.5.11 and 18.2.4.3).
func TestRandomForwarding(t *testing.T) {
	n := node(t, randomConfig())
	info := get(t, n, 1, mad.AttrSwitchInfo, 0)
	if si("randomFDBCap").Uint(info) != 40 || si("linearFDBCap").Uint(info) != 0 || siDefault.Uint(info) != noPort {
		t.Errorf("SwitchInfo % x", info)
	}
	for a, want := range map[mad.Attribute][3]mad.Status{mad.AttrRandomForwarding: {0, 0, mad.StatusValue}, mad.AttrLinearForwarding: {mad.StatusAttribute, mad.StatusAttribute, mad.StatusAttribute}} {
		for i, block := range []uint32{0, 2, 3} {
			for _, m := range []mad.Method{mad.Get, mad.Set} {
				if _, status, _ := ask(t, n, asked{port: 1, method: m, attribute: a, modifier: block}); status != want[i] {
					t.Errorf("%v of 0x%x, block %d: %v", m, uint16(a), block, status)
				}
			}
		}
	}
	entries := []byte{0, 7, 0x8F, 3, 0, 16, 0xA0, 4, 0, 9, 0x00, 5, 0, 10, 0x80, 9} // LID 7 by port 3; 16 to 19 by 4; LID 9 not valid; LID 10 by a port that is not there
	if data, _, _ := ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrRandomForwarding, modifier: 2, data: entries}); data[2] != 0x80 || !bytes.Equal(data[3:16], entries[3:]) || !bytes.Equal(data, get(t, n, 1, mad.AttrRandomForwarding, 2)) {
		t.Errorf("% x", data)
	}
	routes := func() (s string) {
		for _, lid := range []uint16{7, 8, 9, 10, 16, 19, 20} {
			out, ok := n.Egress(lid)
			s += fmt.Sprintf("%d %v, ", out, ok)
		}
		return s
	}
	if got, want := routes(), "3 true, 255 false, 255 false, 9 false, 4 true, 4 true, 255 false, "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	siDefault.PutUint(info, 6)
	ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrSwitchInfo, data: info})
	if got, want := routes(), "3 true, 6 true, 6 true, 9 false, 4 true, 4 true, 6 true, "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func hostConfig() Config {
	return Config{Type: subnet.ChannelAdapter, GUID: 0x2000, Description: "host", Ports: 2, Led: true}
}

// asked is a request to a node.
type asked struct {
	port      uint8
	method    mad.Method
	attribute mad.Attribute
	modifier  uint32
	key       uint64
	data      []byte
	now       int64
}

// TestBusy: a node that is busy says so, does nothing, and then carries out what it is asked (section 13.4.7).
func TestBusy(t *testing.T) {
	c := hostConfig()
	c.Busy = 2
	n := node(t, c)
	for i := range 6 {
		_, status, ok := ask(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo})
		if want := (i+1)%3 != 0; !ok || (status == mad.StatusBusy) != want || (status == 0) == want {
			t.Errorf("request %d: %v, %v", i+1, status, ok)
		}
	}
}

// ask returns the answer; ok is false where there is none. Answers are checked for what all have in common.
func ask(t *testing.T, n *Node, a asked) (data []byte, status mad.Status, ok bool) {
	t.Helper()
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: a.method, TID: 77, Attribute: a.attribute, Modifier: a.modifier}, MKey: a.key, Data: a.data}
	b := make([]byte, mad.Size)
	if err := s.Encode(b); err != nil {
		t.Fatal(err)
	}
	out := n.Receive(a.now, a.port, b)
	if out == nil {
		return nil, 0, false
	}
	var r mad.SMP
	if err := r.Decode(out); err != nil || r.Method != mad.GetResp || r.TID != 77 || r.Attribute != a.attribute || r.Modifier != a.modifier {
		t.Errorf("%+v: answer %+v, %v", a, r.Header, err)
	}
	return r.Data, r.Code(), true
}

// get asks for an attribute that is there.
func get(t *testing.T, n *Node, port uint8, attribute mad.Attribute, modifier uint32) []byte {
	t.Helper()
	data, status, ok := ask(t, n, asked{port: port, method: mad.Get, attribute: attribute, modifier: modifier})
	if status != 0 || !ok {
		t.Fatalf("Get of attribute 0x%x, modifier 0x%x: %v, %v", attribute, modifier, status, ok)
	}
	return data
}

// info is PortInfo of a port with components changed.
func info(n *Node, port uint8, change map[string]uint64) []byte {
	b := n.PortInfo(port)
	piState.PutUint(b, 0)
	piPhysical.PutUint(b, 0)
	for name, v := range change {
		pi(name).PutUint(b, v)
	}
	return b
}

// setInfo sets components of PortInfo and returns the answer.
func setInfo(t *testing.T, n *Node, port uint8, key uint64, change map[string]uint64) ([]byte, mad.Status, bool) {
	t.Helper()
	return ask(t, n, asked{port: max(port, 1), method: mad.Set, attribute: mad.AttrPortInfo, modifier: uint32(port), key: key, data: info(n, port, change)})
}

// pair is a host at port 1 of a switch, the link in Initialize.
func pair(t *testing.T, faults ...string) (sw, host *Node) {
	t.Helper()
	sw, host = node(t, switchConfig(), faults...), node(t, hostConfig(), faults...)
	if !Join(0, sw, 1, host, 1) {
		t.Fatal("no link")
	}
	return sw, host
}

func TestConfig(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"type": func(c *Config) { c.Type = 0 }, "GUID": func(c *Config) { c.GUID = 0 }, "ports": func(c *Config) { c.Ports = 255 },
		"description": func(c *Config) { c.Description = strings.Repeat("x", 65) }, "host with tables": func(c *Config) { c.Type = subnet.ChannelAdapter },
		"VLCap": func(c *Config) { c.VLCap = 6 }, "linear": func(c *Config) { c.LinearCap = 0xC001 }, "VLArbitration": func(c *Config) { c.VLArbitration = 65 },
		"NoSLtoVL": func(c *Config) { c.NoSLtoVL, c.VLCap = true, 4 }, "RespTime": func(c *Config) { c.RespTime = 32 },
		"two tables": func(c *Config) { c.RandomCap = 16 },
	} {
		c := switchConfig()
		change(&c)
		if _, err := New(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := hostConfig()
	c.Faults = []string{"no such"}
	if _, err := New(c); !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), "mkey-ignored") {
		t.Errorf("fault: %v", err)
	}
}

// TestMethods: which attribute has which method (tables T10 and T11), status code 3 for the others, 7 for modifiers beyond their range.
func TestMethods(t *testing.T) {
	single := switchConfig()
	single.VLCap, single.NoSLtoVL, single.EnhancedPort0, single.Led = 1, true, false, false
	single.LinearCap, single.MulticastCap, single.Enforcement = 0, 0, 0
	const no, bad = mad.StatusAttribute, mad.StatusValue
	nodes := []Config{switchConfig(), hostConfig(), single}
	for _, c := range []struct {
		attribute mad.Attribute
		modifier  uint32
		get, set  [3]mad.Status // of a switch, a host, a switch with nothing optional
	}{
		{mad.AttrNotice, 0, [3]mad.Status{no, no, no}, [3]mad.Status{no, no, no}},
		{mad.AttrNodeDescription, 0, [3]mad.Status{}, [3]mad.Status{no, no, no}},
		{mad.AttrNodeDescription, 1, [3]mad.Status{bad, bad, bad}, [3]mad.Status{no, no, no}},
		{mad.AttrNodeInfo, 0, [3]mad.Status{}, [3]mad.Status{no, no, no}},
		{mad.AttrNodeInfo, 1, [3]mad.Status{bad, bad, bad}, [3]mad.Status{no, no, no}},
		{mad.AttrSwitchInfo, 0, [3]mad.Status{0, no, 0}, [3]mad.Status{0, no, 0}},
		{mad.AttrSwitchInfo, 1, [3]mad.Status{bad, no, bad}, [3]mad.Status{bad, no, bad}},
		{mad.AttrGUIDInfo, 0, [3]mad.Status{}, [3]mad.Status{}},
		{mad.AttrGUIDInfo, 1, [3]mad.Status{bad, bad, bad}, [3]mad.Status{bad, bad, bad}},
		{mad.AttrPortInfo, 9, [3]mad.Status{bad, bad, bad}, [3]mad.Status{bad, bad, bad}},
		{mad.AttrPortInfo, 1 << 31, [3]mad.Status{}, [3]mad.Status{0, bad, 0}}, // a port 0 has no MTU to set
		{mad.AttrPortInfo, 2, [3]mad.Status{}, [3]mad.Status{bad, bad, bad}},
		{mad.AttrPKeyTable, 0, [3]mad.Status{}, [3]mad.Status{}},
		{mad.AttrPKeyTable, 1, [3]mad.Status{bad, bad, bad}, [3]mad.Status{bad, bad, bad}},
		{mad.AttrPKeyTable, 8 << 16, [3]mad.Status{0, 0, bad}, [3]mad.Status{0, 0, bad}},
		{mad.AttrPKeyTable, 9 << 16, [3]mad.Status{bad, 0, bad}, [3]mad.Status{bad, 0, bad}},
		{mad.AttrSLtoVL, 0x0800, [3]mad.Status{0, 0, no}, [3]mad.Status{0, 0, no}},
		{mad.AttrSLtoVL, 0x0008, [3]mad.Status{0, 0, no}, [3]mad.Status{0, 0, no}},
		{mad.AttrSLtoVL, 0x0900, [3]mad.Status{bad, 0, no}, [3]mad.Status{bad, 0, no}},
		{mad.AttrSLtoVL, 0x30101, [3]mad.Status{bad, 0, no}, [3]mad.Status{bad, 0, no}},
		{mad.AttrVLArbitration, 1 << 16, [3]mad.Status{0, 0, no}, [3]mad.Status{0, 0, no}},
		{mad.AttrVLArbitration, 2 << 16, [3]mad.Status{bad, bad, no}, [3]mad.Status{bad, bad, no}},
		{mad.AttrVLArbitration, 5 << 16, [3]mad.Status{bad, bad, no}, [3]mad.Status{bad, bad, no}},
		{mad.AttrLinearForwarding, 767, [3]mad.Status{0, no, no}, [3]mad.Status{0, no, no}},
		{mad.AttrLinearForwarding, 768, [3]mad.Status{bad, no, no}, [3]mad.Status{bad, no, no}},
		{mad.AttrLinearForwarding, 1 << 31, [3]mad.Status{bad, no, no}, [3]mad.Status{bad, no, no}},
		{mad.AttrRandomForwarding, 0, [3]mad.Status{no, no, no}, [3]mad.Status{no, no, no}},
		{mad.AttrMulticastForwarding, 31, [3]mad.Status{0, no, no}, [3]mad.Status{0, no, no}},
		{mad.AttrMulticastForwarding, 32, [3]mad.Status{bad, no, no}, [3]mad.Status{bad, no, no}},
		{mad.AttrMulticastForwarding, 1 << 28, [3]mad.Status{bad, no, no}, [3]mad.Status{bad, no, no}},
		{mad.AttrLinkSpeedWidthPairs, 0, [3]mad.Status{no, no, no}, [3]mad.Status{no, no, no}},
		{mad.AttrSMInfo, 0, [3]mad.Status{no, no, no}, [3]mad.Status{no, no, no}},
		{mad.AttrVendorDiag, 0, [3]mad.Status{}, [3]mad.Status{no, no, no}},
		{mad.AttrLedInfo, 1, [3]mad.Status{0, 0, no}, [3]mad.Status{0, 0, no}},
		{mad.AttrLedInfo, 9, [3]mad.Status{bad, bad, no}, [3]mad.Status{bad, bad, no}},
		{0xFF90, 0, [3]mad.Status{no, no, no}, [3]mad.Status{no, no, no}},
	} {
		for i, config := range nodes {
			for m, want := range map[mad.Method]mad.Status{mad.Get: c.get[i], mad.Set: c.set[i]} {
				_, status, ok := ask(t, node(t, config), asked{port: 1, method: m, attribute: c.attribute, modifier: c.modifier})
				if status != want || !ok {
					t.Errorf("node %d: %v of attribute 0x%x, modifier 0x%x: %v, not %v; answered %v", i, m, uint16(c.attribute), c.modifier, status, want, ok)
				}
			}
		}
	}
}

// TestUnanswered: what gets no answer, and what another status.
func TestUnanswered(t *testing.T) {
	n := node(t, hostConfig())
	for _, m := range []mad.Method{mad.GetResp, mad.Trap, mad.TrapRepress, mad.ReportResp} {
		if _, _, ok := ask(t, n, asked{port: 1, method: m, attribute: mad.AttrNodeInfo}); ok {
			t.Errorf("%v is answered", m)
		}
	}
	if _, status, _ := ask(t, n, asked{port: 1, method: mad.Send, attribute: mad.AttrNodeInfo}); status != mad.StatusMethod {
		t.Errorf("Send: %v", status)
	}
	if _, _, ok := ask(t, n, asked{port: 3, method: mad.Get, attribute: mad.AttrNodeInfo}); ok {
		t.Error("a port that is not there answers")
	}
	b := make([]byte, mad.Size)
	b[0], b[1], b[2], b[3] = 1, 1, 2, 1
	if out := n.Receive(0, 1, b); out == nil || binary.BigEndian.Uint16(out[4:]) != uint16(mad.StatusVersion) {
		t.Errorf("class version 2: % x", out)
	}
	if n.Receive(0, 1, b[:255]) != nil {
		t.Error("255 bytes are answered")
	}
}

// TestNodeInfo: the port at which the SMP comes in is in the answer (rule SMP-NI-001), also of PortInfo of another port.
func TestNodeInfo(t *testing.T) {
	sw, host := node(t, switchConfig()), node(t, hostConfig())
	guid, local := mad.LayoutNodeInfo.Field("portGUID"), mad.LayoutNodeInfo.Field("localPortNum")
	for port := range uint8(3) {
		b := get(t, sw, port, mad.AttrNodeInfo, 0)
		if guid.Uint(b) != 0x1000 || local.Uint(b) != uint64(port) || piLocalPort.Uint(get(t, sw, port, mad.AttrPortInfo, 5)) != uint64(port) {
			t.Errorf("switch port %d: % x", port, b)
		}
		if port == 0 {
			continue
		}
		b = get(t, host, port, mad.AttrNodeInfo, 0)
		if guid.Uint(b) != 0x2000+uint64(port) || local.Uint(b) != uint64(port) || mad.LayoutNodeInfo.Field("nodeType").Uint(b) != 1 {
			t.Errorf("host port %d: % x", port, b)
		}
	}
	if b := get(t, host, 1, mad.AttrNodeDescription, 0); string(bytes.TrimRight(b, "\x00")) != "host" {
		t.Errorf("%q", b)
	}
}

// TestPortInfoSet: read-write components take legal values; an illegal one is refused with code 7, and nothing changes (rules SMP-PI-002 to -007).
func TestPortInfoSet(t *testing.T) {
	for _, c := range []struct {
		port   uint8 // of the switch; 9: the host
		change map[string]uint64
		want   map[string]uint64 // nil: refused
	}{
		{9, map[string]uint64{"LID": 8, "LMC": 3, "masterSMLID": 1, "masterSMSL": 3}, map[string]uint64{"LID": 8, "LMC": 3, "masterSMLID": 1, "masterSMSL": 3}},
		{9, map[string]uint64{"LID": 9, "LMC": 3}, nil},
		{9, map[string]uint64{"LID": 0xC000}, nil},
		{9, map[string]uint64{"LID": 5, "masterSMLID": 0xFFFF}, nil},
		{9, map[string]uint64{"LID": 5, "GIDPrefix": 7, "subnetTimeOut": 18}, map[string]uint64{"GIDPrefix": 7, "subnetTimeOut": 18}},
		{9, map[string]uint64{"linkWidthEnabled": 0}, map[string]uint64{"linkWidthEnabled": 3}},
		{9, map[string]uint64{"linkWidthEnabled": 1}, map[string]uint64{"linkWidthEnabled": 1}},
		{9, map[string]uint64{"linkWidthEnabled": 0xFF}, map[string]uint64{"linkWidthEnabled": 3}},
		{9, map[string]uint64{"linkWidthEnabled": 8}, nil},
		{9, map[string]uint64{"linkSpeedEnabled": 8}, nil},
		{9, map[string]uint64{"linkSpeedEnabled": 15}, map[string]uint64{"linkSpeedEnabled": 7}},
		{9, map[string]uint64{"linkDownDefaultState": 3}, nil},
		{9, map[string]uint64{"neighborMTU": 0}, nil},
		{9, map[string]uint64{"neighborMTU": 6}, nil},
		{9, map[string]uint64{"neighborMTU": 2}, map[string]uint64{"neighborMTU": 2}},
		{9, map[string]uint64{"operationalVLs": 5}, nil},
		{9, map[string]uint64{"operationalVLs": 0}, map[string]uint64{"operationalVLs": 4}},
		{9, map[string]uint64{"capabilityMask": 0, "MTUCap": 1, "VLCap": 1, "respTimeValue": 3}, map[string]uint64{"MTUCap": 5, "VLCap": 4, "respTimeValue": 16}},
		{9, map[string]uint64{"portState": Initialize}, nil},
		{9, map[string]uint64{"portState": Active}, nil},
		{9, map[string]uint64{"portState": Armed}, map[string]uint64{"portState": Armed, "portPhysicalState": linkUp}},
		{9, map[string]uint64{"portState": Armed, "portPhysicalState": polling}, nil},
		{9, map[string]uint64{"portPhysicalState": 4}, nil},
		{9, map[string]uint64{"portState": 5}, nil},
		{9, map[string]uint64{"portState": Down}, map[string]uint64{"portState": Down, "portPhysicalState": polling}},
		{9, map[string]uint64{"portState": Down, "portPhysicalState": disabled}, map[string]uint64{"portState": Down, "portPhysicalState": disabled}},
		{1, map[string]uint64{"LID": 0xFFFF, "masterSMLID": 0xFFFF, "MKey": 5}, map[string]uint64{"LID": 0, "masterSMLID": 0, "MKey": 0}},
		{1, map[string]uint64{"VLStallCount": 3, "HOQLife": 12}, map[string]uint64{"VLStallCount": 3, "HOQLife": 12}},
		{1, map[string]uint64{"partitionEnforcementInbound": 1}, map[string]uint64{"partitionEnforcementInbound": 1}},
		{2, map[string]uint64{"portState": Armed}, nil},
		{0, map[string]uint64{"LID": 3, "masterSMLID": 1, "neighborMTU": 9}, map[string]uint64{"LID": 3, "masterSMLID": 1, "neighborMTU": 5}},
		{0, map[string]uint64{"portState": Down}, map[string]uint64{"portState": Active}},
	} {
		sw, host := pair(t)
		n, port := sw, c.port
		if port == 9 {
			n, port = host, 1
		}
		before := n.PortInfo(port)
		data, status, ok := setInfo(t, n, port, 0, c.change)
		name := fmt.Sprintf("port %d: %v", c.port, c.change)
		if after := n.PortInfo(port); c.want == nil {
			if status != mad.StatusValue || !ok || !bytes.Equal(before, after) {
				t.Errorf("%s: %v, answered %v, changed %v", name, status, ok, !bytes.Equal(before, after))
			}
			continue
		}
		if status != 0 || !ok {
			t.Errorf("%s: %v, answered %v", name, status, ok)
		}
		for f, v := range c.want {
			if got, is := pi(f).Uint(data), pi(f).Uint(n.PortInfo(port)); got != v || is != v {
				t.Errorf("%s: %s is %d in the answer and %d in the port, not %d", name, f, got, is, v)
			}
		}
	}
}

// TestReregister: the bit is in the answer and not in the next one (rule SMP-PI-008).
func TestReregister(t *testing.T) {
	_, host := pair(t)
	data, _, _ := setInfo(t, host, 1, 0, map[string]uint64{"clientReregister": 1})
	if piReregister.Uint(data) != 1 || piReregister.Uint(get(t, host, 1, mad.AttrPortInfo, 0)) != 0 {
		t.Errorf("% x", data)
	}
}

// TestLink: a port goes from Down to Initialize, Armed, Active; a link that is lost sets PortStateChange, one taken down by a Set only at its other end
// (sections 7.2.7 and 14.2.5.4).
func TestLink(t *testing.T) {
	sw, host := pair(t)
	if !sw.PortStateChange() || piWidth.Uint(sw.PortInfo(1)) != 2 || piSpeed.Uint(host.PortInfo(1)) != 4 {
		t.Errorf("PortStateChange %v, % x", sw.PortStateChange(), sw.PortInfo(1))
	}
	si := get(t, sw, 1, mad.AttrSwitchInfo, 0)
	if _, status, _ := ask(t, sw, asked{port: 1, method: mad.Set, attribute: mad.AttrSwitchInfo, data: si}); status != 0 || sw.PortStateChange() {
		t.Errorf("%v, PortStateChange %v", status, sw.PortStateChange())
	}
	for _, st := range []uint64{Armed, Active, Down} {
		if _, status, _ := setInfo(t, sw, 1, 0, map[string]uint64{"portState": st}); status != 0 || sw.State(1) != uint8(st) {
			t.Errorf("to state %d: %v, state %d", st, status, sw.State(1))
		}
	}
	if got := sw.Training(); len(got) != 1 || got[0] != 1 || sw.PortStateChange() || sw.Training() != nil {
		t.Errorf("training %v, PortStateChange %v", got, sw.PortStateChange())
	}
	host.Cut(0, 1)
	if !Join(0, sw, 1, host, 1) || sw.State(1) != Initialize || Join(0, sw, 1, host, 1) {
		t.Error("the link does not train once")
	}
	if _, _, _ = setInfo(t, host, 1, 0, map[string]uint64{"portPhysicalState": disabled}); host.Polls(1) {
		t.Error("a disabled port trains")
	}
	sw.Cut(0, 1)
	if !sw.PortStateChange() || Join(0, sw, 1, host, 1) {
		t.Error("a disabled port has a link")
	}
}

// TestMKey: which requests a port lets through, by its protect bits (rules SMP-MK-001 to -003), and what it shows.
func TestMKey(t *testing.T) {
	for protect := range uint64(4) {
		_, host := pair(t)
		if data, status, ok := setInfo(t, host, 1, 0, map[string]uint64{"MKey": 5, "MKeyProtectBits": protect}); status != 0 || !ok || piMKey.Uint(data) != 5 {
			t.Fatal(status, ok)
		}
		data, _, ok := ask(t, host, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, key: 6})
		if ok != (protect < 2) || ok && (piMKey.Uint(data) == 5) != (protect == 0) {
			t.Errorf("protect bits %d: Get with a wrong key answered %v: % x", protect, ok, data)
		}
		if data := mustGet(t, host, 5); piMKey.Uint(data) != 5 || piMKeyBad.Uint(data) != protect/2 {
			t.Errorf("protect bits %d: % x", protect, data)
		}
		if _, _, ok := setInfo(t, host, 1, 6, map[string]uint64{"LID": 9}); ok || piLID.Uint(host.PortInfo(1)) != 0 {
			t.Errorf("protect bits %d: Set with a wrong key is answered", protect)
		}
		if _, _, ok := setInfo(t, host, 1, 5, map[string]uint64{"LID": 9}); !ok || piLID.Uint(host.PortInfo(1)) != 9 {
			t.Errorf("protect bits %d: Set with the key is not answered", protect)
		}
		if n := piMKeyBad.Uint(host.PortInfo(1)); n != protect/2+1 {
			t.Errorf("protect bits %d: %d violations", protect, n)
		}
	}
}

func mustGet(t *testing.T, n *Node, key uint64) []byte {
	t.Helper()
	data, _, ok := ask(t, n, asked{port: 1, method: mad.Get, attribute: mad.AttrPortInfo, key: key})
	if !ok {
		t.Fatal("no answer")
	}
	return data
}

// TestLease: protect bits end with the lease that a wrong key has started; a valid key stops it, and period 0 has no end (rule SMP-MK-005).
func TestLease(t *testing.T) {
	for _, c := range []struct {
		name           string
		period         uint64
		right          int64 // when a valid key comes; 0: never
		early, expired bool  // at 9 and at 11 seconds
	}{
		{"ends", 10, 0, false, true}, {"is stopped", 10, 5 * second, false, false}, {"has no end", 0, 0, false, false},
	} {
		_, host := pair(t)
		setInfo(t, host, 1, 0, map[string]uint64{"MKey": 5, "MKeyProtectBits": 2, "MKeyLeasePeriod": c.period})
		ask(t, host, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo, key: 6})
		if c.right != 0 {
			ask(t, host, asked{port: 1, method: mad.Get, attribute: mad.AttrNodeInfo, key: 5, now: c.right})
		}
		for _, at := range []struct {
			now  int64
			want bool
		}{{9 * second, c.early}, {11 * second, c.expired}} {
			host.expire(at.now)
			if got := piProtect.Uint(host.PortInfo(1)) == 0; got != at.want {
				t.Errorf("%s: expired %v at %d s", c.name, got, at.now/second)
			}
		}
	}
}

// TestTables: what is set is in the answer and in the next Get (rule SMP-MTH-004), of its block only.
func TestTables(t *testing.T) {
	pattern := bytes.Repeat([]byte{0x12, 0x34}, 32)
	for _, c := range []struct {
		attribute      mad.Attribute
		modifier       uint32
		other          uint32 // of another table
		from, to, size int    // of the pattern that is stored
	}{
		{mad.AttrGUIDInfo, 0, 0, 8, 64, 64},
		{mad.AttrPKeyTable, 0, 1 << 16, 0, 64, 64},
		{mad.AttrSLtoVL, 0x0102, 0x0202, 0, 8, 8},
		{mad.AttrVLArbitration, 3<<16 | 1, 1<<16 | 1, 0, 16, 64},
		{mad.AttrLinearForwarding, 2, 3, 0, 64, 64},
		{mad.AttrMulticastForwarding, 1, 2, 0, 64, 64},
	} {
		n := node(t, switchConfig())
		before := append([]byte(nil), get(t, n, 1, c.attribute, c.other)...)
		data, status, ok := ask(t, n, asked{port: 1, method: mad.Set, attribute: c.attribute, modifier: c.modifier, data: pattern})
		again := get(t, n, 1, c.attribute, c.modifier)
		if status != 0 || !ok || !bytes.Equal(data, again) || !bytes.Equal(data[c.from:c.to], pattern[c.from:c.to]) || c.from > 0 && bytes.Equal(data[:c.from], pattern[:c.from]) {
			t.Errorf("attribute 0x%x: %v %v\n% x\n% x", uint16(c.attribute), status, ok, data, again)
		}
		if c.other != c.modifier && !bytes.Equal(before, get(t, n, 1, c.attribute, c.other)) {
			t.Errorf("attribute 0x%x: modifier 0x%x changed too", uint16(c.attribute), c.other)
		}
	}
	n := node(t, switchConfig())
	if _, status, _ := ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrVLArbitration, modifier: 1<<16 | 1, data: []byte{0x0F, 1}}); status != mad.StatusValue {
		t.Errorf("VL 15 in VLArbitrationTable: %v", status)
	}
	if _, status, _ := ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrLedInfo, modifier: 1, data: []byte{0x80}}); status != 0 || get(t, n, 1, mad.AttrLedInfo, 1)[0] != 0x80 {
		t.Errorf("LedInfo: %v", status)
	}
}

// TestSLtoVLOptimized: modifier bits 16 and 17 set all input and output ports at once.
func TestSLtoVLOptimized(t *testing.T) {
	c := switchConfig()
	c.Optimized = true
	n := node(t, c)
	if _, status, _ := ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrSLtoVL, modifier: 3 << 16, data: []byte{0x77}}); status != 0 {
		t.Fatal(status)
	}
	for in := range uint32(9) {
		for out := range uint32(9) {
			if b := get(t, n, 1, mad.AttrSLtoVL, in<<8|out); b[0] != 0x77 {
				t.Errorf("input %d, output %d: % x", in, out, b[:8])
			}
		}
	}
	if m, ok := n.SLtoVL(3, 4); !ok || m[1] != 7 {
		t.Error(m, ok)
	}
}

// TestSwitchInfo: legal values are taken, illegal ones refused, read-only components kept (rule SMP-SI-002).
func TestSwitchInfo(t *testing.T) {
	for _, c := range []struct {
		field string
		value uint64
		legal bool
	}{
		{"linearFDBTop", 0xBFFF, true},
		{"linearFDBTop", 0xC000, false},
		{"defaultPort", 8, true},
		{"defaultPort", 9, false},
		{"defaultMulticastPrimaryPort", 255, true},
		{"lifeTimeValue", 20, true},
		{"multicastFDBTop", 0xC3FF, true},
		{"multicastFDBTop", 0xC400, false},
		{"multicastFDBTop", 5, false},
	} {
		n := node(t, switchConfig())
		b := get(t, n, 1, mad.AttrSwitchInfo, 0)
		si(c.field).PutUint(b, c.value)
		si("linearFDBCap").PutUint(b, 1)
		data, status, _ := ask(t, n, asked{port: 1, method: mad.Set, attribute: mad.AttrSwitchInfo, data: b})
		if (status == 0) != c.legal || (si(c.field).Uint(data) == c.value) != c.legal || si("linearFDBCap").Uint(data) != 0xC000 {
			t.Errorf("%s %d: %v, % x", c.field, c.value, status, data)
		}
	}
}

// TestSMInfo: only where a subnet manager runs; CapabilityMask says so (rules SMP-SMI-002, SMP-PM-001).
func TestSMInfo(t *testing.T) {
	_, host := pair(t)
	host.SetSM(0, &SM{GUID: 7, Count: 9, Priority: 3, State: 3})
	b := get(t, host, 1, mad.AttrSMInfo, 0)
	if mad.LayoutSMInfo.Field("GUID").Uint(b) != 7 || b[20] != 0x33 || piCapability.Uint(host.PortInfo(1))&CapSM == 0 {
		t.Errorf("% x", b)
	}
	host.SetSM(0, nil)
	if _, status, _ := ask(t, host, asked{port: 1, method: mad.Get, attribute: mad.AttrSMInfo}); status != mad.StatusAttribute || piCapability.Uint(host.PortInfo(1))&CapSM != 0 {
		t.Error(status)
	}
}
