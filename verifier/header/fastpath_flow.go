package header

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
)

// Where the headers of RoCEv2 on IPv4 without options begin, and how long a packet is at least, with its ICRC.
const (
	udpAt    = 20
	bthAt    = 28
	leastLen = bthAt + 12 + 4
)

// UsualFlow judges the bytes and the flow of a packet of RC that is nothing but usual, and reports whether it did: its connection is known to be one, and its
// headers are, bit by bit, as those of one of its flow for which plain holds, but for what differs between packets.
//
//go:noinline
func (v *Verifier) UsualFlow(c *qp.Pair, from int, p *packet.Packet) bool {
	flow := &c.Ends[from&1].Direction.Flow
	if !c.Paired || !c.Sealed(from&1) || c.Service != packet.RC || c.FoundWrongService() || p.ICRCState != packet.CRCGood ||
		!agreesWithFlow(flow, p) {
		return false
	}
	v.headers[packet.RoCEv2IPv4][p.Opcode]++
	v.Broken = false
	v.usual++
	return true
}

// SameFlow judges the bytes and the flow of a packet of RC as Packet and Flow do, in one step, and reports whether it did: all are those of its flow, for which plain holds.
func (v *Verifier) SameFlow(c *qp.Pair, from int, p *packet.Packet) bool {
	if c.Service != packet.RC || !agreesWithFlow(&c.Ends[from&1].Flow, p) {
		return false
	}
	v.headers[packet.RoCEv2IPv4][p.Opcode]++
	v.Broken = false
	return true
}

// agreesWithFlow reports whether Header and Flow have nothing to say of a packet of RC, since they had nothing to say of another one of the flow: it agrees with
// that one in what Flow compares, and in all else it is plain. A packet that is Usual has no flaws, and at least a BTH and ICRC.
func agreesWithFlow(f *qp.Flow, p *packet.Packet) bool {
	if f.State != qp.FlowPlain || !p.Usual {
		return false
	}
	b, s := (*[leastLen]byte)(p.Data), &flowShapes[p.Opcode]
	ip := binary.LittleEndian.Uint64(b[:])
	mismatch := flowIP[wordIP].mismatch(ip^uint64(f.TClass)<<10) |
		flowIP[wordUDP].mismatch(binary.LittleEndian.Uint64(b[udpAt:])^uint64(bits.ReverseBytes16(f.SrcPort)))
	mismatch |= s.bth.mismatch(binary.LittleEndian.Uint64(b[bthAt:])^(uint64(packet.Bit(f.MigReq))<<14|uint64(bits.ReverseBytes16(f.PKey))<<16)) |
		s.bth8.mismatch(binary.LittleEndian.Uint64(b[bthAt+8:]))
	mismatch |= s.payload.mismatch(uint64(p.PayloadLen)) | s.tail.mismatch(uint64(p.PayloadLen+int(p.PadCnt))) | s.pad.mismatch(pad(p))
	return mismatch == 0 && flowExclusion.mismatch(ip) != 0
}

// inFlow are what Flow compares with the first packet of a flow on IPv4, and the addresses and QPs by which the flow is found.
var inFlow = []field{
	{v4: octets(wordIP, 1, 1, 0xFC)},    // DSCP
	{v4: octets(wordUDP, 0, 2, 0xFFFF)}, // source port
	{v4: octets(wordBTH, 1, 1, 0x40)},   // MigReq
	{v4: octets(wordBTH, 2, 2, 0xFFFF)}, // P_Key
}

// flowShape is what the next packet of a flow has, by its opcode, beside what it has to agree with the flow in.
type flowShape struct{ bth, bth8, payload, tail, pad clause }

// compared are the words that agreesWithFlow compares, or of which a packet that is Usual has one value only.
var compared = []word{wordIP, wordUDP, wordBTH, wordBTH8, wordPayload, wordTail, wordPad, wordFlaws}

// flowShapes are built from shapes, for the opcodes of RC. What does not come from the BTH is what any opcode asks.
var flowShapes, flowIP, flowExclusion = func() (t [256]flowShape, ip [wordUDP + 1]clause, without clause) {
	var not []exclusion
	var fixed [numWords]uint64 // bits that are those of the flow, for which plain holds
	for _, f := range inFlow {
		fixed[f.v4.word] |= f.v4.mask
	}
	found := fixed
	found[wordBTH] |= bthDestQP.v4.mask
	found[wordSrcLo], found[wordDstLo] = math.MaxUint64, math.MaxUint64
	for o := range t {
		s := shapes[packet.RoCEv2IPv4][o]
		if s == nil || s.judged != 0 || packet.Opcode(o).Service() != packet.RC {
			t[o].bth = clause{0xFF, uint64(^uint8(o))} // another opcode: no packet has it
			continue
		}
		is := s.is
		for i := range is {
			is[i] = clause{is[i].mask | fixed[i], is[i].value &^ fixed[i]}
		}
		t[o] = flowShape{is[wordBTH], is[wordBTH8], is[wordPayload], is[wordTail], is[wordPad]}
		for i := range is {
			if is[i].mask != 0 && !slices.Contains(compared, word(i)) {
				panic(fmt.Sprintf("a header rule on packets of RC reads word %d (fastpath_header.go), which agreesWithFlow does not compare: add it there and to flowShape", i))
			}
		}
		for i := range ip {
			ip[i].add(is[i])
		}
		for _, u := range s.not {
			if u.mask&^found[u.word] != 0 && !slices.Contains(not, u.exclusion) {
				not = append(not, u.exclusion)
			}
		}
	}
	if len(not) == 0 {
		panic("no packet of RC takes a fast path: a header rule that applies to all of them does not say what it reads")
	}
	if len(not) != 1 || not[0].word != wordIP {
		panic("a header rule wants another value than one that is not in the first eight bytes of the IPv4 header, which agreesWithFlow does not compare")
	}
	return t, ip, not[0].clause
}()
