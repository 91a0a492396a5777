package conform

import (
	"bytes"
	"encoding/binary"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/link"
	"ibwitness/packet"
)

// The ends of a cable.
const (
	testerEnd = 0
	deviceEnd = 1
)

// cable is a native link between the tester, who plays its port by hand, and a port of the device, with a tap at the device.
type cable struct {
	r       *run
	link    *sim.Link
	hand    *sim.Hand
	port    uint8 // of the device
	tap     uint16
	put     []departing      // what the tap has not seen of the tester
	numbers map[*byte]uint64 // frames of the device that are on their way
	lanes   [link.Lanes]cableLane
	count   int   // lanes that the tester tells of
	every   int64 // nanoseconds after which it does
	holds   bool  // what comes gives no new credits
	silent  bool  // the tester tells of no lane by itself
	beats   int   // the newest beat
	flows   []flowAt
	physics []physicalAt
	datas   []*packet.Packet       // of the device, right or not, that a test has not forgotten
	comes   func(p *packet.Packet) // takes each packet of the device that is right
}

// cableLane is a data lane as the tester sees it.
type cableLane struct {
	sent uint16 // blocks
	abr  uint16
	free uint16 // blocks that the tester offers
}

// departing is what the tester has put on the link; p, where not nil, is the packet that it is.
type departing struct {
	data []byte
	p    *packet.Packet
}

// flowAt is a flow control packet of the device.
type flowAt struct {
	link.FlowControl
	size  int
	at    int64
	frame uint64
	state int // of the port
}

// physicalAt is a physical state of the device (PortPhysicalState) as the tap sees it.
type physicalAt struct {
	state uint8
	frame uint64
}

// shown is what a flow control packet is in the evidence.
func (f *flowAt) shown() *packet.Packet { return &packet.Packet{Frame: f.frame, Time: f.at} }

// cable makes a link to a port of the device, whose end the tester plays. The link is down.
func (r *run) cable(port uint8, o sim.LinkOptions) *cable {
	c := &cable{r: r, port: port, numbers: map[*byte]uint64{}, count: max(o.Lanes, 1)}
	o.Number, o.Seed = uint16(port), r.seed
	var err error
	c.link, err = sim.NewLink(r.clock, o)
	r.can(err)
	c.every = 50_000 * int64(o.Symbol) / 1000
	for vl := range c.lanes {
		c.lanes[vl].free = link.Window
	}
	c.hand = c.link.Hand(testerEnd, c.receives)
	r.can(c.link.TapEnd(c.link.Addr(deviceEnd), "device", c))
	return c
}

// train brings the link up to Initialize, and has the tester tell of its lanes from then on.
func (c *cable) train() {
	c.link.Train()
	c.beats++
	for vl := range c.lanes {
		c.lanes[vl].sent, c.lanes[vl].abr = 0, 0
	}
	c.beat(c.beats)
}

// beat tells of each lane, and does so again in a while.
func (c *cable) beat(number int) {
	if number != c.beats {
		return
	}
	wait := c.every
	switch {
	case c.link.State(testerEnd) < stateInitialize:
		wait = linkTrains
	case !c.silent:
		for vl := range c.count {
			c.tell(vl, nil)
		}
	}
	c.r.clock.After(wait, func() { c.beat(number) })
}

// linkTrains is how soon after the link has trained the tester tells of its lanes at the latest.
const linkTrains = 1000

// stateInitialize is PortState Initialize.
const stateInitialize = 2

// tell sends the flow control packet of a lane; change, where not nil, is what the test makes of it.
func (c *cable) tell(vl int, change func(f *link.FlowControl)) *packet.Packet {
	l := &c.lanes[vl]
	f := link.FlowControl{FCTBS: l.sent & (link.Modulus - 1), VL: uint8(vl), FCCL: (l.abr + l.free) & (link.Modulus - 1)}
	if c.link.State(testerEnd) == stateInitialize {
		f.Op = link.Init
	}
	if change != nil {
		change(&f)
	}
	return c.sends(link.Packet, link.Mark{}, f.Append(nil), new(packet.Packet))
}

// sends puts bytes on the link; p, where not nil, gets the number of their frame.
func (c *cable) sends(k link.Kind, m link.Mark, data []byte, p *packet.Packet) *packet.Packet {
	if vl := data[0] >> 4; k == link.Data && vl < link.Lanes && len(data) > 8 {
		c.lanes[vl].sent += blocksOf(data)
	}
	c.put = append(c.put, departing{data, p})
	c.hand.Put(k, m, data)
	return p
}

// blocksOf is how many blocks a data packet takes.
func blocksOf(data []byte) uint16 {
	return uint16(link.Blocks(int(binary.BigEndian.Uint16(data[4:])&0x7FF) * 4))
}

// Tap and Frame make it a sim.Sink: what the tap at the device sees.

// Tap returns the number of the tap.
func (c *cable) Tap(fabricagent.Tap) (uint16, error) { return c.tap, nil }

// Frame takes a frame of the tap.
func (c *cable) Frame(f *fabricagent.Frame, _ string) {
	seen := *f
	seen.Number, seen.Tap = 0, c.tap
	number := c.r.record(&seen)
	kind, mark, ok := link.DecodeHeader(f.Data)
	data := f.Data[link.HeaderSize:]
	switch {
	case !ok:
	case mark.Port == deviceEnd && kind == link.Physical:
		c.physics = append(c.physics, physicalAt{data[0], number})
	case mark.Port == deviceEnd:
		c.numbers[&data[0]] = number
	default:
		c.r.theirs(number)
		for i, d := range c.put {
			if bytes.Equal(d.data, data) {
				if c.put = c.put[i+1:]; d.p != nil {
					d.p.Frame = number
				}
				break
			}
		}
	}
}

// receives takes what comes to the tester.
func (c *cable) receives(k link.Kind, m link.Mark, data []byte) {
	number := c.numbers[&data[0]]
	delete(c.numbers, &data[0])
	switch k {
	case link.Packet:
		c.flow(data, number)
	case link.Data:
		p := new(packet.Packet)
		if !packet.DecodeInfiniBand(p, data, len(data)) {
			return
		}
		p.Frame, p.Time = number, c.r.now()
		p.CheckVCRC()
		p.CheckICRC()
		if int(p.PktLen)*4+2 != len(data) {
			p.Flaws |= packet.FlawLRHLength
		}
		if m.Bad {
			p.Flaws |= packet.FlawDelimiter
		}
		c.datas = append(c.datas, p)
		if m.Bad || p.VCRCState != packet.CRCGood || p.Flaws&packet.FlawLRHLength != 0 {
			return
		}
		if p.VL < link.Lanes {
			if c.holds {
				c.lanes[p.VL].free -= min(blocksOf(data), c.lanes[p.VL].free)
			}
			c.lanes[p.VL].abr += blocksOf(data)
		}
		if c.comes != nil {
			c.comes(p)
		}
	}
}

// flow takes a flow control packet of the device.
func (c *cable) flow(data []byte, number uint64) {
	f, ok := link.DecodeFlowControl(data)
	c.flows = append(c.flows, flowAt{f, len(data), c.r.now(), number, c.link.State(deviceEnd)})
	if ok && f.Good && f.VL < link.Lanes {
		c.lanes[f.VL].abr = f.FCTBS
	}
}
