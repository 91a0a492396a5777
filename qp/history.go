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
	historyMin = 8 // PSNs that are kept before an acknowledged one makes room
	historyMax = 1 << 12
)

// Valid marks a PSN as set: PSN 0 is a PSN like any other.
const Valid = 1 << 31

// sent is a Sent as it is kept, but for its form.
type sent struct {
	icrc, frame uint32
	id          uint16
	length      uint16 // the lower bits of bytes of payload and pad, and three flags
	what        uint32 // opcode, whether the place is used, and the PSN but for its lowest bit, which its place has: there are at least two
}

const (
	sentLength = 1<<lengthBits - 1
	lengthBits = 13
	sentAckReq = 1 << 13
	sentMigReq = 1 << 14
	sentSealed = 1 << 15

	sentUsed = 1 << 8
	sentPSN  = 9 // bits before that of the PSN
)

// form is what all packets of a queue pair have in common, but for some that are reported, or take several paths: the UDP source port, the offset of the BTH, the encapsulation,
// and the upper bits of bytes of payload and pad. Where two differ, there is one for each place.
type form uint64

const (
	formBTHOff = 16
	formEncap  = 32
	formLong   = 40
)

// manyForms is the form of a history that has one for each place. No encapsulation has that number.
const manyForms = form(0xFF) << formEncap

func formOf(port, bthOff uint16, encap packet.Encap, length uint16) form {
	return form(port) | form(bthOff)<<formBTHOff | form(encap)<<formEncap | form(length>>lengthBits)<<formLong
}

// packets is, of a history, in the lower 16 bits how many places it has, a power of two, less one, or 0: none; above them the form of all packets, or manyForms.
type packets uint64

func packetsOf(n int, f form) packets { return packets(f)<<16 | packets(n-1) }

func (k packets) mask() uint16 { return uint16(k) }

func (k packets) places() int { return places(uint16(k)) }

func (k packets) form() form { return form(k >> 16) }

func (s *sent) used() bool { return s.what&sentUsed != 0 }

// psn is the PSN of a packet at place i.
func (s *sent) psn(i int) packet.PSN { return packet.PSN(s.what>>sentPSN<<1 | uint32(i)&1) }

// slot returns the place of a PSN, of a history that has places: after a message, or where there are no more of these after the packet before it.
func (h *History) slot(psn packet.PSN) *sent {
	const apart = line - unsafe.Sizeof(sent{})
	i := uint16(psn) & h.packets.mask()
	block := beyond(i)
	return (*sent)(unsafe.Add(h.blocks[block], (int(i)-int(block)*ringFirst)*int(line)+int(apart)-max(int(i)-int(h.messages), 0)*int(apart)))
}

// formOf returns the place of the form of a PSN, of a history that has one for each, which is in one block with the messages and packets.
func (h *History) formOf(psn packet.PSN) *form {
	messages, last := uintptr(h.messages)+1, h.packets.mask()
	at := messages*line + uintptr(max(int(last)-int(h.messages), 0))*unsafe.Sizeof(sent{}) + uintptr(uint16(psn)&last)*unsafe.Sizeof(form(0))
	return (*form)(unsafe.Add(h.blocks[0], at))
}

// at returns the form of a packet that is kept.
func (h *History) at(psn packet.PSN) form {
	if f := h.packets.form(); f != manyForms {
		return f
	}
	return *h.formOf(psn)
}

// ready reports whether there is a place for any packet of a form, while so many PSNs are not acknowledged.
func (h *History) ready(f form, outstanding int) bool {
	k := h.packets
	return outstanding <= int(k.mask()) && k.mask() >= historyMin-1 && f == k.form()
}

// prepare makes a place for a packet, of which the form is, where there may be none. outstanding is how many PSNs are not acknowledged, which the history grows to hold.
func (h *History) prepare(psn packet.PSN, f form, outstanding int) {
	if n := h.packets.places(); outstanding >= n && n < historyMax || n < historyMin && h.taken(psn) {
		h.grow(outstanding)
	}
	if f != h.packets.form() {
		h.vary(psn, f)
	}
}

// vary keeps a form that is not that of all.
func (h *History) vary(psn packet.PSN, f form) {
	n := h.packets.places()
	if h.packets.form() != manyForms {
		if h.empty() {
			h.packets = packetsOf(n, f)
			return
		}
		(*Ring)(h).grow(places(h.messages), n, true)
		h.packets = packetsOf(h.packets.places(), manyForms)
	}
	*h.formOf(psn) = f
}

