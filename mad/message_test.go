package mad

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var attributes = []Attribute{
	AttrREQ, AttrMRA, AttrREJ, AttrREP, AttrRTU, AttrDREQ, AttrDREP, AttrSIDRReq, AttrSIDRRep, AttrLAP, AttrAPR,
}

var fixed = map[Attribute]int{
	AttrREQ: 140, AttrMRA: 10, AttrREJ: 84, AttrREP: 36, AttrRTU: 8, AttrDREQ: 12, AttrDREP: 8,
	AttrSIDRReq: 16, AttrSIDRRep: 96, AttrLAP: 64, AttrAPR: 84,
}

// TestFields sets single bytes of the message area and names the field that table T8 puts there.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		attr Attribute
		at   int
		set  uint8
		want string
	}{
		{AttrREQ, 7, 0x01, "VendorID:1"},
		{AttrREQ, 15, 0x01, "ServiceID:service 0x0000000000000001"},
		{AttrREQ, 31, 0x01, "LocalQKey:1"},
		{AttrREQ, 34, 0x01, "LocalQPN:1"},
		{AttrREQ, 35, 0x01, "ResponderResources:1"},
		{AttrREQ, 38, 0x01, "LocalEECN:1"},
		{AttrREQ, 39, 0x01, "InitiatorDepth:1"},
		{AttrREQ, 42, 0x01, "RemoteEECN:1"},
		{AttrREQ, 43, 0x08, "RemoteCMTimeout:1"},
		{AttrREQ, 43, 0x06, "Transport:3"},
		{AttrREQ, 43, 0x01, "FlowControl:true"},
		{AttrREQ, 46, 0x01, "StartingPSN:0x000001"},
		{AttrREQ, 47, 0x08, "LocalCMTimeout:1"},
		{AttrREQ, 47, 0x01, "RetryCount:1"},
		{AttrREQ, 49, 0x01, "PKey:1"},
		{AttrREQ, 50, 0x10, "PathMTU:1"},
		{AttrREQ, 50, 0x08, "RDCExists:true"},
		{AttrREQ, 50, 0x01, "RNRRetryCount:1"},
		{AttrREQ, 51, 0x10, "MaxCMRetries:1"},
		{AttrREQ, 51, 0x08, "SRQ:true"},
		{AttrREQ, 51, 0x01, "ExtendedTransport:1"},
		{AttrREQ, 53, 0x01, "LocalLID:1"},
		{AttrREQ, 55, 0x01, "RemoteLID:1"},
		{AttrREQ, 90, 0x10, "FlowLabel:1"},
		{AttrREQ, 91, 0x01, "Rate:1"},
		{AttrREQ, 92, 0x01, "TClass:1"},
		{AttrREQ, 93, 0x01, "HopLimit:1"},
		{AttrREQ, 94, 0x10, "SL:1"},
		{AttrREQ, 94, 0x08, "SubnetLocal:true"},
		{AttrREQ, 95, 0x08, "LocalAckTimeout:1"},
		{AttrREQ, 97, 0x01, "LocalLID:1"},
		{AttrREQ, 139, 0x08, "LocalAckTimeout:1"},
		{AttrREQ, 139, 0x04, "Reserved3:4"},
		{AttrMRA, 8, 0x80, "Answered:2"},
		{AttrMRA, 9, 0x08, "ServiceTimeout:1"},
		{AttrREJ, 8, 0x40, "Rejected:1"},
		{AttrREJ, 9, 0x02, "InfoLength:1"},
		{AttrREJ, 11, 0x0a, "Reason:stale connection"},
		{AttrREP, 11, 0x01, "LocalQKey:1"},
		{AttrREP, 14, 0x01, "LocalQPN:1"},
		{AttrREP, 15, 0x01, "VendorID:65536"},
		{AttrREP, 18, 0x01, "LocalEECN:1"},
		{AttrREP, 19, 0x01, "VendorID:256"},
		{AttrREP, 22, 0x01, "StartingPSN:0x000001"},
		{AttrREP, 23, 0x01, "VendorID:1"},
		{AttrREP, 24, 0x01, "ResponderResources:1"},
		{AttrREP, 25, 0x01, "InitiatorDepth:1"},
		{AttrREP, 26, 0x08, "TargetAckDelay:1"},
		{AttrREP, 26, 0x02, "FailoverAccepted:1"},
		{AttrREP, 26, 0x01, "FlowControl:true"},
		{AttrREP, 27, 0x20, "RNRRetryCount:1"},
		{AttrREP, 27, 0x10, "SRQ:true"},
		{AttrREP, 35, 0x01, "LocalCAGUID:1"},
		{AttrDREQ, 10, 0x01, "RemoteQPN:1"},
		{AttrSIDRReq, 5, 0x01, "PKey:1"},
		{AttrSIDRRep, 4, 0x03, "Status:no QP available"},
		{AttrSIDRRep, 7, 0x01, "VendorID:256"},
		{AttrSIDRRep, 10, 0x01, "QPN:1"},
		{AttrSIDRRep, 11, 0x01, "VendorID:1"},
		{AttrSIDRRep, 23, 0x01, "QKey:1"},
		{AttrLAP, 14, 0x01, "RemoteQPN:1"},
		{AttrLAP, 15, 0x08, "RemoteCMTimeout:1"},
		{AttrLAP, 21, 0x01, "LocalLID:1"},
		{AttrLAP, 23, 0x01, "RemoteLID:1"},
		{AttrLAP, 58, 0x10, "FlowLabel:1"},
		{AttrLAP, 59, 0x01, "TClass:1"},
		{AttrLAP, 60, 0x01, "HopLimit:1"},
		{AttrLAP, 61, 0x01, "Rate:1"},
		{AttrLAP, 62, 0x10, "SL:1"},
		{AttrLAP, 62, 0x08, "SubnetLocal:true"},
		{AttrLAP, 63, 0x08, "LocalAckTimeout:1"},
		{AttrAPR, 8, 0x01, "InfoLength:1"},
		{AttrAPR, 9, 0x04, "Status:redirected"},
	} {
		b := make([]byte, Size)
		m := NewMessage(c.attr)
		if err := m.Decode(b); err != nil {
			t.Fatal(err)
		}
		empty := fmt.Sprintf("%+v", m)
		if strings.Contains(empty, c.want+" ") {
			t.Errorf("%v: an empty message already has %s", c.attr, c.want)
		}
		b[HeaderSize+c.at] = c.set
		if err := m.Decode(b); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%+v", m); !strings.Contains(got, c.want+" ") && !strings.Contains(got, c.want+"}") {
			t.Errorf("attribute 0x%x byte %d = 0x%02x: want %s in %s", uint16(c.attr), c.at, c.set, c.want, got)
		}
	}
}

