package passive

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ibwitness/hcaagent"
	"ibwitness/mad"
	"ibwitness/packet"
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
	if _, err := s.agent.QPAttr(s.t.Context(), hcaagent.QP{Addr: addr, QPN: qpn}); (err == nil) != want || err != nil && !errors.Is(err, hcaagent.ErrUnknown) {
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

// TestAttributes: CM-REQ-002, CM-REQ-006, CM-REQ-007, CM-REQ-008, CM-REQ-012, for each service.
func TestAttributes(t *testing.T) {
	const (
		both = hcaagent.KnowsPMTU | hcaagent.KnowsRQPSN | hcaagent.KnowsDestQPN | hcaagent.KnowsDestAddr | hcaagent.KnowsPKey |
			hcaagent.KnowsTClass | hcaagent.KnowsGRH
		reads = hcaagent.KnowsMaxRdAtomic | hcaagent.KnowsMaxDestRdAtomic
	)
	common := hcaagent.Attr{PMTU: 1024, PKey: 0x8001, TClass: 104, GRH: true}
	end := func(service packet.Service, known hcaagent.Known, set func(*hcaagent.Attr)) hcaagent.Attr {
		a := common
		a.Service, a.Known = service, known
		set(&a)
		return a
	}
	active := func(a *hcaagent.Attr) {
		a.SQPSN, a.RQPSN, a.DestQPN, a.DestAddr, a.HopLimit = 0x200, 0x100, 0x22, hostB, 3
	}
	passive := func(a *hcaagent.Attr) { a.SQPSN, a.RQPSN, a.DestQPN, a.DestAddr = 0x100, 0x200, 0x11, hostA }
	for _, c := range []struct {
		name string
		req  func(*mad.REQ)
		want [2]hcaagent.Attr
	}{
		{"RC", func(*mad.REQ) {}, [2]hcaagent.Attr{
			end(packet.RC, both|reads|hcaagent.KnowsSQPSN|hcaagent.KnowsHopLimit|hcaagent.KnowsRNRRetry|hcaagent.KnowsCredits, func(a *hcaagent.Attr) {
				active(a)
				a.RNRRetry, a.MaxRdAtomic, a.MaxDestRdAtomic, a.Credits = 1, 4, 2, true
			}),
			end(packet.RC, everything, func(a *hcaagent.Attr) {
				passive(a)
				a.RNRRetry, a.RetryCnt, a.Timeout, a.MaxRdAtomic, a.MaxDestRdAtomic = 6, 5, 14, 2, 4
			}),
		}},
		{"UC", func(m *mad.REQ) { m.Transport = mad.TransportUC }, [2]hcaagent.Attr{
			end(packet.UC, both|hcaagent.KnowsSQPSN|hcaagent.KnowsHopLimit, active),
			end(packet.UC, both|hcaagent.KnowsSQPSN, passive),
		}},
		{"XRC", func(m *mad.REQ) { m.Transport, m.ExtendedTransport = mad.TransportExtended, mad.ExtendedXRC }, [2]hcaagent.Attr{
			end(packet.XRC, both|hcaagent.KnowsSQPSN|hcaagent.KnowsHopLimit|hcaagent.KnowsRNRRetry|hcaagent.KnowsMaxRdAtomic, func(a *hcaagent.Attr) {
				active(a)
				a.RNRRetry, a.MaxRdAtomic = 1, 4
			}),
			end(packet.XRC, both|hcaagent.KnowsMaxDestRdAtomic, func(a *hcaagent.Attr) {
				passive(a)
				a.SQPSN, a.MaxDestRdAtomic = 0, 4
			}),
		}},
	} {
		s := newScript(t, Options{})
		q := req()
		c.req(q)
		s.send(hostA, hostB, q)
		s.send(hostB, hostA, rep())
		if len(s.facts) != 1 || s.facts[0].Kind != Connected || s.facts[0].Asked != 1 || s.facts[0].Frame != 2 {
			t.Fatalf("%s: %+v", c.name, s.facts)
		}
		for side, e := range s.facts[0].Ends {
			if e.Attr != c.want[side] {
				t.Errorf("%s, side %d:\n%+v\nwant\n%+v", c.name, side, e.Attr, c.want[side])
			}
			if got, err := s.agent.QPAttr(t.Context(), hcaagent.QP{Addr: e.Addr, QPN: e.QPN}); err != nil || got != e.Attr {
				t.Errorf("%s, side %d: the query says %+v, %v", c.name, side, got, err)
			}
		}
	}
}

func TestRepetitions(t *testing.T) {
	s := newScript(t, Options{})
	s.send(hostA, hostB, req())
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, &mad.MRA{Header: mad.CMHeader(mad.AttrMRA, 77), LocalCommID: idB, RemoteCommID: idA})
	s.want()
	s.send(hostB, hostA, rep())
	s.want(connected)
	s.send(hostB, hostA, rep())
	s.send(hostA, hostB, req())
	s.send(hostA, hostB, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: idA, RemoteCommID: idB})
	s.want()
	s.knows(hostA, 0x11, true)
	s.send(hostA, hostB, dreq(idA, idB, 0x22))
	s.want(disconnected)
	s.knows(hostA, 0x11, false)
	s.send(hostA, hostB, dreq(idA, idB, 0x22))
	s.send(hostB, hostA, dreq(idB, idA, 0x11)) // crossing
	s.send(hostB, hostA, drep(idB, idA))
	s.send(hostA, hostB, drep(idA, idB))
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, rep())
	s.want()
	if st := s.agent.Stats(); st.Unmatched != 0 {
		t.Errorf("%+v", st)
	}
}

