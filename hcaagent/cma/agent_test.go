package cma

import (
	"bytes"
	"errors"
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
)

var (
	own  = packet.IPv4Addr([]byte{10, 0, 0, 1})
	peer = packet.IPv4Addr([]byte{10, 0, 0, 2})
)

const (
	service  mad.ServiceID = 5
	peerGUID uint64        = 7
)

// manager makes a manager that listens with two queue pairs.
func manager(t *testing.T, faults ...string) *Agent {
	t.Helper()
	a, err := New(Config{GUID: 1, Addr: own, PKeys: []uint16{0xFFFF}, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	a.Listen(service, Offer{QPN: 0x11, PSN: 100, Resources: 4, Depth: 4}, Offer{QPN: 0x12, PSN: 200, Resources: 4, Depth: 4})
	a.ListenDatagram(service, Datagram{QPN: 0x20, QKey: 3})
	return a
}

// request is a REQ of the peer.
func request(id uint32) *mad.REQ {
	return &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, uint64(id)), LocalCommID: id, ServiceID: service, LocalCAGUID: peerGUID, LocalQPN: 0x30 + id, InitiatorDepth: 9, ResponderResources: 2,
		PathMTU: 3, PKey: 0xFFFF, LocalCMTimeout: 10, MaxCMRetries: 2, Primary: mad.Path{LocalGID: peer, RemoteGID: own, LocalAckTimeout: 10},
	}
}

// tell gives a manager a message, and returns its answers.
func tell(t *testing.T, a *Agent, now int64, m mad.Message) []Out {
	t.Helper()
	b := make([]byte, mad.Size)
	if err := m.Encode(b); err != nil {
		t.Fatal(err)
	}
	return a.Receive(now, peer, b)
}

// one is the only message of some, and what it is.
func one(t *testing.T, list []Out, want mad.Attribute, into mad.Message) []byte {
	t.Helper()
	var h mad.Header
	if len(list) != 1 || mad.DecodeHeader(list[0].MAD, &h) != nil || h.Attribute != want || list[0].To != peer || into.Decode(list[0].MAD) != nil {
		t.Fatalf("%d messages, %v, want %v", len(list), h.Attribute, want)
	}
	return list[0].MAD
}

// TestPassive: REQ, REP, which is retransmitted, RTU, DREQ, TimeWait.
func TestPassive(t *testing.T) {
	a, q, rep := manager(t), request(1), new(mad.REP)
	first := one(t, tell(t, a, 0, q), mad.AttrREP, rep)
	if rep.LocalQPN != 0x11 || rep.StartingPSN != 100 || rep.ResponderResources != 4 || rep.InitiatorDepth != 2 || rep.RemoteCommID != 1 || rep.LocalCAGUID != 1 {
		t.Errorf("%+v", rep)
	}
	again := one(t, tell(t, a, 1, q), mad.AttrREP, new(mad.REP))
	at, ok := a.Next()
	retransmitted := one(t, a.Expire(at), mad.AttrREP, new(mad.REP))
	if !ok || at != 2*4096<<10 || !bytes.Equal(first, again) || !bytes.Equal(first, retransmitted) {
		t.Errorf("REP at %d is another one", at)
	}
	tell(t, a, at, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 1), LocalCommID: 1, RemoteCommID: rep.LocalCommID})
	if at, ok := a.Next(); ok {
		t.Errorf("after the RTU something is due at %d", at)
	}
	dreq := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 9), LocalCommID: 1, RemoteCommID: rep.LocalCommID, RemoteQPN: 0x11}
	for range 2 {
		one(t, tell(t, a, at, dreq), mad.AttrDREP, new(mad.DREP))
	}
	rej := new(mad.REJ)
	if one(t, tell(t, a, at, q), mad.AttrREJ, rej); rej.Reason != mad.RejStale {
		t.Errorf("REQ in TimeWait: %v", rej.Reason)
	}
	a.Expire(at + timeWaits)
	if one(t, tell(t, a, at, q), mad.AttrREP, rep); rep.LocalQPN != 0x12 {
		t.Errorf("after TimeWait: %+v", rep)
	}
	if one(t, tell(t, a, at, request(2)), mad.AttrREJ, rej); rej.Reason != mad.RejNoQP {
		t.Errorf("no queue pair: %v", rej.Reason)
	}
}

