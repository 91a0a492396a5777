package verifier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestInnocentSubnet: nobody is accused in a subnet whose manager and nodes are correct, though datagrams are lost, asked for again and overtake each
// other, links go down and nodes are switched on again, and wherever and whenever the capture begins.
func TestInnocentSubnet(t *testing.T) {
	first := map[rule.ID]string{}
	count := map[rule.ID]int{}
	exercised := 0
	for n := range max(*simRuns/4, 1) {
		seed := *simSeed + uint64(n)
		rec := innocentSubnet(t, seed, nil)
		for _, f := range rec.Findings {
			if f.Class != rule.Violation {
				continue
			}
			if count[f.Rule]++; first[f.Rule] == "" {
				first[f.Rule] = fmt.Sprintf("seed %d frame %d: %v expected %s, actual %s, evidence %v", seed, f.Frame, f.Accused, f.Expected, f.Actual, f.Evidence)
			}
		}
		for _, id := range []rule.ID{rule.SMPMTH004, rule.PKY004, rule.NETGRH008, rule.SMPSV003} {
			if rec.Cover[id].Exercised > 0 {
				exercised++
			}
		}
	}
	for id, text := range first {
		t.Errorf("%v accuses %d times; %s", id, count[id], text)
	}
	if exercised == 0 {
		t.Error("nothing was exercised")
	}
}

// TestSubnetTally holds what is said of subnets of which packets are lost and changed.
func TestSubnetTally(t *testing.T) {
	sample.Skip(t, tally.Whole)
	var y tally.Tally
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 23))
		y.Add(innocentSubnet(t, 500+seed, func(p *packet.Packet) bool {
			switch r.IntN(40) {
			case 0:
				return false
			case 1, 2:
				networkFields[r.IntN(len(networkFields))](p)
				p.SealICRC()
			case 3, 4, 5:
				changeField(r, p)
				p.SealICRC()
			}
			return true
		}))
	}
	y.Check(t, "testdata/varied/subnets.tally")
}

// newSubnet makes a subnet: switches in a row, adapters at them.
func newSubnet(r *rand.Rand, wide bool) *simNet {
	n := &simNet{r: r, now: epoch, taps: map[*simPort]uint16{}, wide: wide}
	ca := n.node(false, 1)
	var switches []*simNode
	for i := range 1 + r.IntN(3) {
		x := n.node(true, 6)
		switches = append(switches, x)
		if i == 0 {
			n.connect(ca.ports[1], x.ports[1+r.IntN(2)])
			continue
		}
		y := switches[r.IntN(i)]
		n.connect(y.spare(), x.spare())
	}
	for range 2 + r.IntN(4) {
		x := n.node(false, 1+r.IntN(2))
		if p := switches[r.IntN(len(switches))].spare(); p != nil {
			n.connect(x.ports[1+r.IntN(len(x.ports)-1)], p)
		}
	}
	n.sm = &simManager{net: n, open: map[uint64]*simAsk{}, window: 1 + r.IntN(4), lids: map[*simPort]uint16{}, repeat: int64(1+r.IntN(4)) * 50e6}
	n.paths()
	n.sm.lids[ca.ports[1]] = simManagerLID
	n.sm.next = uint16(r.IntN(8))
	p := ca.ports[1]
	ca.path, ca.back = nil, []byte{1}
	n.sm.portSetting(p, 0)(p.info)
	p.put("LID", simManagerLID)
	p.put("portState", 4)
	return n
}

func (x *simNode) spare() *simPort {
	for _, p := range x.ports[1:] {
		if p.peer == nil {
			return p
		}
	}
	return nil
}

// paths finds the way from the manager to each node.
func (n *simNet) paths() {
	seen := map[*simNode]bool{n.nodes[0]: true}
	for list := []*simNode{n.nodes[0]}; len(list) > 0; list = list[1:] {
		x := list[0]
		for _, p := range x.ports {
			if p == nil || p.peer == nil || seen[p.peer.node] || !x.isSw && x != n.nodes[0] {
				continue
			}
			y := p.peer.node
			seen[y] = true
			y.path, y.back = append(slices.Clone(x.path), p.number), append(slices.Clone(x.back), p.peer.number)
			list = append(list, y)
		}
	}
	n.nodes = slices.DeleteFunc(n.nodes, func(x *simNode) bool { return !seen[x] })
}

// sweep tells the manager to look at all nodes, and to bring them into use.
func (m *simManager) sweep() {
	for _, x := range m.net.nodes[1:] {
		m.discover(x)
	}
	for _, x := range m.net.nodes[1:] {
		m.configure(x, false)
	}
	m.routes()
}

