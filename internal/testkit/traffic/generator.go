package traffic

import (
	"encoding/binary"
	"io"

	"ibwitness/packet"
)

// Generator makes the packets of a shape one by one: each stream in turn, in an order that is another one each time around, so that
// neighbouring packets belong to different connections.
type Generator struct {
	shape   Shape
	random  random
	ends    []end
	streams []stream
	order   []uint32
	next    int
	bytes   []byte // that payloads are taken from
}

// New returns a generator at the start of the traffic.
func New(s Shape) *Generator {
	g := &Generator{shape: s, random: random(s.Seed), bytes: make([]byte, 64<<10)}
	for i := 0; i < len(g.bytes); i += 8 {
		binary.LittleEndian.PutUint64(g.bytes[i:], g.random.next())
	}
	g.ends = make([]end, 2*s.Connections)
	g.streams = make([]stream, 2*s.Connections)
	g.order = make([]uint32, 2*s.Connections)
	for i := range s.Connections {
		a := i % s.Hosts
		b := (a + 1 + i/s.Hosts%(s.Hosts-1)) % s.Hosts
		for k, host := range [2]int{a, b} {
			g.ends[2*i+k] = end{
				addr: packet.IPv4Addr([]byte{10, 0, uint8(host >> 8), uint8(host)}), mac: [6]byte{2, 0, 0, 0, uint8(host >> 8), uint8(host)},
				qpn: uint32(0x11 + 2*i + k), port: 0xC000 | uint16(g.random.next()), ipid: uint16(g.random.next()),
			}
		}
		for k := range 2 {
			g.streams[2*i+k] = stream{from: &g.ends[2*i+k], to: &g.ends[2*i+1-k], next: packet.PSN(g.random.next() & packet.PSNMask)}
			g.order[2*i+k] = uint32(2*i + k)
		}
	}
	return g
}

// Next makes the next packet, whole but for Time, and tells the Ethernet addresses. Its payload is valid until the next call.
func (g *Generator) Next(p *packet.Packet) (src, dst [6]byte) {
	if g.next == 0 {
		for i := len(g.order) - 1; i > 0; i-- {
			k := g.random.below(i + 1)
			g.order[i], g.order[k] = g.order[k], g.order[i]
		}
	}
	s := &g.streams[g.order[g.next]]
	if g.next++; g.next == len(g.order) {
		g.next = 0
	}
	*p = packet.Packet{Encap: packet.RoCEv2IPv4, PKey: 0xFFFF, MigReq: true}
	from, to := s.step(p, g)
	p.Src, p.Dst, p.SrcPort, p.DestQP, p.IPID = from.addr, to.addr, from.port, to.qpn, from.ipid
	from.ipid++
	p.Complete()
	return from.mac, to.mac
}

// payload is what the packet at a place of a message of n bytes carries.
func (g *Generator) payload(n, place int) []byte {
	n = min(n-place*g.shape.PMTU, g.shape.PMTU)
	at := g.random.below(len(g.bytes) - n)
	return g.bytes[at : at+n]
}

const (
	firstSecond = 1_790_000_000
	interval    = 100 // nanoseconds between two packets
	recordSize  = 16
	headerSize  = 24
	chunk       = 256 << 10
)

// Write writes a capture of n packets to w: pcap with nanosecond times.
func Write(w io.Writer, s Shape, n int) error {
	g := New(s)
	b := header(make([]byte, 0, 2*chunk))
	for i := range n {
		if b = g.record(b, i); len(b) >= chunk {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}

// Capture is a capture of n packets in memory.
func Capture(s Shape, n int) []byte {
	g := New(s)
	b := header(make([]byte, 0, headerSize+n*160))
	for i := range n {
		b = g.record(b, i)
	}
	return b
}

func header(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0xa1b23c4d)
	b = le.AppendUint32(b, 2|4<<16)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, 65535)
	return le.AppendUint32(b, 1)
}

// record appends the record of packet i of the capture, or of more or fewer packets where it is spoiled.
func (g *Generator) record(b []byte, i int) []byte {
	var p packet.Packet
	src, dst := g.Next(&p)
	times := 1
	if g.shape.Faults > 0 && g.random.one(g.shape.Faults) {
		times = g.spoil(&p)
	}
	for range times {
		at := len(b)
		b = begin(b, i, interval)
		b = p.AppendEthernet(b, src, dst)
		finish(b, at)
	}
	return b
}

// begin appends the head of the record of packet i; each comes so many nanoseconds after the one before. Its length is set by finish.
func begin(b []byte, i int, every uint64) []byte {
	ns := uint64(i) * every
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(firstSecond+ns/1e9))
	b = le.AppendUint32(b, uint32(ns%1e9))
	return le.AppendUint64(b, 0)
}

// finish sets the length of the record at the end of b, which begins at an offset.
func finish(b []byte, at int) {
	size := uint32(len(b) - at - recordSize)
	binary.LittleEndian.PutUint32(b[at+8:], size)
	binary.LittleEndian.PutUint32(b[at+12:], size)
}
