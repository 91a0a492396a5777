package packet

import "golang.org/x/sys/cpu"

// direct says that icrcIPv4 works on this processor.
var direct = cpu.X86.HasPCLMULQDQ && cpu.X86.HasAVX

// wide says that icrcWide does, which takes 64 bytes at a time.
var wide = direct && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VPCLMULQDQ

// pairwise says that icrcPairs does, which takes 32 bytes at a time. Of VPCLMULQDQ, which it needs, package cpu tells only together with AVX-512.
var pairwise = direct && cpu.X86.HasAVX2 && leaf7()&vpclmulqdq != 0

// vpclmulqdq is its bit in leaf7.
const vpclmulqdq = 1 << 10

// directly is Checker.masked, from state afterOnes, for IPv4 without options, UDP and BTH, which n includes. It is the widest of the functions below that works.
func directly(data *byte, n int) uint32 {
	if wide {
		return icrcWide(data, n)
	}
	if pairwise {
		return icrcPairs(data, n)
	}
	return icrcIPv4(data, n)
}

//go:noescape
func icrcIPv4(data *byte, n int) uint32

//go:noescape
func icrcWide(data *byte, n int) uint32

//go:noescape
func icrcPairs(data *byte, n int) uint32

// leaf7 is register ECX of CPUID for leaf 7, which a processor with AVX2 has.
func leaf7() (ecx uint32)

// carry is the constants that carry 16 bytes over others, for their lower and upper half: powers of x modulo the polynomial, bits reversed.
type carry [2]uint64

// carries carry each 16 bytes eight bytes further than the last ones of a packet, or from after its end back to there: by the number of bytes from the first of them to the end
// of the packet, in its low four bits, then downwards in 16, from 240 on.
//
//lint:ignore U1000 the assembly reads it
var carries = func() (t [16][32]carry) {
	for low := range t {
		for i := range t[low] {
			t[low][i] = carryOver(8 * (low + 240 - 16*i - 8))
		}
	}
	return t
}()

// pairs carry two blocks, 32 bytes, as far: by the number of bytes after them in the packet, in its low five bits, then downwards in 32, from 192 on. Zeros follow, which make
// nothing of pairs that the packet does not have.
//
//lint:ignore U1000 the assembly reads it
var pairs = func() (t [32][10][2]carry) {
	for low := range t {
		for i := range 7 {
			over := low + 192 - 32*i
			t[low][i] = [2]carry{carryOver(8 * (over + 16 + 8)), carryOver(8 * (over + 8))}
		}
	}
	return t
}()

// carry256 carries over 256 bytes.
//
//lint:ignore U1000 the assembly reads it
var carry256 = carryOver(8 * 256)

// carryOver carries over so many bits, which may be negative.
func carryOver(n int) carry { return carry{power(n + 32), power(n - 32)} }

// mostCarried is over how many bits anything is carried at most, up or down, and 32 more.
const mostCarried = 8*272 + 32

// powers are x to the n modulo the polynomial of IEEE 802.3, bits reversed, from -mostCarried on.
var powers = func() (t [2*mostCarried + 1]uint32) {
	const poly = 0xEDB88320 // without its highest power, bits reversed
	t[mostCarried] = 1 << 31
	for n := range mostCarried {
		up, down := t[mostCarried+n], t[mostCarried-n]
		t[mostCarried+n+1] = up>>1 ^ poly&-(up&1)
		t[mostCarried-n-1] = (down^poly&-(down>>31))<<1 | down>>31
	}
	return t
}()

// power is x to the n, one place higher.
func power(n int) uint64 { return uint64(powers[mostCarried+n]) << 1 }
