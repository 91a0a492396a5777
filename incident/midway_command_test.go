package incident_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// words joins numbers of 32 bits in a byte order.
func words(order binary.AppendByteOrder, list ...uint32) (b []byte) {
	for _, w := range list {
		b = order.AppendUint32(b, w)
	}
	return b
}

// upperMessages makes the command of an ID, and its answer, of a protocol above the transport.
type upperMessages struct{ command, answer func(id uint32) []byte }

// nvmeMessages are Reads, changed by a function.
func nvmeMessages(change func(b []byte)) upperMessages {
	return upperMessages{func(id uint32) []byte {
		b := make([]byte, 64)
		b[0], b[1], b[4], b[39], b[33], b[48] = nvmeRead, 0x40, 1, 0x40, 0x10, 7
		binary.LittleEndian.PutUint16(b[2:], uint16(id))
		change(b)
		return b
	}, func(id uint32) []byte {
		b := make([]byte, 16)
		binary.LittleEndian.PutUint16(b[12:], uint16(id))
		return b
	}}
}

// nfsMessages are GETATTRs of NFS version 3.
var nfsMessages = upperMessages{
	func(id uint32) []byte {
		return words(binary.BigEndian, id, 1, 32, 0, 0, 0, 0, id, 0, 2, 100003, 3, 1, 1, 0, 0, 0, 8, 0x01000600, 7)
	},
	func(id uint32) []byte {
		return words(binary.BigEndian, id, 1, 32, 0, 0, 0, 0, id, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4)
	},
}

// smbMessages are READs of SMB2.
var smbMessages = upperMessages{
	func(id uint32) []byte { return smbMessage(id, 0, 49) },
	func(id uint32) []byte { return smbMessage(id, 1, 17) },
}

func smbMessage(id, flags, size uint32) []byte {
	b := words(binary.LittleEndian, 10|10<<16, 0, 0, 24, 64+size, 0)
	b = append(b, words(binary.LittleEndian, 0x424D53FE, 64, 0, 8|1<<16, flags, 0, id, 0, 0, 1, 9, 0, 0, 0, 0, 0)...)
	return append(b, make([]byte, size)...)
}

// iserMessages are SCSI READ(10)s of iSER.
var iserMessages = upperMessages{
	func(id uint32) []byte {
		return append(words(binary.BigEndian, 0x14000000, 0, 0, 0, 0x77, 0, 0x1000), words(binary.BigEndian, 0x01C00000, 0, 0, 0, id, 4096, id, id, 0x28000000, 0, 0x00000800, 0)...)
	},
	func(id uint32) []byte {
		return append(words(binary.BigEndian, 0x10000000, 0, 0, 0, 0, 0, 0), words(binary.BigEndian, 0x21800000, 0, 0, 0, id, 0, id, id, id+32, 0, 0, 0)...)
	},
}

// midConnection is commands from number 5000 on, every 5 ms, of a connection that began long before: the answers to four of before come
// first. The server takes 150 µs for each, and for three of them another time;
// 0: it does not answer them.
func midConnection(m upperMessages, other time.Duration) []fabricagent.Frame {
	type message struct {
		at   time.Duration
		from int
		b    []byte
	}
	var list []message
	for i := range uint32(4) {
		list = append(list, message{time.Duration(i) * 50 * time.Microsecond, 1, m.answer(4990 + i)})
	}
	for i := range uint32(300) {
		id, at, took := 5000+i, time.Duration(i+1)*5*time.Millisecond, 150*time.Microsecond
		if i >= 60 && i < 63 {
			took = other
		}
		if list = append(list, message{at, 0, m.command(id)}); took > 0 {
			list = append(list, message{at + took, 1, m.answer(id)})
		}
	}
	slices.SortStableFunc(list, func(a, b message) int { return int(a.at - b.at) })
	q := &queue{psn: [2]packet.PSN{0x7A3F10, 0xFFFF80}}
	for _, x := range list {
		q.now = max(q.now, x.at)
		q.send(x.from, x.b)
	}
	return q.list
}

// TestMidConnection: slow commands, and such that hang, are told of a connection that began before the capture, of each protocol; also
// where the snap length leaves what names a command and not its descriptor, or
// this uses fields that most do not. Messages that are like commands and are not answered by their IDs are of no protocol.
func TestMidConnection(t *testing.T) {
	nothing := func([]byte) {}
	for _, k := range []struct {
		name, of string
		m        upperMessages
		snap     int
	}{
		{"NVMe", "NVMe Read, command id 5060, namespace 1", nvmeMessages(nothing), 0},
		{"NVMe with metadata", "NVMe Read, command id 5060, namespace 1", nvmeMessages(func(b []byte) { b[16] = 8 }), 0},
		{"NVMe, invalidated", "NVMe Read, command id 5060, namespace 1", nvmeMessages(func(b []byte) { b[39] = 0x4F }), 0},
		{"NVMe, cut", "NVMe command 0x02 (Read, or Get Log Page of an admin queue), command id 5060, namespace 1", nvmeMessages(nothing), 80},
		{"NFS", "NFS version 3 GETATTR, XID 0x000013c4", nfsMessages, 0},
		{"SMB", "SMB2 READ, message id 5060", smbMessages, 0},
		{"iSER", "SCSI READ(10), initiator task tag 0x000013c4, LUN 0", iserMessages, 0},
	} {
		for d, want := range map[time.Duration]string{
			1200 * time.Millisecond: "10.0.0.2 QP 0x20 took 1.2s to answer " + k.of + " of 10.0.0.1 QP 0x1f",
			0:                       "10.0.0.2 QP 0x20 has not answered " + k.of + " of 10.0.0.1 QP 0x1f",
			150 * time.Microsecond:  "",
		} {
			list := midConnection(k.m, d)
			if k.snap > 0 {
				list = snapped(list, k.snap)
			}
			if got := happened(t, list, agent.Options{Timing: true}); want == "" && strings.Contains(got, "command") || !strings.Contains(got, want) {
				t.Errorf("%s, %v: %s", k.name, d, got)
			}
		}
	}
	like := nvmeMessages(func(b []byte) { b[16] = 8 })
	like.answer = func(id uint32) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(id)<<8) }
	if got := happened(t, midConnection(like, 0), agent.Options{Timing: true}); strings.Contains(got, "command") {
		t.Errorf("no protocol: %s", got)
	}
}
