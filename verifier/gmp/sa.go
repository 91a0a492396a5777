package gmp

import (
	"fmt"
	"strings"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// saVersion judges the version of subnet administration, in packets of its transfers too. An answer that refuses a version repeats it.
func (v *Verifier) saVersion(d *datagram) {
	v.covered(rule.MADSA001)
	if refused := d.response() && d.status().Code() == mad.StatusVersion; d.h.ClassVersion != 2 && !refused {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADSA001, Class: rule.Violation, Role: rule.Sender, Expected: "class version 2", Actual: fmt.Sprintf("class version %d", d.h.ClassVersion),
		})
	}
}

// saHeader judges the headers of subnet administration. RMPP packets that are not DATA repeat that of the packet which they answer.
func (v *Verifier) saHeader(d *datagram) {
	bad := func(id rule.ID, role rule.Role, expected, actual string) {
		v.report(d.p, rule.Verdict{Rule: id, Class: rule.Violation, Role: role, Expected: expected, Actual: actual})
	}
	if d.s.Reserved != 0 && d.h.ClassVersion == 2 {
		bad(rule.MADSA001, rule.Sender, "reserved bytes 46 and 47 of the datagram 0", fmt.Sprintf("0x%04x", d.s.Reserved))
	}
	if !d.response() {
		return
	}
	v.covered(rule.MADSA009)
	if !d.status().DefinedBySA() {
		bad(rule.MADSA009, rule.Responder, "a status of subnet administration, class-specific code 0 to 8", d.status().Text(d.h.Class))
	}
	if d.h.Method == mad.ReportResp {
		return
	}
	v.covered(rule.MADSA002)
	if d.s.SMKey != 0 {
		bad(rule.MADSA002, rule.Responder, "SM_Key 0 in a response", "another")
	}
}

// saRequest judges what a request to subnet administration asks.
func (v *Verifier) saRequest(d *datagram) {
	switch d.h.Method {
	case mad.Get, mad.Set, mad.GetTable, mad.GetMulti, mad.Delete:
		v.covered(rule.MADSA008)
		if n := mad.Components(d.h.Attribute); n < 64 && d.s.ComponentMask>>n != 0 {
			v.report(d.p, rule.Verdict{
				Rule: rule.MADSA008, Class: rule.Violation, Role: rule.Requester,
				Expected: fmt.Sprintf("a component mask of the %d components of %s", n, d.h.AttributeName()), Actual: fmt.Sprintf("mask 0x%x", d.s.ComponentMask),
			})
		}
	}
	if d.h.Attribute == mad.AttrInformInfo {
		v.unsubscription(d)
	}
}

// saResponse judges a response of a subnet administrator; x is the exchange that it is of, or nil where the request was not seen.
func (v *Verifier) saResponse(d *datagram, x *exchange) {
	table := d.h.Method == mad.GetTableResp || d.h.Method == mad.GetMultiResp
	if d.h.Method == mad.GetResp || table {
		v.recordCount(d, x, table)
	}
	v.multiPath(d, x)
	if x != nil {
		v.smKey(x, d)
	}
	if d.status() != 0 || !v.writableRecord(d, x) {
		return
	}
	if x != nil && x.whole() && d.h.Attribute == mad.AttrMCMemberRecord {
		v.multicastMembership(x, d)
	}
	if table && !v.recordTable(d, x) {
		return
	}
	v.records(d, x, table)
}

// recordCount judges how many records a response has: a GetResp has one, a table without records has status 0 (rule MAD-SA-005).
func (v *Verifier) recordCount(d *datagram, x *exchange, table bool) {
	s := d.status()
	v.covered(rule.MADSA005)
	switch {
	case table && s.Specific() == mad.SANoRecords:
		v.saBadly(rule.Unproven, rule.MADSA005, d, x, "success and no record", s.Text(d.h.Class), "some subnet managers respond so, as a public source confirms")
	case !table && d.r.Active() && (d.r.Data1 > 1 || d.r.Flags&mad.RMPPLast == 0):
		v.saBad(rule.MADSA005, d, x, "one record, or status 0x0400 (too many records)", "a transfer of several datagrams")
	}
}

