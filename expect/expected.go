package expect

import (
	"bytes"
	"slices"

	"ibwitness/packet"
)

// Expected is the packet that should have been sent in place of an actual one, while its fields are set. A field that is not set is as in the actual packet.
type Expected struct {
	actual *packet.Packet
	p      packet.Packet
	known  [numIDs]bool
	words  []word
	sized  bool // the length of the payload is determined
	filled bool // and its content
}

// word is what is expected of a field in words, where more than one value will do.
type word struct {
	id   ID
	text string
	ok   bool
}

// Like begins the packet that is expected in place of p, which the result refers to. Nothing is determined yet.
func Like(p *packet.Packet) *Expected { return &Expected{actual: p, p: *p} }

// Clone returns a copy that goes its own way.
func (e *Expected) Clone() *Expected {
	c := *e
	c.words = slices.Clone(e.words)
	return &c
}

// unsay takes back what was said of a field in words.
func (e *Expected) unsay(id ID) {
	e.words = slices.DeleteFunc(e.words, func(w word) bool { return w.id == id })
}

// Packet is the expected packet as far as it is made: lengths and CRCs are those of the actual one.
func (e *Expected) Packet() *packet.Packet { return &e.p }

// Has reports whether the expected packet has the field.
func (e *Expected) Has(id ID) bool {
	return id == Payload || id == Pad && e.p.Has&packet.HasBTH != 0 || specs[id].in&e.p.Has != 0
}

// Set says that a field holds v, in host byte order. An opcode brings its extension headers with it, in which all is 0. Addresses are set by From and To.
func (e *Expected) Set(id ID, v uint64) {
	if id == Opcode {
		e.become(packet.Opcode(v))
	}
	id.set(&e.p, v)
	e.known[id] = true
	e.unsay(id)
}

// extensions are all headers after the BTH.
const extensions = packet.HasRDETH | packet.HasDETH | packet.HasXRCETH | packet.HasRETH | packet.HasAtomicETH | packet.HasAETH | packet.HasAtomicAckETH |
	packet.HasImmDt | packet.HasIETH | packet.HasFETH | packet.HasCNP

// become gives the packet another opcode, and the headers of that.
func (e *Expected) become(o packet.Opcode) {
	p := &e.p
	if o == p.Opcode {
		return
	}
	if gone := p.Has & extensions &^ o.Info().Headers; gone != 0 {
		for id := RDETHRes; id <= InvRKey; id++ {
			if specs[id].in&o.Info().Headers == 0 {
				id.set(p, 0)
			}
		}
	}
	p.Has = p.Has&^extensions | o.Info().Headers
	p.Opcode = o
	if !o.Info().Payload {
		p.Payload, p.PayloadLen, p.Pad, p.PadCnt = nil, 0, nil, 0
		e.sized, e.filled = true, true
	}
}

// Keep says that fields are as expected.
func (e *Expected) Keep(ids ...ID) {
	for _, id := range ids {
		e.known[id] = true
	}
}

// Say sets in words the values that a field may have, where there are several. ok is whether the actual value is one of them.
func (e *Expected) Say(id ID, text string, ok bool) {
	for i := range e.words {
		if e.words[i].id == id {
			e.words[i] = word{id, text, ok}
			return
		}
	}
	e.words = append(e.words, word{id, text, ok})
}

// From says which address the packet comes from. On InfiniBand that is its LID.
func (e *Expected) From(a packet.Addr) { e.address(&e.p.Src, &e.p.SGID, &e.p.SLID, Src, SLID, a) }

// To says which address the packet goes to. On InfiniBand that is its LID.
func (e *Expected) To(a packet.Addr) { e.address(&e.p.Dst, &e.p.DGID, &e.p.DLID, Dst, DLID, a) }

