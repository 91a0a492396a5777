package upper

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"

	"ibwitness/packet"
)

// talk is messages between two ends, of a connection of which nothing is known.
type talk struct {
	testing.TB
	t   *Tracker
	psn packet.PSN
	now int64
}

// send sends a message that is whole.
func (k *talk) send(from int, b []byte) {
	k.take(&Message{From: from, Whole: true, Head: b, Length: len(b)})
}

// take does as the transport agent does.
func (k *talk) take(m *Message) {
	k.psn++
	k.now++
	m.PSN, m.Time, m.Frame = k.psn, k.now*1000, uint64(k.now)
	if k.t == nil {
		p, fit := Recognize(m)
		if fit == NoFit {
			return
		}
		k.t = NewTracker(p, false)
	}
	k.t.Message(m)
}

// is compares what is known of the connection.
func (k *talk) is(protocol string, n Counts) {
	k.Helper()
	if k.t == nil || !k.t.Recognized() {
		k.Fatalf("not recognized as %s", protocol)
	}
	if k.t.Protocol() != protocol || k.t.Counts() != n {
		k.Errorf("%s %+v, and it is %s %+v", k.t.Protocol(), k.t.Counts(), protocol, n)
	}
}

// oldest compares the command that has been open for longest.
func (k *talk) oldest(want string) {
	k.Helper()
	if got := k.name(k.t.Oldest()); got != want {
		k.Errorf("the oldest is %q, and it should be %q", got, want)
	}
	// All that have ended began after the first.
	if c := k.t.Oldest(); c != nil && c.order == 1 && k.t.EndedAfter(c) != k.t.Counts().Ended {
		k.Errorf("%d have ended that began after it, of %+v", k.t.EndedAfter(c), k.t.Counts())
	}
}

// failed compares the newest command that has failed, and how.
func (k *talk) failed(want, status string) {
	k.Helper()
	c := k.t.Failure()
	if got := k.name(c); got != want || c != nil && k.t.Status(c) != status {
		k.Errorf("%q has failed, and it should be %q: %q", got, want, status)
	}
}

// owns compares the command that memory is of.
func (k *talk) owns(addr uint64, rkey, length uint32, want string) {
	k.Helper()
	if got := k.name(k.t.Owner(addr, rkey, length)); got != want {
		k.Errorf("0x%x, key 0x%x, length %d is of %q, and it should be of %q", addr, rkey, length, got, want)
	}
}

func (k *talk) name(c *Command) string {
	if c == nil {
		return ""
	}
	return k.t.Describe(c)
}

// bytesOf joins numbers in network byte order, and bytes.
func bytesOf(order binary.AppendByteOrder, parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case uint8:
			b = append(b, p)
		case uint16:
			b = order.AppendUint16(b, p)
		case uint32:
			b = order.AppendUint32(b, p)
		case uint64:
			b = order.AppendUint64(b, p)
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		default:
			panic(fmt.Sprintf("bytesOf takes no %T", p))
		}
	}
	return b
}

// padded is b with as many zeros as it takes to have n bytes.
func padded(b []byte, n int) []byte { return append(b, make([]byte, n-len(b))...) }

// TestNothingIsRecognized: payloads as test programs send them are of no protocol.
func TestNothingIsRecognized(t *testing.T) {
	fill := func(n int, at func(i int) byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = at(i)
		}
		return b
	}
	seed := uint32(1)
	for name, at := range map[string]func(i int) byte{
		"zeros":  func(int) byte { return 0 },
		"ones":   func(int) byte { return 0xFF },
		"counts": func(i int) byte { return byte(i) },
		"words":  func(i int) byte { return byte(i / 4 >> (8 * (i % 4))) },
		"text":   func(i int) byte { return "abcdefghijklmnopqrstuvwxyz"[i%26] },
		"0x10":   func(i int) byte { return byte(0x10 * packet.Bit(i%4 == 0)) },
		"0x40":   func(i int) byte { return byte(0x40 * packet.Bit(i%2 == 1)) },
		"one":    func(i int) byte { return packet.Bit(i%4 == 3) },
		"little": func(i int) byte { return packet.Bit(i%4 == 0) },
		"random": func(int) byte { seed = seed*1664525 + 1013904223; return byte(seed >> 24) },
	} {
		for n := range 4200 {
			m := Message{Whole: true, Head: fill(n, at), Length: n}
			if p, fit := Recognize(&m); fit != NoFit {
				t.Errorf("%d bytes of %s are %s", n, name, p.Name())
				break
			}
		}
	}
}

// TestRepeated: a message that is retransmitted is taken once.
func TestRepeated(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeRead(1, 1, 0x1000, 0x77, 512))
	k.send(0, nvmeRead(2, 1, 0x2000, 0x78, 512))
	k.send(1, nvmeResponse(1, 0))
	again := nvmeRead(1, 1, 0x1000, 0x77, 512)
	k.t.Message(&Message{Whole: true, Head: again, Length: len(again), PSN: 1})
	k.is("NVMe over RDMA", Counts{Begun: 2, Ended: 1, Open: 1})
	k.oldest("NVMe Read, command id 2, namespace 1")
}

