package scenario

import (
	"encoding/binary"
	"math/rand/v2"

	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
)

// device is an HCA with its consumer and the consumer's memory.
type device struct {
	*HCA
	dev           *soft.HCA
	pd            hcaagent.PD
	local, remote region
	next          uint64 // offset in the local region of the next list
	polling       map[hcaagent.CQ]bool
}

// region is a memory region with its keys.
type region struct {
	hcaagent.NewMR
	lkey, rkey uint32
}

// The regions of each HCA begin here.
const (
	localVA  = 0x1000_0000
	remoteVA = 0x8000_0000
)

func (r *Run) buildDevices() error {
	for i := range r.HCAs {
		h := &r.HCAs[i]
		d := &device{HCA: h, polling: map[hcaagent.CQ]bool{}}
		r.devices[h.Name] = d
		l := &hcaagent.Log{Name: "the events of " + h.Name, Addr: h.Addr, Exact: true}
		if r.keep {
			l.Events = make([]hcaagent.Event, 0, 4*r.posts(h.Name)+64)
		}
		r.logs[h.Name] = l
		var send func([]byte)
		dev, err := soft.New(soft.Options{
			Addr: h.Addr, MAC: [6]byte{2, 0, 0, 0, 0, byte(i + 1)}, Clock: r.Clock, Send: func(frame []byte) { send(frame) },
			Event: func(e hcaagent.Event) { r.event(d, e) }, Seed: r.Seed + uint64(i), Credits: h.Credits,
			AckEvery: h.AckEvery, AckDelay: h.AckDelay, Limits: soft.Limits{Window: h.Window},
			Fault: h.Fault, FaultAt: h.FaultAt, FaultAll: h.FaultAll, Strayed: func() { r.strayed[h.Name]++ },
		})
		if err != nil {
			return r.wrong(h.Line, err)
		}
		d.dev = dev
		send = r.Fabric.Attach(h.Addr, dev.Receive)
		if err := d.register(r.lists(h.Name), r.Seed+uint64(i)); err != nil {
			return r.wrong(h.Line, err)
		}
	}
	return nil
}

// register gives the consumer its memory: a region for its own lists and one for its peers, filled by chance.
func (d *device) register(lists, seed uint64) (err error) {
	if d.pd, err = d.dev.CreatePD(ctx); err != nil {
		return err
	}
	d.local.NewMR = hcaagent.NewMR{PD: d.pd, VA: localVA, Length: lists, Access: hcaagent.LocalWrite}
	d.remote.NewMR = hcaagent.NewMR{
		PD: d.pd, VA: remoteVA, Length: d.Memory,
		Access: hcaagent.LocalWrite | hcaagent.RemoteWrite | hcaagent.RemoteRead | hcaagent.RemoteAtomic | hcaagent.RemoteFlush |
			hcaagent.RemotePersist,
	}
	chance := rand.New(rand.NewPCG(seed, 0x5ce4a610))
	block := make([]byte, blockSize)
	for i := 0; i+8 <= len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], chance.Uint64())
	}
	for _, m := range []*region{&d.local, &d.remote} {
		if _, m.lkey, m.rkey, err = d.dev.RegisterMR(ctx, m.NewMR); err != nil {
			return err
		}
		key := hcaagent.Key{Addr: d.Addr, Key: m.lkey, Local: true}
		for at := uint64(0); at < m.Length; {
			n := min(m.Length-at, blockSize)
			if err = d.dev.SetMemory(ctx, hcaagent.Memory{Key: key, VA: m.VA + at, Length: n}, block[:n]); err != nil {
				return err
			}
			at += n
		}
		block[0]++
	}
	return nil
}

// blockSize is after how many bytes what memory holds repeats itself, which is no round number.
const blockSize = 1<<20 - 24

// posts is how many requests the consumer of an HCA posts.
func (s *Scenario) posts(hca string) (n int) {
	for i := range s.Work {
		if w := &s.Work[i]; s.place(w) == hca {
			n += w.Repeat
		}
	}
	return n
}

// place is the HCA whose consumer does a piece of work.
func (s *Scenario) place(w *Work) string {
	if q := s.QP(w.QP); q != nil {
		return q.HCA
	}
	if q := s.SRQ(w.SRQ); q != nil {
		return q.HCA
	}
	return ""
}

// lists is how much of the local region the lists of an HCA take, one behind the other, so that nothing is written that is still sent or
// that was received; what is beyond mostLocal begins anew.
func (s *Scenario) lists(hca string) (n uint64) {
	for i := range s.Work {
		w := &s.Work[i]
		if s.place(w) != hca {
			continue
		}
		one := uint64(2 * align)
		for _, l := range w.Lengths {
			one += uint64(l) + align
		}
		n += one * uint64(w.Repeat)
	}
	return max(min(n, mostLocal), 4096)
}

const (
	align     = 64
	mostLocal = 256 << 20
)

// segments returns a list of the local region, behind those given out before.
func (d *device) segments(lengths []uint32) (list []hcaagent.Segment) {
	for _, n := range lengths {
		if d.next+uint64(n) > d.local.Length {
			d.next = 0
		}
		list = append(list, hcaagent.Segment{VA: d.local.VA + d.next, Length: n, LKey: d.local.lkey})
		d.next = (d.next + uint64(n) + align - 1) &^ (align - 1)
	}
	return list
}

// event tells the log, and has the consumer poll a queue that tells of itself.
func (r *Run) event(d *device, e hcaagent.Event) {
	if r.keep {
		l := r.logs[d.Name]
		l.Events = append(l.Events, e)
	}
	if r.log != nil {
		r.log(d.Name, e)
	}
	if e.Kind == hcaagent.EvNotify && d.polling[e.CQ] {
		r.Clock.After(0, func() { r.poll(d, e.CQ) })
	}
}

// poll empties a completion queue and asks for the next completion.
func (r *Run) poll(d *device, cq hcaagent.CQ) {
	var into [16]hcaagent.Completion
	for armed := false; ; armed = true {
		for {
			n, err := d.dev.Poll(ctx, cq, into[:])
			if err != nil {
				r.refused(d.Line, err)
				return
			}
			if n == 0 {
				break
			}
		}
		if armed { // what came before that was polled just now
			return
		}
		if err := d.dev.RequestNotification(ctx, cq, hcaagent.ArmNext); err != nil {
			r.refused(d.Line, err)
			return
		}
	}
}
