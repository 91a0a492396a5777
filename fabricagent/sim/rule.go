package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"ibwitness/packet"
)

// Kind is what an error does to a packet.
type Kind uint8

// The kinds.
const (
	Watch     Kind = iota // nothing: the packet event is told only
	Drop                  // the packet is lost
	Duplicate             // it comes once more, or several times
	Reorder               // others overtake it
	Delay                 // it comes later
	Corrupt               // its bytes are changed
	Mark                  // it is marked as having met congestion, where its sender calls it ECN-capable
)

var kindNames = [...]string{"watch", "drop", "duplicate", "reorder", "delay", "corrupt", "mark"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Filter says which packets an error meets. What is zero allows any.
type Filter struct {
	DestQP  uint32
	Opcodes []packet.Opcode
	PSN     *PSNs
	Match   func(p *packet.Packet) bool

	// Of the packets that match, those from number From on, the first being number 1; of them one in 1/Probability, and at most Count.
	From        uint64
	Count       uint64
	Probability float64
}

// PSNs is a range of PSNs, both ends included.
type PSNs struct {
	First, Last packet.PSN
	// Relative counts them from the first PSN that the mechanism saw to this destination QP; requests and responses have one each.
	Relative bool
}

// Error is what happens to the packets that its filter matches.
type Error struct {
	Kind Kind
	Filter

	Copies      int   // Duplicate: how many more; 0: one
	Delay       int64 // Delay: nanoseconds; Duplicate: of each copy after the one before it
	Jitter      int64 // Delay, Duplicate: and up to so much more, by chance
	Hold        bool  // Delay: what comes after it waits as well, so that the order is kept
	OvertakenBy int   // Reorder: so many later packets overtake the packet; 0: one
	Queue       int64 // Mark: only where so many nanoseconds of frames wait for the path; 0: always
	AtMost      int64 // Reorder: nanoseconds after which it goes on, however many came; 0: DefaultAtMost

	// Corrupt changes the packet and seals its ICRC again, as a device does that builds a wrong packet. A Change that alters the length of
	// the packet calls its Complete itself.
	Change func(p *packet.Packet, r *rand.Rand)
	// Corrupt flips bits without a new ICRC, as a bad line does: the bits of this distance from the first of the BTH, and Flip more by chance.
	Bits []int
	Flip int

	// Then, where not nil, is told of each packet that the error meets, before that has happened.
	Then func(e PacketEvent)

	matched, met uint64
}

// DefaultAtMost is how long a packet is held back for others that may never come.
const DefaultAtMost = 1_000_000

// Matched returns how many packets the filter has matched, and how many of them the error has met.
func (e *Error) Matched() (matched, met uint64) { return e.matched, e.met }

// PacketEvent is a packet that an error meets. Packet and Frame are valid during the call only.
type PacketEvent struct {
	Time   int64
	Path   *Path
	Error  *Error
	Number uint64 // of the matches so far
	Packet *packet.Packet
	Frame  []byte
}

// meets reports whether the error happens to the packet. It counts.
func (e *Error) meets(m *Mechanism, p *packet.Packet) bool {
	switch {
	case e.DestQP != 0 && e.DestQP != p.DestQP,
		len(e.Opcodes) > 0 && !slices.Contains(e.Opcodes, p.Opcode),
		e.PSN != nil && !m.within(e.PSN, p),
		e.Match != nil && !e.Match(p),
		e.Kind == Mark && (p.TClass&3 == 0 || m.path.waiting() < e.Queue):
		return false
	}
	e.matched++
	if e.matched < e.From || e.Count > 0 && e.met >= e.Count {
		return false
	}
	if e.Probability > 0 && m.chance.Float64() >= e.Probability {
		return false
	}
	e.met++
	return true
}