// TestReorder: opposite directions are recorded out of order, the REP stands before its REQ.
func TestReorder(t *testing.T) {
	s := newScript(t, Options{})
	s.send(hostB, hostA, rep())
	s.send(hostB, hostA, rep())
	s.want()
	s.send(hostA, hostB, req())
	s.want(connected)
	s.send(hostB, hostA, rep())
	s.want()

	s = newScript(t, Options{})
	s.send(hostB, hostA, rep()) // of an exchange whose REQ was missed
	other := req()
	other.TID++
	s.send(hostA, hostB, other)
	s.want()
	s.send(hostB, hostA, rep())
	s.want()
	if st := s.agent.Stats(); st.Unmatched != 1 {
		t.Errorf("%+v", st)
	}
}

func TestReject(t *testing.T) {
	s := newScript(t, Options{})
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, rej(0, idA))
	s.want("rejected a/0x11 b/0x0: consumer reject")
	s.send(hostB, hostA, rej(0, idA))
	s.send(hostB, hostA, rep())
	s.send(hostA, hostB, rej(idA, 0x55))
	s.want()

	s = newScript(t, Options{})
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, rep())
	s.send(hostA, hostB, rej(idA, idB)) // the active side takes the REP back
	s.want(connected, "rejected a/0x11 b/0x22: consumer reject")
	s.knows(hostB, 0x22, false)
	s.send(hostB, hostA, rej(1, 2))
	s.want()
	if st := s.agent.Stats(); st.Unmatched != 1 {
		t.Errorf("%+v", st)
	}
}

func TestReconnect(t *testing.T) {
	s := newScript(t, Options{})
	s.send(hostA, hostB, req())
	s.send(hostB, hostA, rep())
	s.send(hostA, hostB, dreq(idA, idB, 0x22))
	s.want(connected, disconnected)

	// The same communication ID and QPs, other PSNs.
	q, r := req(), rep()
	q.TID, q.StartingPSN, r.TID, r.StartingPSN = 78, 0x300, 78, 0x400
	s.send(hostA, hostB, q)
	s.send(hostB, hostA, r)
	again := "connected RC TCP port 1 a/0x11 b/0x22 psn 0x000400 0x000300 mtu 1024"
	s.want(again)

	// Again, without a DREQ between: by the same communication ID …
	q.TID, q.StartingPSN, r.TID, r.StartingPSN = 79, 0x500, 79, 0x600
	s.send(hostA, hostB, q)
	s.want("superseded a/0x11 b/0x22")
	s.send(hostB, hostA, r)
	s.want("connected RC TCP port 1 a/0x11 b/0x22 psn 0x000600 0x000500 mtu 1024")

	// … and by another one, with another peer QP.
	q.TID, q.LocalCommID, r.TID, r.RemoteCommID, r.LocalCommID, r.LocalQPN = 80, 0xA1, 80, 0xA1, 0xB1, 0x23
	s.send(hostA, hostB, q)
	s.send(hostB, hostA, r)
	s.want("superseded a/0x11 b/0x22", "connected RC TCP port 1 a/0x11 b/0x23 psn 0x000600 0x000500 mtu 1024")
	s.knows(hostB, 0x22, false)
	s.knows(hostA, 0x11, true)

	// The old connection's DREQ comes late.
	s.send(hostB, hostA, dreq(idB, idA, 0x11))
	s.want()
	s.knows(hostA, 0x11, true)
}

