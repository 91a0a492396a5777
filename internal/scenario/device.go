package scenario

import (
	"encoding/binary"
	"math/rand/v2"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// device is an HCA with its consumer and the consumer's memory.
type device struct {
	*HCA
	*agent.Device // the verbs of the consumer: what is invalid is done on purpose, and the adapter has to refuse it
	adapter       adapter
	pd            wqe.PD
	local, remote region
	next          uint64            // offset in the local region of the next list
	polling       map[wqe.CQ]func() // what empties each
	log           *hcaagent.Log
	fresh, old    []*cq.Event // those that Logs have yet to hand over, and those that they have
	ready, done   []*cq.Event // of Ahead: those that have come with their packets, and those that were handed over
	into          [16]cq.Completion
	block         []byte // what fills memory, repeated
	again         bool   // the local region has been given out once
	list          []wqe.Segment
	domains       map[string]wqe.XRCD
}

// adapter is a simulated channel adapter. Its consumer drives it through the verbs of the transport agent; the rest is what joins its port to the network, and what
// the scenario tells of its fault.
type adapter interface {
	hcaagent.Control
	hcaagent.Query
	Limits() qp.Limits
	// Receive takes a frame that has arrived at the port.
	Receive(frame []byte)
	// Resume says that the port has room for a packet.
	Resume()
	// Shown is on how many occasions the adapter has shown its fault.
	Shown() uint64
}

// softAdapter is an adapter in software.
func softAdapter(opt soft.Options) (adapter, error) { return soft.New(opt) }

// region is a memory region with its keys.
type region struct {
	hcaagent.NewMR
	lkey, rkey uint32
}

// keptPayload is how many bytes of each message its packets are compared with one by one; the rest is compared by the checksum of the message. More costs time.
const keptPayload = 1024

// The regions of each HCA begin here.
const (
	localVA  = 0x1000_0000
	remoteVA = 0x8000_0000
)

func (r *Run) buildDevices() error {
	for i := range r.HCAs {
		h := &r.HCAs[i]
		d := &device{HCA: h, polling: map[wqe.CQ]func(){}, domains: map[string]wqe.XRCD{}}
		r.devices[h.Name] = d
		l := &hcaagent.Log{Name: "the events of " + h.Name, Addr: h.Addr, Exact: r.Exact() && (r.player == nil || h.Name != r.player.HCA), Complete: true}
		if r.keep {
			l.Events = make([]cq.Event, 0, 4*r.posts(h.Name)+64)
		}
		if r.live {
			l.More = d.more
		}
		r.logs[h.Name], d.log = l, l
		var send func([]byte)
		fault := h.Fault
		if sim.LinkFaults[fault] != nil {
			fault = "" // it is one of the port
		}
		hca, err := r.adapter(soft.Options{
			Room: r.room(d), Frame: r.frame(h), Intact: r.intact(), Addr: h.Addr, MAC: [6]byte{2, 0, 0, 0, 0, byte(i + 1)}, Clock: r.Clock, Send: func(frame []byte) { r.sent(h.Name, frame); send(frame) },
			Event: d.tells(r), Notify: r.notify(d), Seed: r.Seed + uint64(i), Credits: h.Credits,
			AckEvery: h.AckEvery, AckDelay: h.AckDelay, Limits: soft.Limits{Window: h.Window, ByteRate: r.byteRate()},
			Congestion: h.Congestion, Fault: fault, FaultAt: h.FaultAt, FaultAll: h.FaultAll, Strayed: func() { r.strayed[h.Name]++ },
		})
		if err != nil {
			return r.wrong(h.Line, err)
		}
		d.adapter = hca
		d.Device = agent.NewDevice(agent.DeviceOptions{Addr: h.Addr, Now: r.Clock.Now, Control: hca, Query: hca, Event: r.events(d), Payload: r.payload, Limits: hca.Limits()})
		if !r.valid {
			d.Device = d.Deliberately()
		}
		send = r.attach(h, hca.Receive)
		if err := d.register(r.lists(h.Name), r.Seed+uint64(i)); err != nil {
			return r.wrong(h.Line, err)
		}
	}
	return nil
}

// register gives the consumer its memory: a region for its own lists, which is filled as what they send is given out, and one for its peers. What fills
// them comes by chance.
func (d *device) register(lists, seed uint64) (err error) {
	if d.pd, err = d.CreatePD(ctx); err != nil {
		return err
	}
	d.local.NewMR = hcaagent.NewMR{PD: d.pd, VA: localVA, Length: lists, Access: wqe.LocalWrite}
	d.remote.NewMR = hcaagent.NewMR{
		PD: d.pd, VA: remoteVA, Length: d.Memory,
		Access: wqe.LocalWrite | wqe.RemoteWrite | wqe.RemoteRead | wqe.RemoteAtomic | wqe.RemoteFlush |
			wqe.RemotePersist,
	}
	chance := rand.New(rand.NewPCG(seed, 0x5ce4a610))
	d.block = make([]byte, min(blockSize, max(lists, d.Memory)+7)&^7)
	for i := 0; i+8 <= len(d.block); i += 8 {
		binary.LittleEndian.PutUint64(d.block[i:], chance.Uint64())
	}
	for _, m := range []*region{&d.local, &d.remote} {
		if _, m.lkey, m.rkey, err = d.RegisterMR(ctx, m.NewMR); err != nil {
			return err
		}
	}
	d.block[0]++
	err = d.fill(&d.remote, 0, d.remote.Length)
	d.block[0]--
	return err
}

// fill fills a range of a region.
func (d *device) fill(m *region, at, length uint64) error {
	key := wqe.Key{Addr: d.Addr, Key: m.lkey, Local: true}
	for end := at + length; at < end; {
		from := at % blockSize
		n := min(end-at, blockSize-from)
		if err := d.SetMemory(ctx, wqe.Memory{Key: key, VA: m.VA + at, Length: n}, d.block[from:from+n]); err != nil {
			return err
		}
		at += n
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

// events is what takes the verbs events of a device, or nil where nobody wants them.
func (r *Run) events(d *device) func(*cq.Event) {
	if !r.told() {
		return nil
	}
	return func(e *cq.Event) { r.event(d, e) }
}

// told reports whether anybody wants the events.
func (r *Run) told() bool { return r.keep || r.live || r.log != nil }

// tells is what takes the events of an adapter that no verb tells of, or nil where nobody wants them.
func (d *device) tells(r *Run) func(*cq.Event) {
	if !r.told() {
		return nil
	}
	return func(e *cq.Event) { d.Tell(e) }
}

// notify has the consumer poll a queue that tells of itself.
func (r *Run) notify(d *device) func(wqe.CQ) {
	return func(cq wqe.CQ) {
		if poll := d.polling[cq]; poll != nil {
			r.Clock.After(0, poll)
		}
	}
}

// event tells the log.
func (r *Run) event(d *device, e *cq.Event) {
	if r.keep {
		d.log.Events = append(d.log.Events, *e)
	}
	if r.live {
		d.fresh = append(d.fresh, e)
	}
	if r.log != nil {
		r.log(d.Name, e)
	}
}

// more hands over the events that have come since it was called before.
func (d *device) more() []*cq.Event {
	d.fresh, d.old = d.old[:0], d.fresh
	return d.old
}

// read is more for a run that goes on by itself.
func (d *device) read() []*cq.Event {
	d.ready, d.done = d.done[:0], d.ready
	return d.done
}

// poll empties a completion queue and asks for the next completion.
func (r *Run) poll(d *device, number wqe.CQ) {
	for armed := false; ; armed = true {
		for {
			n, err := d.Poll(ctx, number, d.into[:])
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
		if err := d.RequestNotification(ctx, number, cq.ArmNext); err != nil {
			r.refused(d.Line, err)
			return
		}
	}
}
