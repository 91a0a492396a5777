package timing

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/packet"
)

const (
	// BusyWidth is how long a window of Busy is, nanoseconds.
	BusyWidth = int64(256 * time.Microsecond)

	busyBytes = 4 << 10 // bytes of payload that a window has at least to be kept: 128 Mbit/s
	mostBusy  = 2048    // windows that are kept
)

// Window is what an end sent in BusyWidth.
type Window struct {
	At      int64  // number of the window: nanoseconds since the Unix epoch, divided by BusyWidth
	Bytes   uint32 // payload, with what was retransmitted
	Packets uint16 // that had some
	Marked  uint16 // of them, those that the network had marked as having met congestion
}

// Busy is the windows in which an end sent much, in order: how fast it sends while it does, however long it pauses. Its zero value is ready.
type Busy struct {
	Windows []Window // the newest may have little yet
	Full    bool     // there were more, later ones
}

// packet takes a packet with payload.
func (b *Busy) packet(p *packet.Packet, marked bool) {
	at, n := p.Time/BusyWidth, len(b.Windows)-1
	if n < 0 || at > b.Windows[n].At {
		if b.Full {
			return
		}
		if n >= 0 && b.Windows[n].Bytes < busyBytes {
			b.Windows = b.Windows[:n]
		}
		if b.Full = len(b.Windows) >= mostBusy; b.Full {
			return
		}
		b.Windows = append(b.Windows, Window{At: at})
		n = len(b.Windows) - 1
	}
	w := &b.Windows[n]
	w.Bytes += uint32(p.PayloadLen)
	w.Packets++
	if marked {
		w.Marked++
	}
}

// Merge adds the windows of another.
func (b *Busy) Merge(o *Busy) {
	b.Full = b.Full || o.Full
	if len(o.Windows) == 0 {
		return
	}
	all := slices.Concat(b.Windows, o.Windows)
	slices.SortStableFunc(all, func(x, y Window) int { return cmp.Compare(x.At, y.At) })
	b.Windows = all[:0]
	for _, w := range all {
		if n := len(b.Windows) - 1; n >= 0 && b.Windows[n].At == w.At {
			b.Windows[n].Bytes, b.Windows[n].Packets, b.Windows[n].Marked = b.Windows[n].Bytes+w.Bytes, b.Windows[n].Packets+w.Packets, b.Windows[n].Marked+w.Marked
			continue
		}
		b.Windows = append(b.Windows, w)
	}
}
