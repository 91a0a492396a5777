package mad

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "golden", name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	_, digits, _ := strings.Cut(string(text), "\n")
	b, err := hex.DecodeString(strings.ReplaceAll(digits, "\n", ""))
	if err != nil || len(b) != Size {
		t.Fatalf("%s: %d bytes, %v", name, len(b), err)
	}
	return b
}

// zeros is an area of n bytes that a message leaves empty.
func zeros(n int) []byte { return make([]byte, n) }

func ip(s string) packet.Addr {
	a, err := packet.ParseAddr(s)
	if err != nil {
		panic(err)
	}
	return a
}

// TestGolden compares the decoder with MADs that Linux's CM sent over soft-RoCE, field by field, and the encoder with their bytes.
func TestGolden(t *testing.T) {
	private := zeros(92)
	copy(private, "\x00\x40\xa2\x9d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x4d\x00\x01"+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x4d\x00\x02")
	sidrPrivate := zeros(216)
	copy(sidrPrivate, "\x00\x40\xcf\x50\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x4d\x00\x01"+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x4d\x00\x02")
	const tid = 0x2d4a40b1c
	for _, c := range []struct {
		name string
		want Message
	}{
		{"req", &REQ{
			Header: CMHeader(AttrREQ, tid), LocalCommID: 0x1c0ba4d4, ServiceID: 0x1064853, LocalCAGUID: 0x505400fffe770001,
			LocalQPN: 0x52, ResponderResources: 128, InitiatorDepth: 128, RemoteCMTimeout: 20, StartingPSN: 0xa62a95,
			LocalCMTimeout: 20, RetryCount: 7, PKey: 0xffff, PathMTU: 5, RNRRetryCount: 7, MaxCMRetries: 15,
			Primary: Path{
				LocalLID: PermissiveLID, RemoteLID: PermissiveLID, LocalGID: ip("10.77.0.1"), RemoteGID: ip("10.77.0.2"),
				FlowLabel: 0x3f956, HopLimit: 64, LocalAckTimeout: 19,
			},
			Private: private,
		}},
		{"rep", &REP{
			Header: CMHeader(AttrREP, tid), LocalCommID: 0x22d9684a, RemoteCommID: 0x1c0ba4d4, LocalQPN: 0x57, StartingPSN: 0x77f490,
			ResponderResources: 128, InitiatorDepth: 128, TargetAckDelay: 15, RNRRetryCount: 7, LocalCAGUID: 0x505400fffe770002,
			Private: zeros(196),
		}},
		{"rtu", &RTU{Header: CMHeader(AttrRTU, tid), LocalCommID: 0x1c0ba4d4, RemoteCommID: 0x22d9684a, Private: zeros(224)}},
		{"dreq", &DREQ{
			Header: CMHeader(AttrDREQ, tid), LocalCommID: 0x1c0ba4d4, RemoteCommID: 0x22d9684a, RemoteQPN: 0x57, Private: zeros(220),
		}},
		{"drep", &DREP{Header: CMHeader(AttrDREP, tid), LocalCommID: 0x22d9684a, RemoteCommID: 0x1c0ba4d4, Private: zeros(224)}},
		{"rej", &REJ{
			Header: CMHeader(AttrREJ, 0x2d4a40b1b), RemoteCommID: 0x1b0ba4d4, Reason: RejInvalidService, Info: zeros(72), Private: zeros(148),
		}},
		{"sidr_req", &SIDRReq{
			Header: CMHeader(AttrSIDRReq, 0x2d4a40b04), RequestID: 0x40ba4d4, PKey: 0xffff, ServiceID: 0x1111c06, Private: sidrPrivate,
		}},
		{"sidr_rep", &SIDRRep{
			Header: CMHeader(AttrSIDRRep, 0x2d4a40b04), RequestID: 0x40ba4d4, QPN: 0x5f, ServiceID: 0x1111c06, QKey: 0x1234567,
			Info: zeros(72), Private: zeros(136),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := golden(t, c.name)
			var h Header
			if err := DecodeHeader(b, &h); err != nil {
				t.Fatal(err)
			}
			if got := strings.ToLower(h.AttributeName()); got != c.name {
				t.Errorf("attribute is called %q", got)
			}
			got := NewMessage(h.Attribute)
			if err := got.Decode(b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
			back := make([]byte, Size)
			if err := c.want.Encode(back); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(back, b) {
				t.Errorf("encoded:\n%x\nwant:\n%x", back, b)
			}
		})
	}
}

// TestIPHeader: rules CM-IP-001 to CM-IP-003 on the REQ of a real rdma_cm connection.
func TestIPHeader(t *testing.T) {
	var m REQ
	if err := m.Decode(golden(t, "req")); err != nil {
		t.Fatal(err)
	}
	if proto, port, ok := m.ServiceID.IP(); !ok || proto != ProtocolTCP || port != 18515 {
		t.Errorf("service ID %x: %v %v %v", uint64(m.ServiceID), proto, port, ok)
	}
	if got := m.ServiceID.String(); got != "TCP port 18515" {
		t.Errorf("service ID reads %q", got)
	}
	var h IPHeader
	if err := h.Decode(m.Private); err != nil {
		t.Fatal(err)
	}
	if h.Source() != ip("10.77.0.1") || h.Destination() != ip("10.77.0.2") || h.SourcePort != 0xa29d || h.IPVersion != 4 {
		t.Errorf("addressing %+v", h)
	}
	b := make([]byte, IPHeaderSize)
	if err := h.Encode(b); err != nil || !bytes.Equal(b, m.Private[:IPHeaderSize]) {
		t.Errorf("encoded %x, %v", b, err)
	}
	h = IPHeader{IPVersion: 6, SourceWord: ip("fd77::1"), DestinationWord: ip("fd77::2")}
	if h.Source() != ip("fd77::1") || h.Destination() != ip("fd77::2") {
		t.Errorf("IPv6 addressing %+v", h)
	}
	for s, want := range map[ServiceID]string{0x1111c06: "UDP port 7174", 0x13f0001: "IP protocol 63 port 1", 0x1000000000040400: "service 0x1000000000040400"} {
		if got := s.String(); got != want {
			t.Errorf("%x reads %q, want %q", uint64(s), got, want)
		}
	}
}
