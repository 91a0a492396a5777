// Package disturb changes conversations of management datagrams at random: fields take values at their bounds or those of other datagrams, datagrams are lost,
// doubled, held up, cut and sent elsewhere, and time passes in steps that verifiers wait for.
package disturb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Conversation is what is changed: datagrams in the order of their capture.
type Conversation struct {
	*rand.Rand
	List  []packet.Packet
	About []string // what was changed
}

// New returns a conversation, to be changed by chance. The datagrams stay as they are.
func New(r *rand.Rand, list []packet.Packet) *Conversation {
	return &Conversation{Rand: r, List: slices.Clone(list)}
}

func (c *Conversation) say(format string, args ...any) {
	c.About = append(c.About, fmt.Sprintf(format, args...))
}

// Change makes one to n changes, most of them close to each other.
func (c *Conversation) Change(n int) {
	at := 0
	for k := range 1 + c.IntN(n) {
		if len(c.List) == 0 {
			return
		}
		if k == 0 || c.IntN(3) == 0 {
			at = c.IntN(len(c.List))
		}
		at = min(max(at+c.IntN(5)-2, 0), len(c.List)-1)
		for range 3 { // rather a datagram of management
			if c.List[at].Opcode.Service() == packet.UD {
				break
			}
			at = c.IntN(len(c.List))
		}
		kinds[c.IntN(len(kinds))](c, at)
	}
}

// kinds are changes of the datagram at a place.
var kinds = []func(c *Conversation, at int){
	(*Conversation).field, (*Conversation).field, (*Conversation).field, (*Conversation).field, (*Conversation).field, (*Conversation).field,
	(*Conversation).field, (*Conversation).field, (*Conversation).field, (*Conversation).field,
	(*Conversation).lost, (*Conversation).lost, (*Conversation).again, (*Conversation).again, (*Conversation).again,
	(*Conversation).later, (*Conversation).later, (*Conversation).gap, (*Conversation).gap, (*Conversation).gap, (*Conversation).gap,
	(*Conversation).way, (*Conversation).way, (*Conversation).cut,
}

func (c *Conversation) lost(at int) {
	n := 1 + c.IntN(3)*c.IntN(2)
	c.say("%d lost from %d on", n, at)
	c.List = slices.Delete(c.List, at, min(at+n, len(c.List)))
}

// again has a datagram come once more: a copy of the network, or retransmitted.
func (c *Conversation) again(at int) {
	p := c.List[at]
	to := min(at+1+c.IntN(6), len(c.List))
	sent := c.IntN(3) > 0
	if sent {
		p.PSN, p.IPID, p.ICRC = p.PSN.Add(1), p.IPID+1, p.ICRC+1
	}
	p.Time = max(p.Time, c.List[to-1].Time) + []int64{0, 1, 1000, 100_000}[c.IntN(4)]
	if to < len(c.List) {
		p.Time = min(p.Time, c.List[to].Time)
	}
	if c.IntN(4) == 0 { // of a host that gives all packets one identification
		p.IPID = uint16(c.IntN(3))
		c.List[at].IPID = p.IPID
	}
	c.say("%d again after %d, retransmitted %t", at, to-1, sent)
	c.List = slices.Insert(c.List, to, p)
	if c.IntN(2) == 0 {
		c.gap(to)
	}
}

// later has a datagram recorded after some of those that follow it.
func (c *Conversation) later(at int) {
	to := min(at+1+c.IntN(3), len(c.List)-1)
	p := c.List[at]
	if c.IntN(2) == 0 {
		p.Time = c.List[to].Time
	}
	c.say("%d after %d", at, to)
	c.List = slices.Insert(slices.Delete(c.List, at, at+1), to, p)
}

// times are those that verifiers, and the protocols, wait for.
var times = []time.Duration{
	0, 50 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, time.Second, 4 * time.Second,
	10 * time.Second, 10500 * time.Millisecond, 20 * time.Second, time.Minute, 10 * time.Minute,
}

// wait is one of them, or a time of the protocols by its code, or a part of that.
func (c *Conversation) wait() time.Duration {
	if c.IntN(2) == 0 {
		return times[c.IntN(len(times))]
	}
	d := time.Duration(4096) << []int{8, 13, 14, 15, 16, 17, 18, 19, 20, 21}[c.IntN(10)]
	return []time.Duration{d, d, d / 8 * 7, d / 8 * 7, d / 2, 2 * d, d + d/4 + time.Millisecond, 4 * d}[c.IntN(8)]
}

// gap has a datagram, or all from it on, come just so long after an earlier one.
func (c *Conversation) gap(at int) {
	if at >= len(c.List) {
		return
	}
	before := max(at-1-c.IntN(4), 0)
	d := int64(c.wait()) + c.Int64N(3) - 1
	by := c.List[before].Time + d - c.List[at].Time
	last := len(c.List)
	if c.IntN(3) == 0 {
		last = at + 1
	}
	c.say("%d (to %d) %v after %d", at, last-1, time.Duration(d), before)
	for i := at; i < last; i++ {
		c.List[i].Time += by
	}
	if by > 0 && last == at+1 {
		slices.SortStableFunc(c.List, func(a, b packet.Packet) int { return int(min(max(a.Time-b.Time, -1), 1)) })
	}
}

