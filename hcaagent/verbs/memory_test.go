package verbs

import (
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// newMemory is memory of which freed counts the bytes that were given back.
func newMemory(freed *int) *memory {
	return &memory{
		regions:  map[key]*region{},
		allocate: func(n uint64) ([]byte, error) { return make([]byte, n), nil },
		free:     func(b []byte) { *freed += len(b) },
	}
}

// register makes a region as RegisterMR does.
func register(t *testing.T, m *memory, pd wqe.PD, va, n uint64, key uint32, a wqe.Access) *region {
	t.Helper()
	b, err := m.take(va, n)
	if err != nil {
		t.Fatal(err)
	}
	r := &region{buf: b, base: va - b.va, Region: wqe.Region{PD: pd, VA: va, Length: n, LKey: key, RKey: key + 1, Access: a}}
	m.add(r)
	return r
}

// TestMemory: memory begins on a page as its addresses do, regions over the same addresses share it, and it goes with the last of them.
func TestMemory(t *testing.T) {
	freed := 0
	m := newMemory(&freed)
	big := register(t, m, 1, 0x10010, 0x2000, 0x100, wqe.LocalWrite)
	if big.buf.va != 0x10000 || len(big.buf.bytes) != 0x3000 || big.base != 0x10 {
		t.Errorf("%#x, %#x bytes, %#x", big.buf.va, len(big.buf.bytes), big.base)
	}
	small := register(t, m, 2, 0x11000, 16, 0x200, 0)
	if small.buf != big.buf {
		t.Error("they do not share the memory")
	}
	for _, x := range [][2]uint64{{0xFFFF, 2}, {0x12FFF, 2}, {0xF000, 0x10000}, {1 << 40, 1<<32 + 1}, {^uint64(0) - 5, 4}} {
		if _, err := m.take(x[0], x[1]); err == nil {
			t.Errorf("%#x, %#x bytes: memory is found", x[0], x[1])
		}
	}
	open := func(pd wqe.PD, k uint32, local bool, va, n uint64, a wqe.Access) error {
		b, err := m.open(pd, 5, wqe.Memory{Key: wqe.Key{Key: k, Local: local}, VA: va, Length: n}, a)
		if err == nil && uint64(len(b)) != n {
			t.Errorf("%d bytes, not %d", len(b), n)
		}
		if bad := (*hcaagent.AccessError)(nil); err != nil && !errors.As(err, &bad) {
			t.Errorf("%v is no AccessError", err)
		}
		return err
	}
	for want, err := range map[string]error{
		"is not registered":          open(1, 0x100, false, 0x10010, 1, 0),
		"R_Key 0x300":                open(1, 0x300, false, 0x10010, 1, 0),
		"another protection domain":  open(2, 0x100, true, 0x10010, 1, 0),
		"0x1000f, 1 bytes, is not":   open(1, 0x100, true, 0x1000F, 1, 0),
		"0x1200f, 2 bytes, is not":   open(1, 0x100, true, 0x1200F, 2, 0),
		"0x10020, 18446744073709551": open(1, 0x100, true, 0x10020, ^uint64(0)-5, 0),
		"does not permit":            open(1, 0x101, false, 0x10010, 1, wqe.RemoteWrite),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, err := range []error{open(1, 0x100, true, 0x10010, 0x2000, wqe.LocalWrite), open(0, 0x201, false, 0x11000, 16, 0), open(1, 0x100, true, 0x12010, 0, 0)} {
		if err != nil {
			t.Error(err)
		}
	}
	m.remove(big)
	m.leave(big.buf)
	if open(1, 0x100, true, 0x10010, 1, 0) == nil || freed != 0 {
		t.Errorf("a key opens memory that it was taken back from, %d bytes are free", freed)
	}
	m.leave(small.buf)
	if freed != 0x3000 || len(m.buffers) != 0 {
		t.Errorf("%#x bytes are free, %d buffers left", freed, len(m.buffers))
	}
}

// TestWindow: a window opens what it is bound to, its earlier R_Key nothing any more; one of type 2 only to its queue pair.
func TestWindow(t *testing.T) {
	freed := 0
	m := newMemory(&freed)
	r := register(t, m, 1, 0x10010, 0x2000, 0x100, wqe.LocalWrite)
	copy(r.buf.bytes[0x1010:], "data")
	get := func(qpn, k uint32, va uint64) string {
		b, _ := m.open(1, qpn, wqe.Memory{Key: wqe.Key{Key: k}, VA: va, Length: 4}, wqe.RemoteRead)
		return string(b)
	}
	done := cq.Completion{Op: cq.DoneBindMW, QP: wqe.QP{QPN: 5}}
	m.rekey(&done, &request{bind: &wqe.Bind{MW: 7, RKey: 0x501, VA: 0x11010, Length: 100, Access: wqe.RemoteRead}, to: r, window: 1})
	if got := get(9, 0x501, 0x11010); got != "data" {
		t.Errorf("%q", got)
	}
	bind := request{bind: &wqe.Bind{MW: 7, RKey: 0x502, VA: 0x11010, Length: 100, Access: wqe.RemoteRead | wqe.ZeroBased}, to: r, window: 2}
	none := request{bind: &wqe.Bind{MW: 7}}
	for name, end := range map[string]func(){
		"SEND with Invalidate": func() { m.rekey(&cq.Completion{Op: cq.DoneRecv, Flags: cq.WithInv, InvKey: 0x502}, &request{}) },
		"local invalidate":     func() { m.rekey(&cq.Completion{Op: cq.DoneLocalInv}, &request{inv: 0x502}) },
		"bound to nothing":     func() { m.rekey(&done, &none) },
	} {
		m.rekey(&done, &bind)
		if get(5, 0x501, 0x11010) != "" || get(5, 0x502, 0x11010) != "" || get(6, 0x502, 0) != "" || get(5, 0x502, 0) != "data" {
			t.Error("the window opens what it is not bound to")
		}
		if end(); get(5, 0x502, 0) != "" {
			t.Errorf("%s: it opens memory", name)
		}
	}
	m.invalidate(0x101) // that of a region stays
	if b, err := m.open(1, 5, wqe.Memory{Key: wqe.Key{Key: 0x101}, VA: 0x11010, Length: 4}, 0); err != nil || string(b) != "data" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestRequests: a completion takes the oldest request with its ID, and those before it that owe none.
func TestRequests(t *testing.T) {
	q := requests{most: 4}
	for id, signaled := range []bool{true, false, true, false} {
		q.add(request{id: uint64(id), signaled: signaled})
	}
	if _, ok := q.take(1, false, true); ok {
		t.Error("a request that is not signaled has completed")
	}
	if _, ok := q.take(2, false, true); !ok || len(q.list) != 2 { // 0 is signaled: its completion is still to come
		t.Errorf("%+v", q.list)
	}
	if _, ok := q.find(3); !ok {
		t.Error("request 3 is not there")
	}
	if _, ok := q.find(1); ok {
		t.Error("request 1 is there")
	}
	if _, ok := q.take(3, true, true); !ok || len(q.list) != 1 {
		t.Errorf("%+v", q.list)
	}
	for id := range uint64(9) {
		q.add(request{id: 10 + id})
	}
	if len(q.list) != 4 || q.list[0].id != 15 {
		t.Errorf("%+v", q.list)
	}
	if _, ok := q.take(17, true, false); !ok || len(q.list) != 3 {
		t.Errorf("%+v", q.list)
	}
}

// TestContents: what a request has put into memory is summed over its segments.
func TestContents(t *testing.T) {
	freed := 0
	m := newMemory(&freed)
	r := register(t, m, 1, 0x1000, 0x1000, 0x100, wqe.LocalWrite)
	for i := range r.buf.bytes {
		r.buf.bytes[i] = byte(i * 3)
	}
	x := request{segments: []wqe.Segment{{VA: 0x1100, Length: 30, LKey: 0x100}, {}, {VA: 0x1800, Length: 100, LKey: 0x100}}}
	data := append(append([]byte{}, r.buf.bytes[0x100:0x11E]...), r.buf.bytes[0x800:0x864]...)
	for _, c := range []struct {
		op       cq.CompletionOp
		n        uint32
		service  packet.Service
		from, to int
		head     int
	}{
		{cq.DoneRead, 0, packet.RC, 0, 130, 0},
		{cq.DoneFetchAdd, 0, packet.RC, 0, 130, 0},
		{cq.DoneRecv, 50, packet.RC, 0, 50, 0},
		{cq.DoneRecv, 500, packet.UC, 0, 130, 0},
		{cq.DoneRecv, 60, packet.UD, 40, 60, 40},
		{cq.DoneRecv, 20, packet.UD, -1, 0, 0},
		{cq.DoneRecvWriteImm, 50, packet.RC, -1, 0, 0},
		{cq.DoneSend, 0, packet.RC, -1, 0, 0},
	} {
		got := m.contents(cq.Completion{Op: c.op, ByteLen: c.n}, &x, c.service)
		if got.Summed != (c.from >= 0) || len(got.Head) != c.head || got.Summed && got.Sum != crc32.ChecksumIEEE(data[c.from:c.to]) {
			t.Errorf("%v of %d bytes, %v: %+v", c.op, c.n, c.service, got)
		}
	}
	m.remove(r)
	if got := m.contents(cq.Completion{Op: cq.DoneRead}, &x, packet.RC); got.Summed {
		t.Error("memory is summed whose key was taken back")
	}
}
