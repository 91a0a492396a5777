package packet

// HasExtensions are the headers after the BTH.
const HasExtensions = HasRDETH | HasDETH | HasXRCETH | HasRETH | HasAtomicETH | HasAETH | HasAtomicAckETH | HasImmDt | HasIETH | HasFETH | HasCNP

// Fit makes the headers those of the opcode, and all lengths those of headers and payload. Unlike Complete it leaves every other field as
// it is, and the checksums to SealIPv4 and SealICRC: for packets that are to be wrong in one thing.
func (p *Packet) Fit() {
	p.Has = p.Has&^HasExtensions | p.Info().Headers
	p.PayloadLen = len(p.Payload)
	p.PadCnt = uint8(-len(p.Payload) & 3)
	p.Pad = make([]byte, p.PadCnt)
	p.FitLengths()
}

// FitLengths makes the lengths of the network headers those of the packet that Append writes.
func (p *Packet) FitLengths() {
	n := len(p.Append(nil))
	switch {
	case p.Has&HasLRH != 0:
		n -= vcrcSize
		p.PktLen = uint16(n / 4)
		if p.Has&HasGRH != 0 {
			p.PayLen = uint16(n - lrhSize - grhSize)
		}
	case p.Has&HasIPv4 != 0:
		p.PayLen, p.UDPLen = uint16(n), uint16(n-int(p.IHL)*4)
	case p.Has&HasIPv6 != 0:
		p.PayLen, p.UDPLen = uint16(n-ipv6Size), uint16(n-ipv6Size)
	default:
		p.PayLen = uint16(n - grhSize)
	}
}
