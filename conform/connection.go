package conform

import (
	"bytes"
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// pmtu is the path MTU of the connections, in bytes.
const pmtu = 1024

// Where the device's requests go at the tester: no memory is there.
const (
	remoteVA   = 0x999000
	remoteRKey = 0x12345
)

// conn is a connection: a queue pair of the device, and what the tester knows of it.
type conn struct {
	r       *run
	net     network
	dev     *agent.Device
	qp      wqe.QP
	cq      wqe.CQ
	attr    qp.Attr
	typ     qp.Type
	service packet.Service
	qpn     uint32 // of the tester
	port    uint16
	next    packet.PSN // of the tester's next request
	arrived []*packet.Packet
	posted  uint64

	lengths  []uint32   // of the send requests
	received int        // of them, by message
	taken    uint32     // messages that the tester has answered
	expects  packet.PSN // of the next request of the device

	completions []completion
}

// completion is a completion, and when the consumer had it.
type completion struct {
	cq.Completion
	at int64
}

// connect makes a queue pair of RC of the device and brings it to RTS; change sets its attributes.
func (r *run) connect(change func(a *qp.Attr)) *conn { return r.connectAs(qp.TypeRC, change, nil) }

// connectAs makes a queue pair of a type and brings it to RTS; create, where not nil, says how it is made, and change sets its attributes.
func (r *run) connectAs(t qp.Type, change func(a *qp.Attr), create func(n *qp.InitAttr)) *conn {
	c := r.made(t, change, create)
	c.bring(qp.RTS)
	a, _, err := r.dev.QueryQP(ctx, c.qp)
	r.must(err)
	c.attr.Timeout = a.Timeout // as the device has taken it
	r.note("queue pair %#x of the device is in RTS, its peer is %#x: start PSN %v, ACK timeout code %d, retry count %d, RNR retry count %d",
		c.qp.QPN, c.qpn, c.attr.SQPSN, c.attr.Timeout, c.attr.RetryCnt, c.attr.RNRRetry)
	return c
}

// bring brings a queue pair from RESET to a state on the way to RTS.
func (c *conn) bring(to qp.State) {
	for from := qp.Reset; from < to; from++ {
		c.r.must(c.r.dev.TransitionQP(ctx, c.qp, from+1, c.given(from, from+1)))
	}
}

// given are the attributes of the queue pair that a transition needs, and the hop limit with the address vector.
func (c *conn) given(from, to qp.State) qp.Attr {
	a := c.attr
	required, optional := qp.Takes(c.typ, from, to)
	a.Known = required | optional&(qp.KnowsHopLimit|c.attr.Known)
	return a
}

// made makes a queue pair of a type, in RESET.
func (r *run) made(t qp.Type, change func(a *qp.Attr), create func(n *qp.InitAttr)) *conn {
	n := uint32(len(r.conns))
	c := &conn{r: r, net: r.net, dev: r.dev, typ: t, qpn: 0x4711 + n, port: uint16(0xC000 + n)}
	c.service, _ = t.Service()
	var err error
	c.cq, err = r.dev.CreateCQ(ctx, 128)
	r.must(err)
	init := qp.InitAttr{Type: t, PD: r.memory.pd, SendCQ: c.cq, RecvCQ: c.cq, MaxSend: 32, MaxReceive: 32, MaxSendSegments: 1, MaxRecvSegments: 1}
	if create != nil {
		create(&init)
	}
	c.qp, err = r.dev.CreateQP(ctx, init)
	r.must(err)
	c.qp.Addr = packet.Addr{} // it is that of the network
	psn := packet.PSN(r.seed>>7 + uint64(n)*0x10001).Add(0)
	if r.opt.StartPSN != nil {
		psn = *r.opt.StartPSN
	}
	c.attr = qp.Attr{
		PMTU: pmtu, SQPSN: psn, RQPSN: psn.Add(0x1000), DestQPN: c.qpn, MinRNRTimer: 12, MaxRdAtomic: 4, MaxDestRdAtomic: 4, PKey: 0xFFFF,
		Port: 1, HopLimit: 64, Access: wqe.RemoteWrite | wqe.RemoteRead | wqe.RemoteAtomic,
	}
	r.routed(&c.attr)
	change(&c.attr)
	if c.attr.Timeout > 0 {
		c.attr.Timeout = max(c.attr.Timeout, r.leastTimeout())
	}
	c.next, c.expects = c.attr.RQPSN, c.attr.SQPSN
	r.conns = append(r.conns, c)
	return c
}

// post has the device post a send request of n bytes, and returns its id and where its data is in the region.
func (c *conn) post(op wqe.SendOp, n int) (id, offset uint64) { return c.postWith(op, n, 0) }

// postWith is post with modifiers.
func (c *conn) postWith(op wqe.SendOp, n int, flags wqe.SendFlags) (id, offset uint64) {
	m := c.r.memory
	c.posted++
	offset = m.room(n)
	w := wqe.SendRequest{
		ID: c.posted, Op: op, Flags: wqe.Signaled | flags, Segments: []wqe.Segment{{VA: m.va + offset, Length: uint32(n), LKey: m.lkey}},
		Compare: 0x1111_2222_3333_4444, SwapAdd: 0x0102_0304_0506_0708,
	}
	if op != wqe.OpSend {
		w.RemoteVA, w.RKey = remoteVA, remoteRKey
	}
	if op == wqe.OpFetchAdd {
		w.Compare = 0
	}
	c.r.must(c.r.dev.PostSend(ctx, c.qp, w))
	c.lengths = append(c.lengths, uint32(n))
	c.r.note("the device posts request %d: %v, %d bytes", w.ID, op, n)
	return w.ID, offset
}

// postReceive has the device post a receive request of n bytes.
func (c *conn) postReceive(n int) (id, offset uint64) {
	m := c.r.memory
	c.posted++
	offset = m.room(n)
	c.r.must(c.r.dev.PostReceive(ctx, c.qp, wqe.ReceiveRequest{ID: c.posted, Segments: []wqe.Segment{{VA: m.va + offset, Length: uint32(n), LKey: m.lkey}}}))
	c.r.note("the device posts receive request %d, %d bytes", c.posted, n)
	return c.posted, offset
}

// state is the state of the queue pair of the device.
func (c *conn) state() qp.State {
	_, s, err := c.r.dev.QueryQP(ctx, c.qp)
	c.r.must(err)
	c.r.note("the device says that queue pair %#x is in %v", c.qp.QPN, s)
	return s
}

// receive takes the next packet of the device, and waits for it until a time; nil: none came.
func (c *conn) receive(until int64) *packet.Packet {
	if !c.r.until(until, func() bool { return len(c.arrived) > 0 }) {
		return nil
	}
	p := c.arrived[0]
	c.arrived = c.arrived[1:]
	return p
}

// receiveOr is receive, which ends early where the consumer has more than n completions.
func (c *conn) receiveOr(until int64, n int) *packet.Packet {
	c.r.until(until, func() bool { return len(c.arrived) > 0 || len(c.completions) > n })
	if len(c.arrived) == 0 {
		return nil
	}
	return c.receive(until)
}

// any takes a packet of a request; the test ends where none comes.
func (c *conn) any() *packet.Packet {
	p := c.receive(c.r.soon())
	if p == nil {
		c.r.halt("the device has not sent a request that it should have within %s", rule.Span(c.r.window))
	}
	return p
}

// functions are those of a request of several packets: the first, those within, and the last; of one packet the fourth.
var functions = map[wqe.SendOp][4]packet.Fn{
	wqe.OpSend:        {packet.SendFirst, packet.SendMiddle, packet.SendLast, packet.SendOnly},
	wqe.OpSendImm:     {packet.SendFirst, packet.SendMiddle, packet.SendLastImm, packet.SendOnlyImm},
	wqe.OpSendInv:     {packet.SendFirst, packet.SendMiddle, packet.SendLastInv, packet.SendOnlyInv},
	wqe.OpWrite:       {packet.WriteFirst, packet.WriteMiddle, packet.WriteLast, packet.WriteOnly},
	wqe.OpWriteImm:    {packet.WriteFirst, packet.WriteMiddle, packet.WriteLastImm, packet.WriteOnlyImm},
	wqe.OpRead:        {3: packet.ReadRequest},
	wqe.OpCmpSwap:     {3: packet.CmpSwap},
	wqe.OpFetchAdd:    {3: packet.FetchAdd},
	wqe.OpFlush:       {3: packet.Flush},
	wqe.OpAtomicWrite: {3: packet.AtomicWrite},
}

// function is that of packet i of a request of n packets.
func function(op wqe.SendOp, i, n int) packet.Fn {
	f := functions[op]
	switch {
	case n == 1:
		return f[3]
	case i == 0:
		return f[0]
	case i == n-1:
		return f[2]
	}
	return f[1]
}

// mtu is the path MTU of the connection, in bytes.
func (c *conn) mtu() int { return int(c.attr.PMTU) }

// message takes the packets of a request; the test ends where others come, as no answer to these would be right, or too few.
func (c *conn) message(op wqe.SendOp, n int) (list []*packet.Packet) {
	for i := range n {
		want := function(op, i, n)
		p := c.any()
		if p.Opcode != packet.Op(c.service, want) || p.PSN != c.expects {
			c.r.halt("the device has sent %v, PSN %v, in place of %v, PSN %v", p.Opcode, p.PSN, packet.Op(c.service, want), c.expects)
		}
		size, length := 1, c.lengths[c.received]
		if op == wqe.OpRead {
			size = max(1, int(length+pmtu-1)/pmtu)
		}
		if (op == wqe.OpRead || op == wqe.OpWrite && i == 0) && p.DMALen != length {
			c.r.halt("the device has sent DMALen %d, where %d bytes were posted", p.DMALen, length)
		}
		c.expects = c.expects.Add(size)
		list = append(list, p)
	}
	c.received++
	return list
}

// only is message for a request of one packet.
func (c *conn) only(op wqe.SendOp) *packet.Packet { return c.message(op, 1)[0] }

// onlys is only for n requests.
func (c *conn) onlys(op wqe.SendOp, n int) (list []*packet.Packet) {
	for range n {
		list = append(list, c.only(op))
	}
	return list
}

// completed waits for n completions in all until a time, and a while more for those that are too many.
func (c *conn) completed(n int, until int64) []completion {
	c.r.until(until, func() bool { return len(c.completions) >= n })
	c.r.settle()
	return c.completions
}

// send sends a packet to the queue pair of the device.
func (c *conn) send(p packet.Packet) *packet.Packet { return c.spoiled(p, nil) }

// spoiled is send for a packet that is changed when all its fields are there.
func (c *conn) spoiled(p packet.Packet, spoil func(p *packet.Packet)) *packet.Packet {
	c.to(&p)
	return c.r.tester.send(&p, spoil)
}

// to gives a packet what every packet to the queue pair of the device has.
func (c *conn) to(p *packet.Packet) {
	p.DestQP, p.SrcPort, p.PKey, p.MigReq = c.qp.QPN, c.port, 0xFFFF, true
	if c.service == packet.UD {
		p.QKey, p.SrcQP = c.attr.QKey, c.qpn
	}
	if c.net.encap == packet.Native && c.attr.GRH {
		p.Has, p.SGID, p.DGID = packet.HasGRH, c.net.gids[0], c.net.gids[1]
	}
}

// ack sends an Acknowledge with a syndrome.
func (c *conn) ack(psn packet.PSN, s packet.Syndrome, msn uint32) *packet.Packet {
	return c.send(packet.Packet{Opcode: packet.Op(c.service, packet.Acknowledge), PSN: psn, Syndrome: s, MSN: msn})
}

// positive is the syndrome of an ACK without credits.
const positive = packet.Syndrome(packet.CreditInvalid)

// rnrNAK sends an RNR NAK for a request.
func (c *conn) rnrNAK(p *packet.Packet, code uint8, msn uint32) *packet.Packet {
	return c.ack(p.PSN, packet.Syndrome(0x20|code), msn)
}

// atomicAck answers an atomic with the original data.
func (c *conn) atomicAck(p *packet.Packet, orig uint64, msn uint32) *packet.Packet {
	return c.send(packet.Packet{Opcode: packet.Op(c.service, packet.AtomicAck), PSN: p.PSN, Syndrome: positive, MSN: msn, OrigData: orig})
}

// readResponseOp is the opcode of packet i of a READ response of n packets.
func readResponseOp(i, n int) packet.Opcode {
	f := packet.ReadRespMiddle
	switch {
	case n == 1:
		f = packet.ReadRespOnly
	case i == 0:
		f = packet.ReadRespFirst
	case i == n-1:
		f = packet.ReadRespLast
	}
	return packet.Op(packet.RC, f)
}

// readResponse answers a READ with data, packet by packet.
func (c *conn) readResponse(p *packet.Packet, data []byte, msn uint32) (list []*packet.Packet) {
	m := c.mtu()
	n := max(1, (len(data)+m-1)/m)
	for i := range n {
		list = append(list, c.send(packet.Packet{
			Opcode: packet.Op(c.service, readResponseOp(i, n).Fn()), PSN: p.PSN.Add(i), Syndrome: positive, MSN: msn, Payload: data[i*m : min(len(data), (i+1)*m)],
		}))
	}
	return list
}

// exchange is a SEND of the device that the tester answers at once, so that what stays silent later does so on a connection that works.
func (c *conn) exchange() {
	id, _ := c.post(wqe.OpSend, 64)
	p := c.only(wqe.OpSend)
	c.ack(p.PSN, positive, 1)
	n := 0
	for _, x := range c.completed(1, c.r.soon()) {
		if x.ID == id && x.Status == cq.Success {
			n++
		}
	}
	if n != 1 || len(c.completions) != 1 {
		c.r.halt("the SEND before the test did not complete once with success: %s", statuses(c.completions))
	}
	c.completions = nil
}

// statuses is what completions say.
func statuses(list []completion) string {
	if len(list) == 0 {
		return "no completion"
	}
	var s []string
	for i := range list {
		s = append(s, fmt.Sprintf("request %d %v", list[i].ID, list[i].Status))
	}
	return strings.Join(s, ", ")
}

// differ says in what two request packets differ that a retransmission must not change; empty: in nothing.
func differ(a, b *packet.Packet) string {
	var list []string
	field := func(name string, same bool, x, y any) {
		if !same {
			list = append(list, fmt.Sprintf("%s %v in place of %v", name, y, x))
		}
	}
	field("opcode", a.Opcode == b.Opcode, a.Opcode, b.Opcode)
	field("PSN", a.PSN == b.PSN, a.PSN, b.PSN)
	field("P_Key", a.PKey == b.PKey, a.PKey, b.PKey)
	field("VA", a.VA == b.VA, hex(a.VA), hex(b.VA))
	field("R_Key", a.RKey == b.RKey, hex(uint64(a.RKey)), hex(uint64(b.RKey)))
	field("DMALen", a.DMALen == b.DMALen, a.DMALen, b.DMALen)
	field("swap or add data", a.SwapAdd == b.SwapAdd, hex(a.SwapAdd), hex(b.SwapAdd))
	field("compare data", a.Compare == b.Compare, hex(a.Compare), hex(b.Compare))
	field("immediate data", a.Imm == b.Imm, a.Imm, b.Imm)
	field("R_Key to invalidate", a.InvRKey == b.InvRKey, hex(uint64(a.InvRKey)), hex(uint64(b.InvRKey)))
	field("FETH", a.FETH == b.FETH, hex(uint64(a.FETH)), hex(uint64(b.FETH)))
	if !bytes.Equal(a.Payload, b.Payload) {
		list = append(list, "other payload")
	}
	return strings.Join(list, ", ")
}

func hex(x uint64) string { return fmt.Sprintf("%#x", x) }