// way sends a datagram another way: the other way round, from or to another port or queue pair, past another tap.
func (c *Conversation) way(at int) {
	p, o := &c.List[at], c.List[c.IntN(len(c.List))]
	k := c.IntN(12)
	c.say("%d another way: %d", at, k)
	switch k {
	case 0:
		p.Src, p.Dst, p.SGID, p.DGID, p.SLID, p.DLID, p.SrcQP, p.DestQP = p.Dst, p.Src, p.DGID, p.SGID, p.DLID, p.SLID, p.DestQP, p.SrcQP
	case 1, 2:
		p.Src, p.SGID, p.SLID = o.Src, o.SGID, o.SLID
	case 3, 4:
		p.Dst, p.DGID, p.DLID = o.Dst, o.DGID, o.DLID
	case 5:
		p.SrcQP = uint32(c.IntN(3))
	case 6:
		p.DestQP = uint32(c.IntN(3))
	case 7:
		p.PKey = []uint16{0, 0x7FFF, 0x8001, 1, o.PKey, p.PKey ^ 0x8000}[c.IntN(6)]
	case 8:
		p.SL ^= 1
	case 9:
		p.Tap ^= 1
	case 10:
		if p.Has&packet.HasLRH != 0 {
			p.Has ^= packet.HasGRH
		}
	case 11:
		p.SGID.Lo ^= 1 << c.IntN(3)
	}
}

// cut leaves of a datagram what a snap length does.
func (c *Conversation) cut(at int) {
	p := &c.List[at]
	n := []int{0, 23, 24, 63, 64, 100, 128, 200, len(p.Payload) - 1}[c.IntN(9)]
	c.say("%d cut at %d", at, n)
	p.Payload, p.Cut = p.Payload[:min(max(n, 0), len(p.Payload))], true
}

// field gives a field of a datagram another value.
func (c *Conversation) field(at int) {
	p := &c.List[at]
	if len(p.Payload) < 256 {
		return
	}
	list := fields(p.Payload)
	if len(list) == 0 {
		return
	}
	f := list[c.IntN(len(general))]
	if c.IntN(4) > 0 { // of the headers any may matter, of what they carry most does
		f = list[c.IntN(len(list))]
	}
	p.Payload = bytes.Clone(p.Payload)
	was := f.get(p.Payload)
	o := c.List[c.IntN(len(c.List))].Payload
	other := was
	if len(o) >= 256 && (at > 0 || len(c.List) > 1) {
		for _, g := range fields(o) { // the same one of another datagram, or one like it
			if g.bits == f.bits && (g.name == f.name || c.IntN(4) == 0) {
				other = g.get(o)
			}
		}
	}
	top := ^uint64(0) >> (64 - f.bits)
	part := 4 * c.IntN((f.bits+3)/4)
	nibble := was&^(15<<part) | c.Uint64N(16)<<part
	is := []uint64{0, 1, 2, 3, nibble, nibble, was + 1, was - 1, top, top - 1, top / 2, top/2 + 1, was ^ 1<<c.IntN(f.bits), other, other, other, other, c.Uint64() & top}[c.IntN(18)] & top
	f.put(p.Payload, is)
	c.say("%d: %s 0x%x instead of 0x%x", at, f.name, is, was)
}

// Show writes down the datagrams, and what was found of each.
func (c *Conversation) Show(found []rule.Finding) string {
	var s strings.Builder
	fmt.Fprintln(&s, strings.Join(c.About, "; "))
	for i := range c.List {
		p := &c.List[i]
		fmt.Fprintf(&s, "%4d %14v tap %d %v>%v QP %d>%d", i+1, time.Duration(p.Time-c.List[0].Time), p.Tap, p.Src, p.Dst, p.SrcQP, p.DestQP)
		var h mad.Header
		if p.Opcode.Service() == packet.UD && mad.DecodeHeader(p.Payload, &h) == nil {
			fmt.Fprintf(&s, " %v %v %s modifier 0x%x TID 0x%x status 0x%x %x\n", h.Class, h.Method, h.AttributeName(), h.Modifier, h.TID, h.Status, p.Payload[24:min(len(p.Payload), 100)])
		} else {
			fmt.Fprintf(&s, " %v PSN %v\n", p.Opcode, p.PSN)
		}
		for _, f := range found {
			if f.Frame == uint64(i+1) && f.Class != rule.Event {
				fmt.Fprintf(&s, "       *** %v %v by %v QP 0x%x: expected %s, actual %s, %v (%s)\n", f.Rule, f.Class, f.Accused.Addr, f.Accused.QPN, f.Expected, f.Actual, f.Evidence, f.Detail)
			}
		}
	}
	return s.String()
}
