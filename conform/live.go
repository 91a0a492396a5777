package conform

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/remote"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Live is an adapter under test in real time, and the network between it and the tester.
type Live struct {
	// Open makes a consumer of the adapter for a test, which tells told of events that no verb tells of, from any goroutine. When it is closed, all that it made is
	// destroyed.
	Open func(ctx context.Context, told func(*cq.Event)) (Consumer, error)
	Wire *live.Port // the tester's end of the network
	// Tester and Device are the two ends: of IPv4, and of IPv6 where both have such an address. Stranger is an address of IPv4 that nobody has.
	Tester, Device End
	Stranger       packet.Addr
	MTU            int           // of InfiniBand, 256 to 4096 bytes, that both ends and the network between them take; 0: 4096
	Window         time.Duration // in which the device has answered for certain
	Jitter         time.Duration // by which the way of a packet varies, and the clock of the device
}

// End is an end of the network.
type End struct {
	MAC        [6]byte
	IPv4, IPv6 packet.Addr // zero: it has none
	RoCEv1     bool        // it takes RoCEv1 at its address of IPv4 too
}

// Consumer drives a real adapter.
type Consumer interface {
	hcaagent.Control
	hcaagent.Query
	hcaagent.QueueDepths
	io.Closer
	Limits() qp.Limits
	// Await takes completions out of queues, up to most of each, so that Poll has them at once, and returns which have any. It waits for the first one, if need be.
	Await(ctx context.Context, queues []wqe.CQ, most int, wait time.Duration) ([]remote.Ready, error)
}

// pollEvery is how often completions are polled at least while a test waits, in nanoseconds.
const pollEvery = int64(2 * time.Millisecond)

// line is the line to an adapter in real time. The clock of the run goes from one thing that happens to the next, so that all is judged in the order in which it
// happened, however late it is heard of.
type line struct {
	r       *run
	live    *Live
	leaving []leaving // sent, and not yet seen to pass
	told    chan cq.Event
	missed  atomic.Bool // an event found no room in it
	device  Consumer
	polled  int64 // when
}

// leaving is a frame that was sent.
type leaving struct {
	p     *packet.Packet
	frame []byte
	at    int64 // when it was handed over
}

// mostTold is how many events of a device may wait.
const mostTold = 1 << 12

// leavesIn is how long what was sent may take to pass. What has not been seen then is nothing that the capture takes for RoCE.
const leavesIn = int64(20 * time.Millisecond)

// lateBy is how far the clock of a run may be late where the test does something, in nanoseconds.
const lateBy = int64(10 * time.Millisecond)

// verbPatience is how long a verb may take.
const verbPatience = 10 * time.Second

// buildLive puts the tester at its end of a network, with a tap there.
func (r *run) buildLive(o *Live) {
	t := &tester{r: r, mac: o.Tester.MAC, deviceMAC: o.Device.MAC, sent: map[uint64]bool{}}
	l := &line{r: r, live: o, told: make(chan cq.Event, mostTold)}
	r.tester, r.live, r.ways = t, l, o.ways()
	r.window, r.jitter = int64(o.Window), int64(o.Jitter)
	if o.MTU > 0 {
		r.mtu = o.MTU
	}
	r.began = time.Now().UnixNano()
	r.clock.Run(r.began)
	r.result.Link, r.result.Taps = fabricagent.LinkEthernet, []string{"tester"}
	t.watched("tester", verifier.Profile{}, o.Tester.IPv4, o.Tester.IPv6)
	l.drop()
	ctx, cancel := context.WithTimeout(ctx, verbPatience)
	defer cancel()
	consumer, err := o.Open(ctx, l.hears)
	if err != nil {
		r.halt("the device cannot be driven: %v", err)
	}
	l.device = consumer
	r.has(&driven{consumer, l}, r.ways.ipv4)
}

// leastTimeout is the code of the shortest ACK timeout with which a device is tested in real time: T_tr is ten times the jitter at least.
func (r *run) leastTimeout() uint8 {
	code := uint8(1)
	for int64(packet.Timeout(code)) < 10*r.jitter {
		code++
	}
	return code
}

// ways are the networks between both ends.
func (o *Live) ways() (w ways) {
	t, d := &o.Tester, &o.Device
	w.ipv4 = network{encap: packet.RoCEv2IPv4, tester: t.IPv4, device: d.IPv4, stranger: o.Stranger}
	if !t.IPv6.IsZero() && !d.IPv6.IsZero() {
		w.ipv6 = network{encap: packet.RoCEv2IPv6, tester: t.IPv6, device: d.IPv6}
	}
	if t.RoCEv1 && d.RoCEv1 {
		w.rocev1 = w.ipv4
		w.rocev1.encap = packet.RoCEv1
	}
	return w
}

// hangUp ends the line: the device destroys what the test has made.
func (r *run) hangUp() {
	if r.live == nil || r.live.device == nil {
		return
	}
	if err := r.live.device.Close(); err != nil {
		r.remark("the device may have kept what the test made: %v", err)
	}
}

// drop takes what passed before the test.
func (l *line) drop() {
	for {
		f, err := l.live.Wire.Next(l.r.began)
		l.works(err)
		if f == nil {
			return
		}
	}
}

