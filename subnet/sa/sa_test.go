package sa

import (
	"bytes"
	"errors"
	"testing"

	"ibwitness/mad"
)

var peer = End{LID: 1, QPN: 1}

// agent makes subnet administration of so many nodes.
func agent(t *testing.T, nodes int, faults ...string) *Agent {
	t.Helper()
	c := Config{Faults: faults, Records: map[mad.Attribute][][]byte{}}
	for i := range nodes {
		b := make([]byte, mad.LayoutNodeRecord.Size)
		b[1] = byte(i + 1)
		c.Records[mad.AttrNodeRecord] = append(c.Records[mad.AttrNodeRecord], b)
	}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// message is a MAD of subnet administration.
func message(t *testing.T, method mad.Method, attribute mad.Attribute, r mad.RMPP, data []byte) []byte {
	t.Helper()
	b := make([]byte, mad.Size)
	h := mad.Header{BaseVersion: 1, Class: mad.ClassSubnetAdmin, ClassVersion: 2, Method: method, Attribute: attribute, TID: 9}
	if h.Encode(b) != nil || r.Encode(b) != nil {
		t.Fatal("header")
	}
	copy(b[mad.SAHeaderSize:], data)
	return b
}

// rmpps are the RMPP headers of what leaves.
func rmpps(t *testing.T, list []Out) (found []mad.RMPP) {
	t.Helper()
	for _, o := range list {
		var r mad.RMPP
		if r.Decode(o.MAD) != nil || o.To != peer || o.From != 1 {
			t.Fatalf("%+v", o)
		}
		found = append(found, r)
	}
	return found
}

func ack(n, window uint32) mad.RMPP {
	return mad.RMPP{Version: 1, Type: mad.RMPPAck, Flags: mad.RMPPActive, Data1: n, Data2: window}
}

// TestTable: a table goes in segments as far as its window goes, is retransmitted, and ends with its last ACK.
func TestTable(t *testing.T) {
	a := agent(t, 5) // 560 bytes: three segments
	ask := func(now int64, r mad.RMPP) []mad.RMPP {
		return rmpps(t, a.Receive(now, peer, message(t, mad.GetTable, mad.AttrNodeRecord, r, nil)))
	}
	first := ask(0, mad.RMPP{})
	if len(first) != 1 || first[0].Flags != mad.RMPPActive|mad.RMPPFirst || first[0].Data1 != 1 || first[0].Data2 != 560+3*20 {
		t.Fatalf("%+v", first)
	}
	rest := ask(1, ack(1, 3))
	if len(rest) != 2 || rest[0].Data1 != 2 || rest[1].Flags != mad.RMPPActive|mad.RMPPLast || rest[1].Data2 != 160+20 {
		t.Fatalf("%+v", rest)
	}
	if at, ok := a.Next(); !ok || at != 1+again || len(rmpps(t, a.Expire(at))) != 2 {
		t.Errorf("retransmitted at %d", at)
	}
	if got := ask(2, ack(0, 3)); len(got) != 0 {
		t.Errorf("an old ACK brings %+v", got)
	}
	if got := ask(3, ack(3, 3)); len(got) != 0 || len(a.transfers) != 0 {
		t.Errorf("after the last ACK %+v, %d transfers", got, len(a.transfers))
	}
}

// TestTableEnds: a transfer ends by an ABORT of either side, by a wrong ACK, and when nobody answers.
func TestTableEnds(t *testing.T) {
	abort := mad.RMPP{Version: 1, Type: mad.RMPPAbort, Flags: mad.RMPPActive, Status: mad.RMPPOther}
	for status, r := range map[mad.RMPPStatus]mad.RMPP{0: abort, mad.RMPPSegment: ack(2, 3), mad.RMPPWindow: ack(1, 0)} {
		a := agent(t, 5)
		a.Receive(0, peer, message(t, mad.GetTable, mad.AttrNodeRecord, mad.RMPP{}, nil))
		got := rmpps(t, a.Receive(0, peer, message(t, mad.GetTable, mad.AttrNodeRecord, r, nil)))
		if len(a.transfers) != 0 || status == 0 && len(got) != 0 || status != 0 && (len(got) != 1 || got[0].Status != status) {
			t.Errorf("%v: %+v", status, got)
		}
	}
	a, n := agent(t, 5), 0
	a.Receive(0, peer, message(t, mad.GetTable, mad.AttrNodeRecord, mad.RMPP{}, nil))
	for at, ok := a.Next(); ok && n < 100; at, ok = a.Next() {
		a.Expire(at)
		n++
	}
	if n != tries {
		t.Errorf("it ends after %d timeouts", n)
	}
}

// TestInform: a subscription is confirmed, reported to until the report is answered, and ended by who names its queue pair.
func TestInform(t *testing.T) {
	a := agent(t, 0)
	inform := func(subscribe, qpn, first uint64) (status uint16, confirmed uint64) {
		l, b := mad.LayoutInformInfo, make([]byte, mad.LayoutInformInfo.Size)
		for name, v := range map[string]uint64{"LIDRangeBegin": first, "isGeneric": 1, "subscribe": subscribe, "trapNumber": 144, "QPN": qpn} {
			l.Field(name).PutUint(b, v)
		}
		out := a.Receive(0, peer, message(t, mad.Set, mad.AttrInformInfo, mad.RMPP{}, b))
		if len(out) != 1 || mad.Method(out[0].MAD[3]) != mad.GetResp {
			t.Fatalf("%+v", out)
		}
		return uint16(out[0].MAD[4])<<8 | uint16(out[0].MAD[5]), l.Field("subscribe").Uint(out[0].MAD[mad.SAHeaderSize:])
	}
	trap := make([]byte, mad.Size)
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Trap, Attribute: mad.AttrNotice}, Data: make([]byte, 64)}
	mad.LayoutNotice.Field("trapNumber").PutUint(s.Data, 144)
	if err := s.Encode(trap); err != nil {
		t.Fatal(err)
	}
	if status, ok := inform(1, 1, 9); status != 0 || ok != 0 {
		t.Errorf("an empty range: status %#x, subscribe %d", status, ok)
	}
	if status, ok := inform(1, 1, mad.PermissiveLID); status != 0 || ok != 1 {
		t.Errorf("status %#x, subscribe %d", status, ok)
	}
	out := a.Trap(0, End{1, 0}, trap)
	if len(out) != 2 || mad.Method(out[0].MAD[3]) != mad.TrapRepress || mad.Method(out[1].MAD[3]) != mad.Report || len(a.Expire(again)) != 1 {
		t.Fatalf("%+v", out)
	}
	report := bytes.Clone(out[1].MAD)
	report[3] = uint8(mad.ReportResp)
	if a.Receive(0, peer, report); len(a.Expire(3*again)) != 0 {
		t.Error("a report that is answered is retransmitted")
	}
	if status, _ := inform(0, 0, mad.PermissiveLID); status != statusInvalid {
		t.Errorf("queue pair 0: status %#x", status)
	}
	if status, _ := inform(0, 1, mad.PermissiveLID); status != 0 || len(a.Trap(0, End{1, 0}, trap)) != 1 {
		t.Errorf("status %#x", status)
	}
}

