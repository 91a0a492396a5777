package eventlog

import (
	"encoding/binary"
	mathbits "math/bits"
)

// beyond is how many bytes may be loaded after the end of a line.
const beyond = 16

// load takes a line up. It ends with a newline then, which ends all that is compared with it, and there is room after it.
func (s *scanner) load(text []byte) {
	n := len(text)
	if n > 0 && text[n-1] == '\n' && cap(text)-n >= beyond {
		s.text, s.end = text[:n+beyond], n-1
		return
	}
	s.copied = append(s.copied[:0], text...)
	if n == 0 || text[n-1] != '\n' {
		s.copied = append(s.copied, '\n')
	}
	s.end = len(s.copied) - 1
	s.copied = append(s.copied, make([]byte, beyond)...)
	s.text = s.copied
}

// span is a text without a newline, to be compared sixteen bytes at a time.
type span struct {
	n             int
	first, second uint64 // eight bytes, and those after them
	mask, mask2   uint64 // of those of them that it has
	rest          *span  // what follows them; nil: nothing does
}

func newSpan(text string) span {
	var w, m [beyond]byte
	for i := range copy(w[:], text) {
		m[i] = 0xff
	}
	x := span{
		n: len(text), first: binary.LittleEndian.Uint64(w[:]), second: binary.LittleEndian.Uint64(w[8:]),
		mask: binary.LittleEndian.Uint64(m[:]), mask2: binary.LittleEndian.Uint64(m[8:]),
	}
	if len(text) > beyond {
		rest := newSpan(text[beyond:])
		x.rest = &rest
	}
	return x
}

// comes passes over a span, where that comes next.
func (s *scanner) comes(x *span) bool {
	if !x.in(s.text[s.at:]) {
		return false
	}
	s.at += x.n
	return true
}

// in reports whether a text begins with a span. What comes before the rest of a span holds no newline, so that the text has enough bytes to be compared.
func (x *span) in(text []byte) bool {
	for {
		t := (*[beyond]byte)(text)
		if (binary.LittleEndian.Uint64(t[:8])^x.first)&x.mask|(binary.LittleEndian.Uint64(t[8:])^x.second)&x.mask2 != 0 {
			return false
		}
		if x.rest == nil {
			return true
		}
		x, text = x.rest, text[beyond:]
	}
}

const (
	zeros  = 0x3030303030303030 // "00000000"
	highs  = 0x8080808080808080
	ones   = 0x0101010101010101
	quotes = '"' * ones
)

// digits returns how many digits a text of eight bytes begins with, and their value.
func digits(text uint64) (n uint, value uint64) {
	x := text ^ zeros
	n = uint(mathbits.TrailingZeros64((x+0x7676767676767676|x)&highs)) >> 3 // the first byte above 9; what is carried from it changes only those after it
	if n == 0 {
		return 0, 0
	}
	x <<= 8 * (8 - n) // leading zeros
	x = x*10 + x>>8   // of two digits, in each second byte
	x = (x&0x000000ff000000ff*0x000f424000000064 + x>>16&0x000000ff000000ff*0x0000271000000001) >> 32
	return n, x
}

// number reads the digits of a whole number.
func (s *scanner) number() (v uint64, ok bool) {
	begin := s.at
	n, v := digits(binary.LittleEndian.Uint64(s.text[begin:]))
	if n < 8 {
		s.at += int(n)
		return v, n == 1 || n > 1 && s.text[begin] != '0'
	}
	n, more := digits(binary.LittleEndian.Uint64(s.text[begin+8:]))
	v = v*powers[n] + more
	if s.at += 8 + int(n); n < 8 {
		return v, s.text[begin] != '0'
	}
	for ; ; s.at++ {
		d := uint64(s.text[s.at]) - '0'
		if d > 9 {
			return v, s.text[begin] != '0'
		}
		if s.at-begin >= 19 && (v > (1<<64-1)/10 || v*10 > 1<<64-1-d) {
			return 0, false
		}
		v = v*10 + d
	}
}

var powers = [...]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
