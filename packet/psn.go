package packet

// PSN is a 24-bit packet sequence number. It counts modulo 2^24; two PSNs compare by their signed
// 24-bit difference, so each has 2^23 predecessors and 2^23-1 successors (section 9.7.1, rule BTH-017).
type PSN uint32

// PSNMask keeps the 24 bits that a PSN, a QPN or an MSN has.
const PSNMask = 1<<24 - 1

// Add returns the PSN n packets after p; n may be negative.
func (p PSN) Add(n int) PSN { return PSN(uint32(int(p)+n) & PSNMask) }

// Diff returns how many packets p is after q, in -2^23 … 2^23-1.
func (p PSN) Diff(q PSN) int { return int(int32(uint32(p-q)<<8) >> 8) }

// Before reports whether p precedes q.
func (p PSN) Before(q PSN) bool { return int32(p-q)<<8 < 0 }

// After reports whether p follows q.
func (p PSN) After(q PSN) bool { return int32(p-q)<<8 > 0 }

// In reports whether p is in first … last, both included.
func (p PSN) In(first, last PSN) bool { return uint32(p-first)&PSNMask <= uint32(last-first)&PSNMask }

// String writes six hexadecimal digits, as in 0x00012a.
func (p PSN) String() string {
	b := [8]byte{'0', 'x'}
	for i := range 6 {
		b[7-i] = "0123456789abcdef"[p>>(4*i)&15]
	}
	return string(b[:])
}

// Later returns the later of two PSNs.
func Later(a, b PSN) PSN {
	if a.Before(b) {
		return b
	}
	return a
}
