package expect

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"

	"ibwitness/packet"
)

// Outcome is how a field of the actual packet compares with the expected one.
type Outcome uint8

// The outcomes.
const (
	Any     Outcome = iota // nothing determines the field
	Equal                  // it is as expected
	Differs                // it is not
	Follows                // it is not, but is right for the rest of the actual packet: a length, checksum or CRC, or a header that another opcode brings
)

func (o Outcome) String() string { return [...]string{"any", "equal", "differs", "follows"}[o] }

// Field is one field of the two packets.
type Field struct {
	ID       ID
	Layer    string // header that the field is of, by Wireshark's name
	Name     string // by Wireshark's name
	Expected string // "any": nothing determines it; "absent": the expected packet does not have it
	Actual   string // "absent": the actual packet does not have it
	Outcome  Outcome
	// At is the offset of the field's first byte in the actual packet, counted from 0 at the first byte of its LRH, GRH or IP header, and Size how many bytes the
	// field has a part of. At is -1 where the actual packet does not have the field. Offsets in Expected, Actual and its JSON count from there too; those that
	// PayloadDiffers returns, and that the texts of the payload name, from 0 at the first byte of the payload.
	At, Size int
}

// Comparison is an actual packet beside the expected one. It is not changed once it is made, and refers to nothing else.
type Comparison struct {
	actual, expected packet.Packet
	outcomes         [numIDs]Outcome
	words            []word
	filled           bool // the content of the payload is determined
	flip             Flip
	damaged          bool // the ICRC of the actual packet is wrong, and all of it was there to look for what was flipped
}

// span is a header in the bytes of a packet.
type span struct {
	has  packet.Has
	name string
	at   int
}

// spans are the headers of a packet, and where the payload begins.
func spans(p *packet.Packet) (list []span, end int) {
	for i := range layers {
		l := &layers[i]
		if p.Has&l.has == 0 {
			continue
		}
		switch l.has {
		case packet.HasBTH:
			end = p.BTHOff
		case packet.HasUDP:
			end = max(end, p.BTHOff-l.size)
		}
		list = append(list, span{l.has, l.name, end})
		if end += l.size; l.has == packet.HasIPv4 && p.IHL > 5 {
			end += 4*int(p.IHL) - l.size
		}
	}
	return list, end
}

// Fields lists the fields of both packets in the order of the wire.
func (c *Comparison) Fields() []Field {
	var list []Field
	there, end := spans(&c.actual)
	wanted, _ := spans(&c.expected)
	for i := range layers {
		l := &layers[i]
		at := slices.IndexFunc(there, func(s span) bool { return s.has == l.has })
		if at < 0 && !slices.ContainsFunc(wanted, func(s span) bool { return s.has == l.has }) {
			continue
		}
		for id := VL; id <= InvRKey; id++ {
			if specs[id].in&l.has != 0 {
				list = append(list, c.field(id, l, there, at))
			}
		}
	}
	return append(list, c.rest(end)...)
}

func (c *Comparison) field(id ID, l *layer, there []span, at int) Field {
	f := Field{ID: id, Layer: l.name, Name: id.called(l.has), Outcome: c.outcomes[id], At: -1}
	f.Actual, f.Expected = c.value(id, &c.actual, l.has), c.value(id, &c.expected, l.has)
	switch {
	case f.Outcome == Any:
		f.Expected = "any"
	case f.Outcome == Differs && f.Expected == absent, f.Outcome == Differs && f.Actual == absent:
		f.Outcome = Follows
	}
	if at >= 0 {
		low, n := id.place(l.has)
		f.At = there[at].at + low/8
		f.Size = (low%8 + n + 7) / 8
	}
	c.inWords(&f)
	return f
}

// inWords puts what is expected in words.
func (c *Comparison) inWords(f *Field) {
	for _, w := range c.words {
		if w.id == f.ID {
			f.Expected = w.text
		}
	}
}

const absent = "absent"

func (c *Comparison) value(id ID, p *packet.Packet, in packet.Has) string {
	switch {
	case p.Has&in == 0:
		return absent
	case id == Src || id == Dst:
		return pick(id, p).String()
	}
	return id.text(id.Value(p))
}

