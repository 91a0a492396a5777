package verifier_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// ether is what the line says of the Ethernet frame of a packet; ok is whether one is seen.
type ether struct {
	to, from net.HardwareAddr
	tagged   bool
	priority uint64
}

func (s *scenario) ether(src, dst end, f *fields) (e ether, ok bool, err error) {
	e = ether{from: macOf(src.host), to: macOf(dst.host)}
	e.priority, e.tagged = f.number("pcp")
	w, given := f.word("mac")
	if given {
		e.to, err = net.ParseMAC(w)
	}
	return e, given || e.tagged || s.speed > 0, err
}

// macOf is the MAC address of a host.
func macOf(h host) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, byte(h.n)} }

// frame puts the Ethernet header before an IP packet.
func (e *ether) frame(b []byte) []byte {
	h := slices.Concat(e.to, e.from)
	if e.tagged {
		h = append(h, 0x81, 0x00, byte(e.priority<<5), 0x05)
	}
	if b[0]>>4 == 6 {
		return append(append(h, 0x86, 0xDD), b...)
	}
	return append(append(h, 0x08, 0x00), b...)
}

// pause reads a line with a pause frame.
func (s *scenario) pause(src end, f *fields, seen *packet.Packet) error {
	from := macOf(src.host)
	if w, ok := f.word("from"); ok {
		m, err := net.ParseMAC(w)
		if err != nil {
			return err
		}
		from = m
	}
	quanta, _ := f.number("quanta")
	prio, some := f.number("prio")
	f.tap(seen)
	if len(f.names) > 0 {
		return fmt.Errorf("no field %v of a pause frame", f.names)
	}
	b := append([]byte{0x01, 0x80, 0xC2, 0, 0, 1}, from...)
	b = append(b, 0x88, 0x08)
	if some {
		b = append(b, 0x01, 0x01, 0, 1<<prio)
		for i := range uint64(8) {
			b = append(b, byte(quanta>>8), byte(quanta))
			if i != prio {
				b[len(b)-2], b[len(b)-1] = 0xFF, 0xFF // of no class that is enabled
			}
		}
	} else {
		b = append(b, 0, 1, byte(quanta>>8), byte(quanta))
	}
	return s.frame(fabricagent.LinkEthernet, append(b, make([]byte, 60-len(b))...), 60, seen)
}

// refuse is the ICMP message by which a router tells the sender of a packet that it is too big. quote is how much of it is quoted.
func refuse(b []byte, mtu uint32, quote uint64) []byte {
	if quote == 0 {
		quote = 100
	}
	v6 := b[0]>>4 == 6
	m := []byte{3, 4, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}
	if v6 {
		m = []byte{2, 0, 0, 0, byte(mtu >> 24), byte(mtu >> 16), byte(mtu >> 8), byte(mtu)}
	}
	m = append(m, b[:min(int(quote), len(b))]...)
	if v6 {
		h := make([]byte, 40)
		h[0], h[6], h[7] = 0x60, 58, 64
		binary.BigEndian.PutUint16(h[4:], uint16(len(m)))
		h[8], h[23] = 0xFD, 0xFE
		copy(h[24:], b[8:24])
		binary.BigEndian.PutUint16(m[2:], checksum(h[8:40], []byte{0, 58, byte(len(m) >> 8), byte(len(m))}, m))
		return append(h, m...)
	}
	binary.BigEndian.PutUint16(m[2:], checksum(m))
	h := []byte{0x45, 0, 0, 0, 0, 1, 0, 0, 64, 1, 0, 0, 10, 0, 0, 254}
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(m)))
	return append(append(h, b[12:16]...), m...)
}

// checksum is that of RFC 1071.
func checksum(parts ...[]byte) uint16 {
	sum := uint32(0)
	for _, b := range parts {
		for i, x := range b {
			sum += uint32(x) << (8 * (1 - i&1))
		}
	}
	for sum>>16 != 0 {
		sum = sum>>16 + sum&0xFFFF
	}
	return ^uint16(sum)
}

// frame is feed for a frame with more than the packet in it.
func (s *scenario) frame(link fabricagent.LinkType, frame []byte, wireLen int, p *packet.Packet) error {
	f := &fabricagent.Frame{Time: p.Time, Number: s.frames + 1, Tap: p.Tap, Way: p.Way, Link: link, Len: uint32(wireLen), Data: bytes.Clone(frame)}
	s.agent.Ethernet(f, s.speed)
	s.frames++
	switch out := fabricagent.Decode(f, p); {
	case out == fabricagent.Paused:
	case out.IsRDMA(), out == fabricagent.Refused:
		p.CheckICRC()
		s.agent.Packet(p)
	default:
		return fmt.Errorf("the frame is %v", out)
	}
	for i := range f.Data {
		f.Data[i] = 0xEE
	}
	return nil
}
