package mad

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// layouts are all of this package, by the name that tables T13 and T15 have for them.
var layouts = map[string]*Layout{
	"NodeRecord": LayoutNodeRecord, "PortInfoRecord": LayoutPortInfoRecord, "SLToVLMappingTableRecord": LayoutSLtoVLRecord,
	"SwitchInfoRecord": LayoutSwitchInfoRecord, "LinearForwardingTableRecord": LayoutLFTRecord, "SMInfoRecord": LayoutSMInfoRecord,
	"LinkRecord": LayoutLinkRecord, "GUIDInfoRecord": LayoutGUIDInfoRecord, "ServiceRecord": LayoutServiceRecord,
	"PKeyTableRecord": LayoutPKeyTableRecord, "PathRecord": LayoutPathRecord, "VLArbitrationTableRecord": LayoutVLArbRecord,
	"MCMemberRecord": LayoutMCMemberRecord, "TraceRecord": LayoutTraceRecord, "MultiPathRecord": LayoutMultiPathRecord,
	"InformInfoRecord": LayoutInformInfoRecord, "ServiceAssociationRecord": LayoutServiceAssociation,
	"MADClassPortInfo": LayoutClassPortInfo, "MADInformInfo": LayoutInformInfo, "NoticeTrap": LayoutNotice,
	"PMPortCounters": LayoutPortCounters, "PMPortCountersExt": LayoutPortCountersExtended, "PMPortSamplesCtl": LayoutPortSamplesControl,
}

// reference reads the reference tables.
func reference(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "rules.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the reference tables are not here; nothing to compare with")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// agree compares a layout with that of the reference.
func agree(t *testing.T, name string, l, want *Layout) {
	t.Helper()
	if want.Size != l.Size || len(want.Fields) != len(l.Fields) {
		t.Errorf("%s: %d bytes and %d components, reference %d and %d", name, l.Size, len(l.Fields), want.Size, len(want.Fields))
		return
	}
	for i := range want.Fields {
		if want.Fields[i] != l.Fields[i] {
			t.Errorf("%s: %+v, reference %+v", name, l.Fields[i], want.Fields[i])
		}
	}
}

// TestLayoutsAgreeWithReference compares the layouts with the reference tables.
func TestLayoutsAgreeWithReference(t *testing.T) {
	text := reference(t)
	seen := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		name, fields := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[4])
		l := layouts[name]
		if l == nil || !strings.Contains(fields, "/") {
			continue
		}
		seen++
		if name == "NoticeTrap" { // the details are one area here
			fields = "0.0:isGeneric/1 0.1:noticeType/7 1:nodeType/24 4:trapNumber/16 6:issuerLID/16 8.0:noticeToggle/1 8.1:noticeCount/15 10:dataDetails/8x54"
		}
		fields = strings.Replace(fields, "8:serviceID56LSB/0 ", "", 1)
		want := layout(name, number(strings.TrimSpace(cells[2])), fields)
		agree(t, name, l, want)
	}
	if seen != len(layouts) {
		t.Errorf("the reference has %d of %d layouts", seen, len(layouts))
	}
}

// TestLayoutsAreWhole: components follow each other without gap or overlap, to the end of the attribute.
func TestLayoutsAreWhole(t *testing.T) {
	for name, l := range layouts {
		at := 0
		for _, f := range l.Fields {
			// A QoS class is 12 bits, and a service level the last 4 of the next; the bits between have no name of their own.
			if f.Off < at || f.Off > at+32 {
				t.Errorf("%s: %s begins at bit %d, the one before it ended at %d", name, f.Name, f.Off, at)
			}
			at = f.End()
		}
		if at > l.Size*8 {
			t.Errorf("%s: ends at bit %d of %d", name, at, l.Size*8)
		}
	}
}

// TestComponents writes each component and reads it back; its neighbours stay as they were, and nothing is allocated.
func TestComponents(t *testing.T) {
	for name, l := range layouts {
		for i, f := range l.Fields {
			if f.N > 1 || f.Bits > 64 {
				continue
			}
			b := bytes.Repeat([]byte{0xA5}, l.Size)
			was := bytes.Clone(b)
			v := uint64(0x0123456789ABCDEF) & (1<<(f.Bits-1)<<1 - 1)
			if n := testing.AllocsPerRun(100, func() { f.PutUint(b, v) }); n != 0 {
				t.Fatalf("%s: writing allocates", name)
			}
			if got := f.Uint(b); got != v {
				t.Errorf("%s.%s: wrote %x, read %x", name, f.Name, v, got)
			}
			for k, o := range l.Fields {
				if k != i && o.N == 1 && o.Bits <= 64 && o.Uint(b) != o.Uint(was) {
					t.Errorf("%s: writing %s changes %s", name, f.Name, o.Name)
				}
			}
			if f.Uint(b[:(f.End()-1)/8]) != 0 {
				t.Errorf("%s.%s: is read from fewer bytes than it has", name, f.Name)
			}
		}
	}
}