// multiPath judges the records that answer a SubnAdmGetMulti: they are PathRecords (rule MAD-SA-007).
func (v *Verifier) multiPath(d *datagram, x *exchange) {
	multi := d.h.Attribute == mad.AttrMultiPathRecord
	if multi && d.h.Method == mad.GetMultiResp || x != nil && x.h.Method == mad.GetMulti {
		v.covered(rule.MADSA007)
		if multi {
			v.saBad(rule.MADSA007, d, x, "PathRecord", d.h.AttributeName())
		}
	}
}

// writableRecord judges the success of a Set or Delete: requesters write only some kinds of records (rule MAD-STS-002). It reports whether this kind is one of them.
func (v *Verifier) writableRecord(d *datagram, x *exchange) bool {
	if x == nil || mad.SARecord(d.h.Attribute) == nil || x.h.Method != mad.Set && x.h.Method != mad.Delete {
		return true
	}
	v.covered(rule.MADSTS002)
	if writable(d.h.Attribute) {
		return true
	}
	v.saBad(rule.MADSTS002, d, x, fmt.Sprintf("%v: %s is not written", mad.StatusAttribute.Text(d.h.Class), d.h.AttributeName()), fmt.Sprintf("status 0 to %v", x.h.Method))
	return false
}

// writable reports whether requesters set and delete records of a kind.
func writable(a mad.Attribute) bool {
	return a == mad.AttrServiceRecord || a == mad.AttrMCMemberRecord || a == mad.AttrGUIDInfoRecord || a == mad.AttrInformInfoRecord
}

// saBad makes a finding against a subnet administrator that is proven.
func (v *Verifier) saBad(id rule.ID, d *datagram, x *exchange, expected, actual string) {
	v.saBadly(rule.Violation, id, d, x, expected, actual, "")
}

func (v *Verifier) saBadly(class rule.Class, id rule.ID, d *datagram, x *exchange, expected, actual, detail string) {
	w := rule.Verdict{Rule: id, Class: class, Role: rule.Responder, Expected: expected, Actual: actual, Detail: detail}
	if x != nil {
		w.Earlier = rule.Frame{Number: x.frame, Tap: x.tap}
	}
	v.report(d.p, w)
}

// smKey judges that a request with an SM_Key is answered only where the key is right: there is but one.
func (v *Verifier) smKey(x *exchange, d *datagram) {
	if x.s.SMKey == 0 {
		return
	}
	v.covered(rule.MADSA003)
	q := v.peer(x.pair.from, x.pair.to)
	if q.smKey != 0 && q.smKey != x.s.SMKey {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADSA003, Class: rule.Unproven, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: "no response: a request with another SM_Key had one before", Actual: "a response",
			Detail: "the SM_Key of the subnet manager may have changed in between",
		})
	}
	q.smKey = x.s.SMKey
}

// recordTable judges how a table of records is carried, and reports whether its records can be found.
func (v *Verifier) recordTable(d *datagram, x *exchange) bool {
	v.covered(rule.MADSA006)
	if !d.r.Active() && d.r.Type != 0 {
		return false // only the flag is missing: MAD-RMP-010
	}
	if !d.r.Active() {
		v.saBad(rule.MADSA006, d, x, "RMPP for the records of "+d.h.Method.String(), "a datagram without RMPP")
		return false
	}
	l := mad.SARecord(d.h.Attribute)
	if l == nil || d.s.AttributeOffset == 0 && d.r.Flags&mad.RMPPLast != 0 && d.r.Data2 <= 20 { // no record
		return false
	}
	want := (l.Size + 7) / 8
	least := want
	if d.h.Attribute == mad.AttrInformInfoRecord {
		least = 8 // OpenSM and Intel's manager leave out reserved bytes at its end
	}
	w := rule.Verdict{
		Rule: rule.MADSA006, Class: rule.Violation, Role: rule.Responder,
		Expected: fmt.Sprintf("AttributeOffset %d, of records of %d bytes", want, l.Size), Actual: fmt.Sprintf("AttributeOffset %d", d.s.AttributeOffset),
	}
	switch n := int(d.s.AttributeOffset); {
	case n > want:
		w.Class, w.Detail = rule.Unproven, "a later version of the record may be longer"
	case n == want, n == least:
		return true
	}
	v.report(d.p, w)
	return w.Class != rule.Violation
}

