package agent

import (
	"slices"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// attached is a device 10.0.0.1 QP 5 to which the peer 10.0.0.2 writes, and what is told as the frames of its port are pushed.
type attached struct {
	t    *testing.T
	s    *Session
	told []string
}

func attach(t *testing.T, near byte) *attached {
	s := NewSession(Options{
		Near: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, near})}, OneClock: true, Profile: verifier.Profile{HardwareTimers: true, Answer: 200 * time.Microsecond},
	})
	for range 2 {
		if _, err := s.Tap(fabricagent.Tap{Link: fabricagent.LinkEthernet}); err != nil {
			t.Fatal(err)
		}
	}
	return &attached{t: t, s: s}
}

func (a *attached) take(list []rule.Change, err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	for _, c := range list {
		if c.Finding.Rule.Row().Severity >= rule.Warning && c.Finding.Class == rule.Violation {
			a.told = append(a.told, c.Kind.String()+" "+c.Finding.Rule.String())
		}
	}
}

// frame pushes a packet from 10.0.0.FROM to QP number to of the other.
func (a *attached) frame(now int64, from byte, to uint32, p *packet.Packet) {
	a.t.Helper()
	p.Encap, p.PKey, p.MigReq, p.DestQP, p.SrcPort, p.IPID = packet.RoCEv2IPv4, 0xFFFF, true, to, 0xC000, uint16(now)
	p.Src, p.Dst = packet.IPv4Addr([]byte{10, 0, 0, from}), packet.IPv4Addr([]byte{10, 0, 0, 3 - from})
	p.Complete()
	b := p.AppendEthernet(nil, [6]byte{2, 0, 0, 0, 0, from}, [6]byte{2, 0, 0, 0, 0, 3 - from})
	a.take(a.s.Frame(&fabricagent.Frame{Time: 1e18 + now, Tap: uint16(from - 1), Data: b, Link: fabricagent.LinkEthernet, Len: uint32(len(b))}))
}

func (a *attached) write(now int64, psn packet.PSN) {
	a.t.Helper()
	a.frame(now, 2, 5, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: psn, AckReq: true, DMALen: 64, Payload: make([]byte, 64)})
}

func (a *attached) ack(now int64, psn packet.PSN, msn, to uint32) {
	a.t.Helper()
	a.frame(now, 1, to, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: 0x1F, MSN: msn})
}

// connect tells that the device has brought its queue pair to RTR, for a peer whose number is 7.
func (a *attached) connect() {
	q := wqe.QP{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: 5}
	event := func(e cq.Event) {
		a.t.Helper()
		e.Time, e.QP = 1e18, q
		a.take(a.s.Event(&e))
	}
	event(cq.Event{Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC}})
	event(cq.Event{Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF, Access: wqe.RemoteWrite | wqe.RemoteRead}})
	event(cq.Event{Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
		Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
		DestQPN: 7, DestAddr: packet.IPv4Addr([]byte{10, 0, 0, 2}), RQPSN: 100, PMTU: 256, MaxDestRdAtomic: 4,
	}})
}

func (a *attached) want(when string, rules ...string) {
	a.t.Helper()
	if !slices.Equal(a.told, rules) {
		a.t.Errorf("%s: told %q, want %q", when, a.told, rules)
	}
	a.told = nil
}

// TestResponderGiven: what verbs events give a queue pair that only responds is what its responses are compared with: its peer, its path MTU, and the message with which
// it begins.
func TestResponderGiven(t *testing.T) {
	a := attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 1, 7)
	a.write(30, 101)
	a.ack(40, 101, 2, 7)
	a.want("a right device")

	a = attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 0, 7)
	a.want("a first MSN of 0", "found RC-RSP-013")

	a = attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 1, 5)
	a.want("another DestQP", "found BTH-011")

	a = attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 1, 7)
	a.frame(30, 2, 5, &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRequest), PSN: 101, AckReq: true, DMALen: 600})
	a.frame(40, 1, 7, &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRespOnly), PSN: 101, Syndrome: 0x1F, MSN: 2, Payload: make([]byte, 600)})
	a.write(50, 104)
	a.want("a response of three packets in one", "found RC-RES-001")

	a = attach(t, 1) // of a queue pair of which nothing is told, all this is right
	a.write(10, 100)
	a.ack(20, 100, 0, 5)
	a.want("a peer and an MSN that nothing tells")
}

// TestResponseBeforeRequest: by one clock a response that leaves before its request has come is a fault, and takes the proof from nothing else.
func TestResponseBeforeRequest(t *testing.T) {
	a := attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 0, 7)
	a.want("a wrong MSN", "found RC-RSP-013")
	a.ack(30, 101, 1, 7)
	a.write(31, 101)
	a.want("an ACK before its request", "found RC-RSP-036")
}

