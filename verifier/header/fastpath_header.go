package header

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"ibwitness/packet"
	"ibwitness/rule"
)

// The fast paths for headers, plain and agreesWithFlow, compare only the fields that the rows of headers name as read by the rules: shapes are built
// from the rows. A rule that says nothing of it is on no fast path.

// word is a part of a packet that the fast paths load at once: eight bytes of a header as they are in memory, or a number made of several fields.
type word uint8

// The words.
const (
	wordIP   word = iota // bytes 0 to 7 of the IP header
	wordIP8              // 8 to 15
	wordUDP              // UDP header
	wordBTH              // bytes 0 to 7 of the BTH
	wordBTH8             // 8 to 11, and the first four bytes of the extension headers
	lastOnWire

	wordPayload = iota - 1 // length of the payload
	wordTail               // length of payload and pad
	wordPad                // pad bytes
	wordFlaws              // packet.Flaws
	wordSrc                // address of the source: upper and lower half
	wordSrcLo
	wordDst
	wordDstLo
	wordReserved // of a CNP: the reserved bytes after the BTH, or'ed into eight
	numWords
)

// bitsOf are bits of a word.
type bitsOf struct {
	word word
	mask uint64
	low  int // on the wire, the bit at which they begin, from the end of the eight bytes
}

// octets are n bytes of a header, from its byte at on, without what mask leaves out. Values are in host byte order.
func octets(w word, at, n int, mask uint64) bitsOf {
	low := 8 * (8 - at - n)
	return bitsOf{w, bits.ReverseBytes64(mask << low), low + bits.TrailingZeros64(mask)}
}

// value is a number in these bits, shifted to its place in the word.
func (b bitsOf) value(v uint64) uint64 {
	if b.word < lastOnWire {
		return bits.ReverseBytes64(v << b.low)
	}
	return v
}

// field is what a header rule may read of a packet, by the version of IP.
type field struct{ v4, v6 bitsOf }

func same46(b bitsOf) field { return field{b, b} }

func bth(at, n int, mask uint64) field { return same46(octets(wordBTH, at, n, mask)) }

func flaw(f packet.Flaw) field { return same46(bitsOf{word: wordFlaws, mask: uint64(f)}) }

// The fields.
var (
	ipHeader  = field{v4: octets(wordIP, 0, 1, 0x0F)} // IHL
	ipECN     = field{octets(wordIP, 1, 1, 3), octets(wordIP, 0, 2, 3<<4)}
	ipFlags   = field{v4: octets(wordIP, 6, 2, 0xC000)}
	ipOffset  = field{v4: octets(wordIP, 6, 2, 0x3FFF)} // with More Fragments
	srcClass  = field{bitsOf{word: wordSrcLo, mask: 0xF << 28}, bitsOf{word: wordSrc, mask: 0xFF << 56}}
	dstClass  = field{bitsOf{word: wordDstLo, mask: 0xF << 28}, bitsOf{word: wordDst, mask: 0xFF << 56}}
	srcLow    = same46(bitsOf{word: wordSrcLo, mask: 0xFFFFFFFF})
	udpPort   = same46(octets(wordUDP, 0, 2, 0xC000)) // the upper bits of the source port
	udpSum16  = same46(octets(wordUDP, 6, 2, 0xFFFF))
	bthSE     = bth(1, 1, 0x80)
	bthMigReq = bth(1, 1, 0x40)
	bthPadCnt = bth(1, 1, 0x30)
	bthTVer   = bth(1, 1, 0x0F)
	bthPKey   = bth(2, 2, 0x7FFF)
	bthFBECN  = bth(4, 1, 0xC0)
	bthResv8a = bth(4, 1, 0x3F)
	bthDestQP = bth(5, 3, packet.PSNMask)
	bthAckReq = same46(octets(wordBTH8, 0, 1, 0x80))
	bthResv7  = same46(octets(wordBTH8, 0, 1, 0x7F))
	bthPSN    = same46(octets(wordBTH8, 1, 3, packet.PSNMask))
	aethCode  = same46(octets(wordBTH8, 4, 1, 0xC0)) // of the syndrome: not 0 in NAKs and in what is reserved
	length    = same46(bitsOf{word: wordPayload, mask: 1<<64 - 1})
	withPad   = same46(bitsOf{word: wordTail, mask: 3})
	padBytes  = same46(bitsOf{word: wordPad, mask: 1<<64 - 1})
	reserved  = same46(bitsOf{word: wordReserved, mask: 1<<64 - 1})
)

