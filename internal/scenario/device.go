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
	next          [2]uint64 // offsets in the halves of the local region of the next list: one to be sent from, one to be filled
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
	remoteVA = 0x5000_0000
)

func (r *Run) buildDevices() error {
	for i := range r.HCAs {
		h := &r.HCAs[i]
		d := &device{HCA: h, polling: map[hcaagent.CQ]bool{}}
		r.devices[h.Name] = d
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
		if err := d.register(r.Seed + uint64(i)); err != nil {
			return r.wrong(h.Line, err)
		}
	}
	return nil
}

// register gives the consumer its memory: a region for its own lists and one for its peers, filled by chance.
func (d *device) register(seed uint64) (err error) {
	if d.pd, err = d.dev.CreatePD(ctx); err != nil {
		return err
	}
	d.local.NewMR = hcaagent.NewMR{PD: d.pd, VA: localVA, Length: d.Memory, Access: hcaagent.LocalWrite}
	d.remote.NewMR = hcaagent.NewMR{
		PD: d.pd, VA: remoteVA, Length: d.Memory,
		Access: hcaagent.LocalWrite | hcaagent.RemoteWrite | hcaagent.RemoteRead | hcaagent.RemoteAtomic | hcaagent.RemoteFlush,
	}
	chance := rand.New(rand.NewPCG(seed, 0x5ce4a610))
	data := make([]byte, d.Memory)
	for _, m := range []*region{&d.local, &d.remote} {
		if _, m.lkey, m.rkey, err = d.dev.RegisterMR(ctx, m.NewMR); err != nil {
			return err
		}
		for i := 0; i+8 <= len(data); i += 8 {
			binary.LittleEndian.PutUint64(data[i:], chance.Uint64())
		}
		whole := hcaagent.Memory{Key: hcaagent.Key{Addr: d.Addr, Key: m.lkey, Local: true}, VA: m.VA, Length: m.Length}
		if err = d.dev.SetMemory(ctx, whole, data); err != nil {
			return err
		}
	}
	return nil
}

// segments returns a list of the local region, behind those given out before. What is to be filled never overlaps what is sent from, so
// that no packet changes when it is sent again.
func (d *device) segments(lengths []uint32, fill bool) (list []hcaagent.Segment) {
	half, from := d.local.Length/2, uint64(0)
	next := &d.next[0]
	if fill {
		next, from = &d.next[1], half
	}
	for _, n := range lengths {
		if *next+uint64(n) > half {
			*next = 0 // those are likely to be done with
		}
		list = append(list, hcaagent.Segment{VA: d.local.VA + from + *next, Length: n, LKey: d.local.lkey})
		*next = (*next + uint64(n) + 63) &^ 63
	}
	return list
}

// event tells the log, and has the consumer poll a queue that tells of itself.
func (r *Run) event(d *device, e hcaagent.Event) {
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
