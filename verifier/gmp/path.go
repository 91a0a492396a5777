package gmp

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// component is one that a request gives and the answer must repeat: its bit of the mask, and the field.
type component struct {
	bit   int
	field mad.Field
}

// pathComponents are those of a PathRecord that an answer repeats. The P_Key may come back with the other membership.
var pathComponents = []component{
	{2, mad.LayoutPathRecord.Field("DGID")},
	{3, mad.LayoutPathRecord.Field("SGID")},
	{4, mad.LayoutPathRecord.Field("DLID")},
	{5, mad.LayoutPathRecord.Field("SLID")},
	{10, mad.LayoutPathRecord.Field("TClass")},
	{13, mad.LayoutPathRecord.Field("PKey")},
	{15, mad.LayoutPathRecord.Field("SL")},
}

var (
	pathDGID, pathSGID      = mad.LayoutPathRecord.Field("DGID"), mad.LayoutPathRecord.Field("SGID")
	pathDLID, pathSLID      = mad.LayoutPathRecord.Field("DLID"), mad.LayoutPathRecord.Field("SLID")
	pathReversible          = mad.LayoutPathRecord.Field("reversible")
	pathMTU, pathMTUSel     = mad.LayoutPathRecord.Field("MTU"), mad.LayoutPathRecord.Field("MTUSelector")
	pathRate                = mad.LayoutPathRecord.Field("rate")
	pathRateSel             = mad.LayoutPathRecord.Field("rateSelector")
	pathLife                = mad.LayoutPathRecord.Field("packetLifeTime")
	pathLifeSel             = mad.LayoutPathRecord.Field("packetLifeTimeSelector")
	pathSelectors           = []selector{{16, pathMTUSel, pathMTU, asCode}, {18, pathRateSel, pathRate, mbps}, {20, pathLifeSel, pathLife, asCode}}
	mcMLIDFirst, mcMLIDLast = uint64(0xC000), uint64(0xFFFE)
)

// mostMTU is the greatest MTU code: 4096 bytes are code 5, and a fabric with larger ones uses two more.
const mostMTU = 7

// mbps is a rate in Mbit/s by its code, or 0.
func mbps(code uint64) int {
	rates := [...]int{
		2: 2500, 3: 10000, 4: 30000, 5: 5000, 6: 20000, 7: 40000, 8: 60000, 9: 80000, 10: 120000, 11: 14000, 12: 56000, 13: 112000, 14: 168000,
		15: 25000, 16: 100000, 17: 200000, 18: 300000, 19: 28000, 20: 50000, 21: 400000, 22: 600000, 23: 800000, 24: 1200000,
	}
	if code < uint64(len(rates)) {
		return rates[code]
	}
	return 0
}

// pathRecord judges a PathRecord that was returned, against what was asked for where that is known (rule MAD-SA-012).
func (v *Verifier) pathRecord(d *datagram, x *exchange, b []byte) {
	v.covered(rule.MADSA012)
	if want, have := pathFault(b); want != "" {
		v.saBad(rule.MADSA012, d, x, want, have)
		return
	}
	if x == nil || !x.whole() || x.h.Attribute != mad.AttrPathRecord {
		return
	}
	a := x.data[mad.SAHeaderSize:]
	if c := firstDifference(pathComponents, x.s.ComponentMask, a, b); c != nil {
		v.saBad(rule.MADSA012, d, x, fmt.Sprintf("%s %s, as requested", c.Name, c.Text(a)), c.Text(b))
		return
	}
	if x.s.ComponentMask>>11&1 != 0 && pathReversible.Uint(a) == 1 && pathReversible.Uint(b) == 0 {
		v.saBad(rule.MADSA012, d, x, "a reversible path, as requested", "reversible 0")
		return
	}
	if s, word := unselected(pathSelectors, x.s.ComponentMask, a, b); word != "" {
		v.saBad(rule.MADSA012, d, x, fmt.Sprintf("%s %s code %d, as requested", s.value.Name, word, s.value.Uint(a)), fmt.Sprintf("code %d", s.value.Uint(b)))
	}
}

// pathFault says what of the addresses and the MTU of a PathRecord cannot be, and what it has; "": nothing.
func pathFault(b []byte) (want, have string) {
	group := pathDGID.Bytes(b)[0] == 0xFF
	slid, dlid := pathSLID.Uint(b), pathDLID.Uint(b)
	unicast, multicast := dlid != 0 && dlid < mcMLIDFirst, dlid >= mcMLIDFirst && dlid <= mcMLIDLast
	switch {
	case slid == 0 || slid >= mcMLIDFirst || pathSGID.Bytes(b)[0] == 0xFF:
		return "a path from a unicast LID and GID", fmt.Sprintf("SLID 0x%04x, SGID %x", slid, pathSGID.Bytes(b))
	case group && !multicast || !group && !unicast:
		return "a DLID that matches the DGID", fmt.Sprintf("DLID 0x%04x, DGID %x", dlid, pathDGID.Bytes(b))
	case pathMTU.Uint(b) > mostMTU:
		return "the code of an MTU", fmt.Sprintf("MTU code %d", pathMTU.Uint(b))
	}
	return "", ""
}

// selector is a component that a request bounds.
type selector struct {
	bit        int // of the selector; the value's is the next
	sel, value mad.Field
	order      func(uint64) int
}

func asCode(c uint64) int { return int(c) }

// unselected returns the first component that is not within the bounds that a request gave, and how it should have been.
func unselected(list []selector, mask uint64, a, b []byte) (s selector, word string) {
	for _, s = range list {
		if mask>>s.bit&3 != 3 {
			continue
		}
		want, have := s.order(s.value.Uint(a)), s.order(s.value.Uint(b))
		switch sel := s.sel.Uint(a); {
		case want == 0 || have == 0: // a lifetime of 0 is that of a path within a port
		case sel == 0 && have <= want:
			word = "greater than"
		case sel == 1 && have >= want:
			word = "less than"
		case sel == 2 && have != want:
			word = "exactly"
		}
		if word != "" {
			return s, word
		}
	}
	return s, ""
}

// firstDifference returns the first component of a request that its answer has otherwise, or nil.
func firstDifference(list []component, mask uint64, a, b []byte) *mad.Field {
	for i := range list {
		c := &list[i]
		switch f := c.field; {
		case mask>>c.bit&1 == 0 || f.Same(a, b):
		case f.Name == "PKey" && (f.Uint(a)^f.Uint(b))&0x7FFF == 0:
		case f.Bits == 128 && sameGUID(f.Bytes(a), f.Bytes(b)):
		default:
			return &c.field
		}
	}
	return nil
}

// sameGUID reports whether two GIDs are of one port, one of them with the default prefix.
func sameGUID(a, b []byte) bool {
	local := func(g []byte) bool { return packet.GIDAddr(g).Hi == 0xFE80<<48 }
	return bytes.Equal(a[8:], b[8:]) && (local(a) || local(b))
}
