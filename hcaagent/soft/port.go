package soft

import (
	"ibwitness/packet"
)

// port is what frames leave by: one after the other, the queue pairs in turn.
type port struct {
	queue   fifo[*queuePair] // that wait
	cnps    fifo[*notifier]
	free    int64 // when it is
	ticking bool
	tick    func()
	p       packet.Packet
	ipID    uint16
	dst     packet.Addr // of the last frame
	dstMAC  [6]byte
	room    []byte // for the next frames
}

// wake has the queue pair wait for the port if it has anything to send.
func (q *queuePair) wake() {
	if q.waiting || !q.sendable() {
		return
	}
	q.waiting = true
	q.h.port.queue.push(q)
	q.h.start()
}

func (q *queuePair) sendable() bool { return q.responseReady() || q.requestReady() }

// start has the port take the next queue pair as soon as it is free.
func (h *HCA) start() {
	if h.port.ticking || h.port.queue.empty() && h.port.cnps.empty() || h.opt.Room != nil && !h.opt.Room() {
		return
	}
	h.port.ticking = true
	h.opt.Clock.After(max(0, h.port.free-h.now()), h.port.tick)
}

// tick lets the next queue pair send one packet, responses first. CNPs go before.
func (h *HCA) tick() {
	h.port.ticking = false
	if !h.port.cnps.empty() {
		h.sendCNP(h.port.cnps.pop())
		h.start()
		return
	}
	if h.port.queue.empty() {
		return
	}
	q := h.port.queue.pop()
	q.waiting = false
	if q.responseReady() {
		q.sendResponse()
	} else if q.requestReady() {
		q.sendRequest()
	}
	q.wake()
	h.start()
}

// packet returns a packet of a queue pair for its peer, with nothing in it but the addresses.
func (q *queuePair) packet(f packet.Fn) *packet.Packet {
	p := &q.h.port.p
	*p = packet.Packet{Opcode: packet.Op(q.service, f), SrcPort: q.srcPort, PKey: q.attr.PKey}
	p.Dst, p.DestQP, p.TClass, p.HopLmt = q.attr.DestAddr, q.attr.DestQPN, q.attr.TClass, q.attr.HopLimit
	p.MigReq, p.SL = q.attr.MigState == 0, q.attr.SL
	q.h.from(p, q.gid, q.attr.GRH, q.attr.DestGID, q.attr.FlowLabel)
	return p
}

// transmit completes a packet and sends it.
func (h *HCA) transmit(p *packet.Packet) {
	h.port.ipID++
	p.IPID = h.port.ipID
	if h.fault.is == nil && p.Encap == packet.Native {
		p.Complete()
		h.emitFrame(p)
		return
	}
	if h.fault.is == nil {
		h.leave(p.CompleteEthernet(h.frame(p), h.opt.MAC, h.mac(p.Dst)))
		return
	}
	p.Complete()
	if h.has("sends-in-init") {
		kept := *p
		h.fault.kept = &kept
	}
	for n := h.spoil(p); n > 0; n-- {
		h.emitFrame(p)
	}
}

// emitFrame sends a packet that is complete.
func (h *HCA) emitFrame(p *packet.Packet) {
	if p.Encap == packet.Native {
		h.leave(p.Append(h.frame(p)))
		return
	}
	to := h.mac(p.Dst)
	if p.Dst.IsMulticast() && h.shows("multicast-to-all") {
		to = [6]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	}
	h.leave(p.AppendEthernet(h.frame(p), h.opt.MAC, to))
}

// roomSize is how much room for frames is made at once.
const roomSize = 32 << 10

// mostHeaders is room for all headers, pad and ICRC.
const mostHeaders = 128

// frame returns room for the frame of a packet.
func (h *HCA) frame(p *packet.Packet) []byte {
	size := mostHeaders + len(p.Payload)
	if h.opt.Frame != nil {
		if room := h.opt.Frame(size); room != nil {
			return room
		}
	}
	if size > len(h.port.room) {
		if size > roomSize/8 {
			return make([]byte, 0, size)
		}
		h.port.room = make([]byte, roomSize)
	}
	return h.port.room[:0:size]
}

// leave sends a frame.
func (h *HCA) leave(frame []byte) {
	if r := h.port.room; len(r) >= len(frame) && &r[0] == &frame[0] {
		h.port.room = r[len(frame):]
		frame = frame[:len(frame):len(frame)]
	}
	h.port.free = max(h.port.free, h.now()) + h.opt.Limits.PacketTime + int64(len(frame))*1000/h.opt.Limits.ByteRate
	h.count.Sent++
	if h.fault.show {
		h.fault.show = false
		if h.opt.Strayed != nil {
			h.opt.Strayed()
		}
	}
	h.opt.Send(frame)
	h.loop(frame)
}

// mac is the Ethernet address for an IP address.
func (h *HCA) mac(a packet.Addr) [6]byte {
	if h.port.dst != a {
		h.port.dst, h.port.dstMAC = a, mac(a)
	}
	return h.port.dstMAC
}

// mac is the Ethernet address for an IP address: there is no neighbour discovery here.
func mac(a packet.Addr) [6]byte {
	b := a.Bytes()
	if a.IsMulticast() {
		if a.IsIPv4() {
			return [6]byte{0x01, 0x00, 0x5E, b[13] & 0x7F, b[14], b[15]}
		}
		return [6]byte{0x33, 0x33, b[12], b[13], b[14], b[15]}
	}
	return [6]byte{0x02, 0x00, b[12], b[13], b[14], b[15]}
}
