package verifier_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/mad"
	"ibwitness/packet"
)

// managementClasses are the prefixes of operations that are management datagrams, and their class and class version.
var managementClasses = map[string]struct {
	class   mad.Class
	version uint8
}{"SA": {mad.ClassSubnetAdmin, 2}, "PM": {mad.ClassPerformance, 1}, "MAD": {mad.ClassCM, 2}, "VENDOR": {0x32, 1}, "CC": {mad.ClassCongestion, mad.CongestionVersion}}

var managementMethods = map[string]mad.Method{
	"GET": mad.Get, "SET": mad.Set, "SEND": mad.Send, "TRAP": mad.Trap, "REPORT": mad.Report, "TRAPREPRESS": mad.TrapRepress, "GETRESP": mad.GetResp,
	"REPORTRESP": mad.ReportResp, "GETTABLE": mad.GetTable, "GETTRACETABLE": mad.GetTraceTable, "GETMULTI": mad.GetMulti, "DELETE": mad.Delete,
	"GETTABLERESP": mad.GetTableResp, "GETMULTIRESP": mad.GetMultiResp, "DELETERESP": mad.DeleteResp,
}

// managementAttributes are the attributes that have a layout, by class and number.
func managementLayout(c mad.Class, a mad.Attribute) *mad.Layout {
	switch {
	case a == mad.AttrClassPortInfo:
		return mad.LayoutClassPortInfo
	case a == mad.AttrNotice:
		return mad.LayoutNotice
	case a == mad.AttrInformInfo:
		return mad.LayoutInformInfo
	case c == mad.ClassSubnetAdmin:
		return mad.SARecord(a)
	case c == mad.ClassPerformance && a == mad.AttrPortCounters:
		return mad.LayoutPortCounters
	case c == mad.ClassPerformance && a == mad.AttrPortCountersExtended:
		return mad.LayoutPortCountersExtended
	}
	return nil
}

// management builds the datagram of a line such as SA_GET attr=PathRecord; it returns nil where the operation is none.
func (s *scenario) management(op string, src, dst end, f *fields) ([]byte, error) {
	prefix, name, _ := strings.Cut(op, "_")
	c, ok := managementClasses[prefix]
	m, known := managementMethods[name]
	if !ok || !known {
		return nil, nil
	}
	get := func(field string, otherwise uint64) uint64 {
		if n, ok := f.number(field); ok {
			return n
		}
		return otherwise
	}
	class := mad.Class(get("class", uint64(c.class)))
	tid := get("tid", 1)
	b := make([]byte, mad.Size)
	request := s.asked[askedKey{dst.name, src.name, class, tid}]
	answers := m&0x80 != 0
	h := mad.Header{BaseVersion: 1, Class: class, ClassVersion: c.version, Method: m, TID: tid}
	if answers && request != nil {
		copy(b, request)
		_ = mad.DecodeHeader(request, &h)
		h.Method, h.Status = m, 0
		clear(b[24:36])
		if class == mad.ClassSubnetAdmin && m != mad.ReportResp {
			clear(b[36:44])
		}
	}
	if w, ok := f.word("attr"); ok {
		a, err := attributeByName(class, w)
		if err != nil {
			return nil, err
		}
		h.Attribute = a
	}
	h.BaseVersion, h.ClassVersion = uint8(get("basever", uint64(h.BaseVersion))), uint8(get("classver", uint64(h.ClassVersion)))
	h.Method, h.Status = mad.Method(get("method", uint64(h.Method))), uint16(get("status", uint64(h.Status)))
	h.Reserved, h.Modifier = uint16(get("madres", 0)), uint32(get("mod", uint64(h.Modifier)))
	h.ClassSpecific = uint16(get("specific", uint64(h.ClassSpecific)))
	l := managementLayout(class, h.Attribute)
	if mad.HasRMPP(class) {
		if err := rmppFields(b, m, l, f, get); err != nil {
			return nil, err
		}
	}
	if class >= 0x30 {
		oui := get("oui", 0x0002C9)
		b[37], b[38], b[39] = uint8(oui>>16), uint8(oui>>8), uint8(oui)
	}
	if n, ok := f.number("fill"); ok {
		for i := 200; i < mad.Size; i++ {
			b[i] = uint8(n)
		}
	}
	if err := h.Encode(b); err != nil {
		return nil, err
	}
	if err := components(b, &h, l, f); err != nil {
		return nil, err
	}
	if !answers && b[25] < uint8(mad.RMPPAck) {
		s.asked[askedKey{src.name, dst.name, class, tid}] = append([]byte(nil), b...)
	}
	return b, nil
}

// askedKey names a request, so that its response repeats it.
type askedKey struct {
	from, to string
	class    mad.Class
	tid      uint64
}

// managed makes the payload of a datagram to QP 0 or 1 a management datagram: Get(NodeInfo), or Get(PortCounters), or of the class that data says.
func (f *fields) managed(p *packet.Packet, given bool) {
	i := slices.Index(f.names, "destqp")
	if i < 0 || p.PayloadLen != mad.Size || p.Opcode.Service() != packet.UD {
		return
	}
	h := mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Get, TID: 1, Attribute: 0x11}
	switch qp, _ := strconv.ParseUint(f.values[i], 0, 24); qp {
	case 0:
	case 1:
		h.Class, h.Attribute = mad.ClassPerformance, mad.AttrPortCounters
	default:
		return
	}
	if given {
		h.Class = mad.Class(p.Payload[1])
	}
	if h.Class == mad.ClassSubnetAdmin {
		h.ClassVersion = 2
	}
	clear(p.Payload)
	_ = h.Encode(p.Payload)
}

