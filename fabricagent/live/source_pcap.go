//go:build libpcap

package live

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/gopacket/pcap"

	"ibwitness/fabricagent"
)

// Libpcap says whether OpenLibpcap can open anything.
const Libpcap = true

// library is the source of devices that libpcap opens. A goroutine reads each of them.
type library struct {
	opt     Options
	devices []*device
	wake    chan struct{} // has an element when a device has delivered
	frames  uint64
	now     int64
	closed  atomic.Bool
	readers sync.WaitGroup
	errs    []error

	mu    sync.Mutex // of what others look at while Next runs
	taps  []fabricagent.Tap
	stats []Stats
}

// device is one of them.
type device struct {
	name   string
	tap    uint16
	link   fabricagent.LinkType
	handle *pcap.Handle
	chunks chan chunk
	left   []fabricagent.Frame // of the chunk that is being delivered
	until  int64               // no earlier frame is to come after those
	dead   bool
}

// chunk is what a device has delivered: frames, how many the kernel has lost up to there, the time up to which these are all, and how it ends.
type chunk struct {
	frames []fabricagent.Frame
	lost   uint64
	until  int64
	err    error
}

const (
	chunkFrames = 256 // in a chunk, at most
	chunkAhead  = 64  // chunks that may wait; then the kernel keeps the frames, and drops what finds no room
)

// links are the kinds of frames that are understood without a file around them.
var links = []fabricagent.LinkType{
	fabricagent.LinkEthernet, fabricagent.LinkRawBSD, fabricagent.LinkRaw, fabricagent.LinkLinuxSLL, fabricagent.LinkInfiniBand,
}

// OpenLibpcap opens devices that libpcap knows, which need not be network interfaces. Of the options Hardware and Sockets do not count.
func OpenLibpcap(o Options) (c Capture, err error) {
	o = o.withDefaults()
	s := &library{opt: o, wake: make(chan struct{}, 1)}
	if len(o.Interfaces) == 0 {
		return nil, errors.New("live: no device is named")
	}
	for n, name := range o.Interfaces {
		h, err := openDevice(name, &o)
		if err != nil {
			for _, d := range s.devices {
				d.handle.Close()
			}
			return nil, err
		}
		d := &device{name: name, tap: uint16(n), link: fabricagent.LinkType(h.LinkType()), handle: h, chunks: make(chan chunk, chunkAhead)}
		s.devices = append(s.devices, d)
		t := fabricagent.Tap{Interface: name, Link: d.link}
		if o.SnapLen < mostSnap {
			t.SnapLen = o.SnapLen
		}
		s.taps = append(s.taps, t)
		s.stats = append(s.stats, Stats{Interface: name})
	}
	for _, d := range s.devices {
		s.readers.Go(func() { s.read(d) })
	}
	return s, nil
}