// TestCut: a message is read as soon as its fixed fields are there, and refused before.
func TestCut(t *testing.T) {
	for _, a := range attributes {
		b := make([]byte, Size)
		need := HeaderSize + fixed[a]
		for n := 0; n <= Size; n++ {
			m := NewMessage(a)
			err := m.Decode(b[:n])
			if (err == nil) != (n >= need) || err != nil && !errors.Is(err, ErrShort) {
				t.Fatalf("attribute 0x%x, %d bytes: %v", uint16(a), n, err)
			}
		}
		if err := NewMessage(a).Encode(b[:Size-1]); !errors.Is(err, ErrShort) {
			t.Errorf("attribute 0x%x: encoded into %d bytes: %v", uint16(a), Size-1, err)
		}
	}
	if err := DecodeHeader(make([]byte, HeaderSize-1), new(Header)); !errors.Is(err, ErrShort) {
		t.Errorf("cut header: %v", err)
	}
	if err := new(IPHeader).Decode(make([]byte, IPHeaderSize-1)); !errors.Is(err, ErrShort) {
		t.Errorf("cut IP addressing: %v", err)
	}
	if err := new(IPHeader).Encode(nil); !errors.Is(err, ErrShort) {
		t.Errorf("cut IP addressing: %v", err)
	}
}

