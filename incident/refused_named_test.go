package incident_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestRefusedNamed: of a WRITE that is refused it is told which command had named memory with its R_Key, and that it goes beyond that, is within it, or begins elsewhere; not where no command has named its R_Key, or what comes
// after that memory was named, too.
func TestRefusedNamed(t *testing.T) {
	const (
		names   = "memory: NVMe Read, command id 30, namespace 1 of 10.0.0.1, in frame 181, names 4,096 bytes at 0x1e0000 with this R_Key"
		beyond  = "fits: a requester that uses more memory than it was told of: that explains the refusal\nnext: how the software of 10.0.0.2 comes by"
		within  = "fits: memory that 10.0.0.1 told 10.0.0.2 of, and that is not registered so, or not any more"
		another = "fits: a requester that uses other memory than it was told of; or an R_Key that is not valid"
	)
	for _, tt := range []struct {
		name      string
		va        uint64
		key       uint32
		length    uint32
		goesOn    bool // the command after it names what comes next with the same R_Key
		late      time.Duration
		want, not []string
	}{
		{"beyond", 0x1e0000, 0x11e, 8192, false, 0, []string{"goes 4,096 bytes beyond the memory that the open command gave: NAK", names + "\n", beyond}, []string{"had named memory", "beyond that"}},
		{"beyond, from its midst", 0x1e0800, 0x11e, 4096, false, 0, []string{"goes 2,048 bytes beyond the memory that the open command gave: NAK", names + "\n", beyond}, []string{"had named memory", "beyond that"}},
		{"beyond, after another was accepted", 0x1e0c00, 0x11e, 2048, false, 0, []string{
			"of 10.0.0.2 QP 0x20, which goes 1,024 bytes beyond the memory that the open command gave: NAK Remote Access Error",
			"R_Key: 0x11e was accepted at 0x1e0000 to 0x1e03ff", names + "\n", beyond,
		}, []string{"had named memory", "beyond that", "address: ", "outside the memory region", "deregistered"}},
		{"outside, after another was accepted", 0x2e0c00, 0x11e, 2048, false, 0, []string{"address: 0x2e0c00 to 0x2e13ff is not within that"}, []string{"memory: ", "explains", "beyond"}},
		{"within", 0x1e0800, 0x11e, 2048, false, 0, []string{names + ": the request is within that", within}, []string{"explains", "outside the memory region", "without the right"}},
		{"elsewhere", 0x2e0000, 0x11e, 2048, false, 0, []string{names + ": the request begins outside that", another}, []string{"explains"}},
		{"another key", 0x1e0000, 0x999, 4096, false, 0, []string{
			"refused an RDMA WRITE of 4,096 bytes of 10.0.0.2 QP 0x20, with another R_Key than the open command gave for its address: NAK Remote Access Error.",
			"R_Key: NVMe Read, command id 30, namespace 1 of 10.0.0.1, in frame 181, 7µs before the NAK, gave R_Key 0x11e for 4,096 bytes at 0x1e0000; the request is for the same bytes, with R_Key 0x999",
			"fits: a program or adapter of 10.0.0.2 that uses another R_Key than it was given: that explains the refusal\nnext: how the software of 10.0.0.2 comes by the R_Key",
		}, []string{"which region of 10.0.0.1", "last 8 bits"}},
		{"nearly its key", 0x1e0800, 0x11f, 1024, false, 0, []string{"the request is within that, with R_Key 0x11f", "another registration of the same region, as only the last 8 bits differ"}, nil},
		{"another key, beyond", 0x1e0800, 0x999, 4096, false, 0, []string{"the request begins within that, and goes 2,048 bytes beyond it, with R_Key 0x999"}, nil},
		{"the key of a former command", 0x1d0000, 0x11d, 1024, true, 0, []string{
			"gave R_Key 0x21d for 4,096 bytes at 0x1d0000", "former: NVMe Read, command id 29, namespace 1, in frame ", ", which is over, had given R_Key 0x11d for this address",
		}, []string{"deregistered", "which region of 10.0.0.1"}},
		{"nobody named it", 0x3e0000, 0x999, 8192, false, 0, []string{"fits: an R_Key that is not valid"}, []string{"memory: ", "explains", "than the open command gave"}},
		{"late", 0x1e0800, 0x11e, 2048, false, time.Second, []string{"late: the request came 1s after the command that had named the memory; usually its answers take "}, nil},
		{"soon", 0x1e0800, 0x11e, 2048, false, time.Millisecond, []string{within}, []string{"late: "}},
		{"it goes on", 0x1e0000, 0x11e, 8192, true, 0, []string{"fits: an R_Key that is not valid"}, []string{"memory: ", "explains"}},
	} {
		q := new(queue)
		written := func(p *packet.Packet, refused bool) {
			syndrome := packet.Syndrome(packet.CreditInvalid)
			if refused {
				syndrome = packet.NAKRemoteAccess
			}
			p.PSN, p.AckReq, p.Payload = q.psn[1], true, make([]byte, 1024)
			q.psn[1]++
			q.write(1, q.now, p)
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: p.PSN, Syndrome: syndrome, MSN: uint32(q.psn[1])})
			q.now += 5 * time.Microsecond
		}
		read := func(cid uint16, addr uint64, key uint32) {
			b := make([]byte, 64)
			b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x40, 0x10, 7
			binary.LittleEndian.PutUint16(b[2:], cid)
			binary.LittleEndian.PutUint64(b[24:], addr)
			binary.LittleEndian.PutUint32(b[35:], key)
			q.send(0, b)
		}
		for cid := range uint16(30) {
			read(cid, uint64(cid)<<16, 0x100+uint32(cid))
			written(&packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), VA: uint64(cid) << 16, RKey: 0x100 + uint32(cid), DMALen: 1024}, false)
			q.response(cid)
		}
		read(30, 0x1e0000, 0x11e)
		if tt.va == 0x1d0000 {
			read(31, tt.va, 0x21d)
		} else if tt.goesOn {
			read(31, 0x1e1000, 0x11e)
		}
		if strings.HasSuffix(tt.name, "after another was accepted") {
			written(&packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), VA: 0x1e0000, RKey: 0x11e, DMALen: 1024}, false)
		}
		q.now += tt.late
		written(&packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteFirst), VA: tt.va, RKey: tt.key, DMALen: tt.length}, true)
		got := toldReasons(t, q.list)
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
