package conform

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/ibsim"
	"ibwitness/fabricagent/sim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/subnet/sa"
	"ibwitness/subnet/sma"
)

// GUIDs of the two nodes.
const (
	nodeGUID   = 0x0002_0000_0000_0001
	testerGUID = 0x0002_0000_0000_0100
	secondGUID = testerGUID + 0x100 // of a second tester
)

// How the tester asks, in tries and nanoseconds of simulated time.
const (
	madTries   = 3 // of a request that nothing answers
	busyTries  = 4 // of one that is answered with busy
	busyPause  = ackWindow
	linkTime   = int64(time.Second)           // for which a link is unplugged
	turnaround = int64(10 * time.Microsecond) // of the node, from a request to its response

	firstWait = int64(4300*time.Millisecond) + 2*4096<<18 // for an answer, as long as RespTimeValue and SubnetTimeOut are not known
)

// manager is the tester of a node: a subnet manager that asks it by subnet management packets (SMPs) on a directed route of one hop, whose link the tap is on.
type manager struct {
	r         *run
	fabric    ibsim.Fabric
	from      ibsim.End // the port of the tester
	at        ibsim.End // of the device, that is linked with it
	second    ibsim.End // the port of a second tester, where there is one
	secondTap uint16
	departed  []sentAt  // what the device has sent since a test forgot it
	entered   []sentAt  // and what has come to it
	node      *sma.Node // under test
	key       uint64    // M_Key of requests
	was       guard     // how the device checks M_Keys when the test begins
	wait      int64     // nanoseconds for an answer
	tid       uint64    // of the newest request
	quiet     bool      // the log is not told of packets
	psn       map[ibsim.End]packet.PSN
	passed    *packet.Packet // the newest on the link
	first     *packet.Packet // that a MAD made on it
	arrived   []*packet.Packet
	sent      map[uint64]bool // the frames of the tester
	plugged   *plugged        // the device, where its links are native ones that the tester plays by hand; else nil
	cable     *cable          // with port 1 of it

	administration *sa.Agent // at the device; nil: there is none
	standby        func() (*sa.Agent, error)
	standing       *sa.Agent // that of a standby subnet manager, at the second tester's node; nil: there is none
	asked          uint16    // LID of the subnet manager that is asked; 0: that of the device
	other          bool      // the second tester asks
	smKey          uint64    // of trusted requests; 0: not known

	subnet            *Subnet // where the device is a subnet manager in real time; else nil
	ownLID, masterLID uint16  // of the tester and the manager there
}

// sentAt is a packet that has left the device or come to it at a port.
type sentAt struct {
	port uint8
	p    *packet.Packet
}

// link puts tester and node on a link of a simulated subnet, with a tap at the node.
func (r *run) link(target *Target) {
	m := &manager{r: r, wait: firstWait, psn: map[ibsim.End]packet.PSN{}, sent: map[uint64]bool{}}
	r.manager = m
	r.result.Link = fabricagent.LinkInfiniBand
	if r.test.cabled {
		r.result.Link = fabricagent.LinkTap
	}
	r.mine = func(f *rule.Finding) bool { // both ends have the permissive LID
		a := f.Accused.Addr
		return m.sent[f.Frame] && !ofCable(a, deviceEnd) || ofCable(a, testerEnd) || ofRelayed(a)
	}
	r.session = agent.NewSession(agent.Options{Near: []packet.Addr{packet.LIDAddr(mad.PermissiveLID), packet.LIDAddr(nodeLID)}})
	r.tap("device")
	var err error
	m.node, err = target.node(r.test.Device)()
	r.can(err)
	if target.Administration != nil {
		m.administration, err = target.Administration()
		r.can(err)
		m.standby, m.smKey = target.Standby, target.SMKey
	}
	tester, err := sma.New(sma.Config{Type: subnet.ChannelAdapter, GUID: testerGUID, Description: "tester", Ports: 1})
	r.can(err)
	r.can(m.fabric.Add(tester))
	r.can(m.fabric.Add(m.node))
	m.from = ibsim.End{Node: tester, Port: 1}
	if r.test.cabled {
		m.plugCable(target, nil, sim.LinkOptions{Symbol: slowSymbol, Lanes: dataLanes(m.node)})
		return
	}
	m.plug(1)
	m.fabric.Observe = m.pass
}

