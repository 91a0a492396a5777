package incident_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestCompletedTwice: it is told apart whether a command was served twice, or answered before its data were written. Of a WRITE that is refused as its requester had invalidated the R_Key when it answered the command that had named it, that is told, though its peer has sent more commands since; that the peer may have
// named the R_Key once more fits where no command is known to have named it; and nothing of it is told where a later command has named it, or where another R_Key was invalidated.
func TestCompletedTwice(t *testing.T) {
	const (
		said    = "10.0.0.2 QP 0x20 sent an RDMA WRITE of 1,024 bytes with an R_Key that it had itself invalidated"
		twice   = "R_Key: a SEND with Invalidate of this queue pair named R_Key 0x11e00 in frame 125: it is not valid any more (RC-INV-001); that was the R_Key of NVMe Read, command id 30, namespace 1, which had its answer; no later command"
		serves  = "fits: 10.0.0.2, which served a command once more that it had answered\nnext: on 10.0.0.2, not on 10.0.0.1: why its software used the memory of NVMe Read, command id 30"
		first   = "had its answer; no later command in the capture names these bytes with it; no request had used it for that command"
		order   = "fits: 10.0.0.2, which answered the command, and so invalidated the R_Key, before it had written the data\nnext: on 10.0.0.2, not on 10.0.0.1: in which order its software writes the data of a command"
		command = "command: NVMe Read, command id 30, namespace 1, in frame 121, had named memory with this R_Key"
		either  = "fits: a requester that goes on with an R_Key which it has itself had invalidated; or memory that 10.0.0.1 has registered with the same R_Key once more"
	)
	for _, tt := range []struct {
		name        string
		invalidated uint32
		again       bool // a later command names it once more
		nvme        bool
		want, not   []string
	}{
		{"completed twice", 0x11e00, false, true, []string{said, twice, serves, command}, []string{"deregistered", "command id 31"}},
		{"named once more", 0x11e00, true, true, []string{"10.0.0.1 QP 0x1f refused an RDMA WRITE"}, []string{said, "served a command once more"}},
		{"another was invalidated", 0x11d00, false, true, []string{"10.0.0.1 QP 0x1f refused an RDMA WRITE", command}, []string{said, "served a command once more", "command id 31"}},
		{"another protocol", 0x11e00, false, false, []string{said, either, "it is not valid any more, unless 10.0.0.1 has named it once more since"}, []string{"served a command once more", "RC-INV-001"}},
		{"another protocol, and accepted since", 0x11e00, true, false, []string{"10.0.0.1 QP 0x1f refused an RDMA WRITE"}, []string{said}},
		{"answered first", 0x11e00, false, true, []string{said, first, order, command}, []string{"served a command once more"}},
	} {
		q := new(queue)
		written := func(cid uint16, syndrome packet.Syndrome) {
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: q.psn[1], AckReq: true, VA: uint64(cid) << 16, RKey: (0x100 + uint32(cid)) << 8, DMALen: 1024, Payload: make([]byte, 1024)})
			q.psn[1]++
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[1] - 1, Syndrome: syndrome, MSN: uint32(q.psn[1])})
			q.now += 5 * time.Microsecond
		}
		read := func(cid, of uint16) {
			b := make([]byte, 64)
			if tt.nvme {
				b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x40, 0x10, 7
				binary.LittleEndian.PutUint16(b[2:], cid)
				binary.LittleEndian.PutUint64(b[24:], uint64(of)<<16)
				binary.LittleEndian.PutUint32(b[35:], (0x100+uint32(of))<<8)
			}
			q.send(0, b)
		}
		response := func(cid uint16, key uint32) {
			b := make([]byte, 16)
			binary.LittleEndian.PutUint16(b[12:], cid)
			if key == 0 {
				q.send(1, b)
				return
			}
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnlyInv), PSN: q.psn[1], AckReq: true, InvRKey: key, Payload: b})
			q.psn[1]++
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: q.psn[1] - 1, Syndrome: packet.CreditInvalid, MSN: uint32(q.psn[1])})
			q.now += 5 * time.Microsecond
		}
		for cid := range uint16(30) {
			read(cid, cid)
			response(cid, 0)
		}
		read(30, 30)
		if tt.name != "answered first" {
			written(30, packet.CreditInvalid)
		}
		response(30, tt.invalidated)
		if read(31, 31); tt.again {
			if read(32, 30); !tt.nvme {
				written(30, packet.CreditInvalid)
			}
		}
		written(30, packet.NAKRemoteAccess)
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
