package expect

import (
	"bytes"

	"ibwitness/packet"
)

// Format says what the headers hold whatever the packet is for (tables T1 and T2).
func (e *Expected) Format() {
	p := e.actual
	e.zero(LVer, LRHRes, LRHRes5, RWHRes, TVer, Resv8a, Resv7, RDETHRes, DETHRes, XRCRes, FETHRes)
	e.network()
	e.Hold(DstPort, packet.UDPPort)
	if p.Encap.OnIP() && p.Opcode != packet.OpCNP {
		e.zero(FECN, BECN)
	}
	if p.Has&packet.HasBTH == 0 {
		return
	}
	if p.Info().Defined {
		e.ofOpcode()
	}
	if p.Flaws&packet.FlawShort == 0 && !p.Cut {
		e.whole()
	}
}

func (e *Expected) zero(ids ...ID) {
	for _, id := range ids {
		e.Hold(id, 0)
	}
}

// network says what the fields of GRH, IPv6 and IPv4 hold.
func (e *Expected) network() {
	p := e.actual
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
}

// ofOpcode keeps a defined opcode, and says which bits of the BTH it leaves 0.
func (e *Expected) ofOpcode() {
	p := e.actual
	in := p.Info()
	if (!in.MaySolicit() || in.Response) && p.Opcode != packet.OpCNP {
		e.zero(SE)
	}
	if s := p.Opcode.Service(); in.Response || s == packet.UC || s == packet.UD {
		e.zero(AckReq)
	}
	e.Keep(Opcode)
}

// whole keeps what only a whole packet shows: lengths, pad and CRCs.
func (e *Expected) whole() {
	p, in := e.actual, e.actual.Info()
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