// TestMissed: the capture began in the middle of an exchange.
func TestMissed(t *testing.T) {
	t.Run("REQ", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostB, hostA, rep())
		s.want()
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.want(disconnected)
		if f := s.facts; len(f) != 0 {
			t.Error(f)
		}
	})
	t.Run("REP", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostA, hostB, dreq(idA, idB, 0x22))
		s.send(hostB, hostA, drep(idB, idA))
		s.want(disconnected)
	})
	t.Run("REP, passive side disconnects", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostB, hostA, dreq(idB, idA, 0x12)) // not this QP
		s.want()
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.want("disconnected a/0x11 b/0x0")
	})
	t.Run("DREQ", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, req())
		s.send(hostB, hostA, rep())
		s.send(hostA, hostB, dreq(idA, idB, 0x23)) // names another QP: the peer ignores it
		s.want(connected)
		s.send(hostB, hostA, drep(idB, idA))
		s.want(disconnected)
	})
	t.Run("REQ and REP", func(t *testing.T) {
		s := newScript(t, Options{})
		s.send(hostA, hostB, dreq(idA, idB, 0x22))
		s.send(hostA, hostB, dreq(idA, idB, 0x22))
		s.want("disconnected a/0x0 b/0x22")
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.send(hostB, hostA, dreq(idB, idA, 0x11))
		s.send(hostB, hostA, drep(idB, idA))
		s.want(disconnected)
		s.send(hostA, hostB, dreq(idA, 0xB7, 0x24)) // the same ID with another peer ID
		s.send(hostA, hostB, drep(1, 2))
		s.want()
		if st := s.agent.Stats(); st.Unmatched != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestResolution(t *testing.T) {
	ask := &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, 5), RequestID: 9, PKey: 0x8002, ServiceID: 0x1110007}
	answer := &mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, 5), RequestID: 9, QPN: 0x33, ServiceID: 0x1110007, QKey: 0x42}
	s := newScript(t, Options{})
	s.send(hostA, hostB, ask)
	s.send(hostA, hostB, ask)
	s.want()
	s.send(hostB, hostA, answer)
	attr := s.facts[0].Ends[1].Attr
	if attr != (hcaagent.Attr{Service: packet.UD, PKey: 0x8002, QKey: 0x42, Known: hcaagent.KnowsPKey | hcaagent.KnowsQKey}) {
		t.Errorf("%+v", attr)
	}
	s.want("resolved UDP port 7 a/0x0 b/0x33 qkey 0x42")
	s.send(hostB, hostA, answer)
	s.send(hostA, hostB, ask)
	s.want()
	s.knows(hostB, 0x33, true)

	refusal := *answer
	refusal.RequestID, refusal.Status, refusal.QPN = 10, mad.SIDRRejected, 0
	s.send(hostB, hostA, &refusal)
	if len(s.facts) != 1 || s.facts[0].Status != mad.SIDRRejected || s.facts[0].Asked != 0 {
		t.Errorf("%+v", s.facts)
	}
	s.want("unresolved a/0x0 b/0x0")

	again := *answer // the SIDR_REQ was missed; the same QP, another Q_Key
	again.RequestID, again.QKey = 11, 0x43
	s.send(hostB, hostA, &again)
	s.want("resolved UDP port 7 a/0x0 b/0x33 qkey 0x43")
	if a, err := s.agent.QPAttr(t.Context(), hcaagent.QP{Addr: hostB, QPN: 0x33}); err != nil || a.QKey != 0x43 {
		t.Errorf("%+v, %v", a, err)
	}
	if n := s.agent.lists[live].n; n != 1 {
		t.Errorf("%d resolutions are alive", n)
	}
}

