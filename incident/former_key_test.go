package incident_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestStaleContext: of a WRITE that is refused as it has the R_Key and address of a command which is over, it is told which command its peer had named the same region for since, and which wait; not where
// no command had named that region, nor where several that are open name R_Keys like it.
func TestStaleContext(t *testing.T) {
	const (
		refused = "10.0.0.2 QP 0x20 sent an RDMA WRITE of 1,024 bytes with an R_Key that it had itself invalidated"
		since   = "10.0.0.1 had named the same region (the first 24 bits of the R_Key) with R_Key 0x5007, at 0x2f0000, since: NVMe Read, command id 47, namespace 1, in frame "
		held    = "an earlier command, which is over, had named 0x50000 with R_Key 0x5006"
		stale   = "a stale request context: 10.0.0.2, which served NVMe Read, command id 47, namespace 1 with the address and R_Key of an earlier one, which was over"
		some    = "a stale request context: 10.0.0.2, which served a command with the address"
		flushed = "it is the answer to NVMe Read, command id 47, namespace 1, which did not complete at 10.0.0.1"
		waiting = "open: 3 commands had no answer when the connection was over: NVMe Read, command id 47, namespace 1, in frame 157 (its answer, in frame 164, was not delivered); NVMe Read, command id 48, namespace 1, in frame "
		looks   = "how its software fills in the address and R_Key of a command"
		order   = "in which order the program on 10.0.0.2 posts"
	)
	for _, tt := range []struct {
		name      string
		newer     uint32 // R_Key of command 47
		answers   uint32 // R_Key that the SEND with Invalidate after the WRITE names
		beside    uint32 // R_Key of command 48
		want, not []string
	}{
		{"stale", 0x5007, 0x5007, 0x3000, []string{refused, since, held, stale, flushed, waiting, looks}, []string{order, "once more since"}},
		{"the answer to another", 0x5007, 0x3000, 0x3000, []string{refused, since, some, looks}, []string{stale, flushed, order}},
		{"no newer R_Key", 0x6007, 0x6007, 0x3000, []string{refused, order}, []string{"stale request", "had named the same region"}},
		{"several like it", 0x5007, 0x5007, 0x5008, []string{refused, order}, []string{"stale request", "had named the same region"}},
	} {
		q := new(queue)
		ack := func(syndrome packet.Syndrome, psn packet.PSN) {
			q.write(0, q.now+2*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: syndrome, MSN: uint32(psn) + 1})
			q.now += 5 * time.Microsecond
		}
		written := func(cid uint16, key uint32) packet.PSN {
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: q.psn[1], AckReq: true, VA: uint64(cid) << 16, RKey: key, DMALen: 1024, Payload: make([]byte, 1024)})
			q.psn[1]++
			return q.psn[1] - 1
		}
		read := func(cid uint16, key uint32) {
			b := make([]byte, 64)
			b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x40, 0x10, 7
			binary.LittleEndian.PutUint16(b[2:], cid)
			binary.LittleEndian.PutUint64(b[24:], uint64(cid)<<16)
			binary.LittleEndian.PutUint32(b[35:], key)
			q.send(0, b)
		}
		response := func(cid uint16, key uint32) packet.PSN {
			b := make([]byte, 16)
			binary.LittleEndian.PutUint16(b[12:], cid)
			q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnlyInv), PSN: q.psn[1], AckReq: true, InvRKey: key, Payload: b})
			q.psn[1]++
			return q.psn[1] - 1
		}
		serve := func(cid uint16, key uint32) {
			read(cid, key)
			ack(packet.CreditInvalid, written(cid, key))
			ack(packet.CreditInvalid, response(cid, key))
		}
		for cid := range uint16(5) {
			serve(cid, 0x100*uint32(cid+1))
		}
		serve(5, 0x5006)
		for cid := range uint16(20) {
			serve(cid+6, 0x100*uint32(cid+6))
		}
		read(47, tt.newer)
		read(48, tt.beside)
		read(49, 0x4100)
		bad := written(5, 0x5006)
		response(47, tt.answers)
		ack(packet.NAKRemoteAccess, bad)
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
