// Package outgoing makes the packets that a send request lets expect, with headers and payload, and says where those that were sent depart from them.
//
// It is the engine's own, without a promise to others.
package outgoing

import (
	"bytes"
	"fmt"

	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// functions are the opcodes of a message's packets: its only one, and the first, those within, and the last of several.
var functions = [...][4]packet.Fn{
	wqe.OpSend:        {packet.SendOnly, packet.SendFirst, packet.SendMiddle, packet.SendLast},
	wqe.OpSendImm:     {packet.SendOnlyImm, packet.SendFirst, packet.SendMiddle, packet.SendLastImm},
	wqe.OpSendInv:     {packet.SendOnlyInv, packet.SendFirst, packet.SendMiddle, packet.SendLastInv},
	wqe.OpWrite:       {packet.WriteOnly, packet.WriteFirst, packet.WriteMiddle, packet.WriteLast},
	wqe.OpWriteImm:    {packet.WriteOnlyImm, packet.WriteFirst, packet.WriteMiddle, packet.WriteLastImm},
	wqe.OpRead:        {packet.ReadRequest, packet.ReadRequest, packet.ReadRequest, packet.ReadRequest},
	wqe.OpCmpSwap:     {packet.CmpSwap},
	wqe.OpFetchAdd:    {packet.FetchAdd},
	wqe.OpFlush:       {packet.Flush},
	wqe.OpAtomicWrite: {packet.AtomicWrite},
}

// place is which of the four a packet is, by its position.
func place(i, packets int) int {
	switch {
	case packets == 1:
		return 0
	case i == 0:
		return 1
	case i < packets-1:
		return 2
	}
	return 3
}

// Opcode is that of packet i, from 0 on, of a send request. A READ is requested once more from the packet of its response on that is missing.
func Opcode(x *cq.Posted, i int) packet.Opcode {
	service, _ := x.Type.Service()
	return packet.Op(service, functions[x.Request.Op][place(i, x.Packets)])
}

// Fields are the fields of a packet that a work request determines, with their values in host byte order.
type Fields struct {
	n    int
	list [24]field
}

type field struct {
	id expect.ID
	v  uint64
}

func (f *Fields) is(id expect.ID, v uint64) {
	f.list[f.n] = field{id, v}
	f.n++
}

// request sets the fields of packet i of a send request.
func (f *Fields) request(x *cq.Posted, i int) {
	f.n = 0
	r := x.Request
	o := Opcode(x, i)
	in := o.Info()
	f.is(expect.Opcode, uint64(o))
	f.is(expect.PSN, uint64(x.PSN.Add(i)))
	f.is(expect.SE, uint64(packet.Bit(in.MaySolicit() && r.Flags&wqe.Solicited != 0)))
	if s := o.Service(); s == packet.UC || s == packet.UD {
		f.is(expect.AckReq, 0)
	}
	f.connection(x)
	if in.Headers&packet.HasXRCETH != 0 && r.XRCSRQ != 0 {
		f.is(expect.XRCSRQ, uint64(r.XRCSRQ))
	}
	if in.Headers&packet.HasImmDt != 0 {
		f.is(expect.Imm, uint64(r.Imm))
	}
	if in.Headers&packet.HasIETH != 0 {
		f.is(expect.InvRKey, uint64(r.InvKey))
	}
	if in.Headers&(packet.HasRETH|packet.HasAtomicETH|packet.HasFETH) != 0 {
		f.memory(x, i)
	}
}

// connection sets what the attributes of the queue pair, or the address vector of a datagram, determine in all packets.
func (f *Fields) connection(x *cq.Posted) {
	a := x.Attr
	if a.PKey != 0 {
		f.is(expect.PKey, uint64(a.PKey))
	}
	if x.Type == qp.TypeUD {
		f.datagram(x)
		return
	}
	f.is(expect.DestQP, uint64(a.DestQPN))
}

// datagram sets the DETH, and what the address vector says.
func (f *Fields) datagram(x *cq.Posted) {
	r := x.Request
	f.is(expect.DestQP, uint64(r.Dest.QPN))
	f.is(expect.SrcQP, uint64(x.QP.QPN))
	if key, ok := qkey(x); ok {
		f.is(expect.QKey, uint64(key))
	}
	if v := x.Vector; v != nil && x.Near && r.AH != 0 {
		f.is(expect.DSCP, uint64(v.TClass>>2))
		if v.HopLimit != 0 {
			f.is(expect.HopLmt, uint64(v.HopLimit))
		}
	}
}

// qkey is the Q_Key that a datagram has: that of the request, or where that is privileged that of the queue pair (section 10.2.5).
func qkey(x *cq.Posted) (uint32, bool) {
	switch key := x.Request.QKey; {
	case key>>31 != 0:
		return x.Attr.QKey, x.Attr.Has(qp.KnowsQKey)
	case key != 0:
		return key, true
	}
	return 0, false
}

// memory sets the RETH, AtomicETH or FETH.
func (f *Fields) memory(x *cq.Posted, i int) {
	r := x.Request
	switch r.Op {
	case wqe.OpRead:
		skip := uint64(i) * uint64(x.PMTU)
		f.is(expect.DMALen, uint64(x.Length)-skip)
		if x.Length > 0 { // else address and key are not used
			f.is(expect.VA, r.RemoteVA+skip)
			f.is(expect.RKey, uint64(r.RKey))
		}
	case wqe.OpWrite, wqe.OpWriteImm:
		f.is(expect.DMALen, uint64(x.Length))
		if x.Length > 0 {
			f.is(expect.VA, r.RemoteVA)
			f.is(expect.RKey, uint64(r.RKey))
		}
	case wqe.OpCmpSwap:
		f.is(expect.Compare, r.Compare)
		f.atomic(r)
	case wqe.OpFetchAdd:
		f.atomic(r)
	case wqe.OpAtomicWrite:
		f.is(expect.VA, r.RemoteVA)
		f.is(expect.RKey, uint64(r.RKey))
		f.is(expect.DMALen, 8)
	case wqe.OpFlush:
		f.flush(r)
	}
}

func (f *Fields) atomic(r *wqe.SendRequest) {
	f.is(expect.VA, r.RemoteVA)
	f.is(expect.RKey, uint64(r.RKey))
	f.is(expect.SwapAdd, r.SwapAdd)
}

func (f *Fields) flush(r *wqe.SendRequest) {
	f.is(expect.RKey, uint64(r.RKey))
	if r.Flush.Placement != 0 { // else the log does not tell
		f.is(expect.Placement, uint64(r.Flush.Placement))
		f.is(expect.Selectivity, uint64(packet.Bit(r.Flush.Whole)))
	}
	if !r.Flush.Whole {
		f.is(expect.VA, r.RemoteVA)
		f.is(expect.DMALen, uint64(r.Flush.Length))
	}
}

// payload is what packet i has of payload, and what is known of its content.
func payload(x *cq.Posted, i int) (length int, data []byte) {
	switch x.Request.Op {
	case wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpFlush:
		return 0, nil
	case wqe.OpAtomicWrite:
		return 8, x.Data
	}
	return x.Slice(i)
}

// Departs returns the first field in which packet p departs from packet i of a send request; false: it is as the request determines. It allocates nothing.
func (f *Fields) Departs(x *cq.Posted, i int, p *packet.Packet) (expect.ID, bool) {
	if !plain(x, i, p) {
		f.request(x, i)
		for _, k := range f.list[:f.n] {
			if k.id.Value(p) != k.v && (k.id != expect.DSCP && k.id != expect.HopLmt || p.Encap != packet.Native || p.Has&packet.HasGRH != 0) {
				return k.id, true
			}
		}
	}
	n, data := payload(x, i)
	if n != p.PayloadLen || len(data) == n && len(p.Payload) == n && !bytes.Equal(data, p.Payload) {
		return expect.Payload, true
	}
	if v := x.Vector; v != nil && v.Dest != p.Dst {
		return expect.Dst, true
	}
	return 0, false
}

// Within reports whether a packet is, with its payload, as packet i of a send request, where it has no header but the BTH, and no SE. It is Departs for what package packet's Glance sets of a
// packet of RC that is Usual.
func Within(x *cq.Posted, i int, p *packet.Packet, body []byte) bool {
	if p.Opcode != Opcode(x, i) || p.PSN != x.PSN.Add(i) || p.DestQP != x.Attr.DestQPN || x.Attr.PKey != 0 && x.Attr.PKey != uint16(p.BTH()>>32) {
		return false
	}
	n, data := payload(x, i)
	return n == len(body) && (len(data) != n || bytes.Equal(data, body)) && (x.Vector == nil || x.Vector.Dest == p.Dst)
}

// plain reports whether a packet has no header but the BTH and those of SEND, WRITE and READ, and these are as the request determines. It is Departs for nearly every
// packet of a connection, and says nothing of any other.
func plain(x *cq.Posted, i int, p *packet.Packet) bool {
	in, r := p.Info(), x.Request
	if in.Headers&^(packet.HasRETH|packet.HasImmDt|packet.HasIETH) != 0 || p.Opcode != Opcode(x, i) || p.PSN != x.PSN.Add(i) || p.DestQP != x.Attr.DestQPN ||
		p.SE != (r.Flags&wqe.Solicited != 0 && in.MaySolicit()) || x.Attr.PKey != 0 && x.Attr.PKey != p.PKey || p.AckReq && in.Opcode.Service() == packet.UC {
		return false
	}
	return in.Headers == 0 || plainExtension(x, i, p)
}

// plainExtension is plain for what follows the BTH: ImmDt, IETH, and the RETH of a WRITE or READ.
func plainExtension(x *cq.Posted, i int, p *packet.Packet) bool {
	in, r := p.Info(), x.Request
	if in.Headers&packet.HasImmDt != 0 && p.Imm != r.Imm || in.Headers&packet.HasIETH != 0 && p.InvRKey != r.InvKey {
		return false
	}
	if in.Headers&packet.HasRETH == 0 {
		return true
	}
	skip := uint64(0)
	switch r.Op {
	case wqe.OpWrite, wqe.OpWriteImm:
	case wqe.OpRead:
		skip = uint64(i) * uint64(x.PMTU)
	default:
		return false
	}
	return uint64(p.DMALen) == uint64(x.Length)-skip && (x.Length == 0 || p.VA == r.RemoteVA+skip && p.RKey == r.RKey)
}

// Expect says what packet i of a send request holds. What the request does not determine is left as it is.
func Expect(e *expect.Expected, x *cq.Posted, i int) {
	var f Fields
	f.request(x, i)
	for _, k := range f.list[:f.n] {
		e.Hold(k.id, k.v)
	}
	switch n, data := payload(x, i); {
	case len(data) == n && (n == 0 || data != nil):
		e.Fill(data)
	default:
		e.Length(n)
	}
	if !x.QP.Addr.IsZero() {
		e.From(x.QP.Addr)
	}
	if a := x.Attr; x.Type != qp.TypeUD && a.Has(qp.KnowsMigState) && a.MigState != qp.Armed && (a.MigState != qp.Migrated || a.Has(qp.KnowsAltPath)) {
		e.Hold(expect.MigReq, uint64(packet.Bit(a.MigState == qp.Migrated)))
	}
	switch {
	case x.Vector != nil:
		e.To(x.Vector.Dest)
	case x.Type != qp.TypeUD && x.Attr.Has(qp.KnowsDestAddr):
		e.To(x.Attr.DestAddr)
	}
}

// CompareSum puts the packet that ends a message beside the one of its send request, where the data of the message has another checksum than that of the request,
// of which no more is known.
func CompareSum(p *packet.Packet, x *cq.Posted, i int, crc uint32) *expect.Comparison {
	e := expect.Like(p)
	e.Format()
	Expect(e, x, i)
	text := "data with CRC-32 0x%08x (here 0x%08x)"
	if x.Packets > 1 {
		text = "the end of " + text
	}
	e.Say(expect.Payload, fmt.Sprintf(text, x.Sum, crc), false)
	return e.Compare()
}

// Compare puts a packet beside packet i of a send request. It returns nil where no field differs.
func Compare(p *packet.Packet, x *cq.Posted, i int) *expect.Comparison {
	e := expect.Like(p)
	e.Format()
	Expect(e, x, i)
	return e.Compare()
}
