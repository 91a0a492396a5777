package qp

import (
	"unsafe"

	"ibwitness/packet"
)

// Sent is what is kept of one request packet: enough to tell whether a later one with its PSN is the same.
type Sent struct {
	PSN   packet.PSN // with Valid
	Frame uint32     // low bits
	Trace packet.Trace
}

// History holds the newest request packets by PSN, beside the messages of a Ring.
type History Ring

// History is the packets that were sent.
func (s *SendQueue) History() *History { return (*History)(&s.Messages) }

const (
	historyFirst = 4
	historyMin   = 8 // PSNs that are kept before an acknowledged one makes room
	historyMax   = 1 << 12
)

// Valid marks a PSN as set: PSN 0 is a PSN like any other.
const Valid = 1 << 31

// sent is a Sent as it is kept, but for its form.
type sent struct {
	icrc, frame uint32
	id          uint16
	length      uint16 // the lower bits of bytes of payload and pad, and two flags
	what        uint32 // opcode, state, and the PSN but for its lowest two bits, which its place has: there are at least four
}

const (
	sentLength = 1<<14 - 1
	sentAckReq = 1 << 14
	sentMigReq = 1 << 15

	sentUsed   = 1 << 8
	sentSealed = 1 << 9
	sentPSN    = 10 // bits before that of the PSN
)

// form is what all packets of a queue pair have in common, but for some that are reported, or take several paths. Where two differ, there is one for each place.
type form struct {
	port   uint16
	bthOff uint16
	encap  packet.Encap
	long   uint8 // the upper bits of bytes of payload and pad
}

// manyForms is the form of a history that has one for each place.
var manyForms = form{encap: 0xFF}

func (s *sent) used() bool { return s.what&sentUsed != 0 }

// psn is the PSN of a packet at place i.
func (s *sent) psn(i int) packet.PSN { return packet.PSN(s.what>>sentPSN<<2 | uint32(i)&3) }

// slot returns the place of a PSN, of a history that has places.
func (h *History) slot(psn packet.PSN) *sent {
	i := uintptr(uint16(psn) & h.packets)
	at := i*line + line - unsafe.Sizeof(sent{})
	if n := uintptr(h.messages) + 1; i >= n {
		at = n*(line-unsafe.Sizeof(sent{})) + i*unsafe.Sizeof(sent{})
	}
	return (*sent)(unsafe.Add(h.block, at))
}

// formOf returns the place of the form of a PSN, of a history that has one for each.
func (h *History) formOf(psn packet.PSN) *form {
	messages, packets := uintptr(h.messages)+1, uintptr(h.packets)+1
	at := messages*(line-unsafe.Sizeof(sent{})) + max(messages, packets)*unsafe.Sizeof(sent{}) + uintptr(uint16(psn)&h.packets)*unsafe.Sizeof(form{})
	return (*form)(unsafe.Add(h.block, at))
}

// at returns the form of a packet that is kept.
func (h *History) at(psn packet.PSN) form {
	if h.form == manyForms {
		return *h.formOf(psn)
	}
	return h.form
}

// place returns where a packet is to be kept, of which the form is. outstanding is how many PSNs are not acknowledged, which the history grows to hold.
func (h *History) place(psn packet.PSN, f form, outstanding int) *sent {
	if outstanding > int(h.packets) || h.packets < historyMin-1 || f != h.form {
		h.prepare(psn, f, outstanding)
	}
	return h.slot(psn)
}

// prepare makes a place for a packet where there may be none.
func (h *History) prepare(psn packet.PSN, f form, outstanding int) {
	if n := places(h.packets); outstanding >= n && n < historyMax || n < historyMin && h.taken(psn) {
		h.grow(outstanding)
	}
	if f != h.form {
		h.vary(psn, f)
	}
}

// vary keeps a form that is not that of all.
func (h *History) vary(psn packet.PSN, f form) {
	if h.form != manyForms {
		if h.empty() {
			h.form = f
			return
		}
		(*Ring)(h).grow(places(h.messages), places(h.packets), true)
		h.form = manyForms
	}
	*h.formOf(psn) = f
}

func (h *History) empty() bool {
	for i := range places(h.packets) {
		if h.slot(packet.PSN(i)).used() {
			return false
		}
	}
	return true
}