// test is what a field of a packet has, or has not, by the version of IP.
type test struct {
	v4, v6 clause
	words  [2]word
	not    bool
}

func (f field) is(v uint64) test { return f.test(f.v4.value(v), f.v6.value(v), false) }

func (f field) not(v uint64) test { return f.test(f.v4.value(v), f.v6.value(v), true) }

// unicast is what the class of an address has.
func (f field) unicast() test { return f.test(0xE<<28, 0xFF<<56, true) }

func (f field) test(v4, v6 uint64, not bool) test {
	return test{clause{f.v4.mask, v4}, clause{f.v6.mask, v6}, [2]word{f.v4.word, f.v6.word}, not}
}

// on is the test on a version of IP.
func (t *test) on(e packet.Encap) exclusion {
	if e == packet.RoCEv2IPv6 {
		return exclusion{t.v6, t.words[1]}
	}
	return exclusion{t.v4, t.words[0]}
}

// usually says by opcode what a packet has for which a rule holds; ok is whether there is such a packet.
type usually func(*packet.Info) (tests []test, ok bool)

// has is usually the same for all opcodes.
func has(tests ...test) usually {
	return func(*packet.Info) ([]test, bool) { return tests, true }
}

// unless is has, but for opcodes for which the rule holds in any case.
func unless(holds func(*packet.Info) bool, tests ...test) usually {
	return func(in *packet.Info) ([]test, bool) {
		if holds(in) {
			return nil, true
		}
		return tests, true
	}
}

// ofOpcode is of rules that hold by opcode.
func ofOpcode(holds func(*packet.Info) bool) usually {
	return func(in *packet.Info) ([]test, bool) { return nil, holds(in) }
}

func isDefined(in *packet.Info) bool { return in.Defined }

// beforeRules are what Header asks before the rules.
var beforeRules = []header{
	{applies: onIP, usually: has(ipECN.not(3))},
	{applies: onIP, usually: has(flaw(packet.FlawOuterMark).is(0))},
}

// clause asks bits of a word for a value.
type clause struct{ mask, value uint64 }

// mismatch is 0 where a word has the value.
func (c clause) mismatch(w uint64) uint64 { return (w ^ c.value) & c.mask }

// add asks more bits for a value.
func (c *clause) add(d clause) {
	if (c.value^d.value)&c.mask&d.mask != 0 {
		panic(fmt.Sprintf("header rules ask the same bits, 0x%x, for two values", c.mask&d.mask))
	}
	c.mask, c.value = c.mask|d.mask, c.value|d.value
}

// exclusion is a clause that a packet does not fulfil.
type exclusion struct {
	clause
	word word
}

// ruleSet is a set of the rules that apply to an encapsulation and opcode, by their places in headersOf.
type ruleSet uint64

// everyRule is the set of all rules, however many they are.
const everyRule = ^ruleSet(0)

// shape is what the packets have that break no header rule, by encapsulation and opcode.
type shape struct {
	is  [numWords]clause
	by  [numWords]ruleSet // the rules that ask for that
	not []exclusionBy
	// judged are the rules that say nothing of it. Where there are any, no packet is plain.
	judged ruleSet
}

// exclusionBy is what the packets do not have, and the rule that asks for that.
type exclusionBy struct {
	exclusion
	by ruleSet
}

// shapes are built from the rows of headers, for RoCEv2 and defined opcodes. Of services other than RC, UC and CNP, no packet is plain.
var shapes = func() (t [5][256]*shape) {
	for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
		for o := range t[e] {
			if in := packet.Opcode(o).Info(); in.Defined {
				t[e][o] = shapeOf(e, in)
			}
		}
	}
	return t
}()