// attributeByName is an attribute of a class by its name or number.
func attributeByName(c mad.Class, name string) (mad.Attribute, error) {
	if n, err := strconv.ParseUint(name, 0, 16); err == nil {
		return mad.Attribute(n), nil
	}
	for a := range mad.Attribute(0x100) {
		if h := (mad.Header{Class: c, Attribute: a}); h.AttributeName() == name {
			return a, nil
		}
	}
	return 0, fmt.Errorf("%v has no attribute %s", c, name)
}

// rmppFields writes the headers of RMPP and subnet administration. A table is one record in one segment where nothing else is said.
func rmppFields(b []byte, m mad.Method, l *mad.Layout, f *fields, get func(string, uint64) uint64) error {
	var r mad.RMPP
	var a mad.SA
	_ = a.Decode(b)
	sa := mad.Class(b[1]) == mad.ClassSubnetAdmin || b[1] == 0
	if w, ok := f.word("rmpp"); ok || m == mad.GetTableResp || m == mad.GetMultiResp {
		types := map[string]mad.RMPPType{"": mad.RMPPData, "DATA": mad.RMPPData, "ACK": mad.RMPPAck, "STOP": mad.RMPPStop, "ABORT": mad.RMPPAbort}
		t, ok := types[w]
		if n, err := strconv.ParseUint(w, 0, 8); err == nil {
			t, ok = mad.RMPPType(n), true
		}
		if !ok && w != "none" {
			return fmt.Errorf("no RMPP type %s", w)
		}
		if w != "none" {
			r = mad.RMPP{Version: 1, Type: t, Flags: mad.RMPPActive}
		}
		if l != nil && sa {
			a.AttributeOffset = uint16((l.Size + 7) / 8)
		}
	}
	if r.Type == mad.RMPPData {
		seg := uint32(get("seg", 1))
		r.Data1 = seg
		if seg == 1 {
			r.Flags |= mad.RMPPFirst
		}
		if n, ok := f.number("more"); !ok || n == 0 {
			r.Flags |= mad.RMPPLast
			r.Data2 = 20
			if l != nil {
				r.Data2 += uint32((l.Size + 7) / 8 * 8)
			}
		}
	}
	r.Version, r.Status = uint8(get("rver", uint64(r.Version))), mad.RMPPStatus(get("rstatus", uint64(r.Status)))
	r.Flags = uint8(get("rflags", uint64(r.Flags)))
	r.Data1, r.Data2 = uint32(get("data1", uint64(r.Data1))), uint32(get("data2", uint64(r.Data2)))
	a.SMKey, a.AttributeOffset = get("smkey", a.SMKey), uint16(get("offset", uint64(a.AttributeOffset)))
	a.Reserved, a.ComponentMask = uint16(get("sares", uint64(a.Reserved))), get("mask", a.ComponentMask)
	if err := r.Encode(b); err != nil {
		return err
	}
	return a.Encode(b)
}

// components writes the components of the attribute that the line names, as in SLID=3 or DGID=fd00::2, and leaves the rest of the fields.
func components(b []byte, h *mad.Header, l *mad.Layout, f *fields) error {
	if l == nil {
		return nil
	}
	at := mad.PerformanceData
	switch h.Class {
	case mad.ClassSubnetAdmin:
		at = mad.SAHeaderSize
	case mad.ClassCM:
		at = mad.HeaderSize
	}
	fields := l.Fields
	switch h.Attribute { // and what scenarios need of an attribute within the record
	case mad.AttrPortInfoRecord:
		fields = append(slices.Clip(fields), mad.Field{Name: "MKey", Off: 32, Bits: 64, N: 1}, mad.Field{Name: "masterSMLID", Off: 22 * 8, Bits: 16, N: 1},
			mad.Field{Name: "portState", Off: 36*8 + 4, Bits: 4, N: 1})
	case mad.AttrInformInfoRecord:
		fields = append(slices.Clip(fields), mad.Field{Name: "recordQPN", Off: 52 * 8, Bits: 24, N: 1})
	}
	for _, c := range fields {
		w, ok := f.word(c.Name)
		if !ok {
			continue
		}
		if strings.Contains(w, ":") {
			a, err := packet.ParseAddr(w)
			if err != nil {
				return err
			}
			g := a.Bytes()
			copy(c.Bytes(b[at:]), g[:])
			continue
		}
		n, err := strconv.ParseUint(w, 0, 64)
		if err != nil {
			return fmt.Errorf("%s=%s is no number", c.Name, w)
		}
		c.PutUint(b[at:], n)
	}
	if w, ok := f.word("noticegid"); ok { // what a notice of the subnet manager is about
		a, err := packet.ParseAddr(w)
		if err != nil {
			return err
		}
		g := a.Bytes()
		copy(mad.NoticeGID(b[at:]), g[:])
	}
	return nil
}