// TestNeverInvented: what is not known is not told.
func TestNeverInvented(t *testing.T) {
	s := newScript(t, Options{})
	for _, change := range []func(*mad.REQ){
		func(m *mad.REQ) { m.Transport = mad.TransportRD },
		func(m *mad.REQ) { m.Transport, m.ExtendedTransport = mad.TransportExtended, 5 },
		func(m *mad.REQ) { m.LocalQPN = 1 },
	} {
		q := req()
		change(q)
		s.send(hostA, hostB, q)
		s.send(hostB, hostA, rep())
		s.want()
		s.agent = New(Options{})
	}
	s.send(hostA, hostB, req())
	r := rep()
	r.LocalQPN = 0
	s.send(hostB, hostA, r)
	s.want()

	q := req()
	q.PathMTU, q.Primary.LocalAckTimeout, q.LocalCommID, q.TID = 6, 0, 0xA7, 81
	r = rep()
	r.RemoteCommID, r.TID = 0xA7, 81
	s.send(hostA, hostB, q)
	s.send(hostB, hostA, r)
	if a := s.facts[0].Ends[1].Attr; a.Known&(hcaagent.KnowsPMTU|hcaagent.KnowsTimeout) != 0 {
		t.Errorf("%v", a.Known)
	}
	for _, err := range []error{
		errOf(s.agent.Completions(t.Context(), 0, nil)),
		errOf(s.agent.MemoryData(t.Context(), hcaagent.Memory{}, nil)),
		s.agent.MemoryAccess(t.Context(), hcaagent.QP{}, hcaagent.Memory{}, 0),
		errOf(s.agent.DataSegments(t.Context(), hcaagent.QP{}, 0)),
		errOf(s.agent.ExpectSolicitedEvent(t.Context(), hcaagent.QP{}, 0)),
		s.agent.VerifyTransition(t.Context(), hcaagent.QP{}, hcaagent.Init, hcaagent.RTR),
	} {
		var u *hcaagent.UnknownError
		if !errors.Is(err, hcaagent.ErrUnknown) || !errors.As(err, &u) {
			t.Errorf("%v", err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestNative: LIDs are addresses; those of the REQ's path are where the data will go, also when a redirected CM speaks for the port.
func TestNative(t *testing.T) {
	s := newScript(t, Options{})
	q := req()
	q.Primary.SubnetLocal, q.Primary.LocalLID, q.Primary.RemoteLID = true, 5, 6
	send := func(src, dst uint16, m mad.Message) {
		b := make([]byte, mad.Size)
		if err := m.Encode(b); err != nil {
			t.Fatal(err)
		}
		s.facts = append(s.facts, s.agent.Management(&packet.Packet{
			Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly),
			DestQP: 1, SrcQP: 1, Src: packet.LIDAddr(src), Dst: packet.LIDAddr(dst), Payload: b, PayloadLen: len(b),
		})...)
	}
	send(5, 7, q)
	send(7, 5, rep())
	a := s.facts[0].Ends[0].Attr
	const path = hcaagent.KnowsSL | hcaagent.KnowsGRH | hcaagent.KnowsTClass | hcaagent.KnowsHopLimit
	if a.Known&path != hcaagent.KnowsSL || a.SL != 2 || a.DestAddr != packet.LIDAddr(6) {
		t.Errorf("%+v", a)
	}
	s.want("connected RC TCP port 1 lid:5/0x11 lid:6/0x22 psn 0x000200 0x000100 mtu 1024")

	q.Primary.SubnetLocal, q.Primary.LocalLID, q.Primary.RemoteLID, q.TID = false, mad.PermissiveLID, mad.PermissiveLID, 78
	r := rep()
	r.TID = 78
	send(5, 7, q)
	send(7, 5, r)
	s.facts = s.facts[1:] // superseded
	if a := s.facts[0].Ends[0].Attr; a.Known&path != path || !a.GRH {
		t.Errorf("%+v", a)
	}
	s.want("connected RC TCP port 1 lid:5/0x11 lid:7/0x22 psn 0x000200 0x000100 mtu 1024")
}

// TestBounds: memory stays within the limits, and what is lost is counted.
func TestBounds(t *testing.T) {
	s := newScript(t, Options{MaxPending: 3, MaxLive: 2, Hold: 5 * time.Second})
	for id := range uint32(10) {
		q := req()
		q.LocalCommID, q.TID, q.LocalQPN = id, uint64(id), 0x100+id
		s.send(hostA, hostB, q)
	}
	if st := s.agent.Stats(); st.Evicted != 7 {
		t.Errorf("%+v", st)
	}
	for id := range uint32(10) {
		q, r := req(), rep()
		q.LocalCommID, q.TID, q.LocalQPN = 100+id, 100+uint64(id), 0x200+id
		r.RemoteCommID, r.TID, r.LocalQPN, r.LocalCommID = 100+id, 100+uint64(id), 0x300+id, 200+id
		s.send(hostA, hostB, q)
		s.send(hostB, hostA, r)
	}
	s.knows(hostA, 0x207, false)
	s.knows(hostA, 0x208, true)
	s.send(hostA, hostB, dreq(108, 208, 0x308))
	s.send(hostA, hostB, dreq(109, 209, 0x309))
	if n := s.agent.lists[done].n; n != 2 {
		t.Errorf("%d finished exchanges", n)
	}
	s.now += int64(6 * time.Second)
	s.send(hostA, hostB, dreq(1<<20, 1<<21, 0x22))
	if n := s.agent.lists[done].n; n != 1 {
		t.Errorf("%d finished exchanges after the hold time", n)
	}
	if len(s.agent.byQP) != 0 || len(s.agent.byKey) != 1+int(s.agent.lists[waiting].n) || len(s.agent.slots) > 10 {
		t.Errorf("%d QPs, %d exchanges, %d slots", len(s.agent.byQP), len(s.agent.byKey), len(s.agent.slots))
	}
}
