package passive

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// script feeds an agent CM messages between two hosts, a and b, one second apart, and collects what it tells.
type script struct {
	t     *testing.T
	agent *Agent
	now   int64
	frame uint64
	facts []Fact
}

var (
	hostA = packet.Addr{Lo: 0xffff0a000001}
	hostB = packet.Addr{Lo: 0xffff0a000002}
)

func newScript(t *testing.T, opt Options) *script { return &script{t: t, agent: New(opt)} }

func (s *script) send(src, dst packet.Addr, m mad.Message) []Fact {
	s.t.Helper()
	b := make([]byte, mad.Size)
	if err := m.Encode(b); err != nil {
		s.t.Fatal(err)
	}
	s.now += int64(time.Second)
	s.frame++
	p := &packet.Packet{
		Time: s.now, Frame: s.frame, Has: packet.HasIPv4 | packet.HasUDP | packet.HasBTH | packet.HasDETH, Encap: packet.RoCEv2IPv4,
		Opcode: packet.Op(packet.UD, packet.SendOnly), DestQP: 1, SrcQP: 1, Src: src, Dst: dst, Payload: b, PayloadLen: len(b),
	}
	facts := s.agent.Management(p)
	s.facts = append(s.facts, facts...)
	return facts
}

// want compares what was told since the last call.
func (s *script) want(lines ...string) {
	s.t.Helper()
	var got []string
	for i := range s.facts {
		_, l, _ := strings.Cut(line(&s.facts[i]), " ")
		l, _, _ = strings.Cut(l, " asked")
		got = append(got, strings.ReplaceAll(strings.ReplaceAll(l, "10.0.0.1/", "a/"), "10.0.0.2/", "b/"))
	}
	s.facts = nil
	if g, w := strings.Join(got, "\n"), strings.Join(lines, "\n"); g != w {
		s.t.Errorf("told:\n%s\nwant:\n%s", g, w)
	}
}

// knows checks whether the agent answers for a QP.
func (s *script) knows(addr packet.Addr, qpn uint32, want bool) {
	s.t.Helper()
	if _, err := s.agent.QPAttr(s.t.Context(), wqe.QP{Addr: addr, QPN: qpn}); (err == nil) != want || err != nil && !errors.Is(err, qp.ErrUnknown) {
		s.t.Errorf("QP 0x%x at %v: %v", qpn, addr, err)
	}
}

const (
	idA = 0xA0 // communication IDs
	idB = 0xB0
)

func req() *mad.REQ {
	return &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: idA, ServiceID: 0x1060001, LocalQPN: 0x11, ResponderResources: 16,
		InitiatorDepth: 8, FlowControl: true, StartingPSN: 0x100, RetryCount: 5, PKey: 0x8001, PathMTU: 3, RNRRetryCount: 6,
		MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20,
		Primary: mad.Path{TClass: 104, HopLimit: 3, SL: 2, LocalAckTimeout: 14},
	}
}

func rep() *mad.REP {
	return &mad.REP{
		Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: idB, RemoteCommID: idA, LocalQPN: 0x22, StartingPSN: 0x200,
		ResponderResources: 4, InitiatorDepth: 2, RNRRetryCount: 1, FlowControl: true, SRQ: true,
	}
}

func dreq(local, remote, qpn uint32) *mad.DREQ {
	return &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 99), LocalCommID: local, RemoteCommID: remote, RemoteQPN: qpn}
}

func drep(local, remote uint32) *mad.DREP {
	return &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 99), LocalCommID: local, RemoteCommID: remote}
}

func rej(local, remote uint32) *mad.REJ {
	return &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: local, RemoteCommID: remote, Reason: mad.RejConsumer}
}

const (
	connected    = "connected RC TCP port 1 a/0x11 b/0x22 psn 0x000200 0x000100 mtu 1024"
	disconnected = "disconnected a/0x11 b/0x22"
)
