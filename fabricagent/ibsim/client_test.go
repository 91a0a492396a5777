package ibsim

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ibwitness/internal/testkit/programs"
	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// soon is a deadline that only a failure reaches.
func soon() time.Time { return time.Now().Add(5 * time.Second) }

// asks is a request on a directed route and its answer.
func asks(t *testing.T, c *Client, s mad.SMP, path ...uint8) (mad.SMP, error) {
	t.Helper()
	d, err := Directed(s, path...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Ask(&d, soon())
	if err != nil {
		return mad.SMP{}, err
	}
	var a mad.SMP
	if err := a.Decode(r.MAD[:]); err != nil || a.Method != mad.GetResp || !a.Backward() || a.HopPointer() != 0 || a.HopCount() != len(path) {
		t.Errorf("answer %+v: %v", a.Header, err)
	}
	return a, nil
}

func getting(a mad.Attribute, modifier uint32) mad.SMP {
	return mad.SMP{Header: mad.Header{Method: mad.Get, Attribute: a, Modifier: modifier, TID: 1}}
}

// two is a fabric of a switch with a host at its port 1 and another at port 4.
func two(t *testing.T, c sma.Config) *Fabric {
	t.Helper()
	f := new(Fabric)
	var nodes []*sma.Node
	for _, c := range []sma.Config{c, {Type: subnet.ChannelAdapter, GUID: 0x10, Description: "A", Ports: 1}, {Type: subnet.ChannelAdapter, GUID: 0x20, Description: "B", Ports: 2}} {
		n, err := sma.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Add(n); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	for _, l := range [][2]End{{{nodes[0], 1}, {nodes[1], 1}}, {{nodes[0], 4}, {nodes[2], 2}}} {
		if err := f.Link(0, l[0], l[1]); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// listens is a server of a fabric for the time of a test.
func listens(t *testing.T, f *Fabric) *Server {
	t.Helper()
	s, err := Listen(unique(t), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestClient: requests come to the nodes of a server and back, as links show them; what nothing answers comes back as such.
func TestClient(t *testing.T) {
	f := two(t, sma.SwitchConfig(1, "S", 4))
	var passed []Passed
	f.Observe = func(p Passed) {
		p.MAD = append([]byte(nil), p.MAD...)
		passed = append(passed, p)
	}
	s := listens(t, f)
	c, err := Connect(s.Name(), "A")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Node() != "A" {
		t.Error(c.Node())
	}
	local := mad.LayoutNodeInfo.Field("localPortNum")
	for _, r := range []struct {
		path []uint8
		port uint64
	}{{nil, 1}, {[]uint8{1}, 1}, {[]uint8{1, 4}, 2}} {
		a, err := asks(t, c, getting(mad.AttrNodeInfo, 0), r.path...)
		if err != nil || local.Uint(a.Data) != r.port {
			t.Errorf("route %v: port %d, %v", r.path, local.Uint(a.Data), err)
		}
	}
	var links []Passed
	s.Do(func(int64, *Fabric) { links = append(links, passed...) })
	if len(links) != 6 {
		t.Fatalf("%d MADs on links", len(links))
	}
	for i, p := range links[2:] {
		var m mad.SMP
		if err := m.Decode(p.MAD); err != nil || m.HopPointer() != []int{1, 2, 2, 1}[i] || m.Backward() != (i > 1) || p.SLID != mad.PermissiveLID {
			t.Errorf("link %d: hop pointer %d, %v", i, m.HopPointer(), err)
		}
	}
	if p := links[3]; p.From.String() != `"S"[4]` || p.To.String() != `"B"[2]` {
		t.Error(p.From, p.To)
	}
	for _, path := range [][]uint8{{2}, {1, 3}, {1, 4, 1}} {
		if _, err := asks(t, c, getting(mad.AttrNodeInfo, 0), path...); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("route %v: %v", path, err)
		}
	}
	if _, err := c.Receive(time.Now().Add(10 * time.Millisecond)); !errors.Is(err, ErrTimeout) {
		t.Error(err)
	}
}

// TestManager: a manager gets SMInfo and subnet administration, and the traps of a switch; its answers go to who asked.
func TestManager(t *testing.T) {
	f := two(t, sma.SwitchConfig(1, "S", 4))
	s := listens(t, f)
	m, err := Connect(s.Name(), "A")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := Connect(s.Name(), "B")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := m.SetIsSM(true); err != nil {
		t.Fatal(err)
	}
	if b, err := m.PortInfo(); err != nil || mad.LayoutPortInfo.Field("capabilityMask").Uint(b)&sma.CapSM == 0 {
		t.Errorf("% x, %v", b, err)
	}
	d, _ := Directed(getting(mad.AttrSMInfo, 0), 2, 1)
	if err := c.Send(&d); err != nil {
		t.Fatal(err)
	}
	q, err := m.Receive(soon())
	if err != nil || q.header().Attribute != mad.AttrSMInfo || q.MAD[6] != 0 {
		t.Fatalf("%+v, %v", q.header(), err)
	}
	q.MAD[3], q.MAD[4] = uint8(mad.GetResp), 0x80
	if err := m.Send(&q); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Receive(soon()); err != nil || r.header().TID&tidMask != 1 || r.header().Method != mad.GetResp {
		t.Errorf("%+v, %v", r.header(), err)
	}
	set := getting(mad.AttrPortInfo, 0)
	set.Method = mad.Set
	for lid, path := range [][]uint8{1: {}, 2: {1}} {
		a, err := asks(t, m, getting(mad.AttrPortInfo, 0), path...)
		if err != nil {
			t.Fatal(err)
		}
		set.Data = append([]byte(nil), a.Data...)
		for name, v := range map[string]uint64{"LID": uint64(lid), "masterSMLID": 1, "portState": 0, "portPhysicalState": 0, "subnetTimeOut": 18} {
			mad.LayoutPortInfo.Field(name).PutUint(set.Data, v)
		}
		if lid == 0 {
			continue
		}
		if a, err := asks(t, m, set, path...); err != nil || a.Code() != 0 {
			t.Fatalf("LID %d: %v, %v", lid, a.Code(), err)
		}
	}
	table := getting(mad.AttrLinearForwarding, 0)
	table.Method, table.Data = mad.Set, []byte{255, 1, 0}
	top := getting(mad.AttrSwitchInfo, 0)
	top.Method, top.Data = mad.Set, make([]byte, 64)
	mad.LayoutSwitchInfo.Field("linearFDBTop").PutUint(top.Data, 5)
	for _, r := range []mad.SMP{table, top} {
		if a, err := asks(t, m, r, 1); err != nil || a.Code() != 0 {
			t.Fatal(a.Code(), err)
		}
	}
	s.Do(func(now int64, f *Fabric) {
		if err := f.Unlink(now, End{f.Node("B"), 2}); err != nil {
			t.Error(err)
		}
	})
	trap, err := m.Receive(soon())
	if h := trap.header(); err != nil || h.Method != mad.Trap || trap.SLID != 2 || binary.BigEndian.Uint16(trap.MAD[mad.SMPData+4:]) != mad.TrapLinkState {
		t.Fatalf("%+v from LID %d, %v", h, trap.SLID, err)
	}
	trap.MAD[3], trap.DLID, trap.SLID = uint8(mad.TrapRepress), trap.SLID, trap.DLID
	trap.MAD[10] = 9 // as libumad2sim does
	if err := m.Send(&trap); err != nil {
		t.Fatal(err)
	}
	if d, err := m.Receive(time.Now().Add(1500 * time.Millisecond)); !errors.Is(err, ErrTimeout) {
		t.Errorf("after the TrapRepress: %+v, %v", d.header(), err)
	}
}

// TestErrors: what goes wrong says what to do.
func TestErrors(t *testing.T) {
	name := unique(t)
	if _, err := Connect(name, "A"); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	if _, err := Listen(name, new(Fabric)); !errors.Is(err, ErrFabric) {
		t.Error(err)
	}
	f := two(t, sma.SwitchConfig(1, "S", 4))
	s, err := Listen(name, f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(name, f); err == nil {
		t.Error("two servers of one name")
	}
	if _, err := Connect(name, "nobody"); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	for i := range maxClients + 1 {
		c, err := Connect(name, "")
		if i < maxClients && (err != nil || c.Node() != "A") || i == maxClients && !errors.Is(err, ErrRefused) {
			t.Errorf("client %d: %v", i, err)
		}
		if err == nil {
			defer c.Close()
		}
	}
	a := End{f.Node("A"), 1}
	for _, err := range []error{f.Link(0, a, End{f.Node("S"), 2}), f.Link(0, End{a.Node, 2}, a), f.Link(0, End{}, a), f.Unlink(0, End{f.Node("S"), 2}), f.Add(a.Node)} {
		if !errors.Is(err, ErrFabric) {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestIbsim: the client drives a switch of ibsim: NodeInfo, and SLtoVLMappingTable of each legal pair of ports (section 14.2.5.8).
func TestIbsim(t *testing.T) {
	program := programs.Need(t, "ibsim")
	dir, name := t.TempDir(), unique(t)
	net := filepath.Join(dir, "net")
	if err := os.WriteFile(net, []byte("Switch 8 \"S\"\n[1] \"A\"[1]\n[2] \"B\"[1]\n\nHca 1 \"A\"\n[1] \"S\"[1]\n\nHca 1 \"B\"\n[1] \"S\"[2]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "-s", net)
	c.Env = append(os.Environ(), "IBSIM_SOCKNAME="+name)
	if _, err := c.StdinPipe(); err != nil { // the console stays open
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	client, err := Connect(name, "A")
	for end := time.Now().Add(5 * time.Second); errors.Is(err, ErrNoServer) && time.Now().Before(end); client, err = Connect(name, "A") {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	a, err := asks(t, client, getting(mad.AttrNodeInfo, 0), 1)
	if err != nil || mad.LayoutNodeInfo.Field("nodeType").Uint(a.Data) != 2 || mad.LayoutNodeInfo.Field("numPorts").Uint(a.Data) != 8 {
		t.Fatalf("% x, %v", a.Data, err)
	}
	for in := range uint32(9) {
		for out := uint32(1); out < 9; out++ {
			get := getting(mad.AttrSLtoVL, in<<8|out)
			set := get
			set.Method, set.Data = mad.Set, []byte{uint8(in), uint8(out)}
			if a, err := asks(t, client, set, 1); err != nil || a.Code() != 0 {
				t.Errorf("Set, input %d, output %d: %v, %v", in, out, a.Code(), err)
			}
			if a, err := asks(t, client, get, 1); err != nil || a.Code() != 0 || a.Data[0] != uint8(in) || a.Data[1] != uint8(out) {
				t.Errorf("Get, input %d, output %d: %v, %v", in, out, a.Code(), err)
			}
		}
	}
	if _, err := asks(t, client, getting(mad.AttrNodeInfo, 0), 1, 5); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a port without cable: %v", err)
	}
}

// TestFaultsAcross: a client sees the faults of a node: one answer lost, a status that is wrong.
func TestFaultsAcross(t *testing.T) {
	c := sma.SwitchConfig(1, "S", 4)
	c.Faults = []string{"sltovl-silent", "combination-taken"}
	s := listens(t, two(t, c))
	client, err := Connect(s.Name(), "B")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := asks(t, client, getting(mad.AttrSLtoVL, 0x0101), 2); !errors.Is(err, ErrNoAnswer) {
		t.Error(err)
	}
	if a, err := asks(t, client, getting(mad.AttrRandomForwarding, 0), 2); err != nil || a.Code() != 0 {
		t.Error(a.Code(), err)
	}
}

// FuzzServer: no control message or datagram makes a server panic.
func FuzzServer(f *testing.F) {
	var c control
	d, err := Directed(getting(mad.AttrNodeInfo, 0), 1, 4)
	if err != nil {
		f.Fatal(err)
	}
	for kind := range uint32(12) {
		c.kind = kind
		f.Add(c.encode(), d.encode())
	}
	f.Fuzz(func(t *testing.T, ctl, datagram []byte) {
		fabric := two(t, sma.Config{Type: subnet.Switch, GUID: 1, Description: "S", Ports: 4, LinearCap: 64})
		at, _ := fabric.host("A")
		s := &Server{name: "none", fabric: fabric, stop: make(chan struct{}), begun: time.Now()}
		var c control
		if c.decode(ctl) == nil && c.kind != ctlConnect && c.kind != ctlDisconnect {
			s.clients[0] = &attached{at: at}
			s.control(&c)
		}
		var d Datagram
		if d.decode(datagram) == nil {
			if to, ok := fabric.Carry(0, at, &d); ok {
				to.Node.Receive(0, to.Port, d.MAD[:])
			}
		}
	})
}

// TestPatience: a request that another client does not answer comes back: opensm would wait for ever for a manager that was killed.
func TestPatience(t *testing.T) {
	s := listens(t, two(t, sma.SwitchConfig(1, "S", 4)))
	m, err := Connect(s.Name(), "A")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SetIsSM(true); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(s.Name(), "B")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := asks(t, c, getting(mad.AttrSMInfo, 0), 2, 1); !errors.Is(err, ErrNoAnswer) {
		t.Error(err)
	}
	for _, end := range []func() error{m.ctl.Close, m.data.Close} { // as a program that is killed
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	begun := time.Now()
	if _, err := asks(t, c, getting(mad.AttrSMInfo, 0), 2, 1); !errors.Is(err, ErrNoAnswer) || time.Since(begun) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	if a, err := asks(t, c, getting(mad.AttrSMInfo, 0), 2, 1); err != nil || a.Code() != mad.StatusAttribute {
		t.Error(a.Code(), err)
	}
}
