package message

import (
	"hash/crc32"
	"math/bits"

	"ibwitness/packet"
)

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

// carried carries a CRC over as many bytes as the payloads of most packets have.
type carried struct {
	n      int // bytes that were carried over last
	table  *[4][256]uint32
	tables [8]carriedOver
}

// carriedOver carries a CRC over n bytes.
type carriedOver struct {
	n     int // 0: none
	next  int // bytes of the newest payload
	same  int // payloads in a row that had as many
	table *[4][256]uint32
}

const (
	// leastCarried is from how many bytes on it takes longer to go through them than to carry over them.
	leastCarried = 512
	// enoughSame is how many payloads of a length come before a table is made for it, which takes as long as some of them.
	enoughSame = 64
)

// sum is the CRC-32 of data with the CRC before and the payload of a packet after it. It need not look at the payload: that of the packet is in its ICRC.
func (c *carried) sum(before uint32, p *packet.Packet, payload []byte) uint32 {
	if n := len(payload); n >= leastCarried {
		x := c.table
		if n != c.n || x == nil {
			x = c.over(n)
		}
		if x != nil {
			if headers, ok := p.HeadersCRC(); ok {
				v := before ^ headers
				return x[0][v&0xFF] ^ x[1][v>>8&0xFF] ^ x[2][v>>16&0xFF] ^ x[3][v>>24] ^ p.ICRC
			}
		}
	}
	return crc32.Update(before, crc32.IEEETable, payload)
}

// over returns the table for n bytes, or nil: there is none yet.
func (c *carried) over(n int) *[4][256]uint32 {
	x := &c.tables[bits.Len(uint(n))%len(c.tables)]
	switch {
	case x.n == n:
		c.n, c.table = n, x.table
		return x.table
	case x.next != n:
		x.next, x.same = n, 0
		return nil
	}
	if x.same++; x.same < enoughSame {
		return nil
	}
	if c.table = nil; x.table == nil { // it may be this one
		x.table = new([4][256]uint32)
	}
	by := shift(uint64(n))
	for i := range x.table {
		for k := 1; k < 256; k++ {
			if k&(k-1) == 0 {
				x.table[i][k] = times(by, uint32(k)<<(8*i))
			} else {
				x.table[i][k] = x.table[i][k&(k-1)] ^ x.table[i][k&-k]
			}
		}
	}
	x.n = n
	return x.table
}

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
