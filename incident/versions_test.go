package incident_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// versions writes the frames of hosts that send with a version of RoCE.
type versions struct{ list []fabricagent.Frame }

func (v *versions) write(e packet.Encap, from, to byte, qpn uint32, at time.Duration, p *packet.Packet) {
	p.Encap, p.Src, p.Dst, p.DestQP, p.PKey, p.SrcPort = e, packet.IPv4Addr([]byte{10, 0, 0, from}), packet.IPv4Addr([]byte{10, 0, 0, to}), qpn, 0xFFFF, 0xC123
	b := p.CompleteEthernet(nil, [6]byte{2, 0, 0, 0, 0, from}, [6]byte{2, 0, 0, 0, 0, to})
	v.list = append(v.list, fabricagent.Frame{Time: int64(1e18) + int64(at), Data: b, Len: uint32(len(b)), Link: fabricagent.LinkEthernet})
}

// vain sends a WRITE from a time on, which nothing answers.
func (v *versions) vain(e packet.Encap, from, to byte, qpn uint32, at time.Duration) {
	for n := range 8 {
		v.write(e, from, to, qpn, at+time.Duration(n)*500*time.Millisecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: 7, AckReq: true, VA: 0x1000, RKey: 5, DMALen: 64, Payload: make([]byte, 64)})
	}
}

// works sends WRITEs that are answered.
func (v *versions) works(e packet.Encap, from, to byte, qpn uint32) {
	for n := range 100 {
		at := time.Duration(n) * 60 * time.Millisecond
		v.write(e, from, to, qpn, at, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: packet.PSN(n + 100*int(qpn)), AckReq: true, VA: 0x1000, RKey: 5, DMALen: 64, Payload: make([]byte, 64)})
		v.write(e, to, from, qpn+0x1000, at+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: packet.PSN(n + 100*int(qpn)), Syndrome: packet.CreditInvalid, MSN: uint32(n + 1)})
	}
}

// TestOtherVersions: a host that sends RoCE v1 to one that sends only RoCE v2 is told first, with what others send to it in vain from the same time on, and as the odd one where its peer is answered with its own version; not where
// it sends RoCE v2, or the peer sends RoCE v1, too, or nothing at all.
func TestOtherVersions(t *testing.T) {
	const (
		v1, v2 = packet.RoCEv1, packet.RoCEv2IPv4
		said   = "10.0.0.1 sends RoCE v1 (Ethertype 0x8915) to 10.0.0.2, which sends only RoCE v2 (UDP port 4791): nothing was answered on "
		next   = "next: the GID index of 10.0.0.1 that the program uses, and the version"
		down   = "down or does not run RDMA"
	)
	beside := func(v *versions) { v.works(v2, 3, 2, 0x21); v.works(v2, 1, 4, 0x22) }
	for _, tt := range []struct {
		name      string
		make      func(v *versions)
		want, not []string
	}{
		{"one host", func(v *versions) {
			beside(v)
			v.vain(v1, 1, 2, 0x30, time.Second)
			v.vain(v2, 3, 1, 0x31, time.Second)
		}, []string{said + "2 connections with 10.0.0.2 and 10.0.0.3. 10.0.0.1 sent", next, "beside: 10.0.0.1 sends RoCE v2, too, with 10.0.0.4, and is answered", "incidents: 1\n"}, []string{down}},
		{"later", func(v *versions) {
			beside(v)
			v.vain(v1, 1, 2, 0x30, time.Second)
			v.vain(v2, 3, 1, 0x31, 3*time.Second)
		}, []string{said + "1 connection with 10.0.0.2. ", next, "a switch or filter that drops Ethertype 0x8915", "incidents: 2\n"}, nil},
		{"nothing else is known", func(v *versions) {
			v.works(v2, 3, 4, 0x21)
			v.vain(v1, 1, 2, 0x30, time.Second)
			v.vain(v2, 2, 1, 0x31, time.Second)
		}, []string{said + "1 connection with 10.0.0.2. ", "sends RoCE v1 to 1 queue pair, and 10.0.0.2 RoCE v2 to 1 queue pair of it: none is answered", "next: the GID index of 10.0.0.1 and of 10.0.0.2 that", "incidents: 1\n"}, []string{down}},
		{"the other host is odd", func(v *versions) {
			v.works(v1, 1, 4, 0x22)
			v.vain(v1, 1, 2, 0x30, time.Second)
			v.vain(v2, 2, 1, 0x31, time.Second)
		}, []string{"10.0.0.2 sends RoCE v2 (UDP port 4791) to 10.0.0.1, which sends only RoCE v1 (Ethertype 0x8915): ", "next: the GID index of 10.0.0.2 that"}, nil},
		{"of one version", func(v *versions) {
			beside(v)
			v.vain(v2, 1, 2, 0x30, time.Second)
			v.vain(v2, 3, 1, 0x31, time.Second)
		}, []string{"10.0.0.1 sent an RDMA WRITE"}, []string{"RoCE v1 ("}},
		{"the peer sends both", func(v *versions) {
			beside(v)
			v.works(v1, 5, 2, 0x23)
			v.vain(v1, 1, 2, 0x30, time.Second)
		}, []string{"10.0.0.1 sent an RDMA WRITE"}, []string{"RoCE v1 ("}},
		{"the peer sends nothing", func(v *versions) {
			v.works(v2, 1, 4, 0x22)
			v.vain(v1, 1, 2, 0x30, time.Second)
		}, []string{"10.0.0.1 sent an RDMA WRITE"}, []string{"RoCE v1 (Ethertype 0x8915) to"}},
	} {
		v := new(versions)
		tt.make(v)
		slices.SortStableFunc(v.list, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
		got := toldReasons(t, v.list)
		got = strings.Replace(got, "frames: ", "incidents: ", 1)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", tt.name, got, not)
			}
		}
	}
}
