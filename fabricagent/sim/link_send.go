package sim

import (
	"encoding/binary"

	"ibwitness/link"
)

// header returns the header of a frame of the port, with room for what follows.
func (p *linkPort) header(k link.Kind) []byte {
	return link.AppendHeader(make([]byte, 0, link.HeaderSize+8), k, link.Mark{Link: p.link.opt.Number, Symbol: p.link.opt.Symbol, Port: p.index})
}

// bad returns the header of a frame that ends with the bad-packet delimiter.
func (p *linkPort) bad(k link.Kind) []byte {
	return link.AppendHeader(make([]byte, 0, link.HeaderSize+8), k, link.Mark{Link: p.link.opt.Number, Symbol: p.link.opt.Symbol, Port: p.index, Bad: true})
}

// leave puts a frame on the link.
func (p *linkPort) leave(frame []byte) {
	if p.show {
		p.show = false
		if p.Strayed != nil {
			p.Strayed(frame)
		}
	}
	p.send(frame)
}

// start has the port send what it may send next, if it sends nothing: flow control packets first, then those of VL 15, then the data lanes in turn.
func (p *linkPort) start() {
	if p.sending || p.state == portDown || p.hand != nil {
		return
	}
	if vl, ok := p.owed(); ok {
		p.transmit(p.flowControl(vl))
		return
	}
	if !p.manage.empty() && !p.held() {
		data := p.taken(&p.manage)
		if p.breaks("management-on-lane-0") {
			onLane(data, 0)
		}
		p.transmit(append(p.header(link.Data), data...))
		return
	}
	if vl, ok := p.nextLane(); ok {
		p.sendData(uint8(vl), p.taken(&p.lanes[vl].queue))
	}
}

// held reports whether the port holds back the packets of VL 15: a faulty one does, without credits on a data lane.
func (p *linkPort) held() bool {
	l := &p.lanes[0]
	return p.Fault == "management-held" && (!l.may || p.link.ahead(l.credit, l.sent) == 0)
}

// taken takes the next packet of a queue.
func (p *linkPort) taken(q *packets) []byte {
	if p.waiting--; p.waiting == mostWaiting-1 && p.again != nil {
		p.link.clock.After(0, p.again)
	}
	return q.pop()
}

// owed returns a lane of which the port is to tell.
func (p *linkPort) owed() (int, bool) {
	for vl := range p.link.opt.Lanes {
		if l := &p.lanes[vl]; l.due && l.hush <= p.link.clock.now {
			return vl, true
		}
	}
	return 0, false
}

// maySend is the sender's right to transmit (7.9.4).
func (p *linkPort) maySend(l *linkLane) bool {
	if p.state != portActive || !l.may {
		return false
	}
	words := int(binary.BigEndian.Uint16(l.queue.first()[4:]) & 0x7FF)
	left := p.link.ahead(l.credit, l.sent+uint16(p.link.blocks(words)))
	return left <= link.Window && (left > 0 || !p.breaks("credits-short"))
}

// sendData sends a packet of a data lane.
func (p *linkPort) sendData(vl uint8, data []byte) {
	words := int(binary.BigEndian.Uint16(data[4:]) & 0x7FF)
	if p.long != nil && &data[0] == &p.long[0] {
		p.long, p.show = nil, true
	}
	data = p.spoil(data)
	if to := data[0] >> 4; to == vl || p.fault != nil && p.fault.told {
		p.lanes[to].sent += uint16(p.link.blocks(words))
	}
	p.transmit(append(p.header(link.Data), data...))
}

// transmit has a frame leave when its last symbol has, and goes on then.
func (p *linkPort) transmit(frame []byte) {
	p.sending = true
	if kind, _, _ := link.DecodeHeader(frame); kind == link.Data {
		p.current = frame
	}
	epoch := p.epoch
	p.link.clock.After(p.link.time(len(frame)-link.HeaderSize), func() {
		p.sending, p.current = false, nil
		if p.epoch == epoch {
			p.leave(frame)
		}
		p.start()
	})
}

// flowControl is the flow control packet of a lane.
func (p *linkPort) flowControl(vl int) []byte {
	l := &p.lanes[vl]
	l.due, l.told, l.fccl = false, p.link.clock.now, p.offer(l)
	f := link.FlowControl{FCTBS: l.sent & (link.Modulus - 1), VL: uint8(vl), FCCL: l.fccl}
	if p.state == portInitialize {
		f.Op = link.Init
	}
	raw := p.spoilFlow(l, &f)
	b := f.Append(p.header(link.Packet))
	if raw != nil {
		b = raw(b)
	}
	return b
}