func shapeOf(e packet.Encap, in *packet.Info) *shape {
	s := new(shape)
	for i := range beforeRules {
		if h := &beforeRules[i]; h.applies(e, in) {
			s.ask(h, 0, e, in)
		}
	}
	for i, h := range headersOf[e][in.Opcode] {
		by := ruleSet(1) << i
		if by == 0 {
			panic(fmt.Sprintf("more header rules apply to %v on %v than a ruleSet has room for", in.Opcode, e))
		}
		s.ask(h, by, e, in)
	}
	return s
}

// ask has the shape say what a rule asks for.
func (s *shape) ask(h *header, by ruleSet, e packet.Encap, in *packet.Info) {
	if h.usually == nil {
		s.judged |= by
		return
	}
	tests, ok := h.usually(in)
	if !ok {
		s.judged |= by
		return
	}
	for i := range tests {
		t := tests[i].on(e)
		if tests[i].not {
			s.not = append(s.not, exclusionBy{t, by})
			continue
		}
		s.is[t.word].add(t.clause)
		s.by[t.word] |= by
	}
}

// load gathers the words of a packet on IP with a whole BTH: it has an IP header and a UDP header before it.
func load(w *[numWords]uint64, p *packet.Packet) {
	b, h := p.Data, p.Data[p.BTHOff-8:]
	w[wordIP], w[wordIP8] = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	w[wordUDP], w[wordBTH], w[wordBTH8] = binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
	w[wordPayload], w[wordTail] = uint64(p.PayloadLen), uint64(p.PayloadLen+int(p.PadCnt))
	w[wordPad] = pad(p)
	w[wordFlaws] = uint64(p.Flaws)
	w[wordSrc], w[wordSrcLo], w[wordDst], w[wordDstLo] = p.Src.Hi, p.Src.Lo, p.Dst.Hi, p.Dst.Lo
	if r := p.Payload; p.Opcode == packet.OpCNP && len(r) >= 16 {
		w[wordReserved] = binary.LittleEndian.Uint64(r) | binary.LittleEndian.Uint64(r[8:])
	}
}

// pad is the pad bytes. On IP the pad ends the word before the ICRC, which is the last of the packet. A shift by 32 bits leaves 0.
func pad(p *packet.Packet) uint64 {
	return uint64(binary.LittleEndian.Uint32(p.Data[len(p.Data)-8:])) >> ((32 - 8*(p.PadCnt&3)) & 63)
}

// plain reports whether a packet is of the usual shape, so that it can break no header rule: the fast path. It may say no to a
// packet that breaks none.
func plain(p *packet.Packet) bool { return suspects(p) == none }

// suspicion is which header rules a packet may break.
type suspicion struct {
	rules ruleSet
	odd   bool // it is not plain
}

var none suspicion

// suspects returns the rules that a packet may break: those of which something that they ask for differs. What differs from packet to packet is masked and not asked
// one by one: a processor cannot guess such branches.
func suspects(p *packet.Packet) suspicion {
	s := shapes[p.Encap][p.Opcode]
	if s == nil || p.Cut || p.BTHOff > len(p.Data)-16 {
		return suspicion{everyRule, true}
	}
	var w [numWords]uint64
	load(&w, p)
	mismatch, rules := uint64(0), s.judged
	for i := range s.is {
		mismatch |= s.is[i].mismatch(w[i])
	}
	odd := mismatch != 0 || rules != 0
	if mismatch != 0 {
		for i := range s.is {
			if s.is[i].mismatch(w[i]) != 0 {
				rules |= s.by[i]
			}
		}
	}
	for i := range s.not {
		if u := &s.not[i]; u.mismatch(w[u.word]) == 0 {
			odd = true
			rules |= u.by
		}
	}
	return suspicion{rules, odd}
}

// FastRules are the rules that the fast paths claim to cover: those that apply to these opcodes on IPv4.
func FastRules(opcodes []packet.Opcode) (ids []rule.ID) {
	for _, o := range opcodes {
		for _, h := range headersOf[packet.RoCEv2IPv4][o] {
			ids = append(ids, h.id)
		}
	}
	return ids
}