// TestGeneralNames: every attribute of table T13 has a name, and so have methods and statuses.
func TestGeneralNames(t *testing.T) {
	for a := range Attribute(0x100) {
		h := Header{Class: ClassSubnetAdmin, Attribute: a}
		if l := SARecord(a); l != nil && h.AttributeName() != l.Name {
			t.Errorf("0x%02x is called %s", a, h.AttributeName())
		}
	}
	for _, c := range []struct{ got, want string }{
		{(&Header{Class: ClassSubnetAdmin, Attribute: AttrPathRecord}).AttributeName(), "PathRecord"},
		{(&Header{Class: ClassPerformance, Attribute: AttrPortCounters}).AttributeName(), "PortCounters"},
		{(&Header{Class: ClassPerformance, Attribute: AttrClassPortInfo}).AttributeName(), "ClassPortInfo"},
		{(&Header{Class: ClassSubnetAdmin, Attribute: 0x77}).AttributeName(), "attribute 0x0077"},
		{GetTableResp.String(), "GetTableResp"},
		{Status(0).Text(ClassSubnetAdmin), "status 0"},
		{Status(0x000C).Text(ClassPerformance), "status 0x000c (unsupported method for the attribute)"},
		{Status(0x0300).Text(ClassSubnetAdmin), "status 0x0300 (no records)"},
		{Status(0x0002).Text(ClassCM), "status 0x0002 (redirect)"},
		{RMPPWindow.String(), "new window last too small"},
		{RMPPAck.String(), "ACK"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestStatus: rule MAD-STS-001 and MAD-SA-009.
func TestStatus(t *testing.T) {
	for s, want := range map[Status]bool{0: true, 1: true, 2: true, 4: true, 8: true, 0xC: true, 0x1C: true, 0x10: false, 0x14: false, 0x18: false, 0x20: false, 0x40: false, 0x80: false, 0x0300: true} {
		if s.Defined() != want {
			t.Errorf("status 0x%04x: defined is %t", uint16(s), !want)
		}
	}
	if !SAPriority.DefinedBySA() || Status(0x0900).DefinedBySA() {
		t.Error("statuses of SA end at 8")
	}
	for typ, s := range map[RMPPType]RMPPStatus{RMPPData: 0, RMPPAck: 0, RMPPStop: 1, RMPPAbort: 118} {
		if !s.Fits(typ) || RMPPStatus(2).Fits(typ) || RMPPStatus(117).Fits(typ) {
			t.Errorf("statuses of %v", typ)
		}
	}
}

// TestSAHeaders encodes a segment of a GetTable response, checks its bytes and decodes them again.
func TestSAHeaders(t *testing.T) {
	b := make([]byte, Size)
	h := Header{BaseVersion: 1, Class: ClassSubnetAdmin, ClassVersion: 2, Method: GetTableResp, TID: 7, Attribute: AttrNodeRecord}
	r := RMPP{Version: 1, Type: RMPPData, RespTime: 31, Flags: RMPPActive | RMPPLast, Data1: 2, Data2: 132}
	s := SA{SMKey: 5, AttributeOffset: 14, ComponentMask: 1 << 4}
	if err := errors.Join(h.Encode(b), r.Encode(b), s.Encode(b)); err != nil {
		t.Fatal(err)
	}
	want := []byte{
		1, 3, 2, 0x92, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0x11, 0, 0, 0, 0, 0, 0,
		1, 1, 0xFD, 0, 0, 0, 0, 2, 0, 0, 0, 132,
		0, 0, 0, 0, 0, 0, 0, 5, 0, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16,
	}
	if !bytes.Equal(b[:SAHeaderSize], want) {
		t.Errorf("encoded\n%x\nwant\n%x", b[:SAHeaderSize], want)
	}
	var r2 RMPP
	var s2 SA
	if err := errors.Join(r2.Decode(b), s2.Decode(b)); err != nil || r2 != r || s2 != s {
		t.Errorf("decoded %+v %+v, %v", r2, s2, err)
	}
	if !errors.Is(r2.Decode(b[:35]), ErrShort) || !errors.Is(s2.Decode(b[:55]), ErrShort) || !errors.Is(r2.Encode(b[:35]), ErrShort) ||
		!errors.Is(s2.Encode(b[:55]), ErrShort) || !errors.Is(h.Encode(b[:23]), ErrShort) {
		t.Error("short bytes are no error")
	}
}

// FuzzGeneral decodes the headers and the attribute of any datagram, writes them back, and gets the same bytes.
func FuzzGeneral(f *testing.F) {
	b := make([]byte, Size)
	b[1], b[17], b[26] = uint8(ClassSubnetAdmin), uint8(AttrPathRecord), 7
	f.Add(b)
	f.Add(b[:60])
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		var r RMPP
		var s SA
		if DecodeHeader(b, &h) != nil {
			return
		}
		_, _, _ = h.AttributeName(), h.Method.String(), Status(h.Status).Text(h.Class)
		back := bytes.Clone(b)
		if h.Encode(back) != nil {
			t.Fatal("a header that was decoded cannot be encoded")
		}
		if r.Decode(b) == nil && r.Encode(back) != nil || s.Decode(b) == nil && s.Encode(back) != nil {
			t.Fatal("what was decoded cannot be encoded")
		}
		for _, l := range layouts {
			if len(b) > SAHeaderSize {
				for _, c := range l.Fields {
					c.PutUint(back[SAHeaderSize:], c.Uint(b[SAHeaderSize:]))
					_, _ = c.Text(b[SAHeaderSize:]), c.Same(b, back)
				}
			}
		}
		if !bytes.Equal(b, back) {
			t.Fatalf("%x\nbecomes\n%x", b, back)
		}
	})
}
