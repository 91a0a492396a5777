package upper

import (
	"encoding/binary"
	"testing"
)

// le is the byte order of NVMe and SMB.
var le = binary.LittleEndian

// nvmeCommand is a command capsule with a keyed descriptor.
func nvmeCommand(opcode uint8, cid uint16, nsid uint32, addr uint64, key, length uint32) []byte {
	return padded(bytesOf(le, opcode, uint8(0x40), cid, nsid, uint64(0), uint64(0), addr, uint8(length), uint16(length>>8), key, uint8(0x40)), 64)
}

func nvmeRead(cid uint16, nsid uint32, addr uint64, key, length uint32) []byte {
	b := nvmeCommand(0x02, cid, nsid, addr, key, length)
	le.PutUint32(b[40:], 0x12345678)
	le.PutUint16(b[48:], uint16(length/512-1))
	return b
}

// nvmeConnect is a Connect to a queue, with its data of 1024 bytes in the capsule.
func nvmeConnect(cid, queue uint16) []byte {
	b := padded(bytesOf(le, uint8(fabrics), uint8(0x40), cid, uint8(1)), 64)
	le.PutUint32(b[32:], 1024)
	b[39] = 0x01
	le.PutUint16(b[42:], queue)
	return padded(b, 64+1024)
}

func nvmeResponse(cid, status uint16) []byte {
	return bytesOf(le, uint64(0), uint16(1), uint16(1), cid, status<<1)
}

func TestNVMe(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeConnect(0, 1))
	k.send(1, nvmeResponse(0, 0))
	k.send(0, nvmeRead(17, 1, 0x7f0000001000, 0x1234, 8192))
	k.is("NVMe over RDMA", Counts{Begun: 2, Ended: 1, Open: 1})
	k.oldest("NVMe Read, command id 17, namespace 1")
	k.owns(0x7f0000001000, 0x1234, 8192, "NVMe Read, command id 17, namespace 1")
	k.owns(0x7f0000002000, 0x1234, 4096, "NVMe Read, command id 17, namespace 1")
	k.owns(0x7f0000002000, 0x1234, 4097, "")
	k.owns(0x7f0000002000, 0x1235, 1, "")
	k.owns(0x7f0000000fff, 0x1234, 1, "")
	k.send(0, nvmeCommand(0x01, 18, 1, 0x7f0000001000, 0x1334, 4096))
	k.send(1, nvmeResponse(17, 0x281))
	k.failed("NVMe Read, command id 17, namespace 1", "Unrecovered Read Error")
	k.oldest("NVMe Write, command id 18, namespace 1")
	k.send(1, nvmeResponse(99, 0)) // of nothing that is known
	k.send(1, nvmeResponse(18, 0x7FF))
	k.failed("NVMe Write, command id 18, namespace 1", "status code type 7, status code 0xff")
	k.oldest("")
	k.is("NVMe over RDMA", Counts{Begun: 3, Ended: 3, Failed: 2})
	// A command of the same ID has begun: how the one before it ended was not seen.
	k.send(0, nvmeRead(17, 1, 0x1000, 0x1434, 512))
	k.send(0, nvmeRead(17, 2, 0x1000, 0x1534, 512))
	k.oldest("NVMe Read, command id 17, namespace 2")
}

// TestNVMeBlocks: of a command of an I/O queue that names blocks it is told which; not of others, nor of an address that is not kept.
func TestNVMeBlocks(t *testing.T) {
	large := nvmeRead(3, 1, 0x1000, 0x1234, 4096)
	le.PutUint32(large[44:], 1)
	one := nvmeRead(4, 1, 0x1000, 0x1234, 512)
	for want, b := range map[string][]byte{
		"16 blocks from LBA 305419896 on": nvmeRead(1, 1, 0x1000, 0x1234, 8192),
		"1 block, LBA 305419896":          one,
		"":                                large,
	} {
		d := &nvmeDecoder{queue: queueIO}
		first, blocks := blocksOf(b)
		c := &Command{Code: uint32(b[0]) | queueIO<<8 | blocks<<16, Arg: 1 | first<<32}
		if got := d.Blocks(c); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		if c.Code &^= 0xFF00; (&nvmeDecoder{queue: queueAdmin}).Blocks(c) != "" {
			t.Errorf("%s: of an admin queue", want)
		}
	}
	if first, blocks := blocksOf(nvmeConnect(1, 1)); first != 0 || blocks != 0 {
		t.Errorf("Connect: %d %d", first, blocks)
	}
}

// TestKeepAlives: Keep Alives without a descriptor, which have no data, are commands of an admin queue; messages like them with anything else in them are not.
func TestKeepAlives(t *testing.T) {
	alive := func(cid uint16) []byte {
		return padded(bytesOf(le, uint8(keepAlive), uint8(0x40), cid), 64)
	}
	k := &talk{TB: t}
	for cid := range uint16(5) {
		k.send(0, alive(cid))
		k.send(1, nvmeResponse(cid, 0))
	}
	k.send(0, alive(5))
	k.oldest("NVMe Keep Alive, command id 5")
	for name, change := range map[string]func(b []byte){
		"a namespace":    func(b []byte) { b[4] = 1 },
		"a length":       func(b []byte) { b[32] = 1 },
		"an address":     func(b []byte) { b[24] = 1 },
		"another opcode": func(b []byte) { b[0] = 0 },
		"a Write":        func(b []byte) { b[0] = 1 },
		"something else": func(b []byte) { b[50] = 1 },
	} {
		b := alive(1)
		change(b)
		if p, fit := Recognize(&Message{Whole: true, Head: b, Length: len(b)}); fit != NoFit {
			t.Errorf("%s: %s", name, p.Name())
		}
	}
	if p, fit := Recognize(&Message{Whole: true, Head: append(alive(1), 0), Length: 65}); fit != NoFit {
		t.Errorf("a longer one: %s", p.Name())
	}
}