// TestGhostAtOnce: near the requester a response to a PSN that it has not sent is told when it comes.
func TestGhostAtOnce(t *testing.T) {
	a := attach(t, 2)
	for i := range packet.PSN(3) {
		a.write(int64(100*i)+10, 100+i)
		a.ack(int64(100*i)+20, 100+i, uint32(i)+1, 7)
	}
	a.want("right responses")
	a.ack(320, 140, 4, 7)
	a.want("a ghost", "found RC-RSP-006")
}

// begin tells that the device and its peer have brought their queue pairs to RTS: the peer begins with PSN 100, the device with 200.
func (a *attached) begin() {
	a.t.Helper()
	for _, e := range []struct {
		own, peer byte
		qpn, to   uint32
		sq, rq    packet.PSN
	}{{1, 2, 5, 7, 200, 100}, {2, 1, 7, 5, 100, 200}} {
		q := wqe.QP{Addr: packet.IPv4Addr([]byte{10, 0, 0, e.own}), QPN: e.qpn}
		for _, v := range []cq.Event{
			{Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC}},
			{Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF, Access: wqe.RemoteWrite | wqe.RemoteRead}},
			{Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
				Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
				DestQPN: e.to, DestAddr: packet.IPv4Addr([]byte{10, 0, 0, e.peer}), RQPSN: e.rq, PMTU: 256, MaxDestRdAtomic: 4,
			}},
			{Kind: cq.EvModifyQP, State: qp.RTS, Attr: &qp.Attr{
				Known: qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic, SQPSN: e.sq, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MaxRdAtomic: 4,
			}},
		} {
			v.Time, v.QP = 1e18, q
			a.take(a.s.Event(&v))
		}
	}
}

// TestFirstResponse: where events name both queue pairs of a connection, its very first response is compared too: with the requests that were sent, or with none at all.
func TestFirstResponse(t *testing.T) {
	post := func(a *attached, op wqe.SendOp) {
		a.take(a.s.Event(&cq.Event{Time: 1e18 + 5, QP: wqe.QP{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), QPN: 7}, Kind: cq.EvPostSend, Send: &wqe.SendRequest{Op: op, Segments: []wqe.Segment{{Length: 64}}}}))
	}
	write := func(a *attached, now int64, psn packet.PSN) {
		post(a, wqe.OpWrite)
		a.write(now, psn)
	}
	read := func(a *attached, psn packet.PSN) {
		post(a, wqe.OpRead)
		a.frame(11, 2, 5, &packet.Packet{Opcode: packet.Op(packet.RC, packet.ReadRequest), PSN: psn, AckReq: true, DMALen: 64})
	}
	for _, c := range []struct {
		name  string
		near  byte
		first func(a *attached)
		want  []string
	}{
		{"a right one", 1, func(a *attached) { write(a, 10, 100); a.ack(20, 100, 1, 7) }, nil},
		{"one that acknowledges two", 2, func(a *attached) { write(a, 10, 100); write(a, 11, 101); a.ack(20, 101, 2, 7) }, nil},
		{"of what was not sent", 2, func(a *attached) { write(a, 10, 100); a.ack(20, 140, 1, 7) }, []string{"found RC-RSP-006"}},
		{"before any request", 2, func(a *attached) { a.ack(20, 140, 1, 7) }, []string{"found RC-RSP-006"}},
		{"before its request", 1, func(a *attached) { a.ack(20, 100, 1, 7); write(a, 30, 100) }, []string{"found RC-RSP-036"}},
		{"of a WRITE after a READ that is not answered", 1, func(a *attached) { read(a, 100); write(a, 12, 101); a.ack(20, 101, 2, 7) }, []string{"found RC-RSP-007"}},
		{"of a WRITE after a READ whose response may be lost", 2, func(a *attached) { read(a, 100); write(a, 12, 101); a.ack(20, 101, 2, 7) }, nil},
		{"to another queue pair", 1, func(a *attached) { write(a, 10, 100); a.ack(20, 100, 1, 6) }, []string{"found BTH-011"}},
	} {
		a := attach(t, c.near)
		a.begin()
		c.first(a)
		a.want(c.name, c.want...)
	}
}

// TestDuplicateIgnored: a device that does not respond to a duplicate is told when its time is over, although nothing else is outstanding, and doubted where it responds after that.
func TestDuplicateIgnored(t *testing.T) {
	a := attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 1, 7)
	a.write(70_000, 100)
	a.take(a.s.Advance(1e18 + 270_000))
	a.want("in time")
	a.take(a.s.Advance(1e18 + 271_000))
	a.want("late", "found RC-RSP-005")
	a.ack(280_000, 100, 1, 7)
	r, _, err := a.s.End()
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(r.Findings, func(f rule.Finding) bool { return f.Rule == rule.RCRSP005 }); i < 0 || r.Findings[i].Class != rule.Unproven {
		t.Errorf("after the response: %v", r.Findings)
	}

	a = attach(t, 1)
	a.connect()
	a.write(10, 100)
	a.ack(20, 100, 1, 7)
	a.write(70_000, 100)
	a.ack(70_100, 100, 1, 7)
	a.take(a.s.Advance(1e18 + 1_000_000))
	a.want("a device that responds")
}
