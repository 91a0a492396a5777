package mad

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// smpLayouts are those of subnet management, by the names that table T12 has for them.
var smpLayouts = map[string]*Layout{
	"NodeInfo": LayoutNodeInfo, "SwitchInfo": LayoutSwitchInfo, "GUIDInfo": LayoutGUIDInfo, "PortInfo": LayoutPortInfo, "PKeyTable": LayoutPKeyTable,
	"SLToVLMappingTable": LayoutSLtoVL, "VLArbitrationTable": LayoutVLArbitration, "LinearForwardingTable": LayoutLinearForwarding,
	"RandomForwardingTable": LayoutRandomForwarding, "MulticastForwardingTable": LayoutMulticastForwarding, "SMInfo": LayoutSMInfo,
	"VendorDiag": LayoutVendorDiag, "LedInfo": LayoutLedInfo, "NodeDescription": LayoutNodeDescription,
}

func TestSMPLayoutsAgreeWithReference(t *testing.T) {
	text := reference(t)
	_, table, _ := strings.Cut(text, "## T12 ")
	table, _, _ = strings.Cut(table, "\n## ")
	seen := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		l := smpLayouts[strings.TrimSpace(cells[1])]
		if l == nil {
			continue
		}
		seen++
		want := layout(l.Name, number(strings.TrimSpace(cells[2])), cells[4])
		agree(t, l.Name, l, want)
	}
	if seen != len(smpLayouts) {
		t.Errorf("%d of %d layouts are in the reference", seen, len(smpLayouts))
	}
}

// TestSMPLayouts: the components of an attribute follow each other and fill it.
func TestSMPLayouts(t *testing.T) {
	for name, l := range smpLayouts {
		at := 0
		for _, f := range l.Fields {
			if f.Off != at {
				t.Errorf("%s: %s begins at bit %d, not %d", name, f.Name, f.Off, at)
			}
			at = f.End()
		}
		if at != l.Size*8 {
			t.Errorf("%s ends at bit %d of %d", name, at, l.Size*8)
		}
	}
}

// TestSMP compares the decoder with a Get of SMInfo on a directed route, and its answer, of a real subnet.
func TestSMP(t *testing.T) {
	for _, c := range []struct {
		name     string
		method   Method
		backward bool
		path     []byte
	}{
		{"sminfo_get", Get, false, []byte{0, 0, 0}},
		{"sminfo_resp", GetResp, true, []byte{0, 6, 1}},
	} {
		b := golden(t, c.name)
		var s SMP
		if err := s.Decode(b); err != nil {
			t.Fatal(err)
		}
		if !s.Directed() || s.Method != c.method || s.Backward() != c.backward || s.Code() != 0 || s.HopPointer() != 1 || s.HopCount() != 2 ||
			s.DrSLID != PermissiveLID || s.DrDLID != PermissiveLID || s.TID != 0x1509c000125c8 || s.AttributeName() != "SMInfo" || s.Modifier != 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
		if !bytes.Equal(s.Initial[:4], []byte{0, 2, 3, 0}) || !bytes.Equal(s.Return[:3], c.path) {
			t.Errorf("%s: initial path %v, return path %v", c.name, s.Initial, s.Return)
		}
		if c.backward {
			for field, want := range map[string]uint64{"GUID": 0x0002c9020020b4dd, "actCount": 0x923a, "priority": 0, "SMState": 3} {
				if got := LayoutSMInfo.Field(field).Uint(s.Data); got != want {
					t.Errorf("%s %#x, want %#x", field, got, want)
				}
			}
		}
		back := make([]byte, Size)
		if err := s.Encode(back); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%s: encoded %x, %v", c.name, back, err)
		}
		if at := SMPReserved(s.Class, b); at != 0 {
			t.Errorf("%s: reserved byte %d is set", c.name, at)
		}
		if n := testing.AllocsPerRun(100, func() { _ = s.Decode(b) }); n != 0 {
			t.Errorf("decoding allocates %v times", n)
		}
	}
}

