package attach_test

import (
	"encoding/binary"
	"testing"

	"ibwitness/attach"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
)

// TestICRCAbsent: frames whose ICRC is not there yet are judged as those that have it, whether their lengths count it or not; and where it has any value.
func TestICRCAbsent(t *testing.T) {
	for name, k := range map[string]struct {
		icrc   string
		change func(frame []byte) []byte
		errors bool
	}{
		"absent, counted": {"absent", func(f []byte) []byte { return f[:len(f)-4] }, false},
		"absent, not counted": {"absent", func(f []byte) []byte {
			f = f[:len(f)-4]
			for _, at := range []int{14 + 2, 14 + 20 + 4} {
				binary.BigEndian.PutUint16(f[at:], binary.BigEndian.Uint16(f[at:])-4)
			}
			return f
		}, false},
		"any value":          {"ignore", func(f []byte) []byte { clear(f[len(f)-4:]); return f }, false},
		"any value, checked": {"check", func(f []byte) []byte { clear(f[len(f)-4:]); return f }, true},
		"as it should be":    {"check", func(f []byte) []byte { return f }, false},
	} {
		r, err := attach.Open([]byte(`{"taps": [{"icrc": "` + k.icrc + `", "near": "10.0.0.1"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		raw := traffic.Capture(traffic.Small(8), 2000)[24:]
		for at := uint64(0); len(raw) >= 16; at += 1_000_000 {
			size := binary.LittleEndian.Uint32(raw[8:])
			if _, err := r.Frame(0, packet.WayUnknown, at, k.change(append([]byte(nil), raw[16:16+size]...)), 0); err != nil {
				t.Fatal(err)
			}
			raw = raw[16+size:]
		}
		if _, err := r.End(r.Now()); err != nil {
			t.Fatal(err)
		}
		if res := r.Result(); (len(res.Findings) > 0) != k.errors || res.RDMA != 2000 {
			t.Errorf("%s: %d packets, %d findings, the first %+v", name, res.RDMA, len(res.Findings), res.Findings[:min(1, len(res.Findings))])
		}
	}
}
