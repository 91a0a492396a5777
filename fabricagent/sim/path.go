package sim

import "ibwitness/packet"

// Path is one direction between two ports. It keeps the order of frames, unless its mechanisms break it.
type Path struct {
	Delay int64 // nanoseconds from end to end, half of it to the tap in the middle
	Rate  int64 // bits a second; 0: any number

	// Before makes errors between the sender and the tap in the middle, After between that tap and the receiver.
	Before, After *Mechanism

	fabric   *Fabric
	from, to *port
	free     int64 // when the path has carried what was sent so far
	last     [2]int64
}

// flight is a frame on its way.
type flight struct {
	path  *Path
	frame []byte // nobody changes it
	in    *block // that the frame was sent in; nil: its room is not used again
	other bool   // the frame is not as it was sent
	half  int    // of the path that it is on: 0 or 1
	land  func() // arrive, bound once
}

// framing is what Ethernet adds to a frame without FCS: preamble, FCS and the gap between frames, in bytes.
const framing = 8 + 4 + 12

func newPath(f *Fabric, from, to *port) *Path {
	p := &Path{Delay: f.opt.Delay, Rate: f.opt.Rate, fabric: f, from: from, to: to}
	p.Before = newMechanism(p, 0)
	p.After = newMechanism(p, 1)
	return p
}

// flight returns the flight of a frame.
func (f *Fabric) flight(p *Path, frame []byte, in *block, half int) *flight {
	var x *flight
	if n := len(f.idle); n > 0 {
		x = f.idle[n-1]
		f.idle = f.idle[:n-1]
	} else {
		x = new(flight)
		x.land = x.arrive
	}
	x.path, x.half, x.frame, x.in, x.other = p, half, frame, in, false
	if in != nil {
		in.flights++
	}
	return x
}

func (f *Fabric) done(x *flight) {
	if x.in != nil {
		x.in.flights--
	}
	x.frame, x.in = nil, nil
	f.idle = append(f.idle, x)
}

// enter takes a frame of the sender.
func (p *Path) enter(frame []byte, in *block) {
	p.Before.pass(p.fabric.flight(p, frame, in, 0))
}

// fly brings a frame over its half of the path, delay nanoseconds later than it would be. Where hold is set, what comes after it waits as well.
func (p *Path) fly(x *flight, delay int64, hold bool) {
	now := p.fabric.clock.now
	at := now
	if x.half == 0 {
		if p.Rate > 0 {
			p.free = max(p.free, now) + int64(len(x.frame)+framing)*8*1e9/p.Rate
			at = p.free
		}
		at += p.Delay / 2
	} else {
		at += p.Delay - p.Delay/2
	}
	if delay > 0 && !hold {
		at += delay
	} else {
		at = max(at+delay, p.last[x.half])
		p.last[x.half] = at
	}
	p.fabric.clock.After(at-now, x.land)
}

// arrive is at the end of a half.
func (x *flight) arrive() {
	p, f := x.path, x.path.fabric
	if x.half == 0 {
		if len(f.mid) > 0 {
			f.see(f.mid, x.frame, x.in, packet.WayUnknown)
		}
		x.half = 1
		p.After.pass(x)
		return
	}
	if p.to.loses == nil || !p.to.loses(x.frame) {
		if len(p.to.taps) > 0 {
			f.see(p.to.taps, x.frame, x.in, packet.WayIn)
		}
		f.intact = !x.other
		p.to.receive(x.frame)
	}
	f.done(x)
}

// waiting is how many nanoseconds of frames wait for the path.
func (p *Path) waiting() int64 { return max(p.free-p.fabric.clock.now, 0) }

// From returns the address that the path begins at.
func (p *Path) From() packet.Addr { return p.from.addr }

// To returns the address that the path leads to.
func (p *Path) To() packet.Addr { return p.to.addr }