// happens lets something happen in the subnet.
func (n *simNet) happens() {
	r, m := n.r, n.sm
	x := n.nodes[1+r.IntN(len(n.nodes)-1)]
	if n.wide && r.IntN(2) == 0 {
		n.seldom(x)
		return
	}
	switch r.IntN(12) {
	case 0:
		m.sweep()
	case 1: // the link goes down, and comes up again
		if p := x.end(); !x.isSw && p.up {
			n.down(p, 1e6+r.Int64N(1e9), nil)
		}
	case 2: // it is switched on again
		if p := x.end(); !x.isSw && p.up {
			n.down(p, 2e9+r.Int64N(3e9), x.reset)
		}
	case 3:
		m.set(x, mad.AttrGUIDInfo, uint32(r.IntN(2)), func(d []byte) {
			for i := range 8 {
				d[8*i+7] = byte(r.IntN(3) * (i + 1))
			}
		})
		m.get(x, mad.AttrGUIDInfo, 0, nil)
		m.get(x, mad.AttrGUIDInfo, 1, nil)
	case 4:
		m.put(x, mad.AttrPKeyTable, 0, m.someKeys(0))
		m.get(x, mad.AttrPKeyTable, 0, nil)
	case 5:
		if !x.isSw {
			m.set(x, mad.AttrSLtoVL, 0, m.lanes)
			m.get(x, mad.AttrSLtoVL, 0, nil)
		}
	case 6:
		m.configure(x, true)
		m.routes()
	case 7: // another key, which the ports get one after the other
		if r.IntN(3) == 0 {
			m.rekey()
		}
	case 8:
		m.get(x, mad.AttrVLArbitration, 0x10000|uint32(m.onPort(x)), nil)
		m.get(x, mad.AttrMulticastForwarding, uint32(r.IntN(3)), nil)
		m.get(x, mad.Attribute(0xFF00+r.IntN(32)), 0, nil)
	default:
		m.get(x, mad.AttrPortInfo, uint32(x.end().number), nil)
		if x.isSw {
			m.get(x, mad.AttrSwitchInfo, 0, nil)
			m.get(x, mad.AttrPortInfo, uint32(m.onPort(x)), nil)
			m.get(x, mad.AttrLinearForwarding, uint32(r.IntN(2)), nil)
		}
	}
	m.fill()
}

// down takes a link down for a while, in which something may be done.
func (n *simNet) down(p *simPort, d int64, meanwhile func()) {
	both := []*simPort{p, p.peer}
	for _, q := range both {
		q.up = false
		q.put("portState", 1)
		q.put("portPhysicalState", 2)
	}
	n.after(d, func() {
		if meanwhile != nil {
			meanwhile()
		}
		for _, q := range both {
			q.up = true
			q.put("portState", 2)
			q.put("portPhysicalState", 5)
		}
	})
}

// rekey gives the ports an M_Key: the manager asks with the key that each port has.
func (m *simManager) rekey() {
	m.mkey = m.net.r.Uint64N(3)
	for _, x := range m.net.nodes[1:] {
		p := x.end()
		m.add(func() *simAsk { // in one go: it waits for nothing else
			if len(m.open) > 0 {
				return nil
			}
			key := m.mkey
			k := m.ask(x, mad.Set, mad.AttrPortInfo, uint32(p.number), nil)
			copy(k.s.Data, p.info)
			m.portSetting(p, 0)(k.s.Data)
			k.s.MKey = p.mkey
			mad.LayoutPortInfo.Field("MKey").PutUint(k.s.Data, key)
			return k
		})
	}
}

// chatter sends data between the adapters, as the tables of their ports say.
func (n *simNet) chatter() {
	var ends []*simPort
	for _, x := range n.nodes {
		if p := x.end(); !x.isSw && (p.field("portState") == 4) && p.field("LID") != 0 {
			ends = append(ends, p)
		}
	}
	if len(ends) > 1 {
		a, b := ends[n.r.IntN(len(ends))], ends[n.r.IntN(len(ends))]
		t := a.node.tables[simTable{a.number, mad.AttrSLtoVL, 0}]
		keys := a.keys()
		sl := uint8(n.r.IntN(16))
		if a != b && len(keys) > 0 {
			f := &flight{uint16(a.field("LID")), uint16(b.field("LID")), sl, 0, keys[n.r.IntN(len(keys))], 0x1234, 0x40, 0x50, make([]byte, 64)}
			f.sq += uint32(f.pkey) // a queue pair for each
			if t != nil {
				f.vl = t[sl/2] >> (4 * (1 - sl%2)) & 15
			}
			f.b[8], f.b[9], f.b[10], f.b[11] = byte(n.r.IntN(256)), byte(n.r.IntN(256)), byte(n.r.IntN(256)), byte(n.r.IntN(256))
			n.leave(a, f)
		}
	}
	n.after(1e6+n.r.Int64N(3e7), n.chatter)
}