func TestSMPReserved(t *testing.T) {
	for class, reserved := range map[Class]func(i int) bool{
		ClassSubnetLID:      func(i int) bool { return i >= 32 && i < 64 || i >= 128 },
		ClassSubnetDirected: func(i int) bool { return i >= 36 && i < 64 },
	} {
		for i := range Size {
			b := make([]byte, Size)
			b[i] = 1
			if got := SMPReserved(class, b); (got == i && i != 0) != reserved(i) {
				t.Errorf("%v, byte %d: %d", class, i, got)
			}
		}
	}
	if err := new(SMP).Decode(make([]byte, Size-1)); !errors.Is(err, ErrShort) {
		t.Errorf("a cut SMP: %v", err)
	}
	if err := new(SMP).Encode(make([]byte, Size-1)); !errors.Is(err, ErrShort) {
		t.Errorf("into too few bytes: %v", err)
	}
	if err := (&SMP{Data: make([]byte, 65)}).Encode(make([]byte, Size)); !errors.Is(err, ErrLong) {
		t.Errorf("too much data: %v", err)
	}
}

// TestSMPNames: table T11 by name, method and number.
func TestSMPNames(t *testing.T) {
	for a, want := range map[Attribute]string{
		AttrNotice: "Notice true true true", AttrNodeDescription: "NodeDescription true true false", AttrNodeInfo: "NodeInfo true false false",
		AttrLinkSpeedWidthPairs: "LinkSpeedWidthPairsTable true true false", AttrLedInfo: "LedInfo true true false",
		AttrVendorDiag: "VendorDiag true false false", 0x13: "attribute 0x0013 false false false", 0xFF90: "attribute 0xff90 false false false",
	} {
		h := Header{Class: ClassSubnetLID, Attribute: a}
		get, set, trap, ok := SMPMethods(a)
		got := h.AttributeName()
		for _, b := range []bool{get, set, trap} {
			got += map[bool]string{true: " true", false: " false"}[b]
		}
		if got != want || ok != get {
			t.Errorf("%#x is %q, want %q", uint16(a), got, want)
		}
	}
	if TrapName(256) != "trap 256 (bad M_Key)" || TrapName(99) != "trap 99" || !NoticeTypeDefined(0x84) || NoticeTypeDefined(5) {
		t.Error("traps are misnamed")
	}
	for n, want := range map[uint16]uint32{64: ProducerManager, 128: ProducerSwitch, 144: ProducerCA, 259: ProducerSwitch} {
		if defined, may := TrapProducer(n, want); !defined || !may {
			t.Errorf("trap %d is not sent by %d", n, want)
		}
		if _, may := TrapProducer(n, 5); may {
			t.Errorf("trap %d is sent by 5", n)
		}
	}
}

func TestEntries(t *testing.T) {
	if v := VLArb(0x0340); v.VL() != 3 || v.Weight() != 0x40 {
		t.Errorf("VL %d weight %d", v.VL(), v.Weight())
	}
	if e := RandomEntry(0x0005A407); e.Reserved() != 4 {
		t.Errorf("reserved %d", e.Reserved())
	}
}

func FuzzSMP(f *testing.F) {
	f.Add(golden(f, "sminfo_get"))
	f.Add(golden(f, "sminfo_resp"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again SMP
		if s.Decode(b) != nil {
			if len(b) >= Size {
				t.Fatal("a whole datagram is not read")
			}
			return
		}
		_ = s.AttributeName() + s.Code().Text(s.Class)
		back := make([]byte, Size)
		if err := s.Encode(back); err != nil {
			t.Fatal(err)
		}
		if SMPReserved(s.Class, back) != 0 {
			t.Fatal("reserved bytes are written")
		}
		if SMPReserved(s.Class, b[:Size]) == 0 && !bytes.Equal(back, b[:Size]) {
			t.Fatalf("encoded\n%x\nfrom\n%x", back, b)
		}
		if err := again.Decode(back); err != nil || again.Header != s.Header || again.MKey != s.MKey || !bytes.Equal(again.Data, s.Data) {
			t.Fatalf("%+v, then %+v", s, again)
		}
		if l := SMPAttribute(s.Attribute); l != nil {
			for _, c := range l.Fields {
				v := c.Uint(s.Data)
				if c.PutUint(back[SMPData:], v); c.Bits <= 64 && c.Uint(back[SMPData:]) != v {
					t.Fatalf("%s changes", c.Name)
				}
			}
		}
	})
}
