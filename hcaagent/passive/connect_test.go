package passive

import (
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestAttributes: CM-REQ-002, CM-REQ-006, CM-REQ-007, CM-REQ-008, CM-REQ-012, for each service.
func TestAttributes(t *testing.T) {
	const (
		both = qp.KnowsPMTU | qp.KnowsRQPSN | qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsPKey |
			qp.KnowsTClass | qp.KnowsGRH
		reads = qp.KnowsMaxRdAtomic | qp.KnowsMaxDestRdAtomic
	)
	common := qp.Attr{PMTU: 1024, PKey: 0x8001, TClass: 104, GRH: true, ByCM: qp.KnowsTClass}
	end := func(service packet.Service, known qp.Known, set func(*qp.Attr)) qp.Attr {
		a := common
		a.Service, a.Known = service, known
		set(&a)
		return a
	}
	active := func(a *qp.Attr) {
		a.SQPSN, a.RQPSN, a.DestQPN, a.DestAddr, a.HopLimit = 0x200, 0x100, 0x22, hostB, 3
	}
	passive := func(a *qp.Attr) { a.SQPSN, a.RQPSN, a.DestQPN, a.DestAddr = 0x100, 0x200, 0x11, hostA }
	for _, c := range []struct {
		name string
		req  func(*mad.REQ)
		want [2]qp.Attr
	}{
		{"RC", func(*mad.REQ) {}, [2]qp.Attr{
			end(packet.RC, both|reads|qp.KnowsSQPSN|qp.KnowsHopLimit|qp.KnowsRNRRetry|qp.KnowsCredits, func(a *qp.Attr) {
				active(a)
				a.RNRRetry, a.MaxRdAtomic, a.MaxDestRdAtomic, a.Credits, a.AskedRdAtomic = 1, 4, 2, true, 8
			}),
			end(packet.RC, everything, func(a *qp.Attr) {
				passive(a)
				a.RNRRetry, a.RetryCnt, a.Timeout, a.MaxRdAtomic, a.MaxDestRdAtomic, a.SRQ = 6, 5, 14, 2, 4, true
				a.ByCM |= qp.KnowsTimeout
			}),
		}},
		{"UC", func(m *mad.REQ) { m.Transport = mad.TransportUC }, [2]qp.Attr{
			end(packet.UC, both|qp.KnowsSQPSN|qp.KnowsHopLimit, active),
			end(packet.UC, both|qp.KnowsSQPSN, passive),
		}},
		{"XRC", func(m *mad.REQ) { m.Transport, m.ExtendedTransport = mad.TransportExtended, mad.ExtendedXRC }, [2]qp.Attr{
			end(packet.XRC, both|qp.KnowsSQPSN|qp.KnowsHopLimit|qp.KnowsRNRRetry|qp.KnowsMaxRdAtomic, func(a *qp.Attr) {
				active(a)
				a.RNRRetry, a.MaxRdAtomic = 1, 4
			}),
			end(packet.XRC, both|qp.KnowsMaxDestRdAtomic, func(a *qp.Attr) {
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
			if got, err := s.agent.QPAttr(t.Context(), wqe.QP{Addr: e.Addr, QPN: e.QPN}); err != nil || got != e.Attr {
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

// TestReorder: opposite directions are recorded out of order, the REP comes before its REQ.
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
	const path = qp.KnowsSL | qp.KnowsGRH | qp.KnowsTClass | qp.KnowsHopLimit
	if a.Known&path != qp.KnowsSL || a.SL != 2 || a.DestAddr != packet.LIDAddr(6) {
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

// TestQueue: the queue of NVMe over RDMA that a REQ asks for is told when it is connected.
func TestQueue(t *testing.T) {
	s := newScript(t, Options{})
	q := req()
	q.ServiceID, q.Private = 1<<24|mad.ServiceID(mad.ProtocolTCP)<<16|4420, append(make([]byte, mad.IPHeaderSize), 0, 0, 3, 0, 128, 0, 127, 0)
	s.send(hostA, hostB, q)
	s.send(hostB, hostA, rep())
	if want := (mad.NVMeQueue{ID: 3, Receives: 128, Sends: 127, Known: true}); len(s.facts) != 1 || s.facts[0].Queue != want {
		t.Fatalf("%+v", s.facts)
	}
}
