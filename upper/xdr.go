package upper

import "encoding/binary"

// xdr reads what RFC 4506 encodes: words in network byte order. Once something is not there, all that follows reads as zero, and short is set.
type xdr struct {
	b     []byte
	short bool
}

// word reads 32 bits.
func (x *xdr) word() uint32 {
	if len(x.b) < 4 {
		x.short, x.b = true, nil
		return 0
	}
	v := binary.BigEndian.Uint32(x.b)
	x.b = x.b[4:]
	return v
}

// double reads 64 bits.
func (x *xdr) double() uint64 {
	high := x.word()
	return uint64(high)<<32 | uint64(x.word())
}

// skip leaves out n bytes, and what pads them to words.
func (x *xdr) skip(n uint32) {
	if n = (n + 3) &^ 3; uint64(n) > uint64(len(x.b)) {
		x.short, x.b = true, nil
		return
	}
	x.b = x.b[n:]
}

// taken reads bytes that come after their length, of which there are at most so many.
func (x *xdr) taken(most uint32) []byte {
	before := *x
	n := before.word()
	if x.opaque(most); x.short {
		return nil
	}
	return before.b[:n]
}

// opaque leaves out bytes that come after their length, of which there are at most so many.
func (x *xdr) opaque(most uint32) {
	n := x.word()
	if n > most {
		x.short, x.b = true, nil
		return
	}
	x.skip(n)
}
