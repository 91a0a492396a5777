package realtime

import (
	"bytes"
	"encoding/binary"

	"ibwitness/packet"
)

// Ethernet and ARP (RFC 826), as far as they are needed.
const (
	etherSize = 14
	arpSize   = 28
	typeIPv4  = 0x0800
	typeARP   = 0x0806
	typeIPv6  = 0x86DD
	typeRoCE  = 0x8915 // version 1
)

// neighbours are the Ethernet addresses of those who send to a port, and who are asked for theirs by ARP.
type neighbours struct {
	mac   [6]byte
	own   []packet.Addr // of the port: ARP is answered for those of IPv4
	known map[packet.Addr][6]byte
	asked map[packet.Addr]*asked
}

// asked are frames that wait until it is known where they go.
type asked struct {
	since  int64 // nanoseconds since the Unix epoch
	frames [][]byte
}

// Bounds of what is kept of neighbours.
const (
	mostKnown   = 4096
	mostAsked   = 256
	mostWaiting = 64
	askAgain    = 1e9 // nanoseconds after which the frames that wait are dropped, and it is asked again
)

func newNeighbours(mac [6]byte, own []packet.Addr) *neighbours {
	return &neighbours{mac: mac, own: own, known: map[packet.Addr][6]byte{}, asked: map[packet.Addr]*asked{}}
}

// take learns from a frame that arrives. It returns whether the frame is for the adapter, and frames that may leave now.
func (n *neighbours) take(frame []byte) (forAdapter bool, out [][]byte) {
	if len(frame) < etherSize {
		return false, nil
	}
	to, from := [6]byte(frame[:6]), [6]byte(frame[6:12])
	if to != n.mac && to[0]&1 == 0 || from == n.mac {
		return false, nil
	}
	body := frame[etherSize:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case typeARP:
		return false, n.arp(body)
	case typeIPv4:
		if len(body) >= 20 {
			out = n.learn(packet.IPv4Addr(body[12:16]), from)
		}
	case typeIPv6, typeRoCE: // whose GRH is like an IPv6 header
		if len(body) >= 40 {
			out = n.learn(packet.GIDAddr(body[8:24]), from)
		}
	default:
		return false, nil
	}
	return true, out
}

// learn notes the Ethernet address of a neighbour, and returns the frames that have waited for it.
func (n *neighbours) learn(a packet.Addr, mac [6]byte) [][]byte {
	if mac[0]&1 != 0 || a.IsMulticast() || a.IsZero() {
		return nil
	}
	if _, ok := n.known[a]; !ok && len(n.known) >= mostKnown {
		clear(n.known)
	}
	n.known[a] = mac
	w := n.asked[a]
	if w == nil {
		return nil
	}
	delete(n.asked, a)
	for _, f := range w.frames {
		copy(f, mac[:])
	}
	return w.frames
}

// arp takes an ARP packet: it learns who sent it, where it is for the port, and answers a request.
func (n *neighbours) arp(b []byte) [][]byte {
	if len(b) < arpSize || binary.BigEndian.Uint64(b)>>16 != 0x0001_0800_0604 {
		return nil
	}
	from, to := packet.IPv4Addr(b[14:18]), packet.IPv4Addr(b[24:28])
	mine := false
	for _, a := range n.own {
		mine = mine || a == to
	}
	if !mine {
		return nil
	}
	out := n.learn(from, [6]byte(b[8:14]))
	if binary.BigEndian.Uint16(b[6:]) == 1 {
		out = append(out, n.arpPacket(2, [6]byte(b[8:14]), to, from))
	}
	return out
}

// arpPacket makes a request (1) or a reply (2).
func (n *neighbours) arpPacket(op uint16, mac [6]byte, from, to packet.Addr) []byte {
	f := make([]byte, etherSize+arpSize, 60)
	copy(f, mac[:])
	copy(f[6:], n.mac[:])
	binary.BigEndian.PutUint16(f[12:], typeARP)
	b := f[etherSize:]
	copy(b, []byte{0, 1, 8, 0, 6, 4})
	binary.BigEndian.PutUint16(b[6:], op)
	copy(b[8:], n.mac[:])
	binary.BigEndian.PutUint32(b[14:], uint32(from.Lo))
	if op == 2 {
		copy(b[18:], mac[:])
	}
	binary.BigEndian.PutUint32(b[24:], uint32(to.Lo))
	return f[:60] // the shortest frame
}

// send gives a frame of the adapter the Ethernet address that it goes to, and returns the frames that leave: the frame, or a question where its neighbour is.
func (n *neighbours) send(frame []byte, now int64) [][]byte {
	a, ok := destination(frame)
	if !ok || a.IsMulticast() {
		return [][]byte{frame}
	}
	if mac, ok := n.known[a]; ok {
		copy(frame, mac[:])
		return [][]byte{frame}
	}
	w := n.asked[a]
	if w != nil && now-w.since < askAgain {
		if len(w.frames) < mostWaiting {
			w.frames = append(w.frames, bytes.Clone(frame)) // the adapter still looks at its own
		}
		return nil
	}
	if w == nil && len(n.asked) >= mostAsked {
		clear(n.asked)
	}
	n.asked[a] = &asked{now, [][]byte{bytes.Clone(frame)}}
	for _, own := range n.own {
		if own.IsIPv4() && a.IsIPv4() {
			return [][]byte{n.arpPacket(1, [6]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, own, a)}
		}
	}
	return nil
}

// destination is the network address that a frame goes to.
func destination(frame []byte) (packet.Addr, bool) {
	if len(frame) < etherSize+40 {
		return packet.Addr{}, false
	}
	switch body := frame[etherSize:]; binary.BigEndian.Uint16(frame[12:]) {
	case typeIPv4:
		return packet.IPv4Addr(body[16:20]), true
	case typeIPv6, typeRoCE:
		return packet.GIDAddr(body[24:40]), true
	}
	return packet.Addr{}, false
}
