package message

import "hash/crc32"

// polynomial of CRC-32 (IEEE), reflected.
const polynomial = 0xEDB88320

// times multiplies two polynomials modulo that of the CRC.
func times(a, b uint32) (p uint32) {
	for m := uint32(1) << 31; ; m >>= 1 {
		if a&m != 0 {
			p ^= b
			if a&(m-1) == 0 {
				return p
			}
		}
		if m == 1 {
			return p
		}
		if b&1 != 0 {
			b = b>>1 ^ polynomial
		} else {
			b >>= 1
		}
	}
}

// shift is x to the power of 8·n.
func shift(n uint64) uint32 {
	p, x := uint32(1)<<31, uint32(1)<<23 // x^0 and x^8
	for ; n != 0; n >>= 1 {
		if n&1 != 0 {
			p = times(x, p)
		}
		x = times(x, x)
	}
	return p
}

// join is the CRC-32 of two pieces of data in a row, the second of n bytes, by their CRCs.
func join(a, b uint32, n uint64) uint32 { return times(shift(n), a) ^ b }

// apart is the CRC-32 of the second of two pieces of data in a row, of n bytes, by those of the first and of both.
func apart(a, both uint32, n uint64) uint32 { return join(a, both, n) }

// joined is the CRC-32 of pieces of data in a row. Where a piece follows the one before it, its CRC is that of all since one that does not.
type joined struct {
	before uint32 // of what came before the run of pieces that follow each other
	crc    uint32 // of that run
	length uint64
	begun  bool
}

// add adds a piece.
func (j *joined) add(crc, length uint32, follows bool) {
	if !follows || !j.begun {
		j.before, j.length = j.sum(), 0
	}
	j.crc, j.begun = crc, true
	j.length += uint64(length)
}

// sum is the CRC of all.
func (j *joined) sum() uint32 {
	if j.before == 0 { // of nothing
		return j.crc
	}
	return join(j.before, j.crc, j.length)
}

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
