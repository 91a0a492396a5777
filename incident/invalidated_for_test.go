package incident_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestInvalidatedForOther: of a WRITE that is refused as the answer to another command had invalidated the R_Key of its own, which is open, both commands are told, and when; also where the queue pair has invalidated
// many others since. Where the answer to the command itself did, that is told, and nothing of another; nor where no answer did.
func TestInvalidatedForOther(t *testing.T) {
	const (
		mixed = "10.0.0.2 QP 0x20 invalidated the R_Key of an open command with its answer to another one, and then sent an RDMA WRITE of 1,024 bytes with that R_Key: 10.0.0.1 QP 0x1f refused it"
		both  = "R_Key: NVMe Read, command id 2056, namespace 1 of 10.0.0.1, in frame 121, had named memory with R_Key 0x90800, and was open; the RDMA WRITE is within the memory that it had named; the SEND with Invalidate in frame 125, 10µs after it, which answers NVMe Read, command id "
		ids   = "IDs: those of the two commands, 0x808 and 0x908, have the same last 8 bits"
		fits  = "fits: a program on 10.0.0.2 that invalidates the R_Key of another command than the one that it answers"
		own   = "which came with the answer to the command that had named it. The connection is over."
		late  = "may have taken the memory back"
	)
	for _, tt := range []struct {
		name      string
		answered  uint16 // the command that is answered with the invalidation; 0: none is
		many      int    // commands that are served after that
		want, not []string
	}{
		{"another", 0x909, 1, []string{mixed, both + "2313", fits}, []string{own, "IDs: ", late}},
		{"another with the same last bits", 0x908, 1, []string{mixed, both + "2312", ids, fits + ", as where it finds a command by the last bits of its ID"}, []string{own, late}},
		{"long ago", 0x908, 40, []string{mixed, both + "2312", ids}, []string{own, late}},
		{"its own", 0x808, 1, []string{"with an R_Key that it had itself invalidated", own}, []string{mixed, "IDs: ", fits}},
		{"none", 0, 1, []string{"refused an RDMA WRITE"}, []string{mixed, own, "IDs: ", fits, "invalidated the R_Key"}},
	} {
		q := new(queue)
		ack := func(psn packet.PSN, syndrome packet.Syndrome) {
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: syndrome, MSN: uint32(psn) + 1})
			q.now += 5 * time.Microsecond
		}
		key := func(cid uint16) uint32 { return (0x100 + uint32(cid)) << 8 }
		read := func(cid uint16) {
			b := make([]byte, 64)
			b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x40, 0x10, 7
			binary.LittleEndian.PutUint16(b[2:], cid)
			binary.LittleEndian.PutUint64(b[24:], uint64(cid)<<16)
			binary.LittleEndian.PutUint32(b[35:], key(cid))
			q.send(0, b)
		}
		response := func(cid, of uint16) {
			b := make([]byte, 16)
			binary.LittleEndian.PutUint16(b[12:], cid)
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnlyInv), PSN: q.psn[1], AckReq: true, InvRKey: key(of), Payload: b})
			q.psn[1]++
			ack(q.psn[1]-1, packet.CreditInvalid)
		}
		serve := func(cid uint16) {
			read(cid)
			response(cid, cid)
		}
		for cid := range uint16(30) {
			serve(cid)
		}
		read(0x808)
		if tt.answered != 0x808 && tt.answered != 0 {
			read(tt.answered)
		}
		if tt.answered != 0 {
			response(tt.answered, 0x808)
		}
		for n := range uint16(tt.many) {
			serve(100 + n)
		}
		q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: q.psn[1], AckReq: true, VA: 0x808 << 16, RKey: key(0x808), DMALen: 1024, Payload: make([]byte, 1024)})
		q.psn[1]++
		ack(q.psn[1]-1, packet.NAKRemoteAccess)
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
