package incident_test

import (
	"testing"
	"time"

	"ibwitness/packet"
)

// TestRefusedNext: of a WRITE that is refused it is told what had been sent after it, which its responder did not take, and that it is the answer to the command; not where nothing had been.
func TestRefusedNext(t *testing.T) {
	const (
		next = "after: a SEND with Invalidate, PSN 0x00001f, in frame 124, had been sent after it: it was not delivered, and is flushed (WR_FLUSH_ERR); it is the answer to NVMe Read, command id 30, namespace 1, which did not complete at 10.0.0.1; no other was open on the connection"
		more = "after: 2 requests had been sent after it, the first a SEND with Invalidate, PSN 0x00001f, in frame 124: none was delivered, and all are flushed (WR_FLUSH_ERR); it is the answer to NVMe Read, command id 30, namespace 1"
	)
	refused := func(answers int) string {
		q := new(queue)
		for cid := range uint16(30) {
			q.command(nvmeRead, cid)
			q.response(cid)
		}
		b := make([]byte, 64)
		b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x4F, 0x10, 7
		b[2], b[29], b[35] = 30, 0x1e, 0x77
		q.send(0, b)
		at := q.psn[1]
		q.write(1, q.now, &packet.Packet{Opcode: packet.Op(packet.RC, packet.WriteOnly), PSN: at, VA: 0x1e0000000000, RKey: 0x77, DMALen: 1024, Payload: make([]byte, 1024)})
		for n := range answers {
			done := make([]byte, 16)
			done[12] = byte(30 + n)
			q.psn[1]++
			q.write(1, q.now+time.Duration(n+1)*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnlyInv), PSN: q.psn[1], AckReq: true, InvRKey: 0x77, Payload: done})
		}
		q.write(0, q.now+5*time.Microsecond, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: at, Syndrome: packet.NAKRemoteAccess, MSN: uint32(at)})
		return toldReasons(t, q.list)
	}
	contains(t, "its answer", refused(1), []string{"refused an RDMA WRITE", next}, nil)
	contains(t, "and another", refused(2), []string{"refused an RDMA WRITE", more}, nil)
	contains(t, "nothing", refused(0), []string{"refused an RDMA WRITE"}, []string{"after: "})
}