// Put remembers a packet; outstanding is how many PSNs are not acknowledged, which the history grows to hold.
func (h *History) Put(psn packet.PSN, frame uint64, t packet.Trace, outstanding int) {
	s := h.place(psn, form{port: t.SrcPort, bthOff: t.BTHOff, encap: t.Encap, long: uint8(t.Len >> 14)}, outstanding)
	*s = sent{icrc: t.ICRC, frame: uint32(frame), id: t.IPID, length: t.Len & sentLength, what: uint32(t.Opcode) | sentUsed | uint32(psn>>2)<<sentPSN}
	if t.Flags&packet.TraceAckReq != 0 {
		s.length |= sentAckReq
	}
	if t.Flags&packet.TraceMigReq != 0 {
		s.length |= sentMigReq
	}
	if t.Sealed() {
		s.what |= sentSealed
	}
}

// Note is Put of the trace of p.
func (h *History) Note(p *packet.Packet, outstanding int) {
	n := uint16(p.PayloadLen) + uint16(p.PadCnt)
	s := h.place(p.PSN, form{port: p.SrcPort, bthOff: uint16(p.BTHOff), encap: p.Encap, long: uint8(n >> 14)}, outstanding)
	s.icrc, s.frame, s.id = p.ICRC, uint32(p.Frame), p.IPID
	s.length = n&sentLength | uint16(packet.Bit(p.AckReq))*sentAckReq | uint16(packet.Bit(p.MigReq))*sentMigReq
	s.what = uint32(p.Opcode) | sentUsed | uint32(packet.Bit(p.ICRCState == packet.CRCGood))*sentSealed | uint32(p.PSN>>2)<<sentPSN
}

// taken reports whether the place of a PSN has another one.
func (h *History) taken(psn packet.PSN) bool {
	if h.block == nil {
		return true
	}
	s := h.slot(psn)
	return s.used() && s.what>>sentPSN != uint32(psn>>2)
}

// find returns where a PSN is kept, or nil.
func (h *History) find(psn packet.PSN) *sent {
	if h.block == nil {
		return nil
	}
	if s := h.slot(psn); s.used() && s.what>>sentPSN == uint32(psn>>2) {
		return s
	}
	return nil
}

// Get returns what was sent with this PSN, or nil when it is no longer (or was never) known. It is a copy.
func (h *History) Get(psn packet.PSN) *Sent {
	s := new(Sent)
	if !h.get(psn, s) {
		return nil
	}
	return s
}

func (h *History) get(psn packet.PSN, into *Sent) bool {
	s := h.find(psn)
	if s == nil {
		return false
	}
	f := h.at(psn)
	into.PSN, into.Frame = psn|Valid, s.frame
	into.Trace = packet.Trace{
		ICRC: s.icrc, Len: s.length&sentLength | uint16(f.long)<<14, IPID: s.id, SrcPort: f.port, Opcode: packet.Opcode(s.what), Encap: f.encap, BTHOff: f.bthOff,
	}
	if s.length&sentAckReq != 0 {
		into.Trace.Flags |= packet.TraceAckReq
	}
	if s.length&sentMigReq != 0 {
		into.Trace.Flags |= packet.TraceMigReq
	}
	if s.what&sentSealed != 0 {
		into.Trace.Flags |= packet.TraceSealed
	}
	return true
}

// First returns the first PSN of a range, the ends included, that is known, and whether there is one.
func (h *History) First(from, to packet.PSN) (psn packet.PSN, known bool) {
	size := places(h.packets)
	if n := to.Diff(from) + 1; n <= size {
		for i := range n {
			if at := from.Add(i); h.find(at) != nil {
				return at, true
			}
		}
		return 0, false
	}
	for i := range size { // a READ may take half of all PSNs
		s := h.slot(packet.PSN(i))
		if at := s.psn(i); s.used() && at.In(from, to) && (!known || at.Before(psn)) {
			psn, known = at, true
		}
	}
	return psn, known
}

// Drop forgets what was sent with this PSN.
func (h *History) Drop(psn packet.PSN) {
	if s := h.find(psn); s != nil {
		*s = sent{}
	}
}

// grow doubles the places, or makes as many as outstanding PSNs need of those that few queue pairs use.
func (h *History) grow(outstanding int) {
	n := max(2*places(h.packets), historyFirst)
	if outstanding >= historyMin {
		n = max(n, 2*historyMin)
	} else if outstanding >= n {
		n = historyMin
	}
	(*Ring)(h).grow(places(h.messages), n, h.form == manyForms)
}

// Reset forgets everything.
func (h *History) Reset() {
	for i := range places(h.packets) {
		*h.slot(packet.PSN(i)) = sent{}
	}
}
