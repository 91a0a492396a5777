package packet

// The VCRC of section 7.8.2: polynomial x^16+x^12+x^3+x+1 (0x100B), initial value all ones, each byte least significant bit
// first, final complement, sent least significant byte first. Bit order, complement and byte order are those of the ICRC;
// every packet of the native captures that the tests read confirms them.

// vcrcPolynomial is 0x100B with its bits reversed.
const vcrcPolynomial = 0xD008

// vcrcTables[k][b] is what byte b does to the state with k more bytes after it: eight bytes a step.
var vcrcTables = buildVCRCTables()

func buildVCRCTables() (t [8][256]uint16) {
	for i := range t[0] {
		c := uint16(i)
		for range 8 {
			if c&1 != 0 {
				c = c>>1 ^ vcrcPolynomial
			} else {
				c >>= 1
			}
		}
		t[0][i] = c
	}
	for k := 1; k < len(t); k++ {
		for i := range t[k] {
			c := t[k-1][i]
			t[k][i] = c>>8 ^ t[0][c&0xFF]
		}
	}
	return t
}

// vcrcOf returns the VCRC of a packet from its LRH to the byte before the VCRC, comparable with the field VCRC.
func vcrcOf(b []byte) uint16 {
	c := uint16(0xFFFF)
	t := &vcrcTables
	for len(b) >= 8 {
		c = t[7][b[0]^uint8(c)] ^ t[6][b[1]^uint8(c>>8)] ^ t[5][b[2]] ^ t[4][b[3]] ^
			t[3][b[4]] ^ t[2][b[5]] ^ t[1][b[6]] ^ t[0][b[7]]
		b = b[8:]
	}
	for _, v := range b {
		c = c>>8 ^ t[0][uint8(c)^v]
	}
	return ^c
}

// VCRC returns the CRC-16 of section 7.8.2 over b. The LPCRC of a link packet is the same one over its first four bytes (7.9.4†).
func VCRC(b []byte) uint16 { return vcrcOf(b) }

// CheckVCRC computes the VCRC and sets VCRCState. The state stays CRCNotJudged where the packet has none or it was not
// captured.
func (p *Packet) CheckVCRC() {
	p.VCRCState = CRCNotJudged
	if p.Has&HasVCRC == 0 || len(p.Data) < vcrcSize {
		return
	}
	p.VCRCState = CRCBad
	if vcrcOf(p.Data[:len(p.Data)-vcrcSize]) == p.VCRC {
		p.VCRCState = CRCGood
	}
}

// InvertedVCRC reports whether the VCRC, which must have been captured, is the one's complement of the right one.
func (p *Packet) InvertedVCRC() bool {
	n := len(p.Data) - vcrcSize
	return p.Has&HasVCRC != 0 && n >= 0 && vcrcOf(p.Data[:n]) == ^p.VCRC
}
