// Package live is the fabric agent of network interfaces: a fabricagent.Source whose frames come from rings of memory that are shared with
// the kernel (TPACKET_V3, packet(7)). A filter in the kernel passes only RoCE, so that other traffic costs nothing.
//
// A Sender sends frames on an interface, only to addresses that were named.
//
// Others may import it: its API is kept stable.
package live

import (
	"time"

	"ibwitness/fabricagent"
)

// Options say what to capture and how.
type Options struct {
	Interfaces  []string
	Promiscuous bool // frames for other machines too, as behind a mirror port
	// Hardware asks for the time stamps of the interface. What it does not stamp, as most do not what the machine itself sends, has the time of
	// the system: that is right only where both clocks agree.
	Hardware bool
	SnapLen  uint32        // bytes of each frame; 0: all
	Sockets  int           // rings an interface, each for a share of the pairs of hosts; 0: one
	Memory   int           // bytes of a ring; 0: 64 MiB
	Hold     time.Duration // for how long the kernel may hold a frame back; 0: 10 ms
	Idle     time.Duration // after which Next returns an empty batch where nothing comes; 0: 100 ms
}

// Defaults of Options.
const (
	defaultMemory = 64 << 20
	defaultHold   = 10 * time.Millisecond
	defaultIdle   = 100 * time.Millisecond
	blockSize     = 1 << 17 // in which the kernel hands frames out, once in Hold at least: small, so that a ring lasts long where few come
	mostSnap      = 1 << 18
)

func (o Options) withDefaults() Options {
	if o.SnapLen == 0 || o.SnapLen > mostSnap {
		o.SnapLen = mostSnap
	}
	o.Sockets = max(o.Sockets, 1)
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Hold <= 0 {
		o.Hold = defaultHold
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	return o
}

// Stats are the counters of one interface since it was opened.
type Stats struct {
	Interface string
	Frames    uint64 // delivered
	Dropped   uint64 // lost by the kernel, since the rings were full
	Unstamped uint64 // of those delivered, without a hardware time stamp where that was asked for
	Down      bool   // the interface is down, or gone
	Gone      bool   // there is no interface of this name, or none that can be captured from again: it comes back by itself
}

// Capture is a source of frames as they come, which goes on until it is stopped.
type Capture interface {
	fabricagent.Source
	Now() int64     // the time up to which all frames were delivered
	Stats() []Stats // of each interface; from any goroutine
	Stop()          // ends it; from any goroutine
}

var _ Capture = (*Source)(nil)
