package ibsim

import (
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

const second = int64(time.Second)

// session is a manager at a host of a small fabric, on virtual time, and the verifier that sees its SMPs on the links.
type session struct {
	t   *testing.T
	f   *Fabric
	j   *judge
	now int64
	tid uint64
	key uint64
}

func newSession(t *testing.T, faults ...string) *session {
	t.Helper()
	c := sma.SwitchConfig(1, "S", 4)
	c.LinearCap, c.MulticastCap, c.Faults = 128, 64, faults
	s := &session{t: t, f: new(Fabric), j: newJudge(), now: second}
	var n []*sma.Node
	for _, c := range []sma.Config{
		c,
		{Type: subnet.ChannelAdapter, GUID: 0x10, Description: "A", Ports: 1},
		{Type: subnet.ChannelAdapter, GUID: 0x20, Description: "B", Ports: 2, Faults: faults},
		{Type: subnet.ChannelAdapter, GUID: 0x30, Description: "C", Ports: 1, NoSLtoVL: true, Faults: faults},
	} {
		x, err := sma.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.f.Add(x); err != nil {
			t.Fatal(err)
		}
		n = append(n, x)
	}
	for i, e := range []End{{n[1], 1}, {n[2], 2}, {n[3], 1}} {
		if err := s.f.Link(0, End{n[0], uint8(i + 1)}, e); err != nil {
			t.Fatal(err)
		}
	}
	s.f.Observe = s.j.pass
	return s
}

// ask carries a request along a route and its answer back; nil where none comes.
func (s *session) ask(method mad.Method, a mad.Attribute, modifier uint32, data []byte, path ...uint8) []byte {
	s.now += int64(10 * time.Millisecond)
	s.tid++
	m := mad.SMP{Header: mad.Header{Method: method, Attribute: a, Modifier: modifier, TID: s.tid}, MKey: s.key, Data: data}
	d, err := Directed(m, path...)
	if err != nil {
		s.t.Fatal(err)
	}
	from := End{s.f.Node("A"), 1}
	at, ok := s.f.Carry(s.now, from, &d)
	if !ok {
		return nil
	}
	b := at.Node.Receive(s.now, at.Port, d.MAD[:])
	if b == nil {
		return nil
	}
	r := Datagram{DLID: d.SLID, SLID: d.DLID}
	copy(r.MAD[:], b)
	s.now += int64(time.Millisecond)
	s.f.Carry(s.now, at, &r)
	return r.MAD[mad.SMPData : mad.SMPData+mad.SMPDataSize]
}

// both sets an attribute and gets it.
func (s *session) both(a mad.Attribute, modifier uint32, data []byte, path ...uint8) {
	s.ask(mad.Set, a, modifier, data, path...)
	s.ask(mad.Get, a, modifier, nil, path...)
}

// port sets components of PortInfo, the others as they are.
func (s *session) port(number uint32, change map[string]uint64, path ...uint8) {
	b := append([]byte(nil), s.ask(mad.Get, mad.AttrPortInfo, number, nil, path...)...)
	if len(b) == 0 {
		return
	}
	field := mad.LayoutPortInfo.Field
	field("portState").PutUint(b, 0)
	field("portPhysicalState").PutUint(b, 0)
	for name, v := range change {
		field(name).PutUint(b, v)
	}
	s.both(mad.AttrPortInfo, number, b, path...)
}

// wait lets time pass in which the subnet is swept, so that the verifier knows that it is the same.
func (s *session) wait(d int64) {
	for end := s.now + d; s.now < end; {
		s.now = min(s.now+3*second, end)
		s.ask(mad.Get, mad.AttrNodeInfo, 0, nil, 1)
	}
}

// talk is an occasion for each fault.
func (s *session) talk() {
	paths := [][]uint8{{1}, {1, 2}, {1, 3}}
	for _, p := range paths {
		s.ask(mad.Get, mad.AttrNodeInfo, 0, nil, p...)
		s.ask(mad.Get, mad.AttrNodeDescription, 0, nil, p...)
		s.ask(mad.Get, mad.AttrSwitchInfo, 0, nil, p...)
		s.ask(mad.Get, mad.AttrPortInfo, 0, nil, p...)
		s.ask(mad.Get, mad.AttrSLtoVL, 0x0101, nil, p...)
	}
	s.ask(mad.Get, mad.AttrNodeInfo, 0, nil, 1, 1, 1) // goes back to the manager's host
	s.port(0, map[string]uint64{"LID": 2, "masterSMLID": 1, "subnetTimeOut": 18}, 1)
	s.port(2, map[string]uint64{"LID": 3, "masterSMLID": 1, "subnetTimeOut": 18, "clientReregister": 1}, 1, 2)
	s.port(1, map[string]uint64{"LID": 4, "masterSMLID": 1, "subnetTimeOut": 18}, 1, 3)
	s.ask(mad.Get, mad.AttrPortInfo, 1, nil, 1)
	for v := range uint8(2) {
		fill := []byte{v, v, v, v, v, v, v, v}
		s.both(mad.AttrSLtoVL, 0x0102, fill, 1)
		s.both(mad.AttrSLtoVL, 0x0000, fill, 1, 2)
		s.both(mad.AttrVLArbitration, 1<<16|1, []byte{v, 3}, 1)
		s.both(mad.AttrLinearForwarding, 0, []byte{255, 1, 0, 2, v + 2}, 1)
		s.both(mad.AttrPKeyTable, 0, []byte{0xFF, 0xFF, 0x80, v + 1}, 1, 2)
		s.both(mad.AttrGUIDInfo, 0, []byte{7, 7, 7, 7, 7, 7, 7, v}, 1, 2)
	}
	s.ask(mad.Get, mad.AttrRandomForwarding, 0, nil, 1)
	s.ask(mad.Get, mad.AttrPKeyTable, 9, nil, 1, 2)
	s.ask(mad.Get, mad.AttrPortInfo, 9, nil, 1)
	s.port(2, map[string]uint64{"LID": 0xFFFF}, 1, 2)
	s.port(2, map[string]uint64{"LID": 3, "linkWidthEnabled": 0x10}, 1, 2)
	s.keys()
}

// keys is an occasion for the faults of M_Keys, at host B.
func (s *session) keys() {
	get := func(key uint64, a mad.Attribute) {
		s.key = key
		s.ask(mad.Get, a, 0, nil, 1, 2)
		s.key = 5
	}
	protect := func(bits, lease uint64) {
		s.port(2, map[string]uint64{"MKey": 5, "MKeyProtectBits": bits, "MKeyLeasePeriod": lease, "LID": 3}, 1, 2)
		s.key = 5
		get(5, mad.AttrPortInfo)
	}
	protect(1, 10)
	get(6, mad.AttrPortInfo)
	s.key = 6
	s.ask(mad.Set, mad.AttrPKeyTable, 0, []byte{0xFF, 0xFF}, 1, 2)
	get(5, mad.AttrPortInfo)
	protect(2, 10)
	get(6, mad.AttrNodeInfo)
	get(5, mad.AttrPortInfo) // stops the lease
	s.wait(12 * second)
	get(5, mad.AttrPortInfo)
	get(6, mad.AttrNodeInfo)
	s.wait(6 * second)
	get(5, mad.AttrPortInfo)
	get(6, mad.AttrNodeInfo)
	s.wait(13 * second)
	get(5, mad.AttrPortInfo)
	s.port(2, map[string]uint64{"MKey": 0, "MKeyProtectBits": 0, "MKeyLeasePeriod": 0, "LID": 3}, 1, 2)
}

// TestFaultsJudged: the verifier accuses a node of its fault by the rule that is about it, and a node without fault of nothing.
func TestFaultsJudged(t *testing.T) {
	for _, c := range []struct {
		fault string
		rule  rule.ID
	}{
		{"sltovl-answers", rule.SMPSV002},
		{"sltovl-status-zero", rule.SMPSV002},
		{"sltovl-not-stored", rule.SMPMTH004},
		{"mkey-ignored", rule.SMPMK003},
		{"mkey-shown", rule.SMPMK002},
		{"protect-bits-ignored", rule.SMPMK002},
		{"lease-never-ends", rule.SMPMK005},
		{"lease-early", rule.SMPMK005},
		{"lease-not-stopped", rule.SMPMK005},
		{"illegal-stored", rule.SMPPI002},
		{"set-not-stored", rule.SMPMTH004},
		{"combination-taken", rule.SMPSI001},
		{"modifier-ignored", rule.SMPPI001},
		{"reregister-kept", rule.SMPPI008},
		{"guid-zero-written", rule.SMPGI001},
		{"lft-not-stored", rule.SMPMTH004},
		{"vlarb-not-stored", rule.SMPMTH004},
		{"pkey-block-ignored", rule.SMPPK001},
		{"tid-mixed", rule.SMPMTH003},
		{"dr-return-wrong", rule.SMPNI001},
	} {
		s := newSession(t, c.fault)
		s.talk()
		if n := s.j.broken(t); n[c.rule] == 0 {
			t.Errorf("%s: not %v but %v", c.fault, c.rule, n)
		}
	}
	s := newSession(t)
	s.talk()
	s.j.innocent(t)
}