// move unplugs the link at the device, plugs it in at another port, and asks which one that is.
func (m *manager) move(port uint8) {
	if m.at.Port == port {
		return
	}
	m.r.can(m.fabric.Unlink(m.r.now(), m.at))
	m.plug(port)
	m.r.note("the link is at port %d of the device", port)
	m.get(mad.AttrNodeInfo, 0)
}

// replug unplugs the link and plugs it in at the same port.
func (m *manager) replug() {
	m.r.can(m.fabric.Unlink(m.r.now(), m.at))
	m.r.wait(linkTime)
	m.plug(m.at.Port)
	m.r.note("the link was unplugged, and is there again")
}

// plug plugs the link in at a port of the device.
func (m *manager) plug(port uint8) {
	m.at = ibsim.End{Node: m.node, Port: port}
	m.r.can(m.fabric.Link(m.r.now(), m.from, m.at))
}

// tap has a tap of a name at the device.
func (r *run) tap(name string) uint16 {
	n, err := r.session.Tap(fabricagent.Tap{File: r.test.ID, Interface: name, Link: r.result.Link})
	r.can(err)
	r.result.Taps = append(r.result.Taps, name)
	return n
}

// secondPort is the port of the device at which a second tester is.
const secondPort = 2

// linkSecond links a second tester with port 2 of the device, which has a way to its LID.
func (m *manager) linkSecond() {
	tester, err := sma.New(sma.Config{Type: subnet.ChannelAdapter, GUID: secondGUID, Description: "second tester", Ports: 1})
	m.r.can(err)
	m.r.can(m.fabric.Add(tester))
	m.second, m.secondTap = ibsim.End{Node: tester, Port: 1}, m.r.tap("device, port 2")
	m.r.can(m.fabric.Link(m.r.now(), m.second, ibsim.End{Node: m.node, Port: secondPort}))
	m.r.note("a second tester is at port %d of the device", secondPort)
}

// can ends the test where it cannot even begin: the test is wrong itself.
func (r *run) can(err error) {
	if err != nil {
		r.problem = err
		panic(halted{})
	}
}

// pass makes a frame of a MAD that passes the link.
func (m *manager) pass(p ibsim.Passed) {
	q := &packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(p.SLID), Dst: packet.LIDAddr(p.DLID), SL: p.SL, VL: p.VL, PKey: 0xFFFF,
		SrcQP: p.SrcQP, DestQP: p.DestQP, PSN: m.psn[p.From], Payload: slices.Clone(p.MAD), Time: p.Time,
	}
	if q.DestQP == gsiQP {
		q.QKey = gsiQKey
	}
	if p.PKey != 0 {
		q.PKey = p.PKey
	}
	q.Complete()
	m.seen(q, p.From, p.To)
}

// seen is what becomes of a packet that passes the link: the rules judge it, and the log tells of it.
func (m *manager) seen(q *packet.Packet, from, to ibsim.End) {
	m.psn[from] = q.PSN.Add(1)
	b := q.Append(nil)
	f := fabricagent.Frame{Time: q.Time, Link: fabricagent.LinkInfiniBand, Len: uint32(len(b)), Data: b}
	if from == m.second || to == m.second {
		f.Tap = m.secondTap
	}
	q.Frame = m.r.record(&f)
	arrow := "<-"
	if m.isOwn(from) {
		arrow, m.sent[q.Frame] = "->", true
		m.entered = append(m.entered, sentAt{to.Port, q})
	} else {
		m.departed = append(m.departed, sentAt{from.Port, q})
	}
	if from == m.second || to == m.second {
		arrow = "port 2 " + arrow
	}
	if !m.quiet {
		m.r.note("%s frame %d: %s", arrow, q.Frame, toldMAD(q))
	}
	m.passed = q
	if m.first == nil {
		m.first = q
	}
}