// records walks the records that are whole in a response.
func (v *Verifier) records(d *datagram, x *exchange, table bool) {
	l := mad.SARecord(d.h.Attribute)
	if l == nil || !d.whole() {
		return
	}
	b := d.b[mad.SAHeaderSize:]
	if !table {
		v.record(d, x, b[:min(l.Size, len(b))])
		return
	}
	if d.r.Flags&mad.RMPPLast != 0 {
		b = b[:max(0, min(len(b), int(d.r.Data2)-20))]
	}
	size := int(d.s.AttributeOffset) * 8
	base := (int(max(d.r.Data1, 1)) - 1) * mad.SADataSize
	length := min(l.Size, size)
	for at := (size - base%size) % size; at+length <= len(b); at += size {
		v.record(d, x, b[at:at+length])
	}
}

var (
	prMKey     = mad.Field{Name: "MKey", Off: 32, Bits: 64, N: 1} // of the PortInfo in a PortInfoRecord
	prMasterSM = mad.Field{Name: "masterSMLID", Off: 32 + 18*8, Bits: 16, N: 1}
	prState    = mad.Field{Name: "portState", Off: 32 + 32*8 + 4, Bits: 4, N: 1}
	recordQPN  = mad.Field{Name: "QPN", Off: (24 + 28) * 8, Bits: 24, N: 1} // of the InformInfo in an InformInfoRecord
)

// matched are the components that a record which is returned has as the request gave them, by attribute. PathRecord and MCMemberRecord have
// rules of their own.
var matched = map[mad.Attribute][]component{
	mad.AttrNodeRecord:       {{0, mad.LayoutNodeRecord.Field("LID")}},
	mad.AttrPortInfoRecord:   {{0, mad.LayoutPortInfoRecord.Field("endportLID")}, {1, mad.LayoutPortInfoRecord.Field("portNum")}},
	mad.AttrSLtoVLRecord:     {{0, mad.LayoutSLtoVLRecord.Field("LID")}, {1, mad.LayoutSLtoVLRecord.Field("inputPortNum")}, {2, mad.LayoutSLtoVLRecord.Field("outputPortNum")}},
	mad.AttrSMInfoRecord:     {{0, mad.LayoutSMInfoRecord.Field("LID")}},
	mad.AttrSwitchInfoRecord: {{0, mad.LayoutSwitchInfoRecord.Field("LID")}},
	mad.AttrLFTRecord:        {{0, mad.LayoutLFTRecord.Field("LID")}, {1, mad.LayoutLFTRecord.Field("blockNum")}},
	mad.AttrLinkRecord: {
		{0, mad.LayoutLinkRecord.Field("fromLID")},
		{1, mad.LayoutLinkRecord.Field("fromPort")},
		{2, mad.LayoutLinkRecord.Field("toPort")},
		{3, mad.LayoutLinkRecord.Field("toLID")},
	},
	mad.AttrGUIDInfoRecord: {{0, mad.LayoutGUIDInfoRecord.Field("LID")}, {1, mad.LayoutGUIDInfoRecord.Field("blockNum")}},
	mad.AttrServiceRecord:  {{0, mad.LayoutServiceRecord.Field("serviceID")}, {1, mad.LayoutServiceRecord.Field("serviceGID")}, {2, mad.LayoutServiceRecord.Field("servicePKey")}},
	mad.AttrPKeyTableRecord: {
		{0, mad.LayoutPKeyTableRecord.Field("LID")}, {1, mad.LayoutPKeyTableRecord.Field("blockNum")}, {2, mad.LayoutPKeyTableRecord.Field("portNum")},
	},
	mad.AttrVLArbRecord: {
		{0, mad.LayoutVLArbRecord.Field("LID")}, {1, mad.LayoutVLArbRecord.Field("outputPortNum")}, {2, mad.LayoutVLArbRecord.Field("blockNum")},
	},
}