// TestGet: a Get is answered by the one record that it names.
func TestGet(t *testing.T) {
	a := agent(t, 3)
	for _, c := range []struct {
		mask, lid uint64
		status    uint16
	}{{0, 0, statusMany}, {1, 2, 0}, {1, 9, statusNone}, {1 << 5, 0, statusInvalid}} {
		data := make([]byte, 8)
		mad.LayoutNodeRecord.Field("LID").PutUint(data, c.lid)
		b := message(t, mad.Get, mad.AttrNodeRecord, mad.RMPP{}, data)
		if err := (&mad.SA{ComponentMask: c.mask}).Encode(b); err != nil {
			t.Fatal(err)
		}
		out := a.Receive(0, peer, b)
		if len(out) != 1 || uint16(out[0].MAD[4])<<8|uint16(out[0].MAD[5]) != c.status {
			t.Errorf("mask %#x, LID %d: %+v", c.mask, c.lid, out)
		}
	}
}

// TestOthers: what there is not is refused, and a fault that there is not is an error.
func TestOthers(t *testing.T) {
	a := agent(t, 2)
	for _, b := range [][]byte{
		message(t, mad.Get, mad.AttrPathRecord, mad.RMPP{}, nil), message(t, mad.Get, mad.AttrNodeRecord, mad.RMPP{}, nil), message(t, mad.Delete, mad.AttrServiceRecord, mad.RMPP{}, nil),
	} {
		if out := a.Receive(0, peer, b); len(out) != 1 || out[0].MAD[4] == 0 && out[0].MAD[5] == 0 {
			t.Errorf("%+v", out)
		}
	}
	if _, err := New(Config{Faults: []string{"none"}}); !errors.Is(err, ErrFault) {
		t.Error(err)
	}
	if _, err := New(Config{Records: map[mad.Attribute][][]byte{mad.AttrNodeRecord: {make([]byte, 8)}}}); !errors.Is(err, ErrRecord) {
		t.Error(err)
	}
}

// FuzzReceive: no MAD makes it panic, and what leaves has 256 bytes.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{1, 3, 2, 0x12}, uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, faults uint64) {
		a := &Agent{config: Config{Records: map[mad.Attribute][][]byte{mad.AttrNodeRecord: {make([]byte, 108), make([]byte, 108), make([]byte, 108)}}}}
		for i := range a.faults {
			a.faults[i] = faults>>i&1 != 0
		}
		whole := make([]byte, mad.Size)
		copy(whole, b)
		for now := range int64(3) {
			for _, out := range [][]Out{a.Receive(now, peer, whole), a.Trap(now, peer, whole), a.Expire(now * again)} {
				for _, o := range out {
					if len(o.MAD) != mad.Size {
						t.Errorf("%d bytes", len(o.MAD))
					}
				}
			}
		}
	})
}