func TestTooLong(t *testing.T) {
	b, long := make([]byte, Size), make([]byte, Size)
	for _, m := range []Message{
		&REQ{Private: long[:93]},
		&MRA{Private: long[:223]},
		&REJ{Private: long[:149]},
		&REJ{Info: long[:73]},
		&REP{Private: long[:197]},
		&RTU{Private: long[:225]},
		&DREQ{Private: long[:221]},
		&DREP{Private: long[:225]},
		&SIDRReq{Private: long[:217]},
		&SIDRRep{Private: long[:137]},
		&SIDRRep{Info: long[:73]},
		&LAP{Private: long[:169]},
		&APR{Private: long[:149]},
		&APR{Info: long[:73]},
	} {
		if err := m.Encode(b); !errors.Is(err, ErrLong) {
			t.Errorf("%T: %v", m, err)
		}
	}
}

func TestNames(t *testing.T) {
	h := CMHeader(AttrAPR, 1)
	for _, c := range [][2]string{
		{h.AttributeName(), "APR"},
		{(&Header{Class: ClassSubnetAdmin, Attribute: 0x35}).AttributeName(), "PathRecord"},
		{ClassCM.String(), "CM"},
		{Class(0x0A).String(), "class 0x0a"},
		{Send.String(), "Send"},
		{Method(0x94).String(), "GetMultiResp"},
		{RejConsumer.String(), "consumer reject"},
		{RejReason(0).String(), "reserved reason 0"},
		{RejReason(34).String(), "reserved reason 34"},
		{RejReason(35).String(), "vendor option not supported"},
		{SIDRNoQP.String(), "no QP available"},
		{SIDRStatus(6).String(), "reserved status 6"},
		{APRStatus(13).String(), "invalid SL"},
		{APRStatus(14).String(), "reserved status 14"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
	defined := 0
	for r := range 1 << 16 {
		if RejReason(r).Defined() {
			defined++
		}
	}
	if defined != 34 {
		t.Errorf("%d reject reasons are defined, table T9 has 34", defined)
	}
	if NewMessage(0x0F) != nil || NewMessage(0x1B) != nil {
		t.Error("a message for an attribute that CM does not have")
	}
}

// FuzzMessage decodes, encodes and decodes every message: the bytes and the fields come back, cut ones with zeros.
func FuzzMessage(f *testing.F) {
	for _, name := range []string{"req", "rep", "rtu", "dreq", "drep", "rej", "sidr_req", "sidr_rep"} {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		if err := DecodeHeader(b, &h); err != nil {
			return
		}
		for _, a := range attributes {
			first := NewMessage(a)
			if err := first.Decode(b); err != nil {
				if len(b) >= HeaderSize+fixed[a] || !errors.Is(err, ErrShort) {
					t.Fatalf("%T: %v", first, err)
				}
				continue
			}
			out := make([]byte, Size)
			if err := first.Encode(out); err != nil {
				t.Fatal(err)
			}
			whole := make([]byte, Size)
			copy(whole, b)
			if !bytes.Equal(out, whole) {
				t.Fatalf("%T: encoded\n%x\nfrom\n%x", first, out, whole)
			}
			second, again := NewMessage(a), NewMessage(a)
			if err := errors.Join(second.Decode(out), again.Decode(whole)); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again, second) { // cmp's own branches would distract the fuzzer
				t.Fatal(cmp.Diff(again, second))
			}
		}
		var ip IPHeader
		if ip.Decode(b) == nil {
			out := make([]byte, IPHeaderSize)
			if err := ip.Encode(out); err != nil || !bytes.Equal(out, b[:IPHeaderSize]) {
				t.Fatalf("IP addressing %x from %x, %v", out, b[:IPHeaderSize], err)
			}
		}
	})
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	req, rep := golden(t, "req"), golden(t, "rep")
	var (
		q REQ
		p REP
	)
	if n := testing.AllocsPerRun(100, func() {
		if q.Decode(req) != nil || p.Decode(rep) != nil {
			t.Fatal("not decoded")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