// TestNVMeAdmin: the kind of queue says what an opcode means, and an Asynchronous Event Request waits for an event.
func TestNVMeAdmin(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeCommand(0x02, 3, 0, 0x1000, 1, 4096))
	k.send(0, nvmeCommand(0x02, 4, allNSIDs, 0x1000, 1, 4096))
	k.oldest("NVMe command 0x02 (Read, or Get Log Page of an admin queue), command id 3")
	k.send(0, nvmeCommand(0x06, 5, 0, 0x1000, 1, 4096))
	k.send(0, nvmeCommand(asyncEvnt, 6, 0, 0, 0, 0))
	k.oldest("NVMe Get Log Page, command id 3")
	for cid := range uint16(3) {
		k.send(1, nvmeResponse(3+cid, 0))
	}
	k.oldest("")
	k.is("NVMe over RDMA", Counts{Begun: 4, Ended: 3})
	k.send(0, padded(bytesOf(le, uint8(fabrics), uint8(0x40), uint16(9), uint8(4), make([]byte, 34), uint8(0x40)), 64))
	k.oldest("NVMe Property Get, command id 9")
}

// TestNVMeQueueOf: a Read whose blocks are as many bytes as its descriptor names, or a Write, is of an I/O queue, whatever the Connect of the queue says; a log page is not.
func TestNVMeQueueOf(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeConnect(1, 0))
	k.send(1, nvmeResponse(1, 0))
	b := nvmeCommand(0x02, 3, allNSIDs, 0x1000, 1, 4096)
	le.PutUint32(b[40:], 1023<<16|2)
	k.send(0, b)
	k.oldest("NVMe Get Log Page, command id 3")
	k.send(1, nvmeResponse(3, 0))
	k.send(0, nvmeRead(17, 2, 0x1000, 1, 4096))
	k.oldest("NVMe Read, command id 17, namespace 2")
}

// TestNVMeLogPage: Get Log Page is told from Read by the length that it asks for.
func TestNVMeLogPage(t *testing.T) {
	k := &talk{TB: t}
	b := nvmeCommand(0x02, 3, allNSIDs, 0x1000, 1, 4096)
	le.PutUint32(b[40:], 1023<<16|2)
	k.send(0, b)
	k.oldest("NVMe Get Log Page, command id 3")
}

// TestNVMeStrict: a capsule whose descriptor or length is another is none.
func TestNVMeStrict(t *testing.T) {
	for name, change := range map[string]func(b []byte) []byte{
		"PRPs":          func(b []byte) []byte { b[1] = 0; return b },
		"descriptor":    func(b []byte) []byte { b[39] = 0x50; return b },
		"longer":        func(b []byte) []byte { return append(b, 0) },
		"shorter":       func(b []byte) []byte { return b[:63] },
		"both of these": func(b []byte) []byte { b[9], b[16] = 1, 1; return b },
		"opcode":        func(b []byte) []byte { b[0] = 0x33; return b },
	} {
		b := change(nvmeRead(1, 1, 0x1000, 1, 512))
		if p, fit := Recognize(&Message{Whole: true, Head: b, Length: len(b)}); fit != NoFit {
			t.Errorf("%s: %s", name, p.Name())
		}
	}
}

func FuzzNVMe(f *testing.F) {
	fuzz(f, nvme{}, nvmeConnect(0, 1), nvmeRead(1, 1, 4096, 7, 512), nvmeResponse(1, 6))
}

// fuzz has messages decoded that are anything, after some that are right: what is counted stays consistent, and what is kept is bounded.
func fuzz(f *testing.F, p Protocol, right ...[]byte) {
	for i, b := range right {
		f.Add(uint8(i), b, true, uint64(1), uint32(2), uint32(3))
		f.Add(uint8(i), b[:len(b)/2], false, uint64(1), uint32(2), uint32(3))
	}
	f.Fuzz(func(t *testing.T, how uint8, b []byte, whole bool, addr uint64, key, length uint32) {
		k := NewTracker(p, true)
		k.Message(&Message{Whole: true, Head: right[0], Length: len(right[0]), PSN: 1})
		for i := range 3 {
			m := Message{From: int(how+uint8(i)) & 1, Whole: whole, Head: b, Length: len(b), PSN: 2}
			m.PSN = m.PSN.Add(i)
			if how&6 != 0 {
				m.Kind, m.VA, m.RKey, m.DMALen, m.Imm = Kind(how>>1&3)%3, addr, key, length, length
			}
			Recognize(&m)
			k.Message(&m)
		}
		for i := range k.commands {
			c := &k.commands[i]
			k.Describe(c)
			k.Status(c)
		}
		n := k.Counts()
		if n.Ended > n.Begun || n.Failed > n.Ended || uint64(n.Open) > n.Begun-n.Ended || len(k.commands) > MostCommands || len(k.places) > mostRanges {
			t.Errorf("%+v, %d commands, %d places", n, len(k.commands), len(k.places))
		}
		k.Oldest()
		k.Failure()
		k.Owner(addr, key, length)
	})
}
