package incident_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestKeyOfFormer: of a WRITE that is refused as its R_Key was invalidated it is told that its address is that of a command
// which was open then, and which R_Key it should have had, also where the answer to that command comes before the NAK; not where the answer is that of the command whose R_Key it has, and
// where no command named its address, it is not said that it was served once more.
func TestKeyOfFormer(t *testing.T) {
	const (
		used    = "10.0.0.2 QP 0x20 sent an RDMA WRITE of 1,024 bytes with an R_Key that it had itself invalidated"
		mixed   = used + ", and not the one that the open command gave for its address: 10.0.0.1 QP 0x1f refused it (NAK Remote Access Error)."
		gave    = "R_Key: NVMe Read, command id 31, namespace 1 of 10.0.0.1, in frame 183, "
		key     = " before the NAK, gave R_Key 0x11f00 for 4,096 bytes at 0x1f0000; the request is within that, with R_Key 0x11d00"
		former  = "former: NVMe Read, command id 29, namespace 1, in frame 175, which is over, had given R_Key 0x11d00 for 4,096 bytes at 0x1d0000; "
		over    = "a SEND with Invalidate of this queue pair named it in frame 179: it is not valid any more (RC-INV-001)"
		fits    = "fits: 10.0.0.2, which mixed up the R_Keys of two commands, as with a stale request context; 10.0.0.1 was right to refuse it\nnext: on 10.0.0.2, not on 10.0.0.1: how its software reads and keeps the R_Key that NVMe Read, command id 31, namespace 1 gives (its keyed SGL)"
		flushed = "it is the answer to NVMe Read, command id 31, namespace 1, which did not complete at 10.0.0.1"
		twice   = "served a command once more"
		other   = "that was the R_Key of NVMe Read, command id 29, namespace 1, which had its answer, for 4,096 bytes at 0x1d0000: this address is not in that"
		keeps   = "fits: 10.0.0.2, which used the R_Key that it keeps of a command which was over, for other memory"
	)
	for _, tt := range []struct {
		name      string
		addr      uint64 // of the refused WRITE
		key       uint32
		answered  uint16 // the command that is answered after it; 0: none is
		late      time.Duration
		want, not []string
	}{
		{"answered before the NAK", 0x1f0000, 0x11d00, 31, 0, []string{mixed, gave, key, former, over, fits, flushed}, []string{twice, "late: ", "had named memory with this R_Key"}},
		{"not answered", 0x1f0000, 0x11d00, 0, 0, []string{mixed, gave, key, former, over, fits}, []string{twice, flushed}},
		{"the R_Key of long ago", 0x1f0000, 0x11d00, 31, time.Second, []string{mixed, fits}, []string{twice, "late: "}},
		{"of another that is open", 0x1f0000, 0x11e00, 30, 0, []string{"10.0.0.1 QP 0x1f refused an RDMA WRITE"}, []string{used, twice, "another R_Key than", "mixed up"}},
		{"an address that none named", 0x990000, 0x11d00, 31, time.Second, []string{used + ", with a SEND with Invalidate", other, keeps}, []string{twice, "late: ", "mixed up"}},
	} {
		q := new(queue)
		written := func(addr uint64, key uint32) packet.PSN {
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: q.psn[1], AckReq: true, VA: addr, RKey: key, DMALen: 1024, Payload: make([]byte, 1024)})
			q.psn[1]++
			return q.psn[1] - 1
		}
		ack := func(psn packet.PSN, syndrome packet.Syndrome) {
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: syndrome, MSN: uint32(psn) + 1})
			q.now += 5 * time.Microsecond
		}
		read := func(cid uint16) {
			b := make([]byte, 64)
			b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x40, 0x10, 7
			binary.LittleEndian.PutUint16(b[2:], cid)
			binary.LittleEndian.PutUint64(b[24:], uint64(cid)<<16)
			binary.LittleEndian.PutUint32(b[35:], (0x100+uint32(cid))<<8)
			q.send(0, b)
		}
		response := func(cid uint16) packet.PSN {
			b := make([]byte, 16)
			binary.LittleEndian.PutUint16(b[12:], cid)
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnlyInv), PSN: q.psn[1], AckReq: true, InvRKey: (0x100 + uint32(cid)) << 8, Payload: b})
			q.psn[1]++
			return q.psn[1] - 1
		}
		for cid := range uint16(30) {
			read(cid)
			ack(written(uint64(cid)<<16, (0x100+uint32(cid))<<8), packet.CreditInvalid)
			ack(response(cid), packet.CreditInvalid)
		}
		read(30)
		q.now += tt.late
		read(31)
		bad := written(tt.addr, tt.key)
		if tt.answered != 0 {
			response(tt.answered)
		}
		ack(bad, packet.NAKRemoteAccess)
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
