package upper

import (
	"encoding/binary"
	"testing"
)

// be is the byte order of RPC, iSCSI and RDS.
var be = binary.BigEndian

// segment is a segment of a chunk.
type segment struct {
	rkey, length uint32
	addr         uint64
}

// rpcMessage is a header with a read chunk, a write chunk and a reply chunk, which may be empty, and what follows it.
func rpcMessage(xid, proc uint32, read, write, reply []segment, rest ...any) []byte {
	b := bytesOf(be, xid, uint32(1), uint32(32), proc)
	for _, s := range read {
		b = append(b, bytesOf(be, uint32(1), uint32(148), s.rkey, s.length, s.addr)...)
	}
	b = append(b, 0, 0, 0, 0)
	chunk := func(list []segment) {
		if len(list) == 0 {
			return
		}
		b = append(b, bytesOf(be, uint32(1), uint32(len(list)))...)
		for _, s := range list {
			b = append(b, bytesOf(be, s.rkey, s.length, s.addr)...)
		}
	}
	chunk(write)
	b = append(b, 0, 0, 0, 0)
	if chunk(reply); len(reply) == 0 {
		b = append(b, 0, 0, 0, 0)
	}
	return append(b, bytesOf(be, rest...)...)
}

// rpcCallOf is a call with AUTH_SYS.
func rpcCallOf(xid, program, version, procedure uint32, read, write []segment, args ...any) []byte {
	return rpcMessage(xid, procMsg, read, write, nil, append([]any{xid, uint32(rpcCall), uint32(2), program, version, procedure, uint32(1), uint32(8), uint64(0), uint64(0)}, args...)...)
}

// rpcReplyOf is a reply that was accepted with a status, and a result.
func rpcReplyOf(xid, accepted uint32, result ...any) []byte {
	return rpcMessage(xid, procMsg, nil, nil, nil, append([]any{xid, uint32(rpcReply), uint32(0), uint64(0), accepted}, result...)...)
}

func TestNFS3(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, rpcCallOf(0xAB01, programNFS, 3, 7, []segment{{0x11, 4096, 0x1000}, {0x12, 100, 0x9000}}, nil))
	k.is("RPC over RDMA", Counts{Begun: 1, Open: 1})
	k.oldest("NFS version 3 WRITE, XID 0x0000ab01")
	k.owns(0x9000, 0x12, 100, "NFS version 3 WRITE, XID 0x0000ab01")
	k.send(0, rpcCallOf(0xAB02, programNFS, 3, 6, nil, []segment{{0x21, 4096, 0x2000}, {0x22, 4096, 0x3000}}))
	k.owns(0x3000, 0x22, 4096, "NFS version 3 READ, XID 0x0000ab02")
	k.send(1, rpcReplyOf(0xAB02, 0, uint32(70)))
	k.failed("NFS version 3 READ, XID 0x0000ab02", "NFSERR_STALE")
	k.owns(0x3000, 0x22, 4096, "NFS version 3 READ, XID 0x0000ab02")
	k.send(1, rpcMessage(0xAB01, procError, nil, nil, nil)[:16])
	k.failed("NFS version 3 WRITE, XID 0x0000ab01", "RDMA_ERROR 0")
	k.is("RPC over RDMA", Counts{Begun: 2, Ended: 2, Failed: 2})
	k.send(0, rpcCallOf(0xAB03, programACL, 3, 1, nil, nil))
	k.oldest("NFS ACL version 3 procedure 1, XID 0x0000ab03")
	k.send(1, rpcReplyOf(0xAB03, 3))
	k.failed("NFS ACL version 3 procedure 1, XID 0x0000ab03", "PROC_UNAVAIL")
	k.send(1, rpcReplyOf(0xAB03, 3))
	k.is("RPC over RDMA", Counts{Begun: 3, Ended: 3, Failed: 3})
}