// rest lists what follows the headers, which end at offset end of the actual packet.
func (c *Comparison) rest(end int) (list []Field) {
	a, e := &c.actual, &c.expected
	add := func(id ID, expected, actual string, at, size int) {
		f := Field{ID: id, Layer: rest, Name: specs[id].name, Expected: expected, Actual: actual, Outcome: c.outcomes[id], At: at, Size: size}
		if f.Outcome == Any {
			f.Expected = "any"
		}
		c.inWords(&f)
		list = append(list, f)
	}
	add(Payload, c.payload(), count(a.PayloadLen), end, a.PayloadLen)
	end += a.PayloadLen
	if len(a.Pad)+len(e.Pad) > 0 || a.PadCnt > 0 {
		add(Pad, padText(e), padText(a), end, int(a.PadCnt))
	}
	end += int(a.PadCnt)
	if a.Has&packet.HasICRC != 0 {
		add(ICRC, fmt.Sprintf("0x%08x", bits.ReverseBytes32(e.ICRC)), fmt.Sprintf("0x%08x", bits.ReverseBytes32(a.ICRC)), end, 4)
		end += 4
	}
	if a.Has&packet.HasVCRC != 0 {
		add(VCRC, fmt.Sprintf("0x%04x", bits.ReverseBytes16(e.VCRC)), fmt.Sprintf("0x%04x", bits.ReverseBytes16(a.VCRC)), end, 2)
	}
	return list
}

// payload says what is expected of the payload.
func (c *Comparison) payload() string {
	s := count(c.expected.PayloadLen)
	if c.outcomes[Payload] != Differs || !c.filled || len(c.actual.Payload) == 0 {
		return s
	}
	from, to, n := c.PayloadDiffers()
	if n == 0 {
		return s
	}
	if n == 1 {
		return fmt.Sprintf("%s, of which byte %d has another value", s, from)
	}
	return fmt.Sprintf("%s, of which %d from byte %d to %d have other values", s, n, from, to-1)
}

