// Package fabricagent is where packets come from and go to: capture files, live interfaces, a simulated link.
package fabricagent

import "ibwitness/packet"

// LinkType is the kind of bytes that a frame begins with, by the numbers of the pcap registry.
type LinkType uint16

// The link types that Decode understands.
const (
	LinkEthernet   LinkType = 1
	LinkRawBSD     LinkType = 12
	LinkRawOpenBSD LinkType = 14
	LinkRaw        LinkType = 101
	LinkLinuxSLL   LinkType = 113
	LinkERF        LinkType = 197
	LinkIPv4       LinkType = 228
	LinkIPv6       LinkType = 229
	LinkInfiniBand LinkType = 247
	LinkLinuxSLL2  LinkType = 276
)

// Frame is one captured frame. Data is valid until its Batch is released.
type Frame struct {
	Time   int64  // nanoseconds since the Unix epoch
	Number uint64 // 1-based, within its file
	Tap    uint16 // index into Source.Taps
	Link   LinkType
	Way    packet.Way
	Len    uint32 // length on the wire
	Data   []byte // what was captured
}

// Tap is a place where packets were seen: one interface of one file.
type Tap struct {
	File      string // as given by the user; "-" is standard input
	Interface string // pcapng interface name, if any
	Link      LinkType
	SnapLen   uint32 // 0: not known
	Dropped   uint64 // packets that the capture says it lost, as far as read
}

// BatchSize is how many frames a full batch holds. Batches do not depend on the number of workers.
const BatchSize = 256

// Batch is a run of frames that share buffers.
type Batch struct {
	Frames []Frame
	free   func()
}

// Release gives the buffers of the batch back. Frames must not be used afterwards.
func (b *Batch) Release() {
	if b.free != nil {
		b.free()
	}
}

// Source delivers frames in time order.
type Source interface {
	// Next returns the next batch, at least one frame. At the end it returns io.EOF; a *FileError says what is wrong with an
	// input. Frames read before an error have been returned by earlier calls.
	Next() (*Batch, error)
	// Taps returns the taps seen so far; more may appear while reading.
	Taps() []Tap
	// Progress returns how many bytes of the input have been read, and of how many (0: not known).
	Progress() (done, total int64)
	Close() error
}