// toldMAD is a MAD in the log.
func toldMAD(p *packet.Packet) string {
	var s mad.SMP
	if s.Decode(p.Payload) != nil {
		return fmt.Sprintf("a MAD of %d bytes", len(p.Payload))
	}
	text := fmt.Sprintf("%v(%s), %s", s.Method, s.AttributeName(), mad.ModifierText(s.Attribute, s.Modifier))
	if s.Method == mad.GetResp {
		text += ", " + s.Code().Text(s.Class)
	}
	if !s.Class.Subnet() {
		text += fmt.Sprintf(", SL %d, VL %d", p.SL, p.VL)
	}
	return text
}

// exchange is a request of the tester, and the answer.
type exchange struct {
	mad.SMP                // of the answer
	sent    *packet.Packet // the last try
	got     *packet.Packet // nil: no answer came
	tries   int
}

// frames are those that show it.
func (x *exchange) frames() []*packet.Packet { return []*packet.Packet{x.sent, x.got} }

// busy reports whether the node has said so each time.
func (x *exchange) busy() bool { return x.got != nil && x.Code()&mad.StatusBusy != 0 }

// succeeded reports whether the request was carried out.
func (x *exchange) succeeded() bool { return x.got != nil && x.Code() == 0 }

// code is the status code of the answer, bits 4:2 of its status (table T10).
func (x *exchange) code() int { return int(x.Code().Code() >> 2) }

// outcome says what has become of the request.
func (x *exchange) outcome() string {
	if x.got == nil {
		return fmt.Sprintf("no answer to %d %s", x.tries, map[bool]string{true: "try", false: "tries"}[x.tries == 1])
	}
	return x.Code().Text(x.Class)
}

// ask sends a request and waits for its answer: three tries where none comes; where the node is busy, it is asked three times more.
func (m *manager) ask(method mad.Method, a mad.Attribute, modifier uint32, data []byte) (x *exchange) {
	for try := range busyTries {
		if try > 0 {
			m.r.wait(busyPause)
		}
		m.tid++
		if x = m.tries(madTries, mad.SMP{Header: mad.Header{Method: method, Attribute: a, Modifier: modifier, TID: m.tid}, MKey: m.key, Data: data}); !x.busy() {
			break
		}
	}
	return x
}

// once sends a request with an M_Key only once, and waits as long as for an answer: where there may be none, as of a request with a wrong M_Key, which counts.
func (m *manager) once(key uint64, method mad.Method, a mad.Attribute, modifier uint32, data []byte) *exchange {
	m.tid++
	return m.tries(1, mad.SMP{Header: mad.Header{Method: method, Attribute: a, Modifier: modifier, TID: m.tid}, MKey: key, Data: data})
}

// with asks as ask does, with another M_Key.
func (m *manager) with(key uint64, method mad.Method, a mad.Attribute, modifier uint32, data []byte) *exchange {
	was := m.key
	m.key = key
	defer func() { m.key = was }()
	return m.ask(method, a, modifier, data)
}

// tries sends a request up to some times, with one transaction ID.
func (m *manager) tries(n int, s mad.SMP) *exchange {
	x := &exchange{tries: n}
	for range n {
		x.sent = m.sendDirected(s)
		m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) })
		if x.got != nil {
			return x
		}
	}
	return x
}

// sendDirected has a request leave the tester now, by a directed route of one hop.
func (m *manager) sendDirected(s mad.SMP) *packet.Packet {
	d, err := ibsim.Directed(s, 1)
	m.r.can(err)
	return m.send(d)
}

// send has a request leave the tester now.
func (m *manager) send(d ibsim.Datagram) *packet.Packet { return m.leave(m.from, d, m.fabric.Carry) }