func (e *Expected) address(end, gid *packet.Addr, lid *uint16, id, lidID ID, a packet.Addr) {
	if e.p.Has&packet.HasLRH != 0 {
		if a.IsLID() {
			*end, *lid = a, uint16(a.Lo)
			e.known[lidID] = true
		} else if e.p.Has&packet.HasGRH != 0 {
			*gid = a
			e.known[id] = true
		}
		return
	}
	*end, *gid = a, a
	e.known[id] = true
}

// Length sets the length of the payload, in bytes without the pad. Where the actual payload has this length, its content is taken over, and counts as free.
func (e *Expected) Length(n int) {
	e.sized = true
	e.unsay(Payload)
	if e.p.PayloadLen = n; n != e.actual.PayloadLen {
		e.p.Payload = nil
	}
}

// Fill says what the payload holds, without the pad.
func (e *Expected) Fill(b []byte) {
	e.p.Payload, e.p.PayloadLen, e.sized, e.filled = b, len(b), true, true
	e.unsay(Payload)
}

// seal fills in what follows from the rest: lengths, pad, checksum and CRCs. What else packet.Complete sets stays as it was.
func (e *Expected) seal() {
	q := e.p
	whole := len(q.Payload) == q.PayloadLen
	if !whole {
		q.Payload = make([]byte, q.PayloadLen)
	}
	grh := q.Has & packet.HasGRH
	raw := q.Has&packet.HasBTH == 0
	if !raw {
		q.Complete()
	}
	for id := VL; id <= InvRKey; id++ {
		if !derived[id] && e.p.Has&specs[id].in != 0 {
			id.set(&q, id.Value(&e.p))
		}
	}
	if raw || q.Encap == packet.NoEncap || q.Has&packet.HasGRH != grh || e.p.Flaws&packet.FlawExtension != 0 || e.p.Has&packet.HasIPv4 != 0 && e.p.IHL != 5 {
		e.unsealed()
		return
	}
	q.SealIPv4()
	q.SealICRC()
	if !whole {
		q.Payload = nil
	}
	e.p = q
	if !whole || e.actual.Cut {
		e.known[ICRC], e.known[VCRC] = false, false
		e.p.ICRC, e.p.VCRC = e.actual.ICRC, e.actual.VCRC
	}
}

// unsealed leaves lengths and CRCs as they are.
func (e *Expected) unsealed() {
	for id := range derived {
		if derived[id] {
			e.known[id] = false
		}
	}
}

// derived are the fields that follow from the others.
var derived = [numIDs]bool{PktLen: true, PayLen: true, UDPLen: true, PadCnt: true, Pad: true, IPSum: true, ICRC: true, VCRC: true}

// Compare finishes the expected packet and compares the actual one with it. It returns nil where no field differs from what is expected of it.
func (e *Expected) Compare() *Comparison {
	c := e.Beside()
	for i := range c.outcomes {
		if c.outcomes[i] == Differs {
			return c
		}
	}
	return nil
}

// Beside is Compare, whether or not a field differs.
func (e *Expected) Beside() *Comparison {
	e.seal()
	a := e.actual
	own := lengthsOf(a)
	c := &Comparison{actual: *a.Bare(), expected: *e.p.Bare(), words: e.words, filled: e.filled}
	c.actual.Flaws, c.expected.Flaws = 0, 0
	if e.filled && len(a.Payload) == a.PayloadLen {
		c.actual.Payload, c.expected.Payload = bytes.Clone(a.Payload), bytes.Clone(e.p.Payload)
	}
	if a.ICRCState == packet.CRCBad && len(a.Data) > 0 {
		c.findFlip(a)
	}
	c.actual.Pad, c.expected.Pad = bytes.Clone(a.Pad), bytes.Clone(e.p.Pad)
	for id := range numIDs {
		c.outcomes[id] = e.outcome(id, own)
	}
	for _, w := range e.words {
		if c.outcomes[w.id] = Equal; !w.ok {
			c.outcomes[w.id] = Differs
		}
	}
	return c
}

