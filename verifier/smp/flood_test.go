package smp

import (
	"encoding/binary"
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestFlood: of however many requests in no time, few of one TID are kept, and a bounded number of all; and few managers, each of which is compared with all.
func TestFlood(t *testing.T) {
	var rec rule.Recorder
	v := New(&rec, func(packet.Addr) bool { return true })
	p := packet.Packet{
		Encap: packet.Native, Opcode: sendOnly, Has: packet.HasLRH | packet.HasBTH | packet.HasDETH, VL: 15, PayloadLen: mad.Size, Time: 1, SLID: 1, DLID: 2,
		Src: packet.LIDAddr(1), Dst: packet.LIDAddr(2), Payload: make([]byte, mad.Size),
	}
	send := func(method mad.Method, attribute mad.Attribute, tid, modifier int) {
		b := p.Payload
		b[0], b[1], b[2], b[3] = 1, byte(mad.ClassSubnetLID), 1, byte(method)
		binary.BigEndian.PutUint64(b[8:], uint64(tid))
		binary.BigEndian.PutUint16(b[16:], uint16(attribute))
		binary.BigEndian.PutUint32(b[20:], uint32(modifier))
		p.Frame++
		v.Packet(&p, true)
	}
	for i := range 1000 {
		send(mad.Get, mad.AttrPKeyTable, 7, i)
	}
	n := 0
	for x := v.open[7]; x != nil; x = x.next {
		n++
	}
	if n != mostAlike {
		t.Errorf("%d exchanges of one TID are kept", n)
	}
	for i := range most + 1000 {
		send(mad.Get, mad.AttrPKeyTable, 8+i, 0)
	}
	if len(v.order) != most || len(v.open) > most {
		t.Errorf("%d exchanges of %d TIDs are kept", len(v.order), len(v.open))
	}
	for i := range mostManagers + 1000 {
		clear(p.Payload)
		send(mad.Get, mad.AttrSMInfo, i, 0)
		p.SLID, p.DLID, p.Src, p.Dst = p.DLID, p.SLID, p.Dst, p.Src
		binary.BigEndian.PutUint64(p.Payload[64:], uint64(i+1)) // GUID
		send(mad.GetResp, mad.AttrSMInfo, i, 0)
		p.SLID, p.DLID, p.Src, p.Dst = p.DLID, p.SLID, p.Dst, p.Src
	}
	if n := len(v.managers); n == 0 || n > mostManagers {
		t.Errorf("%d managers are kept", n)
	}
}