func count(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func padText(p *packet.Packet) string {
	if len(p.Pad) == 0 {
		return count(int(p.PadCnt))
	}
	return fmt.Sprintf("% x", p.Pad)
}

// PayloadDiffers tells which bytes of the actual payload are not as expected, where that is known: they are in from … to-1, counted from 0, and n of those.
func (c *Comparison) PayloadDiffers() (from, to, n int) {
	a, e := c.actual.Payload, c.expected.Payload
	from = -1
	for i := range min(len(a), len(e)) {
		if a[i] != e[i] {
			if from < 0 {
				from = i
			}
			to = i + 1
			n++
		}
	}
	return max(from, 0), to, n
}

// Payload returns the expected and the actual payload, without pad. Both are nil where the expected bytes are not determined, or the
// actual ones not all captured.
func (c *Comparison) Payload() (expected, actual []byte) {
	return c.expected.Payload, c.actual.Payload
}

// Outcome returns how a field compares.
func (c *Comparison) Outcome(id ID) Outcome { return c.outcomes[id] }

// Departs reports whether the packet departs in a field: it holds another value, or its opcode brings another header.
func (c *Comparison) Departs(id ID) bool {
	return c.outcomes[id] == Differs || c.outcomes[id] == Follows
}

// Differ lists the fields that are not as expected.
func (c *Comparison) Differ() (list []Field) {
	for _, f := range c.Fields() {
		if f.Outcome == Differs {
			list = append(list, f)
		}
	}
	return list
}

// free are the fields that a sender may set as it likes, or the path changes: where nothing determines one, its value in the actual packet will do.
var free = [numIDs]bool{
	VL: true, SL: true, DSCP: true, ECN: true, FlowLabel: true, IPID: true, IPFlags: true, HopLmt: true, SrcPort: true, UDPSum: true, MigReq: true, FECN: true, BECN: true, AckReq: true,
}

// Whole reports whether everything of the expected packet is determined but for what its sender may choose (Identification, source port, AckReq of a request and the like),
// which is as in the actual packet: Expected is the packet as it should have been sent, with its ICRC.
func (c *Comparison) Whole() bool {
	for id := range numIDs {
		if c.outcomes[id] == Any && !derived[id] && !free[id] && (id == Payload && c.expected.PayloadLen > 0 || id < Payload && specs[id].in&c.expected.Has != 0) {
			return false
		}
	}
	return len(c.words) == 0
}

// Expected returns the bytes of the expected packet from its LRH, GRH or IP header on. What nothing determines is as in the actual packet, and its bits
// are 0 in mask, which is as long; so are those of what follows from it. Where the content of the payload is not known, the bytes end before it.
func (c *Comparison) Expected() (data, mask []byte) {
	e := c.expected
	if data = c.bytes(&e); len(data) == 0 {
		return nil, nil
	}
	mask = make([]byte, len(data))
	list, end := spans(&e)
	for _, s := range list {
		for id := VL; id <= InvRKey; id++ {
			if specs[id].in&s.has != 0 && c.determined(id) {
				at, n := id.place(s.has)
				for b := 8*s.at + at; b < 8*s.at+at+n && b < 8*len(mask); b++ {
					mask[b/8] |= 0x80 >> (b % 8)
				}
			}
		}
	}
	part := func(id ID, n int) {
		if c.determined(id) {
			for i := end; i < min(end+n, len(mask)); i++ {
				mask[i] = 0xFF
			}
		}
		end += n
	}
	part(Payload, len(e.Payload))
	part(Pad, len(e.Pad))
	part(ICRC, 4)
	part(VCRC, 2)
	return data, mask
}

// determined reports whether a field of the expected packet has one value, whatever the fields hold that nothing determines.
func (c *Comparison) determined(id ID) bool {
	switch {
	case c.outcomes[id] == Any || c.worded(id):
		return false
	case !derived[id], c.outcomes[id] == Differs && (id == ICRC || id == VCRC):
		return true
	}
	return c.Whole()
}

func (c *Comparison) worded(id ID) bool {
	return slices.ContainsFunc(c.words, func(w word) bool { return w.id == id })
}

// Actual returns the bytes of the actual packet, as Expected does those of the expected one.
func (c *Comparison) Actual() []byte {
	a := c.actual
	return c.bytes(&a)
}

// bytes writes a packet, and without what follows its headers where its payload is not kept.
func (c *Comparison) bytes(p *packet.Packet) []byte {
	if len(p.Payload) != p.PayloadLen {
		p.Payload, p.Pad, p.Has = nil, nil, p.Has&^(packet.HasICRC|packet.HasVCRC)
	}
	return p.Append(nil)
}

// Equal reports whether two comparisons say the same.
func (c *Comparison) Equal(d *Comparison) bool {
	if c == nil || d == nil {
		return c == d
	}
	x, y := c.Fields(), d.Fields()
	if !slices.Equal(x, y) {
		return false
	}
	a, m := c.Expected()
	b, n := d.Expected()
	return slices.Equal(a, b) && slices.Equal(m, n) && slices.Equal(c.Actual(), d.Actual())
}

// fieldJSON fixes the keys and their order.
type fieldJSON struct {
	Layer    string `json:"layer"`
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	Outcome  string `json:"outcome"` // "any", "equal", "differs", "follows"
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
}

// comparisonJSON is a comparison in JSON.
type comparisonJSON struct {
	Fields     []fieldJSON `json:"fields"`
	Whole      bool        `json:"whole"`
	Expected   string      `json:"expected_bytes,omitempty"`
	Determined string      `json:"determined_bits,omitempty"`
	Actual     string      `json:"actual_bytes,omitempty"`
}

// MarshalJSON writes the fields in the order of the wire (layer, field, expected, actual, outcome, offset, length), whether the whole packet is determined, and
// in hexadecimal the bytes of the expected packet, which bits of those are determined, and the bytes of the actual packet.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	out := comparisonJSON{Fields: []fieldJSON{}, Whole: c.Whole(), Actual: hex.EncodeToString(c.Actual())}
	for _, f := range c.Fields() {
		out.Fields = append(out.Fields, fieldJSON{f.Layer, f.Name, f.Expected, f.Actual, f.Outcome.String(), f.At, f.Size})
	}
	data, mask := c.Expected()
	out.Expected, out.Determined = hex.EncodeToString(data), hex.EncodeToString(mask)
	return json.Marshal(out)
}