// works ends the test where the network fails.
func (l *line) works(err error) {
	if err != nil {
		l.r.halt("the network cannot be used any more: %v", err)
	}
}

// hears takes an event of the device, from any goroutine.
func (l *line) hears(e *cq.Event) {
	select {
	case l.told <- *e:
	default:
		l.missed.Store(true)
	}
}

// send has a frame leave. Its packet has its number and its time when it is seen to pass.
func (l *line) send(p *packet.Packet, frame []byte) {
	l.leaving = append(l.leaving, leaving{p, frame, time.Now().UnixNano()})
	if err := l.live.Wire.Send(frame); err != nil {
		l.leaving = l.leaving[:len(l.leaving)-1]
		l.r.halt("the tester cannot send a frame: %v", err)
	}
}

// advance lets time go on to the next that happens; see run.advance.
func (l *line) advance(t int64) bool {
	r := l.r
	if r.opt.Stop != nil && r.opt.Stop() {
		r.halt("it was interrupted")
	}
	if l.missed.Load() {
		r.halt("the device has told of more than %d events at once, so that some were missed", mostTold)
	}
	heard := l.listen()
	if now := r.now(); now >= t {
		return false
	}
	return heard || l.next(min(t, max(r.now()+pollEvery, time.Now().UnixNano()-pollEvery))) || r.now() < t
}

// listen takes the events that the device has told of, after all that has passed before, and reports whether there were any.
func (l *line) listen() bool {
	n := len(l.told)
	if n > 0 {
		l.reach(time.Now().UnixNano())
	}
	for range n {
		e := <-l.told
		l.r.hears(&e)
	}
	return n > 0
}

// poll takes the completions of all connections, unless it did just now.
func (l *line) poll() {
	now := time.Now().UnixNano()
	if now < l.polled+pollEvery/2 {
		return
	}
	l.polled = now
	queues := make([]wqe.CQ, 0, len(l.r.conns))
	for _, c := range l.r.conns {
		if !slices.Contains(queues, c.cq) {
			queues = append(queues, c.cq)
		}
	}
	const most = 64
	ready, err := l.device.Await(ctx, queues, most, 0)
	if err != nil {
		l.r.halt("the device does not answer any more: %v", err)
	}
	for _, x := range ready {
		for _, c := range l.r.conns {
			if c.cq == x.CQ {
				l.r.pollOf(c, x.Completions)
				break
			}
		}
	}
}

// next takes the next frame that passes until a time. It is false where none did, and the time has come.
func (l *line) next(until int64) bool {
	f, err := l.live.Wire.Next(until)
	l.works(err)
	if f == nil {
		l.unseen(until - leavesIn)
		l.r.clock.Run(max(l.r.now(), until))
		return false
	}
	l.unseen(f.Time - leavesIn)
	l.passes(f)
	return true
}

// reach takes all that has passed until a time.
func (l *line) reach(t int64) {
	for l.r.now() < t && l.next(t) {
	}
}

// catchUp has the clock of the run be that on the wall, nearly, before the test does something: a verb may have taken long, or the host been busy.
func (l *line) catchUp() {
	if now := time.Now().UnixNano(); now-l.r.now() > lateBy {
		l.reach(now)
	}
}

// departed waits until what was sent has passed.
func (l *line) departed() {
	for len(l.leaving) > 0 {
		l.next(time.Now().UnixNano())
	}
	l.catchUp()
}

// unseen keeps the frames that were handed over before a time.
func (l *line) unseen(before int64) {
	for len(l.leaving) > 0 && l.leaving[0].at < before {
		x := l.leaving[0]
		l.leaves(&fabricagent.Frame{Time: max(x.at, l.r.now()), Way: packet.WayOut, Len: uint32(len(x.frame)), Data: x.frame})
	}
}

// leaves takes a frame that leaves, the oldest of those that were sent.
func (l *line) leaves(f *fabricagent.Frame) {
	x, r, t := l.leaving[0], l.r, l.r.tester
	l.leaving = l.leaving[1:]
	r.clock.Run(max(r.now(), f.Time))
	f.Tap, f.Link = t.tap, r.result.Link
	x.p.Frame, x.p.Time = r.record(f), f.Time
	t.sent[x.p.Frame] = true
}

// passes takes a frame that has passed.
func (l *line) passes(f *fabricagent.Frame) {
	r, t := l.r, l.r.tester
	if f.Way == packet.WayOut {
		n := slices.IndexFunc(l.leaving, func(x leaving) bool { return bytes.Equal(x.frame, f.Data) })
		if n < 0 {
			return // of somebody else at this host
		}
		l.unseen(l.leaving[n].at) // what was sent before it
		if n = slices.IndexFunc(l.leaving, func(x leaving) bool { return bytes.Equal(x.frame, f.Data) }); n == 0 {
			l.leaves(f)
		}
		return
	}
	p := new(packet.Packet)
	if fabricagent.Decode(f, p) != fabricagent.RDMA || !t.isDevice(p.Src) && !t.is(p.Dst) {
		return // of others
	}
	r.clock.Run(max(r.now(), f.Time))
	f.Tap, f.Link = t.tap, r.result.Link
	r.record(f)
	f.Tap = 0
	t.receive(*f)
}
