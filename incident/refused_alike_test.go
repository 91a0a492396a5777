package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// TestRefusedAlike: what a peer refuses is told to be longer than all that it accepts where that is so, and to be all of its requester where others have theirs accepted; neither of a single one, nor where it is not so.
func TestRefusedAlike(t *testing.T) {
	const head = `
about: requests that are refused
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
  c: 10.0.0.3
taps: [middle]
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
  c1: {hca: c, peer: b3}
  b3: {hca: b, peer: c1}
work:
`
	wrong := func(qp, op, length string) string {
		return "  - {at: 9ms, qp: " + qp + ", op: " + op + ", length: " + length + ", offset: 65536, bad_key: true}\n"
	}
	ten := func(qp, op string) string { return "  - {qp: " + qp + ", op: " + op + ", length: 200, repeat: 10}\n" }
	const sizes, all, beyond = "sizes: all 2 RDMA WRITEs of 10.0.0.1 that 10.0.0.2 refused are of ", "alike: 10.0.0.2 accepted no RDMA ", "fits: a length beyond the memory that R_Key 0x"
	for _, tt := range []struct {
		name, work string
		want, not  []string
	}{
		{"longer", ten("a1", "write") + ten("a2", "write") + wrong("a1", "write", "4096") + wrong("a2", "write", "4096"), []string{sizes + "4,096 bytes (the last refused at +0.009 s, in frame 49); the 20 that it accepted of up to 200", beyond}, []string{all}},
		{"longer, and not the same", ten("a1", "write") + wrong("a1", "write", "4096") + wrong("a2", "write", "2048"), []string{sizes + "2,048 to 4,096 bytes (the last refused at +0.009 s, in frame 28); the 10 that it accepted of up to 200", beyond}, []string{all}},
		{"as long", ten("a1", "write") + ten("a2", "write") + wrong("a1", "write", "200") + wrong("a2", "write", "4096"), []string{"fits: an R_Key that is not valid"}, []string{"sizes: ", all, beyond}},
		{"longer, but one", ten("a1", "write") + ten("a2", "write") + wrong("a1", "write", "4096"), []string{"fits: an R_Key that is not valid"}, []string{"sizes: ", all, beyond}},
		{"only others were accepted", ten("c1", "read") + ten("a1", "write") + wrong("a1", "read", "4096") + wrong("a2", "read", "4096"), []string{all + "READ of 10.0.0.1, and refused 2; it accepted 10 of 10.0.0.3", "fits: R_Keys that are not valid on the queue pairs of 10.0.0.2 with 10.0.0.1"}, []string{"sizes: ", beyond}},
		{"of others, too, some were refused", ten("c1", "read") + wrong("c1", "read", "100") + wrong("a1", "read", "4096") + wrong("a2", "read", "4096"), []string{"fits: an R_Key that is not valid"}, []string{"sizes: ", all, beyond}},
		{"of others there are few", "  - {qp: c1, op: read, length: 200, repeat: 7}\n" + wrong("a1", "read", "4096") + wrong("a2", "read", "4096"), []string{"fits: an R_Key that is not valid"}, []string{"sizes: ", all, beyond}},
		{"of others there are none", ten("c1", "write") + wrong("a1", "read", "4096") + wrong("a2", "read", "4096"), []string{"fits: an R_Key that is not valid"}, []string{"sizes: ", all, beyond}},
	} {
		var b strings.Builder
		list := incident.Of(judged(t, frames(t, head+tt.work), agent.Options{Timing: true}))
		told(&b, "frames", list)
		for i := range list {
			b.WriteString("fits: " + strings.Join(list[i].FitsWith, "; or ") + "\n")
		}
		for _, want := range tt.want {
			if got := b.String(); !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
		for _, not := range tt.not {
			if got := b.String(); strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", tt.name, got, not)
			}
		}
	}
}

// TestOwnKeys: the R_Key of a request that was accepted before a refused one is not told where each has one of its own, as it says nothing; where they share one it is.
func TestOwnKeys(t *testing.T) {
	for _, tt := range []struct {
		keys   func(n int) uint32
		want   string
		absent string
	}{
		{func(n int) uint32 { return 0x100 + uint32(n) }, "R_Key: 0x999 is of this request only, as each of the 60 of its queue pair that are known to be accepted before had one of its own", ", which was accepted, has R_Key"},
		{func(n int) uint32 { return 0x100 + uint32(n/2) }, ", which was accepted, has R_Key 0x11d", "of this request only"},
		{func(n int) uint32 { return 0x100 + uint32(n%59) }, ", which was accepted, has R_Key 0x100", "of this request only"},
		{func(int) uint32 { return 0x100 }, ", which was accepted, has R_Key 0x100", "of this request only"},
	} {
		q := new(queue)
		const n = 60
		for i := range n + 1 {
			key, syndrome := tt.keys(i), packet.Syndrome(packet.CreditInvalid)
			if i == n {
				key, syndrome = 0x999, packet.NAKRemoteAccess
			}
			q.write(0, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: packet.PSN(i), AckReq: true, VA: 0x1000 * uint64(1+i), RKey: key, DMALen: 64, Payload: make([]byte, 64)})
			q.write(1, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: packet.PSN(i), Syndrome: syndrome, MSN: uint32(min(i+1, n))})
			q.now += 5 * time.Microsecond
		}
		if got := toldReasons(t, q.list); !strings.Contains(got, tt.want) || strings.Contains(got, tt.absent) {
			t.Errorf("%s\nwant %q", got, tt.want)
		}
	}
}
