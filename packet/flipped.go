package packet

import (
	"hash/crc32"
	"math/bits"
	"sync"
)

// inverse tells which entry of the table of the CRC has a byte as its highest.
var inverse = sync.OnceValue(func() *[256]byte {
	t := new([256]byte)
	for i, v := range crc32.IEEETable {
		t[v>>24] = byte(i)
	}
	return t
})

// Flipped returns which bits of which byte of Data were flipped, as the difference between the right ICRC and that of the packet shows. ok is false where no flipped bits of
// one byte explain it: then there are others, in several bytes or in what the ICRC leaves out. That one bit does is hardly chance: by that it fits one of 100,000 packets of 4 KiB, and
// several bits of one byte one of 4,000. It takes some nanoseconds a byte.
func (p *Packet) Flipped() (at int, flipped byte, ok bool) {
	c := checkers.Get().(*Checker)
	right, off, judged := c.Right(p)
	checkers.Put(c)
	diff := right ^ p.ICRC
	if !judged || diff == 0 {
		return 0, 0, false
	}
	found := 0
	note := func(i int, b byte) {
		switch one := bits.OnesCount8(b) == 1; {
		case one && bits.OnesCount8(flipped) != 1:
			at, flipped, found = i, b, 1
		case one == (bits.OnesCount8(flipped) == 1):
			at, flipped = i, b
			found++
		}
	}
	if low := bits.TrailingZeros32(diff) / 8; diff>>(8*low)>>8 == 0 {
		note(off+low, byte(diff>>(8*low)))
	}
	begins, masked := p.covered()
	for i := off - 1; i >= begins; i-- { // what diff was after byte i
		b := inverse()[diff>>24]
		if diff == crc32.IEEETable[b] && (i-begins >= len(masked) || b&masked[i-begins] == 0) {
			note(i, b)
		}
		diff = (diff^crc32.IEEETable[b])<<8 | uint32(b)
	}
	return at, flipped, found == 1
}

// covered returns where in a packet begins what its ICRC covers, and which bits of its headers, from there to the end of the BTH, it leaves out.
func (p *Packet) covered() (begins int, masked []byte) {
	bth := p.BTHOff
	if p.Has&HasLRH != 0 && p.Has&HasGRH != 0 {
		begins, bth = lrhSize, bth-lrhSize
	}
	masked = make([]byte, bth+bthSize)
	p.mask(masked, bth)
	return begins, masked
}
