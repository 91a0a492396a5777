package agent

import (
	"slices"
	"testing"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// attached is a device 10.0.0.1 QP 5 to which the peer 10.0.0.2 writes, and what is told as the frames of its port are pushed.
type attached struct {
	t    *testing.T
	s    *Session
	told []string
}

func attach(t *testing.T, near byte) *attached {
	s := NewSession(Options{Near: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, near})}, OneClock: true})
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
