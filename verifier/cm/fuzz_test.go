package cm_test

import (
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
	"ibwitness/wqe"
)

var hosts = [2]packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})}

// datagram is a management datagram from one of the hosts to the other.
func datagram(from int, now int64, b []byte) *packet.Packet {
	return &packet.Packet{
		Time: now, Frame: uint64(now>>20) + 1, Has: packet.HasBTH | packet.HasDETH | packet.HasIPv4, Encap: packet.RoCEv2IPv4,
		Opcode: packet.Op(packet.UD, packet.SendOnly), DestQP: 1, SrcQP: 1, QKey: 0x80010000, IPID: uint16(now >> 20),
		Src: hosts[from], Dst: hosts[1-from], Payload: b, PayloadLen: mad.Size, Cut: len(b) < mad.Size,
	}
}

// FuzzExchange feeds a verifier any sequence of messages: it stays consistent, and each finding names who is accused and what was expected. The
// input is cut into messages: a byte of direction and length, one of time, then the message.
func FuzzExchange(f *testing.F) {
	var seed []byte
	for i, m := range []mad.Message{
		&mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 7), LocalCommID: 1, LocalQPN: 0x11, LocalCAGUID: 9, RemoteCMTimeout: 8, LocalCMTimeout: 8, PathMTU: 3, PKey: 0xFFFF},
		&mad.MRA{Header: mad.CMHeader(mad.AttrMRA, 7), LocalCommID: 2, RemoteCommID: 1, ServiceTimeout: 12},
		&mad.REP{Header: mad.CMHeader(mad.AttrREP, 7), LocalCommID: 2, RemoteCommID: 1, LocalQPN: 0x22, LocalCAGUID: 8},
		&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 7), LocalCommID: 1, RemoteCommID: 2},
		&mad.LAP{Header: mad.CMHeader(mad.AttrLAP, 8), LocalCommID: 1, RemoteCommID: 2, RemoteQPN: 0x22},
		&mad.APR{Header: mad.CMHeader(mad.AttrAPR, 8), LocalCommID: 2, RemoteCommID: 1},
		&mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 9), LocalCommID: 1, RemoteCommID: 2, RemoteQPN: 0x22},
		&mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 9), LocalCommID: 2, RemoteCommID: 1},
		&mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 7), RemoteCommID: 1, Reason: mad.RejStale},
		&mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, 5), RequestID: 9},
		&mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, 5), RequestID: 9, QPN: 0x33},
	} {
		b := make([]byte, mad.Size)
		if err := m.Encode(b); err != nil {
			f.Fatal(err)
		}
		seed = append(append(seed, 0xfe|byte(i&1), 40), b[:0xfe]...)
		f.Add(append([]byte{0xfe, 0}, b[:0xfe]...))
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		rec := new(rule.Recorder)
		v := cm.New(rec)
		v.Near = func(a, _ packet.Addr) bool { return a == hosts[0] }
		now := int64(1 << 40)
		for len(b) > 1 {
			way, n := int(b[0]&1), min(int(b[0]&^1), len(b)-2)
			now += 1 << (b[1] % 40)
			v.Packet(datagram(way, now, b[2:2+n]))
			v.Data(wqe.QP{Addr: hosts[way], QPN: 0x11}, hosts[1-way], true, datagram(way, now, nil))
			b = b[2+n:]
			if err := v.Consistent(); err != nil {
				t.Fatal(err)
			}
		}
		v.Finish(now + 1<<44)
		for i := range rec.Findings {
			if f := &rec.Findings[i]; f.Accused.Addr.IsZero() || f.Expected == "" || f.Actual == "" || f.Frame == 0 || f.Time == 0 {
				t.Fatalf("%+v", f)
			}
		}
	})
}

// TestBounded opens connections without end: what is kept of them is bounded, and what is forgotten is counted.
func TestBounded(t *testing.T) {
	rec := new(rule.Recorder)
	v := cm.New(rec)
	b := make([]byte, mad.Size)
	now := int64(1 << 40)
	for i := range uint32(50_000) {
		now += 1000
		q := mad.REQ{Header: mad.CMHeader(mad.AttrREQ, uint64(i)), LocalCommID: i + 1, ServiceID: mad.ServiceID(i), LocalQPN: i + 2, LocalCAGUID: 9, RemoteCMTimeout: 20, LocalCMTimeout: 20, PathMTU: 3, PKey: 0xFFFF}
		if err := q.Encode(b); err != nil {
			t.Fatal(err)
		}
		v.Packet(datagram(0, now, b))
		r := mad.REP{Header: mad.CMHeader(mad.AttrREP, uint64(i)), LocalCommID: i + 1<<20, RemoteCommID: i + 1, LocalQPN: i + 2, LocalCAGUID: 8}
		if err := r.Encode(b); err != nil {
			t.Fatal(err)
		}
		v.Packet(datagram(1, now+500, b))
	}
	if err := v.Consistent(); err != nil {
		t.Fatal(err)
	}
	if s := v.Stats(); s.Messages != 100_000 || s.Evicted != 50_000-cm.MaxExchanges {
		t.Errorf("%+v", s)
	}
}