// matches judges that a record has what the request gave: it was chosen by that (rule MAD-SA-008).
func (v *Verifier) matches(d *datagram, x *exchange, b []byte) {
	if x == nil || !x.whole() || x.h.Attribute != d.h.Attribute || x.h.Method != mad.Get && x.h.Method != mad.GetTable && d.h.Attribute != mad.AttrServiceRecord {
		return
	}
	list := matched[d.h.Attribute]
	if list == nil {
		return
	}
	v.covered(rule.MADSA008)
	a := x.data[mad.SAHeaderSize:]
	for i := range list {
		if c := &list[i]; x.s.ComponentMask>>c.bit&1 != 0 && !c.matches(a, b) {
			f := c.field
			v.saBad(rule.MADSA008, d, x, fmt.Sprintf("a record with %s %s, as in the request", f.Name, f.Text(a)), f.Text(b))
			return
		}
	}
}

// matches reports whether a record has a component as the request gave it. A GID may come back with the default prefix, a P_Key with the other membership, and
// a LID of a port as its base LID.
func (c *component) matches(request, record []byte) bool {
	f := c.field
	switch {
	case f.Same(request, record):
		return true
	case f.Bits == 128:
		return sameGUID(f.Bytes(request), f.Bytes(record))
	}
	asked, have := uint16(f.Uint(request)), uint16(f.Uint(record))
	switch {
	case strings.HasSuffix(f.Name, "PKey"):
		return (asked^have)&0x7FFF == 0
	case strings.HasSuffix(f.Name, "LID"):
		return asked-have < mostLIDs && have != 0
	}
	return false
}

const (
	portActive = 4
	mostLIDs   = 128 // of one port
)

// record judges one record that a subnet administrator returned.
func (v *Verifier) record(d *datagram, x *exchange, b []byte) {
	v.matches(d, x, b)
	if x != nil && x.s.SMKey == 0 {
		v.recordUntrusted(d, x, b)
	}
	switch d.h.Attribute {
	case mad.AttrPortInfoRecord:
		v.masterLID(d, b)
	case mad.AttrPathRecord:
		v.pathRecord(d, x, b)
	case mad.AttrMCMemberRecord:
		v.mcMember(d, x, b)
	}
}

// recordUntrusted judges what a record shows to a requester that gave no SM_Key (rules MAD-SA-010, -011). Where the subnet manager has no key, every request is trusted.
func (v *Verifier) recordUntrusted(d *datagram, x *exchange, b []byte) {
	class, keyless := rule.Violation, ""
	if v.peer(x.pair.from, x.pair.to).smKey == 0 {
		class, keyless = rule.Unproven, "the subnet manager may have no SM_Key, and then trusts all requests"
	}
	switch d.h.Attribute {
	case mad.AttrPortInfoRecord:
		v.covered(rule.MADSA010)
		if prMKey.Uint(b) != 0 {
			v.saBadly(class, rule.MADSA010, d, x, "M_Key 0 in the response to a request without SM_Key", "another", keyless)
		}
	case mad.AttrPKeyTableRecord, mad.AttrServiceAssociation:
		v.covered(rule.MADSA010)
		v.saBadly(class, rule.MADSA010, d, x, "no "+d.h.AttributeName()+" for a request without SM_Key", "a record", keyless)
	case mad.AttrInformInfoRecord:
		v.covered(rule.MADSA011)
		if n := recordQPN.Uint(b); n != 0 {
			v.saBadly(class, rule.MADSA011, d, x, "QPN 0 in the response to a request without SM_Key", fmt.Sprintf("QPN 0x%x", n), keyless)
		}
	}
}

// masterLID judges that a PortInfoRecord of a port in use comes from the master subnet manager that it names (rule MAD-SA-004).
func (v *Verifier) masterLID(d *datagram, b []byte) {
	if d.p.Encap != packet.Native || prState.Uint(b) != portActive || prMasterSM.Uint(b) == 0 {
		return
	}
	v.covered(rule.MADSA004)
	if sm := uint16(prMasterSM.Uint(b)); sm-d.p.SLID >= mostLIDs && d.p.SLID-sm >= mostLIDs {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADSA004, Class: rule.Unproven, Role: rule.Responder,
			Expected: fmt.Sprintf("a response from LID 0x%04x, the LID of the master subnet manager in the record", sm),
			Actual:   fmt.Sprintf("from LID 0x%04x", d.p.SLID),
			Detail:   "after a handover the record may still name the previous master",
		})
	}
}