func TestNFS4(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, rpcCallOf(0x7701, programNFS, 4, 1, nil, []segment{{5, 65536, 1 << 40}}, uint32(0), uint32(2), uint32(4),
		uint32(opSequence), make([]byte, 32), uint32(opPutfh), uint32(5), make([]byte, 8), uint32(25), uint32(9)))
	k.oldest("NFS version 4 COMPOUND (SEQUENCE, PUTFH, READ), XID 0x00007701")
	k.owns(1<<40+4096, 5, 4096, "NFS version 4 COMPOUND (SEQUENCE, PUTFH, READ), XID 0x00007701")
	// The server calls back on the same connection.
	k.send(1, rpcCallOf(0x7701, callbacks, 1, 1, nil, nil))
	k.is("RPC over RDMA", Counts{Begun: 2, Open: 2})
	k.send(0, rpcReplyOf(0x7701, 0))
	k.send(1, rpcReplyOf(0x7701, 0, uint32(0)))
	k.is("RPC over RDMA", Counts{Begun: 2, Ended: 2})
	// A call that is too long for a SEND is read, and a reply that is too long is written into the reply chunk.
	k.send(0, rpcMessage(0x7702, procNoMsg, []segment{{8, 5000, 0x5000}}, nil, []segment{{9, 8000, 0x8000}}))
	k.oldest("RPC call of which the header is in a chunk, XID 0x00007702")
	k.owns(0x8000, 9, 10, "RPC call of which the header is in a chunk, XID 0x00007702")
	k.send(1, rpcMessage(0x7702, procNoMsg, nil, nil, []segment{{9, 6000, 0x8000}}))
	k.is("RPC over RDMA", Counts{Begun: 3, Ended: 3})
	// What may be encrypted is not read.
	b := rpcMessage(0x7703, procMsg, nil, nil, nil, uint32(0x7703), uint32(rpcCall), uint32(2), uint32(programNFS), uint32(4), uint32(1), uint32(flavorGSS), uint32(0), uint64(0), uint64(1<<32))
	k.send(0, b)
	k.oldest("NFS version 4 COMPOUND, XID 0x00007703")
	k.send(1, rpcReplyOf(0x7703, 0, uint32(70)))
	k.is("RPC over RDMA", Counts{Begun: 4, Ended: 4})
}

// TestRPCStrict: a header that contradicts itself is none, and a message that is cut is taken as far as it goes.
func TestRPCStrict(t *testing.T) {
	whole := rpcCallOf(0xAB01, programNFS, 3, 7, []segment{{0x11, 4096, 0x1000}}, nil)
	for name, change := range map[string]func(b []byte){
		"version":     func(b []byte) { b[7] = 2 },
		"credits":     func(b []byte) { clear(b[8:12]) },
		"procedure":   func(b []byte) { b[15] = 5 },
		"list":        func(b []byte) { b[19] = 2 },
		"XID":         func(b []byte) { b[len(b)-56] ^= 1 },
		"RPC version": func(b []byte) { b[len(b)-45] = 3 },
		"program":     func(b []byte) { b[len(b)-41] ^= 0xFF },
	} {
		b := append([]byte(nil), whole...)
		if change(b); true {
			if p, fit := Recognize(&Message{Whole: true, Head: b, Length: len(b)}); fit != NoFit {
				t.Errorf("%s: %s", name, p.Name())
			}
		}
	}
	for n := range whole {
		k := NewTracker(rpc{}, true)
		k.Message(&Message{Whole: true, Head: whole, Length: len(whole), PSN: 1})
		k.Message(&Message{Head: whole[:n], Length: n, PSN: 2})
	}
}

func FuzzRPC(f *testing.F) {
	fuzz(f, rpc{}, rpcCallOf(0x7701, programNFS, 4, 1, []segment{{5, 65536, 1 << 40}}, nil, uint32(0), uint32(2), uint32(2), uint32(opSequence), make([]byte, 32), uint32(25)),
		rpcReplyOf(0x7701, 0, uint32(70)), rpcMessage(0x7701, procNoMsg, nil, nil, []segment{{1, 2, 3}}))
}

// TestReplyInChunk: a message that is all in chunks and names none to be read is a reply, also where its call was not seen.
func TestReplyInChunk(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, rpcCallOf(0x7701, programNFS, 3, 7, nil, nil))
	k.send(1, rpcReplyOf(0x7701, 0, uint32(0)))
	k.send(1, rpcMessage(0x7702, procNoMsg, nil, nil, []segment{{9, 6000, 0x8000}}))
	k.is("RPC over RDMA", Counts{Begun: 1, Ended: 1})
	k.send(1, rpcMessage(0x7703, procNoMsg, []segment{{8, 5000, 0x5000}}, nil, []segment{{9, 6000, 0x8000}}))
	k.is("RPC over RDMA", Counts{Begun: 2, Ended: 1, Open: 1})
}

// TestCutRPC: where the snap length cut the headers of messages no command is followed; where it cut what comes after them, they are.
func TestCutRPC(t *testing.T) {
	call := func(xid uint32) []byte {
		return rpcCallOf(xid, programNFS, 3, 7, []segment{{0x11, 4096, 0x1000}}, nil, make([]byte, 64))
	}
	for _, tt := range []struct{ captured, open int }{{40, 0}, {60, 0}, {72, 0}, {90, 1}, {len(call(2)) - 8, 1}} {
		k := &talk{TB: t}
		b := call(1)
		k.send(0, b)
		k.send(1, rpcReplyOf(1, 0, uint32(0)))
		k.take(&Message{Whole: true, Head: call(2)[:tt.captured], Length: len(b)})
		if got := k.t.Counts().Open; got != tt.open || (k.t.Oldest() != nil) != (tt.open > 0) {
			t.Errorf("%d bytes: %d open", tt.captured, got)
		}
		if k.send(0, call(3)); k.t.Counts().Open != 2*tt.open {
			t.Errorf("%d bytes, then a whole call: %d open", tt.captured, k.t.Counts().Open)
		}
	}
}