// TestActive: a REQ is retransmitted as often as it says, and a REP answered by an RTU each time.
func TestActive(t *testing.T) {
	a, q := manager(t), request(0)
	q.RemoteCMTimeout = 10
	n := len(a.Connect(0, peer, *q))
	for at, ok := a.Next(); ok; at, ok = a.Next() {
		if out := a.Expire(at); len(out) == 1 && mad.Attribute(out[0].MAD[17]) == mad.AttrREQ {
			n++
		} else if rej := new(mad.REJ); len(one(t, out, mad.AttrREJ, rej)) == 0 || rej.Reason != mad.RejTimeout || rej.InfoLength != 8 {
			t.Errorf("%+v", rej)
		}
	}
	if n != 3 {
		t.Errorf("%d REQs", n)
	}
	sent := new(mad.REQ)
	one(t, a.Connect(0, peer, *q), mad.AttrREQ, sent)
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, sent.TID), LocalCommID: 4, RemoteCommID: sent.LocalCommID, LocalQPN: 0x40, LocalCAGUID: peerGUID}
	for range 2 {
		rtu := new(mad.RTU)
		if one(t, tell(t, a, 1, rep), mad.AttrRTU, rtu); rtu.RemoteCommID != 4 || rtu.TID != sent.TID {
			t.Errorf("%+v", rtu)
		}
	}
}

// TestRejects: the reasons of REJs, and the statuses of SIDR_REP and APR.
func TestRejects(t *testing.T) {
	for reason, change := range map[mad.RejReason]func(*mad.REQ){
		mad.RejInvalidService: func(q *mad.REQ) { q.ServiceID = 6 },
		rejTransport:          func(q *mad.REQ) { q.Transport = mad.TransportRD },
		rejMTU:                func(q *mad.REQ) { q.PathMTU = 6 },
		mad.RejUnsupported:    func(q *mad.REQ) { q.PKey = 5 },
		rejGID:                func(q *mad.REQ) { q.Primary.RemoteGID = peer },
	} {
		q, rej := request(1), new(mad.REJ)
		change(q)
		if one(t, tell(t, manager(t), 0, q), mad.AttrREJ, rej); rej.Reason != reason || rej.RemoteCommID != 1 {
			t.Errorf("%v: %+v", reason, rej)
		}
	}
	a := manager(t)
	for s, status := range map[mad.ServiceID]mad.SIDRStatus{service: mad.SIDRValid, 6: mad.SIDRUnsupported} {
		rep := new(mad.SIDRRep)
		if one(t, tell(t, a, 0, &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, 3), RequestID: 8, ServiceID: s}), mad.AttrSIDRRep, rep); rep.Status != status || rep.RequestID != 8 {
			t.Errorf("%+v", rep)
		}
	}
	apr := new(mad.APR)
	if one(t, tell(t, a, 0, &mad.LAP{Header: mad.CMHeader(mad.AttrLAP, 3), LocalCommID: 8, RemoteCommID: 9}), mad.AttrAPR, apr); apr.Status != aprUnknown {
		t.Errorf("%+v", apr)
	}
	if _, err := New(Config{Faults: []string{"none"}}); !errors.Is(err, ErrFault) {
		t.Error(err)
	}
}

// TestStale: a REQ for a queue pair that is connected is rejected, and the connection of old ended.
func TestStale(t *testing.T) {
	a, rep := manager(t), new(mad.REP)
	one(t, tell(t, a, 0, request(1)), mad.AttrREP, rep)
	if len(a.Arrived(0x11)) != 0 {
		t.Error("a request that counts as the RTU is answered")
	}
	q := request(2)
	q.LocalQPN = request(1).LocalQPN
	out := tell(t, a, 1, q)
	rej, dreq := new(mad.REJ), new(mad.DREQ)
	if len(out) != 2 || rej.Decode(out[0].MAD) != nil || dreq.Decode(out[1].MAD) != nil || rej.Reason != mad.RejStale || dreq.LocalCommID != rep.LocalCommID || dreq.RemoteCommID != 1 {
		t.Errorf("%d messages, %+v, %+v", len(out), rej, dreq)
	}
}
