// Package fabricagent is where packets come from and go to: capture files, live interfaces, a simulated link.
//
// Others may import it: its API is kept stable.
package fabricagent

import "ibwitness/packet"

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
	Interface string // pcapng interface name, interface index of a Linux cooked capture or port of an ERF record, if any
	Link      LinkType
	SnapLen   uint32 // 0: not known
	Speed     uint64 // of the link, in bit/s; 0: not known
	Dropped   uint64 // packets that the capture says it lost, as far as read
}

// Source delivers frames in time order.
type Source interface {
	// Next returns the next batch, at least one frame; from a live interface none where nothing has come for a while. At the end it returns io.EOF. What is wrong with an input is
	// returned once, after every frame that could be read from all inputs and before io.EOF: a *FileError, or several
	// joined by errors.Join, which FileErrors takes apart.
	Next() (*Batch, error)
	// Taps returns the taps seen so far; more may appear while reading.
	Taps() []Tap
	// Progress returns how many bytes of the input have been read, before decompression, and of how many (0: not known).
	Progress() (done, total int64)
	// Close closes the inputs. Batches that were not yet released stay valid.
	Close() error
}
