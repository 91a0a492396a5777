package agent

import (
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/hcaagent/passive"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
	"ibwitness/verifier/gmp"
	"ibwitness/verifier/smp"
	"ibwitness/wqe"
)

// hasSent takes it that the queue pair which has sent a datagram has begun. One that came damaged may be of any of its host's.
func (t *Transport) hasSent(p *packet.Packet) {
	if p.ICRCState == packet.CRCBad {
		t.table.UnfreshOf(p.Src)
		return
	}
	t.table.Unfresh(wqe.QP{Addr: p.Src, QPN: p.SrcQP})
}

// datagram verifies a UD packet: it names both QPs, so its connection is known at once. Management datagrams also teach.
func (t *Transport) datagram(p *packet.Packet, host, dir uint32) {
	if smp.Is(p) && p.ICRCState != packet.CRCBad {
		t.smp.Packet(p, true)
	}
	c, from := t.table.DatagramsOf(p, host, dir)
	sealed := false
	if c == nil {
		if k, sender := t.table.Connection(t.table.Flow(p, host, dir)); k != nil {
			// A QP of a connected service does not get datagrams: a wrong opcode, or a QP number taken over. What was damaged on the way is neither.
			if !t.seal(nil, 0, p, host, dir) {
				return
			}
			if !t.table.Belongs(k, sender, p) && k.WrongService != nil {
				t.hasSent(p)
				return
			}
			sealed = true
		}
	}
	if !sealed && !t.seal(c, from, p, host, dir) {
		return
	}
	t.tables(p)
	if c == nil {
		c = t.table.NewDatagrams(p, host, dir)
	}
	if c.WrongService != nil {
		t.table.Belongs(c, from, p)
	}
	c.Count(from, p)
	t.header.Packet(&c.Pair, from, p)
	if t.table.FreshQPs() {
		t.table.Begins(&c.Ends[from])
	}
	t.services[packet.UD].Packet(&c.Pair, from, p)
	if gmp.Management(p) {
		t.gmp.Datagram(p)
	}
	if p.DestQP <= 1 || p.SrcQP <= 1 {
		c.Ends[from].SQ.Last.CameAt(p.Time) // the verifier notes it of others
	}
	if p.DestQP == 1 || p.SrcQP == 1 {
		t.xrc.Connect(&c.Pair, from, p)
		t.congestion.MAD(&c.Pair, from, p)
		t.header.RoCEConnect(&c.Pair, from, p)
		t.talks.Packet(p)
		for _, f := range t.cm.Management(p) {
			t.learn(&f, p)
		}
	}
}

// learn applies what a CM exchange taught.
func (t *Transport) learn(f *passive.Fact, p *packet.Packet) {
	switch f.Kind {
	case passive.Connected:
		t.connect(f, p)
	case passive.Disconnected:
		t.table.Disconnect(f, p)
		t.note(f, p, rule.EvDisconnect, "")
	case passive.Rejected:
		t.note(f, p, rule.EvReject, refusal(f, p).String())
	case passive.Resolved:
		t.table.Resolve(wqe.QP{Addr: f.Ends[1].Addr, QPN: f.Ends[1].QPN}, f.Ends[0].Addr, &f.Ends[1].Attr, p.Time)
	}
}

// nvmePorts are the ports of NVMe over RDMA, and nvmeOthers the first and the last of those that are usual for more of its controllers.
var (
	nvmePorts  = []uint16{4420, 8009}
	nvmeOthers = [2]uint16{4421, 4499}
)

// refusal is what REJ p says of the exchange that a fact is about.
func refusal(f *passive.Fact, p *packet.Packet) cm.Refusal {
	r := cm.Refusal{Reason: f.Reason, ByAsker: f.By == 0}
	if f.Asked != 0 { // else what was asked for is not known
		var j mad.REJ
		if protocol, port, ok := f.ServiceID.IP(); ok && protocol == mad.ProtocolTCP && f.Reason == mad.RejConsumer && j.Decode(p.Payload) == nil {
			switch status := cm.NVMeStatus(j.Private, f.Queue); {
			case slices.Contains(nvmePorts, port):
				r.Private = status
			case status != "" && port >= nvmeOthers[0] && port <= nvmeOthers[1] && !slices.ContainsFunc(j.Private[4:], func(b byte) bool { return b != 0 }):
				r.Private = status + " if it is NVMe over RDMA"
			}
		}
		r.Service = f.ServiceID.String()
	}
	return r
}

// connect begins a connection whose QPs, start PSNs and attributes CM has given.
func (t *Transport) connect(f *passive.Fact, p *packet.Packet) {
	if !connection.Connects(f.Service) {
		return
	}
	early, ok := t.table.Unconnected(wqe.QP{Addr: f.Ends[0].Addr, QPN: f.Ends[0].QPN}, f.Ends[1].Addr)
	old, turned := t.table.Former(f)
	c := t.table.PairOf(f, p, connection.ByCM)
	if old != nil {
		t.follows(c, old, turned)
	}
	service := "" // not known
	if f.Asked != 0 {
		t.uppers.announce(c, f.ServiceID, f.Queue)
		service = f.ServiceID.String()
	}
	if q := &c.Ends[1].SQ; ok && q.Fresh && q.Next == early.PSN {
		q.GapExplained = true // what was sent before the connection was there is not missing
	}
	t.ver.Event(&c.Pair, 0, rule.NoRole, p, rule.EvConnect, service)
}

// Connect tells the agent of a connection that an HCA agent knows, before its first packet: the two QPs, whose attributes are those given
// to Attributes. p is a sample of its packets: it has their encapsulation and the time, and needs no more.
func (t *Transport) Connect(s packet.Service, ends [2]wqe.QP, p *packet.Packet) {
	f := passive.Fact{Service: s, Time: p.Time, Frame: p.Frame, Tap: p.Tap}
	for k, e := range ends {
		f.Ends[k].Addr, f.Ends[k].QPN = e.Addr, e.QPN
	}
	t.table.PairOf(&f, p, connection.ByAgent)
}

// note counts what an end has CM say of a connection, where that is known.
func (t *Transport) note(f *passive.Fact, p *packet.Packet, id rule.ID, detail string) {
	c := qp.NewPair(f.Service)
	for k, e := range f.Ends {
		c.Ends[k].Addr, c.Ends[k].Number, c.Ends[k].Numbered = e.Addr, e.QPN, e.QPN != 0
	}
	t.ver.Event(c, f.By, rule.NoRole, p, id, detail)
}