func openDevice(name string, o *Options) (h *pcap.Handle, err error) {
	doing, advice := "open it by libpcap", "tcpdump -D lists the devices; opening one takes the capability CAP_NET_RAW"
	defer func() {
		if err != nil {
			if h != nil {
				h.Close()
			}
			err = &OpenError{name, doing, advice, err}
		}
	}()
	i, err := pcap.NewInactiveHandle(name)
	if err != nil {
		return nil, err
	}
	defer i.CleanUp()
	if err := errors.Join(i.SetSnapLen(int(o.SnapLen)), i.SetPromisc(o.Promiscuous), i.SetTimeout(o.Hold), i.SetBufferSize(o.Memory)); err != nil {
		return nil, err
	}
	if h, err = i.Activate(); err != nil {
		return nil, err
	}
	link := fabricagent.LinkType(h.LinkType())
	if !slices.Contains(links, link) {
		doing, advice = "read it", "capture with another program, and verify the file"
		return h, errors.New("its frames are of link type " + h.LinkType().String())
	}
	if link == fabricagent.LinkEthernet {
		doing, advice = "set the filter", ""
		code, err := roce(o.SnapLen, 0, 1)
		if err != nil {
			return h, err
		}
		list := make([]pcap.BPFInstruction, len(code))
		for k, c := range code {
			list[k] = pcap.BPFInstruction{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
		}
		if err := h.SetBPFInstructionFilter(list); err != nil {
			return h, err
		}
	}
	return h, nil
}

// read hands out what a device delivers, until it ends.
func (s *library) read(d *device) {
	defer d.handle.Close()
	defer close(d.chunks)
	var c chunk
	var began time.Time
	for c.err == nil && !s.closed.Load() {
		now := time.Now()
		data, info, err := d.handle.ZeroCopyReadPacketData()
		switch {
		case err == nil:
			c.until = info.Timestamp.UnixNano()
			if len(c.frames) == 0 {
				began = time.Now()
				c.frames = make([]fabricagent.Frame, 0, chunkFrames)
			}
			c.frames = append(c.frames, fabricagent.Frame{
				Time: info.Timestamp.UnixNano(), Tap: d.tap, Link: d.link, Len: uint32(info.Length), Data: slices.Clone(data),
			})
			if len(c.frames) < chunkFrames && time.Since(began) < s.opt.Hold {
				continue
			}
		case err == pcap.NextErrorTimeoutExpired:
			c.until = now.Add(-4 * s.opt.Hold).UnixNano() // the kernel has handed out by now what came before
		default:
			c.err = &GoneError{d.name}
		}
		if st, err := d.handle.Stats(); err == nil {
			c.lost = uint64(max(st.PacketsDropped, 0)) + uint64(max(st.PacketsIfDropped, 0))
		}
		d.chunks <- c
		c.frames = nil
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// Next returns the next batch. It is empty where nothing has come for a while, and at the end, after Close, the error is io.EOF.
func (s *library) Next() (*fabricagent.Batch, error) {
	list := make([]fabricagent.Frame, 0, fabricagent.BatchSize)
	end := time.NewTimer(s.opt.Idle)
	defer end.Stop()
	for timeout := false; !s.closed.Load(); {
		list = s.fill(list)
		if len(list) > 0 {
			s.now = max(s.now, list[len(list)-1].Time)
		} else {
			s.now = max(s.now, s.until())
		}
		if alive := slices.ContainsFunc(s.devices, func(d *device) bool { return !d.dead || len(d.left) > 0 }); len(list) > 0 || timeout && alive {
			b := fabricagent.NewBatch(list, nil)
			return &b, nil
		} else if !alive {
			break
		}
		hold := time.NewTimer(s.opt.Hold) // frames may wait for those of another device
		select {
		case <-s.wake:
		case <-hold.C:
		case <-end.C:
			timeout = true
		}
		hold.Stop()
	}
	if err := errors.Join(s.errs...); err != nil {
		s.errs = nil
		return nil, err
	}
	return nil, io.EOF
}

// fill takes frames in the order of time, as far as it is known that no earlier one is to come.
func (s *library) fill(list []fabricagent.Frame) []fabricagent.Frame {
	for len(list) < cap(list) {
		var first *device
		bound := int64(1<<63 - 1)
		for _, d := range s.devices {
			s.more(d)
			switch {
			case len(d.left) == 0 && !d.dead && len(s.devices) > 1:
				bound = min(bound, d.until)
			case len(d.left) > 0 && (first == nil || d.left[0].Time < first.left[0].Time):
				first = d
			}
		}
		if first == nil || first.left[0].Time > bound {
			break
		}
		s.frames++
		f := first.left[0]
		f.Number, first.left = s.frames, first.left[1:]
		list = append(list, f)
		s.mu.Lock()
		s.stats[f.Tap].Frames++
		s.mu.Unlock()
	}
	return list
}

// until is the time up to which all frames were delivered, where none is left.
func (s *library) until() int64 {
	t := int64(1<<63 - 1)
	for _, d := range s.devices {
		if !d.dead {
			t = min(t, d.until)
		}
	}
	if t == 1<<63-1 {
		return 0 // all are gone
	}
	return t
}

// more takes the next chunk of a device, if there is one and the last is used up.
func (s *library) more(d *device) {
	for len(d.left) == 0 && !d.dead {
		select {
		case c, ok := <-d.chunks:
			if !ok {
				d.dead = true
				break
			}
			d.left, d.until = c.frames, max(d.until, c.until)
			s.mu.Lock()
			if t := &s.stats[d.tap]; c.lost > t.Dropped {
				t.Dropped = c.lost
				s.taps = slices.Clone(s.taps)
				s.taps[d.tap].Dropped = c.lost
			}
			if c.err != nil {
				s.errs = append(s.errs, c.err)
				s.stats[d.tap].Down = true
			}
			s.mu.Unlock()
		default:
			return
		}
	}
}

// Now returns the time up to which all frames were delivered, as that of Source.
func (s *library) Now() int64 { return s.now }

// Taps returns the devices.
func (s *library) Taps() []fabricagent.Tap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taps
}

// Stats returns the counters of each device. It may be called from any goroutine.
func (s *library) Stats() []Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stats)
}

// Progress knows no end.
func (s *library) Progress() (done, total int64) { return 0, 0 }

// Stop ends the capture: Next delivers no more. It may be called from any goroutine.
func (s *library) Stop() {
	s.closed.Store(true)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close closes the devices, once Next is not being called any more.
func (s *library) Close() error {
	s.Stop()
	for _, d := range s.devices {
		go func() {
			for range d.chunks { // so that its reader ends
			}
		}()
	}
	s.readers.Wait()
	return nil
}
