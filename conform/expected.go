package conform

import (
	"bytes"
	"fmt"
	"strings"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// What is asserted of the packets of a send request, which are compared with those that follow from the request.
const (
	opcodesText = "The packets have the opcodes of the request, in order, with consecutive PSNs."
	lengthsText = "Each payload is full but that of the last packet, which has the rest, and is padded to a multiple of 4 bytes with zeros."
	headersText = "The fields of the BTH, traffic class and hop limit are as the connection has them, and reserved bits 0; AckReq is set in the last packet at least on a reliable connection, and SE only in the last packet of a request that asks for it."
	fieldsText  = "The extension headers have what was posted."
	payloadText = "The payload is the data of the gather list, in order."
	doneText    = "The request completes once, with success and its operation; on a reliable connection not before it is answered."
)

var packetAssertions = []Assertion{
	{"ours#01", opcodesText}, {"ours#02", lengthsText}, {"ours#03", headersText}, {"ours#04", fieldsText}, {"ours#05", payloadText}, {"ours#06", doneText},
}

// posts has the device post a send request of n bytes, which change completes.
func (c *conn) posts(op wqe.SendOp, n int, change func(w *wqe.SendRequest)) *wqe.SendRequest {
	m := c.r.memory
	c.posted++
	w := &wqe.SendRequest{ID: c.posted, Op: op, Flags: wqe.Signaled, Segments: []wqe.Segment{{VA: m.va + m.room(n), Length: uint32(n), LKey: m.lkey}}}
	switch op {
	case wqe.OpSend, wqe.OpSendImm, wqe.OpSendInv:
		if c.service == packet.UD {
			w.Dest, w.QKey = wqe.QP{Addr: c.net.tester, QPN: c.qpn}, c.attr.QKey
		}
	default:
		w.RemoteVA, w.RKey = remoteVA-remoteVA%8, remoteRKey
	}
	if change != nil {
		change(w)
	}
	c.r.must(c.r.dev.PostSend(ctx, c.qp, *w))
	c.r.note("the device posts request %d: %v, %d bytes", w.ID, op, length(w))
	return w
}

// length is that of the message of a request.
func length(w *wqe.SendRequest) (n int) {
	if w.Op == wqe.OpFlush {
		return int(w.Flush.Length)
	}
	for _, s := range w.Segments {
		n += int(s.Length)
	}
	return n
}

// gathered is the data of the list of a request that brings data.
func (r *run) gathered(w *wqe.SendRequest) (data []byte) {
	if w.Op == wqe.OpRead || w.Op == wqe.OpCmpSwap || w.Op == wqe.OpFetchAdd || w.Op == wqe.OpFlush {
		return nil
	}
	for _, s := range w.Segments {
		data = append(data, r.memoryOf(s.VA-r.memory.va, int(s.Length))...)
	}
	return data
}

// wants are the packets that the device must send for a request, and the PSN after them.
func (c *conn) wants(w *wqe.SendRequest, psn packet.PSN) (list []*packet.Packet, next packet.PSN) {
	data, m := c.r.gathered(w), c.mtu()
	n := max(1, (len(data)+m-1)/m)
	for i := range n {
		p := &packet.Packet{
			Opcode: packet.Op(c.service, function(w.Op, i, n)), PSN: psn.Add(i), DestQP: c.qpn, PKey: c.attr.PKey, MigReq: true,
			TClass: c.attr.TClass, HopLmt: c.attr.HopLimit, Payload: data[i*m : min(len(data), (i+1)*m)],
		}
		p.PayloadLen, p.PadCnt = len(p.Payload), uint8(-len(p.Payload)&3)
		if i == n-1 {
			p.SE = w.Flags&wqe.Solicited != 0
		}
		c.fields(p, w)
		list = append(list, p)
	}
	if w.Op == wqe.OpRead {
		n = max(1, (length(w)+m-1)/m)
	}
	return list, psn.Add(n)
}

// fields gives a packet the extension headers of its request.
func (c *conn) fields(p *packet.Packet, w *wqe.SendRequest) {
	has := p.Info().Headers
	p.Has = has
	if has&(packet.HasRETH|packet.HasAtomicETH) != 0 {
		p.VA, p.RKey = w.RemoteVA, w.RKey
	}
	if has&packet.HasRETH != 0 {
		p.DMALen = uint32(length(w))
	}
	if has&packet.HasAtomicETH != 0 {
		p.SwapAdd, p.Compare = w.SwapAdd, w.Compare
	}
	if has&packet.HasImmDt != 0 {
		p.Imm = w.Imm
	}
	if has&packet.HasIETH != 0 {
		p.InvRKey = w.InvKey
	}
	if has&packet.HasFETH != 0 {
		p.FETH = uint32(w.Flush.Placement)
	}
	if has&packet.HasDETH != 0 {
		if p.QKey, p.SrcQP = w.QKey, c.qp.QPN; w.QKey>>31 == 1 { // a privileged Q_Key is the queue pair's own
			p.QKey = c.attr.QKey
		}
		if v, ok := c.r.handles[w.AH]; ok {
			p.TClass, p.HopLmt = v.TClass, v.HopLimit
		}
	}
	if has&packet.HasXRCETH != 0 {
		p.XRCSRQ = w.XRCSRQ
	}
}

// departure is what a packet has in place of what it should: by assertion, ours#01 to ours#05.
type departure [5][]string

func (d *departure) note(assertion int, name string, same bool, want, got any) {
	if !same {
		d[assertion-1] = append(d[assertion-1], fmt.Sprintf("%s %v in place of %v", name, got, want))
	}
}

// departs compares a packet with the one that it should be. Of the last packet of a reliable request AckReq is demanded.
func departs(want, got *packet.Packet, asks bool) (d departure) {
	d.note(1, "opcode", want.Opcode == got.Opcode, want.Opcode, got.Opcode)
	d.note(1, "PSN", want.PSN == got.PSN, want.PSN, got.PSN)
	if want.Opcode != got.Opcode {
		return d
	}
	d.note(2, "payload bytes", want.PayloadLen == got.PayloadLen, want.PayloadLen, got.PayloadLen)
	d.note(2, "pad count", want.PadCnt == got.PadCnt, want.PadCnt, got.PadCnt)
	d.note(2, "pad", len(bytes.Trim(got.Pad, "\x00")) == 0, "zeros", got.Pad)
	d.note(3, "traffic class", want.TClass == got.TClass, want.TClass, got.TClass)
	d.note(3, "hop limit", want.HopLmt == got.HopLmt, want.HopLmt, got.HopLmt)
	d.note(3, "FECN or BECN", !got.FECN && !got.BECN, false, true)
	d.note(3, "P_Key", want.PKey == got.PKey, hex(uint64(want.PKey)), hex(uint64(got.PKey)))
	d.note(3, "transport version", got.TVer == 0, 0, got.TVer)
	d.note(3, "reserved bits", got.Resv7|got.Resv8a|got.DETHRes|got.XRCRes == 0, 0, got.Resv7|got.Resv8a|got.DETHRes|got.XRCRes)
	d.note(3, "MigReq", want.MigReq == got.MigReq, want.MigReq, got.MigReq)
	d.note(3, "SE", want.SE == got.SE, want.SE, got.SE)
	d.note(3, "AckReq", got.AckReq || !asks, true, got.AckReq)
	d.note(3, "AckReq", !got.AckReq || reliable(got.Opcode), false, got.AckReq)
	d.note(4, "VA", want.VA == got.VA, hex(want.VA), hex(got.VA))
	d.note(4, "R_Key", want.RKey == got.RKey, hex(uint64(want.RKey)), hex(uint64(got.RKey)))
	d.note(4, "DMALen", want.DMALen == got.DMALen, want.DMALen, got.DMALen)
	d.note(4, "swap or add data", want.SwapAdd == got.SwapAdd, hex(want.SwapAdd), hex(got.SwapAdd))
	d.note(4, "compare data", want.Compare == got.Compare, hex(want.Compare), hex(got.Compare))
	d.note(4, "immediate data", want.Imm == got.Imm, hex(uint64(want.Imm)), hex(uint64(got.Imm)))
	d.note(4, "R_Key to invalidate", want.InvRKey == got.InvRKey, hex(uint64(want.InvRKey)), hex(uint64(got.InvRKey)))
	d.note(4, "FETH", want.FETH == got.FETH, hex(uint64(want.FETH)), hex(uint64(got.FETH)))
	d.note(4, "Q_Key", want.QKey == got.QKey, hex(uint64(want.QKey)), hex(uint64(got.QKey)))
	d.note(4, "source QP", want.SrcQP == got.SrcQP, hex(uint64(want.SrcQP)), hex(uint64(got.SrcQP)))
	d.note(4, "SRQ", want.XRCSRQ == got.XRCSRQ, want.XRCSRQ, got.XRCSRQ)
	if want.PayloadLen == got.PayloadLen {
		d.note(5, "payload", bytes.Equal(want.Payload, got.Payload), "the data of the list", "other data")
	}
	return d
}

// reliable reports whether an opcode is of a service with acknowledgements.
func reliable(o packet.Opcode) bool {
	s := o.Service()
	return s == packet.RC || s == packet.RD || s == packet.XRC
}

// sends takes the packets of a request and judges ours#01 to ours#05; nil: they are not the ones to go on with.
func (c *conn) sends(w *wqe.SendRequest) (list []*packet.Packet) {
	r := c.r
	want, next := c.wants(w, c.expects)
	for i, x := range want {
		got := c.answer()
		if got == nil {
			r.check("ours#01", false, fmt.Sprintf("%v, PSN %v", x.Opcode, x.PSN), "nothing", list...)
			r.why = "a packet of a request has not come"
			return nil
		}
		list = append(list, got)
		d := departs(x, got, i == len(want)-1 && reliable(x.Opcode))
		ok := true
		for k, what := range d {
			same := r.check(fmt.Sprintf("ours#%02d", k+1), len(what) == 0, "as it follows from the request", actually(strings.Join(what, ", "), "that"), got)
			ok = ok && (same || k > 1) // whatever its fields are, it is the packet
		}
		if !ok {
			r.why = "a packet is not the one that follows from its request"
			return nil
		}
	}
	c.expects = next
	return list
}

// served has the device post a request, judges its packets, answers it, and judges its completion, ours#06.
func (c *conn) served(op wqe.SendOp, n int, change func(w *wqe.SendRequest)) bool {
	had := len(c.completions)
	w := c.posts(op, n, change)
	list := c.sends(w)
	if list == nil {
		return false
	}
	last := list[len(list)-1]
	if reliable(last.Opcode) {
		c.r.settle()
		if !c.r.check("ours#06", len(c.completions) == had, "no completion before the answer", statuses(c.completions[had:]), last) {
			return false
		}
	}
	c.taken++
	switch op {
	case wqe.OpRead:
		list = append(list, c.readResponse(last, pattern(c.r.seed, length(w)), c.taken)...)
	case wqe.OpFlush, wqe.OpAtomicWrite:
		list = append(list, c.readResponse(last, nil, c.taken)...)
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		list = append(list, c.atomicAck(last, 77, c.taken))
	default:
		if c.service == packet.RC || c.service == packet.XRC {
			list = append(list, c.ack(last.PSN, positive, c.taken))
		}
	}
	done := c.completed(had+1, c.r.soon())[had:]
	if !c.once("ours#06", done, cq.Success, list...) {
		return false
	}
	return c.r.check("ours#06", done[0].Op == cq.Done(op), fmt.Sprint(cq.Done(op)), fmt.Sprint(done[0].Op), list...)
}

// handle makes an address handle for the tester.
func (r *run) handle(pd wqe.PD, v wqe.AddressVector) wqe.AH {
	v = r.net.vector(v)
	ah, err := r.dev.CreateAH(ctx, pd, v)
	r.must(err)
	if r.handles == nil {
		r.handles = map[wqe.AH]wqe.AddressVector{}
	}
	r.handles[ah] = v
	return ah
}
