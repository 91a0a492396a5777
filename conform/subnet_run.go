package conform

import (
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// subnetWait is how long the tester waits for an answer of a manager in real time, in nanoseconds.
const subnetWait = int64(time.Second)

// linkSubnet puts the tester at its port of a fabric that a subnet manager has brought up, with a tap there.
func (r *run) linkSubnet(target *Target) {
	s := target.Subnet
	tester, master, up := s.ends()
	m := &manager{r: r, subnet: s, smKey: target.SMKey, from: s.tester, at: s.beside, node: s.beside.Node, wait: subnetWait, psn: map[ibsim.End]packet.PSN{}, sent: map[uint64]bool{}}
	m.ownLID, m.masterLID = tester, master
	s.tests++
	m.tid = uint64(s.client.Number())<<48 | s.tests<<16
	r.manager = m
	r.result.Link = fabricagent.LinkInfiniBand
	own := packet.LIDAddr(tester)
	r.mine = func(f *rule.Finding) bool { return f.Accused.Addr == own || m.sent[f.Frame] }
	r.session = agent.NewSession(agent.Options{Near: []packet.Addr{own}})
	r.tap("tester")
	r.began = time.Now().UnixNano()
	r.clock.Run(r.began)
	s.drop()
	if !up {
		r.halt("the link of the tester is not Active any more: look at the log of the subnet manager")
	}
}

// hears lets time go on to the next MAD that passes the tester's link; see run.advance.
func (m *manager) hears(t int64) bool {
	r := m.r
	if r.opt.Stop != nil && r.opt.Stop() {
		r.halt("it was interrupted")
	}
	p, ok := m.subnet.next(t)
	if !ok {
		r.clock.Run(max(r.now(), t))
		return false
	}
	p.Time = max(p.Time, r.now())
	r.clock.Run(p.Time)
	segmented(p.MAD, p.Len)
	m.pass(p)
	if p.To == m.from || p.To == m.second {
		m.arrived = append(m.arrived, m.passed)
	}
	return true
}

// isOwn reports whether a port is one of the tester: in simulated time each but those of the device.
func (m *manager) isOwn(e ibsim.End) bool {
	if m.subnet != nil {
		return e == m.from || e == m.second
	}
	return e.Node != m.node
}

// linkOther has a second tester that can ask, at another port than the first, and reports whether there is one.
func (m *manager) linkOther() bool {
	switch {
	case m.subnet != nil:
		m.second, m.secondTap = m.subnet.other, m.r.tap("switch")
	case m.node.Type() != subnet.Switch || m.node.Config().Ports < secondPort:
		return false
	default:
		m.linkSecond()
		m.activateSecond()
	}
	return true
}

// otherLID is the LID of the second tester.
func (m *manager) otherLID() uint16 {
	if m.subnet != nil {
		lid, _ := m.subnet.lidOf(m.second)
		return lid
	}
	return secondLID
}

// asks sends a MAD into a fabric in real time, and returns it when it passes the link. An answer to segments only passes it: the kernel of the manager's host would take that, and
// libumad2sim does not do its work.
func (m *manager) asks(from ibsim.End, d ibsim.Datagram) *packet.Packet {
	r, now := m.r, time.Now().UnixNano()
	for r.now() < now && m.hears(now) {
	}
	var rmpp mad.RMPP
	if rmpp.Decode(d.MAD[:]) == nil && rmpp.Active() && mad.Class(d.MAD[1]) == mad.ClassSubnetAdmin {
		m.pass(ibsim.Passed{Time: r.now(), From: from, To: m.at, SLID: d.SLID, DLID: d.DLID, SrcQP: d.SrcQP, DestQP: d.DestQP, MAD: d.MAD[:]})
		return m.passed
	}
	var h mad.Header
	r.can(mad.DecodeHeader(d.MAD[:], &h))
	had := len(r.result.Frames)
	if err := m.subnet.clientAt(from == m.second).Send(&d); err != nil {
		r.halt("the tester cannot send: %v", err)
	}
	for until := now + subnetWait; m.hears(until); {
		var own mad.Header
		if p := m.passed; m.sent[p.Frame] && int(p.Frame) > had && mad.DecodeHeader(p.Payload, &own) == nil && own == h {
			return p
		}
	}
	r.halt("the fabric does not take the tester's packet")
	return nil
}

// segmented makes of a table that a program handed over whole, as the first n bytes of a MAD, the one segment that the kernel of its host makes of it.
func segmented(b []byte, n int) {
	var r mad.RMPP
	if mad.Class(b[1]) != mad.ClassSubnetAdmin || r.Decode(b) != nil || !r.Active() || r.Type != mad.RMPPNone {
		return
	}
	if n == 0 {
		n = len(b)
	}
	r = mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive | mad.RMPPFirst | mad.RMPPLast, Data1: 1, Data2: uint32(max(n-mad.HeaderSize-mad.RMPPSize, 0))}
	_ = r.Encode(b) // it is long enough
}