// inject has a packet leave the tester now as it is, whatever its directed route says.
func (m *manager) inject(d ibsim.Datagram) *packet.Packet { return m.leave(m.from, d, m.fabric.Inject) }

// leave has a packet leave a tester, and the node to which it comes answer it in a while. The test ends where it cannot leave.
func (m *manager) leave(from ibsim.End, d ibsim.Datagram, carry func(int64, ibsim.End, *ibsim.Datagram) (ibsim.End, bool)) *packet.Packet {
	switch {
	case m.plugged != nil:
		return m.byCable(d)
	case m.subnet != nil:
		return m.asks(from, d)
	}
	m.first = nil
	at, ok := carry(m.r.now(), from, &d)
	sent := m.first
	if sent == nil {
		m.r.halt("the link of the tester does not take its packet: it is not Active, or down")
	}
	if ok {
		m.replies(at, d)
	}
	return sent
}

// replies has the node at which a MAD was delivered answer it in a while.
func (m *manager) replies(at ibsim.End, d ibsim.Datagram) {
	if m.administers(at, &d) {
		return
	}
	m.r.clock.After(turnaround, func() {
		b := at.Node.Receive(m.r.now(), at.Port, d.MAD[:])
		if b == nil {
			return
		}
		if late := at.Node.Delay(at.Port); late > 0 {
			m.r.clock.After(late, func() { m.reply(at, d, b) })
			return
		}
		m.reply(at, d, b)
	})
}

// reply has a node send its answer to a MAD.
func (m *manager) reply(at ibsim.End, d ibsim.Datagram, b []byte) {
	answer := ibsim.Datagram{DLID: d.SLID, DestQP: d.SrcQP, SrcQP: d.DestQP, PKey: d.PKey}
	answer.SLID, answer.SL = at.Node.Reply(at.Port, d.DLID, d.SL)
	copy(answer.MAD[:], b)
	before := m.passed
	if _, ok := m.fabric.Carry(m.r.now(), at, &answer); ok && m.passed != before {
		m.arrived = append(m.arrived, m.passed)
	}
}

// takes takes the answer to a request out of what has arrived, and drops the rest.
func (m *manager) takes(x *exchange) bool {
	for _, p := range m.arrived {
		var s mad.SMP
		if s.Decode(p.Payload) == nil && s.Method == mad.GetResp && s.TID == m.tid {
			x.SMP, x.got = s, p
		}
	}
	m.arrived = nil
	return x.got != nil
}

// get reads an attribute that the test cannot do without.
func (m *manager) get(a mad.Attribute, modifier uint32) *exchange {
	x := m.ask(mad.Get, a, modifier, nil)
	if x.got == nil || x.Code() != 0 {
		h := mad.Header{Class: mad.ClassSubnetDirected, Attribute: a}
		m.r.halt("Get(%s), %s: %s; if the M_Key of the device is why, clear it or its protect bits", h.AttributeName(), mad.ModifierText(a, modifier), x.outcome())
	}
	return x
}

// learn takes the M_Key and the times that PortInfo of the managed port tells.
func (m *manager) learn(info *exchange) {
	field := func(name string) uint64 { return info.uint(mad.LayoutPortInfo, name) }
	m.learnTimes(info)
	m.key = field("MKey")
	m.was = guard{m.key, field("MKeyProtectBits"), field("MKeyLeasePeriod")}
	if m.key == 0 && field("MKeyProtectBits") != 0 {
		m.r.halt("the M_Key is not shown, as its protect bits are %d: clear them, or the M_Key", field("MKeyProtectBits"))
	}
	m.r.note("M_Key %#x; an answer is waited for %s", m.key, exact(m.wait))
}

// learnTimes takes the times that PortInfo of the managed port tells.
func (m *manager) learnTimes(info *exchange) {
	m.wait = 4096<<info.uint(mad.LayoutPortInfo, "respTimeValue") + 2*4096<<info.uint(mad.LayoutPortInfo, "subnetTimeOut")
}