// liveSubnet lets a subnet live for a while, and returns which of its ports taps are near.
func liveSubnet(r *rand.Rand, wide bool) (*simNet, []packet.Addr) {
	n := newSubnet(r, wide)
	if r.IntN(2) == 0 {
		n.loss = r.Float64() * 0.1
	}
	var near []packet.Addr
	tapped := 0
	for _, x := range n.nodes { // taps at adapters: the manager's nearly always
		if p := x.end(); !x.isSw && (x == n.nodes[0] && r.IntN(4) > 0 || r.IntN(3) == 0) {
			n.taps[p] = uint16(tapped)
			tapped++
		}
	}
	n.sm.sweep()
	n.sm.fill()
	n.chatter()
	for range 40 {
		n.after(r.Int64N(20e9), n.happens)
	}
	n.run(25e9)
	for p := range n.taps {
		if lid := uint16(p.field("LID")); lid != 0 {
			near = append(near, packet.LIDAddr(lid))
		}
	}
	slices.SortFunc(near, func(a, b packet.Addr) int { return int(a.Lo) - int(b.Lo) })
	if len(near) > 0 && r.IntN(3) == 0 {
		near = append(near, packet.LIDAddr(0xFFFF))
	}
	slices.SortStableFunc(n.seen, func(x, y simSeen) int { return int(min(max(x.time-y.time, -1), 1)) })
	return n, near
}

// innocentSubnet verifies what is seen of a simulated subnet. Where change is given, it may change a packet, or return false: it is lost.
func innocentSubnet(t *testing.T, seed uint64, change func(p *packet.Packet) bool) *rule.Recorder {
	r := rand.New(rand.NewPCG(seed, 7))
	n, near := liveSubnet(r, false)
	a := agent.NewTransport(near)
	a.SetSeveral(len(n.taps) > 1)
	from := 0
	if r.IntN(3) == 0 {
		from = r.IntN(len(n.seen) + 1)
	}
	var show strings.Builder
	last := int64(0)
	for i := from; i < len(n.seen); i++ {
		s := &n.seen[i]
		s.p.Complete()
		s.p.SealICRC()
		if change != nil && !change(&s.p) {
			continue
		}
		frame := s.p.Append(nil)
		var p packet.Packet
		p.Time, p.Frame, p.Tap = s.time, uint64(i-from+1), s.tap
		if !packet.DecodeInfiniBand(&p, frame, len(frame)) {
			t.Fatal("a frame does not decode")
		}
		p.CheckICRC()
		if testing.Verbose() && *simRuns == 1 {
			fmt.Fprintf(&show, "%d %v tap %d %s\n", p.Frame, (p.Time-epoch)/1000, p.Tap, simText(&p))
		}
		a.Packet(&p)
		last = s.time
	}
	a.Finish(last)
	agent.Reconcile(a)
	if show.Len() > 0 {
		t.Logf("near %v, %d nodes, loss %.2f\n%s", near, len(n.nodes), n.loss, show.String())
	}
	return &a.Rec
}

func simText(p *packet.Packet) string {
	if p.DestQP > 0 {
		return fmt.Sprintf("%v > %v QP %d to %d P_Key %#x SL %d VL %d", p.Src, p.Dst, p.SrcQP, p.DestQP, p.PKey, p.SL, p.VL)
	}
	var s mad.SMP
	_ = s.Decode(p.Payload)
	text := fmt.Sprintf("%v > %v %v %s 0x%x TID %d status %#x key %d", p.Src, p.Dst, s.Method, s.AttributeName(), s.Modifier, s.TID, s.Status, s.MKey)
	if s.Directed() {
		n := s.HopCount()
		text += fmt.Sprintf(" hop %d of %d %v back %v", s.HopPointer(), n, s.Initial[1:n+1], s.Return[1:n+1])
	}
	if s.Attribute == mad.AttrPortInfo {
		for _, f := range []string{"MKey", "LID", "portState", "MKeyViolations", "MKeyProtectBits"} {
			text += " " + f + " " + mad.LayoutPortInfo.Field(f).Text(s.Data)
		}
	} else {
		text += fmt.Sprintf(" %x", s.Data[:16])
	}
	return text
}
