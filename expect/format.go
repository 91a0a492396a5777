package expect

import (
	"bytes"

	"ibwitness/packet"
)

// Format says what the headers hold whatever the packet is for (tables T1 and T2).
func (e *Expected) Format() {
	p := e.actual
	in := p.Info()
	zero := func(ids ...ID) {
		for _, id := range ids {
			e.Hold(id, 0)
		}
	}
	zero(LVer, LRHRes, LRHRes5, RWHRes, TVer, Resv8a, Resv7, RDETHRes, DETHRes, XRCRes, FETHRes)
	switch {
	case p.Has&packet.HasGRH != 0:
		e.Hold(IPVer, 6)
		e.Hold(NxtHdr, 0x1B)
	case p.Has&packet.HasIPv6 != 0 && p.Flaws&packet.FlawExtension == 0:
		e.Hold(IPVer, 6)
		e.Hold(NxtHdr, 17)
	case p.Has&packet.HasIPv4 != 0:
		e.Hold(IPVer, 4)
		e.Hold(IHL, 5)
		e.Hold(NxtHdr, 17)
		e.Hold(FragmentOffset, 0)
	}
	e.Hold(DstPort, packet.UDPPort)
	if p.Encap.OnIP() && p.Opcode != packet.OpCNP {
		zero(FECN, BECN)
	}
	if p.Has&packet.HasBTH == 0 {
		return
	}
	if in.Defined && (!in.MaySolicit() || in.Response) && p.Opcode != packet.OpCNP {
		zero(SE)
	}
	if s := p.Opcode.Service(); in.Defined && (in.Response || s == packet.UC || s == packet.UD) {
		zero(AckReq)
	}
	if in.Defined {
		e.Keep(Opcode)
	}
	if p.Flaws&packet.FlawShort != 0 || p.Cut {
		return
	}
	e.Keep(ICRC, VCRC)
	for _, id := range []ID{PktLen, PayLen, UDPLen, PadCnt} {
		if e.Has(id) {
			e.Keep(id)
		}
	}
	switch {
	case in.Unpadded() && in.Payload && len(p.Payload) == p.PayloadLen: // what seems to be pad is payload
		e.p.Payload = append(bytes.Clone(p.Payload), p.Pad...)
		e.p.PayloadLen = len(e.p.Payload)
	case in.Payload:
		e.Keep(Pad)
	}
}

// Hold is Set for a field that the expected packet may not have.
func (e *Expected) Hold(id ID, v uint64) {
	if e.Has(id) {
		e.Set(id, v)
	}
}
