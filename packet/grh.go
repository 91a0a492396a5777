package packet

// nextHeaderIBA is the GRH NxtHdr of an InfiniBand transport packet (C8-7).
const nextHeaderIBA = 0x1B

// DecodeGRH decodes a RoCEv1 packet, the bytes after EtherType 0x8915: GRH, BTH and so on. wireLen is how many bytes
// the frame had on the wire from b[0] on. The result is false, and p undefined, where not even the GRH was captured.
func DecodeGRH(p *Packet, b []byte, wireLen int) bool {
	if len(b) < grhSize {
		return false
	}
	p.begin()
	p.noUDP()
	p.Encap = RoCEv1
	p.grh(b)
	p.Src, p.Dst = p.SGID, p.DGID
	end := grhSize + int(p.PayLen)
	if wireLen = max(wireLen, len(b)); end > wireLen {
		p.Flaws |= FlawIPLength
		end = wireLen
	}
	p.transport(b, grhSize, end, HasGRH)
	return true
}

func (p *Packet) grh(b []byte) {
	p.ipv6Header(b)
	if p.IPVer != 6 {
		p.Flaws |= FlawVersion
	}
	if p.NxtHdr != nextHeaderIBA {
		p.Flaws |= FlawNextHeader
	}
}

// noUDP forgets the UDP header of an earlier packet.
func (p *Packet) noUDP() {
	p.SrcPort, p.DstPort, p.UDPLen, p.UDPSum = 0, 0, 0, 0
}