func (h *History) empty() bool {
	for i := range h.packets.places() {
		if h.slot(packet.PSN(i)).used() {
			return false
		}
	}
	return true
}

// Put remembers a packet; outstanding is how many PSNs are not acknowledged, which the history grows to hold.
func (h *History) Put(psn packet.PSN, frame uint64, t packet.Trace, outstanding int) {
	f := formOf(t.SrcPort, t.BTHOff, t.Encap, t.Len)
	if !h.ready(f, outstanding) {
		h.prepare(psn, f, outstanding)
	}
	s := h.slot(psn)
	*s = sent{icrc: t.ICRC, frame: uint32(frame), id: t.IPID, length: t.Len & sentLength, what: uint32(t.Opcode) | sentUsed | uint32(psn>>1)<<sentPSN}
	if t.Flags&packet.TraceAckReq != 0 {
		s.length |= sentAckReq
	}
	if t.Flags&packet.TraceMigReq != 0 {
		s.length |= sentMigReq
	}
	if t.Sealed() {
		s.length |= sentSealed
	}
}

// Note is Put of the trace of p.
func (h *History) Note(p *packet.Packet, outstanding int) {
	n := uint16(p.PayloadLen) + uint16(p.PadCnt)
	f := formOf(p.SrcPort, uint16(p.BTHOff), p.Encap, n)
	if !h.ready(f, outstanding) {
		h.prepare(p.PSN, f, outstanding)
	}
	s := h.slot(p.PSN)
	s.icrc, s.frame, s.id = p.ICRC, uint32(p.Frame), p.IPID
	s.length = n&sentLength | uint16(packet.Bit(p.AckReq))*sentAckReq | uint16(packet.Bit(p.MigReq))*sentMigReq | uint16(packet.Bit(p.ICRCState == packet.CRCGood))*sentSealed
	s.what = uint32(p.Opcode) | sentUsed | uint32(p.PSN>>1)<<sentPSN
}

// taken reports whether the place of a PSN has another one.
func (h *History) taken(psn packet.PSN) bool {
	if h.blocks[0] == nil {
		return true
	}
	s := h.slot(psn)
	return s.used() && s.what>>sentPSN != uint32(psn>>1)
}

// find returns where a PSN is kept, or nil.
func (h *History) find(psn packet.PSN) *sent {
	if h.blocks[0] == nil {
		return nil
	}
	if s := h.slot(psn); s.used() && s.what>>sentPSN == uint32(psn>>1) {
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

// mostSent is how many of the newest packets NewestSent returns.
const mostSent = 32

// NewestSent lists what is kept of the newest request packets, the newest first.
func (s *SendQueue) NewestSent() (list []Sent) {
	if !s.Joined {
		return nil
	}
	for psn := s.High.Add(-1); len(list) < mostSent; psn = psn.Add(-1) {
		k := s.History().Get(psn)
		if k == nil {
			return list
		}
		list = append(list, *k)
	}
	return list
}

func (h *History) get(psn packet.PSN, into *Sent) bool {
	s := h.find(psn)
	if s == nil {
		return false
	}
	f := h.at(psn)
	into.PSN, into.Frame = psn|Valid, s.frame
	into.Trace = packet.Trace{
		ICRC: s.icrc, Len: s.length&sentLength | uint16(f>>formLong)<<lengthBits, IPID: s.id, SrcPort: uint16(f), Opcode: packet.Opcode(s.what), Encap: packet.Encap(f >> formEncap), BTHOff: uint16(f >> formBTHOff),
	}
	if s.length&sentAckReq != 0 {
		into.Trace.Flags |= packet.TraceAckReq
	}
	if s.length&sentMigReq != 0 {
		into.Trace.Flags |= packet.TraceMigReq
	}
	if s.length&sentSealed != 0 {
		into.Trace.Flags |= packet.TraceSealed
	}
	return true
}

// First returns the first PSN of a range, the ends included, that is known, and whether there is one.
func (h *History) First(from, to packet.PSN) (psn packet.PSN, known bool) {
	size := h.packets.places()
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
	n := max(2*h.packets.places(), ringFirst)
	if outstanding >= historyMin {
		n = max(n, 2*historyMin)
	} else if outstanding >= n {
		n = historyMin
	}
	(*Ring)(h).grow(places(h.messages), n, h.packets.form() == manyForms)
}

// Reset forgets everything.
func (h *History) Reset() {
	for i := range h.packets.places() {
		*h.slot(packet.PSN(i)) = sent{}
	}
}