// lengthsOf is p with the lengths that are right for it, pad included.
func lengthsOf(p *packet.Packet) *packet.Packet {
	q := p.Bare()
	_, n := spans(q)
	n += q.PayloadLen + int(q.PadCnt) + packet.ICRCSize
	q.PktLen = uint16(n / 4)
	if q.UDPLen = uint16(n - q.BTHOff + 8); q.Has&packet.HasIPv4 != 0 {
		q.PayLen = uint16(n)
	} else {
		q.PayLen = uint16(n - 40)
		if q.Has&packet.HasLRH != 0 {
			q.PayLen -= 8
		}
	}
	return q
}

// outcome compares a field. own is the actual packet with lengths that are right.
func (e *Expected) outcome(id ID, own *packet.Packet) Outcome {
	switch id {
	case Payload:
		return e.payload()
	case Pad:
		return e.pad()
	case Src, Dst:
		return e.end(id)
	case ICRC, VCRC:
		return e.crc(id)
	}
	in := specs[id].in
	switch a := e.actual; {
	case a.Has&in == 0 && e.p.Has&in == 0:
		return Any
	case a.Has&in == 0 || e.p.Has&in == 0: // the header is missing, or one too many
		if e.known[id] || e.known[Opcode] {
			return Follows
		}
		return Any
	}
	return e.number(id, own)
}

// number compares a number that both packets have.
func (e *Expected) number(id ID, own *packet.Packet) Outcome {
	a := e.actual
	x, y := id.Value(a), id.Value(&e.p)
	fits := derived[id] && x == id.Value(own)
	switch {
	case id == PadCnt && e.known[id] && x != y && (a.PayloadLen == e.p.PayloadLen || e.p.Info().Unpadded()):
		return Differs
	case fits && !e.known[id] && x != y:
		return Follows
	case !e.known[id]:
		return Any
	case x == y:
		return Equal
	case fits:
		return Follows
	}
	return Differs
}

// end compares an address.
func (e *Expected) end(id ID) Outcome {
	switch {
	case !e.known[id]:
		return Any
	case pick(id, e.actual) != pick(id, &e.p):
		return Differs
	}
	return Equal
}

func (e *Expected) pad() Outcome {
	a := e.actual
	switch {
	case !e.known[Pad] || len(a.Pad) != int(a.PadCnt):
		return Any
	case bytes.Equal(a.Pad, e.p.Pad):
		return Equal
	case len(a.Pad) != len(e.p.Pad):
		return Follows
	}
	return Differs
}

func (e *Expected) payload() Outcome {
	a := e.actual
	switch {
	case e.sized && a.PayloadLen != e.p.PayloadLen:
		if e.known[Opcode] && e.p.Opcode != a.Opcode {
			return Follows
		}
		return Differs
	case !e.filled || len(a.Payload) != a.PayloadLen:
		return Any
	case bytes.Equal(a.Payload, e.p.Payload):
		return Equal
	}
	return Differs
}

func (e *Expected) crc(id ID) Outcome {
	a := e.actual
	state, same := a.ICRCState, a.ICRC == e.p.ICRC
	if id == VCRC {
		state, same = a.VCRCState, a.VCRC == e.p.VCRC
	}
	switch {
	case specs[id].in&a.Has == 0 || !e.known[id]:
		return Any
	case slices.ContainsFunc(e.words, func(w word) bool { return !w.ok }): // of a field whose value is not known
		return Any
	case same:
		return Equal
	case state == packet.CRCBad:
		return Differs
	}
	return Follows
}

// pick is an address of the network header.
func pick(id ID, p *packet.Packet) packet.Addr {
	lrh := p.Has&packet.HasLRH != 0
	switch {
	case id == Src && lrh:
		return p.SGID
	case id == Src:
		return p.Src
	case lrh:
		return p.DGID
	}
	return p.Dst
}