// TestTurn: the ends of a connection may be exchanged.
func TestTurn(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeRead(1, 1, 0x1000, 0x77, 512))
	k.t.Turn()
	k.send(1, nvmeRead(2, 1, 0x1000, 0x77, 512))
	k.send(0, nvmeResponse(1, 0))
	k.is("NVMe over RDMA", Counts{Begun: 2, Ended: 1, Open: 1})
}

// TestMostCommands: what is followed is bounded, what is given up is counted, and nothing is allocated once there is room.
func TestMostCommands(t *testing.T) {
	k := &talk{TB: t}
	for i := range 2 * MostCommands {
		k.send(0, nvmeRead(uint16(i), 1, uint64(i)<<12, uint32(i), 4096))
	}
	k.is("NVMe over RDMA", Counts{Begun: 2 * MostCommands, GivenUp: MostCommands, Open: MostCommands})
	k.oldest(fmt.Sprintf("NVMe Read, command id %d, namespace 1", MostCommands))
	if len(k.t.commands) > MostCommands || len(k.t.places) > mostRanges {
		t.Errorf("%d commands and %d places are kept", len(k.t.commands), len(k.t.places))
	}
	k.owns(1<<12, 1, 16, "")
	k.owns((MostCommands+1)<<12, MostCommands+1, 16, fmt.Sprintf("NVMe Read, command id %d, namespace 1", MostCommands+1))
	read, response := nvmeRead(7, 1, 7<<12, 7, 4096), nvmeResponse(7, 0)
	var m Message
	if n := testing.AllocsPerRun(1000, func() {
		m = Message{From: 0, Whole: true, Head: read, Length: len(read), PSN: m.PSN + 1}
		k.t.Message(&m)
		m = Message{From: 1, Whole: true, Head: response, Length: len(response), PSN: m.PSN + 1}
		k.t.Message(&m)
	}); n != 0 {
		t.Errorf("%v allocations for a command", n)
	}
}

// TestRefuted: a connection that goes on with something else is not of the protocol.
func TestRefuted(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeRead(1, 1, 0x1000, 0x77, 512))
	k.send(0, nvmeRead(2, 1, 0x2000, 0x78, 512))
	for i := range mostMisfits {
		if k.t.Refuted() {
			t.Fatalf("refuted after %d messages", i)
		}
		k.send(0, make([]byte, 100))
	}
	if !k.t.Refuted() {
		t.Error("not refuted")
	}
}

// TestByPort: communication management names the protocol; a message must agree.
func TestByPort(t *testing.T) {
	for port, want := range map[uint16]string{4420: "NVMe over RDMA", 20049: "RPC over RDMA", 5445: "SMB Direct", 3260: "iSER", 18634: "RDS", 18635: "RDS"} {
		if p := ByPort(port); p == nil || p.Name() != want {
			t.Errorf("port %d: %v", port, p)
		}
	}
	if p := ByPort(18515); p != nil {
		t.Errorf("port 18515: %s", p.Name())
	}
	k := &talk{TB: t, t: NewTracker(ByPort(4420), true)}
	k.send(0, make([]byte, 64))
	if k.t.Recognized() {
		t.Error("recognized by its port only")
	}
	k.send(0, nvmeRead(1, 1, 0x1000, 0x77, 512))
	k.is("NVMe over RDMA", Counts{Begun: 1, Open: 1})
}

// TestKinds: protocols that a SEND may be of find nothing in a WRITE, whatever comes with it, and the others nothing in a SEND: so neither are asked.
func TestKinds(t *testing.T) {
	heads := [][]byte{
		nvmeRead(1, 1, 0x1000, 0x77, 512),
		rpcCallOf(1, programNFS, 3, 6, nil, nil),
		smbdMessage(0, smb2ReadOf(1, 0x2000, 0x21, 4096)),
		iserMessage(iserRead, 0, 0, 0x77, 0x7000, scsi(scsiRead, 0, 0x10, 0x28)...),
		rdsMessage(2, 0, 300, 4000, 5000, 2, 300),
	}
	if len(heads) != len(ofSends) {
		t.Fatalf("%d protocols", len(ofSends))
	}
	for i, p := range protocols {
		for k, b := range heads {
			for _, kind := range []Kind{Send, Write, WriteImm} {
				m := &Message{Kind: kind, Whole: true, Head: b, Length: len(b), DMALen: 4096, Imm: bits.ReverseBytes32(4096)}
				want := kind == Send && i == k || kind == WriteImm && i >= len(ofSends)
				if fit := p.Fit(m); (fit > NoFit) != want {
					t.Errorf("%s: kind %d of %x: %d", p.Name(), kind, b, fit)
				}
				if best, _ := Recognize(m); want && best != p {
					t.Errorf("%s: kind %d: recognized as %v", p.Name(), kind, best)
				}
			}
		}
	}
}
