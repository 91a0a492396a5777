package eventlog

import (
	"encoding/binary"
	mathbits "math/bits"
)

// beyond is how many bytes may be loaded after the end of a line.
const beyond = 8

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

// span is a text without a newline, to be compared eight bytes at a time.
type span struct {
	n     int
	first uint64 // eight bytes
	mask  uint64 // of those of them that it has
	rest  *span  // what follows them; nil: nothing does
}

func newSpan(text string) span {
	var w [8]byte
	k := copy(w[:], text)
	x := span{n: len(text), first: binary.LittleEndian.Uint64(w[:]), mask: ^uint64(0) >> (8 * (8 - k))}
	if len(text) > 8 {
		rest := newSpan(text[8:])
		x.rest = &rest
	}
	return x
}

// comes passes over a span, where that comes next.
func (s *scanner) comes(x *span) bool {
	if (binary.LittleEndian.Uint64(s.text[s.at:])^x.first)&x.mask != 0 || x.rest != nil && !s.follows(x.rest) {
		return false
	}
	s.at += x.n
	return true
}

// follows reports whether a span comes after eight bytes that hold no newline, so that what is loaded here begins within the line.
func (s *scanner) follows(x *span) bool {
	for at := s.at + 8; x != nil; at += 8 {
		if (binary.LittleEndian.Uint64(s.text[at:])^x.first)&x.mask != 0 {
			return false
		}
		x = x.rest
	}
	return true
}

const (
	zeros = 0x3030303030303030 // "00000000"
	highs = 0x8080808080808080
)

// digits returns how many digits a text of eight bytes begins with, and their value.
func digits(text uint64) (n int, value uint64) {
	x := text ^ zeros
	n = mathbits.TrailingZeros64((x+0x7676767676767676|x)&highs) >> 3 // the first byte above 9; what is carried from it changes only those after it
	if n == 0 {
		return 0, 0
	}
	x <<= 8 * uint(8-n) // leading zeros
	x = x*10 + x>>8     // of two digits, in each second byte
	x = (x&0x000000ff000000ff*0x000f424000000064 + x>>16&0x000000ff000000ff*0x0000271000000001) >> 32
	return n, x
}

// number reads the digits of a whole number.
func (s *scanner) number() (v uint64, ok bool) {
	begin := s.at
	n, v := digits(binary.LittleEndian.Uint64(s.text[begin:]))
	if n < 8 {
		s.at += n
		return v, n == 1 || n > 1 && s.text[begin] != '0'
	}
	n, more := digits(binary.LittleEndian.Uint64(s.text[begin+8:]))
	v = v*powers[n] + more
	if s.at += 8 + n; n < 8 {
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
