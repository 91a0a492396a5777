package conform

import (
	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet/sma"
)

// spoiled sends a request on a directed route of one hop up to some times, after a change of its bytes.
func (m *manager) spoiled(n int, s mad.SMP, change func(b []byte)) *exchange {
	m.tid++
	s.TID, s.MKey = m.tid, m.key
	d, err := ibsim.Directed(s, 1)
	m.r.can(err)
	change(d.MAD[:])
	return m.repeat(n, d)
}

// repeat sends a request, which has the newest transaction ID, up to some times.
func (m *manager) repeat(n int, d ibsim.Datagram) *exchange {
	x := &exchange{tries: n}
	for range n {
		x.sent = m.send(d)
		if m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) }) {
			break
		}
	}
	return x
}

// service makes a request to an agent of general services, with a new transaction ID. data are the bytes from byte 64 on.
func (m *manager) service(h mad.Header, data []byte) ibsim.Datagram {
	m.tid++
	h.TID = m.tid
	d := ibsim.Datagram{SLID: testerLID, DLID: uint16(m.lid()), SrcQP: gsiQP, DestQP: gsiQP}
	m.r.can(h.Encode(d.MAD[:]))
	copy(d.MAD[mad.PerformanceData:], data)
	return d
}

// performance is the header of a request of performance management.
func performance(method mad.Method, a mad.Attribute) mad.Header {
	return mad.Header{BaseVersion: 1, Class: mad.ClassPerformance, ClassVersion: 1, Method: method, Attribute: a}
}

// perform asks the agent of performance management.
func (m *manager) perform(method mad.Method, a mad.Attribute, data []byte) *exchange {
	return m.repeat(madTries, m.service(performance(method, a), data))
}

// offer has a packet with a MAD, which has the newest transaction ID, come to the device once, by LIDs, and waits as long as for an answer. change is what is done to the
// packet before its lengths and checksums are made, spoil after that; each may be nil.
func (m *manager) offer(d ibsim.Datagram, change, spoil func(p *packet.Packet)) *exchange {
	p := &packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(d.SLID), Dst: packet.LIDAddr(d.DLID), SL: d.SL, PKey: 0xFFFF,
		SrcQP: d.SrcQP, DestQP: d.DestQP, PSN: m.psn[m.from], Payload: append([]byte(nil), d.MAD[:]...), Time: m.r.now(),
	}
	if p.VL = smpLane; p.DestQP == gsiQP {
		p.QKey, p.VL = gsiQKey, m.from.Node.VL(0, m.from.Port, d.SL)
	}
	if change != nil {
		change(p)
	}
	p.Complete()
	right := p.VCRC
	if spoil != nil {
		spoil(p)
	}
	m.seen(p, m.from, m.at)
	x := &exchange{sent: p, tries: 1}
	at, ok := m.fabric.Offer(m.from, &sma.Arrival{
		MAD: p.Payload, SrcQP: p.SrcQP, DestQP: p.DestQP, QKey: p.QKey, PKey: p.PKey, VL: p.VL, GRH: p.Has&packet.HasGRH != 0, Immediate: p.Has&packet.HasImmDt != 0,
		Damaged: p.VCRC != right,
	})
	if ok {
		if d.SrcQP, d.DestQP = p.SrcQP, p.DestQP; d.DestQP == gsiQP {
			d.PKey = p.PKey
		}
		clear(d.MAD[:])
		copy(d.MAD[:], p.Payload)
		m.replies(at, d)
	}
	m.r.until(m.r.now()+m.wait, func() bool { return m.takes(x) })
	return x
}

// unlessBusy sends a request, up to some times where the device is busy.
func (r *run) unlessBusy(send func() *exchange) *exchange {
	x := send()
	for try := 1; x.busy() && try < busyTries; try++ {
		r.wait(busyPause)
		x = send()
	}
	return x
}

// smpLane is the virtual lane of subnet management.
const smpLane = 15
