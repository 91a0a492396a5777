package upper

import "math"

const (
	// MostCommands is how many commands a tracker follows. Of more, the oldest that have not ended are given up.
	MostCommands = 256
	// mostRanges is how many ranges of memory it knows: the newest.
	mostRanges = 512
	// mostMisfits is after how many messages in a row that are not of its protocol a connection is taken for one of another.
	mostMisfits = 32
	// repeats is how many SENDs of an end are known again when they are retransmitted.
	repeats     = 128
	leastPlaces = 32 // so that what has just ended is known for a while
)

// Command is a command of an upper layer.
type Command struct {
	ID     uint64 // by which its end names it
	Arg    uint64 // what else its decoder wants to know of it
	Code   uint32 // which command it is
	Status uint32 // with which it ended; 0: it did what it should
	Since  int64  // when it began, nanoseconds since the Unix epoch
	Frame  uint64 // the frame that it began in
	Tap    uint16
	From   uint8 // the end that sent it
	Waits  bool  // it is meant to be open until something happens
	state  commandState
	class  uint8  // its place among the classes
	nth    uint16 // how many of them had begun with it
	nthOn  uint16 // how many that work on the same had begun with it
	target uint8  // its place among the targets, plus one; 0: it is not known what it works on
	before uint32 // how much data the peer had moved when it began, in units, modulo 2^32
	order  uint64 // how many began before it, plus one
	fetch  uint64 // bytes of memory that it has named with Fetch, where it is seen who READs them
	Again  Repeats
}

type commandState uint8

const (
	unused commandState = iota
	open
	ended
)

// place is memory that a command has named.
type place struct {
	addr   uint64
	rkey   uint32
	length uint32 // bytes
	of     uint64 // the order of the command, 0: none, above what place.is tells
}

// Counts is how many commands there were.
type Counts struct {
	Begun, Ended uint64
	Failed       uint64 // of those that have ended
	GivenUp      uint64 // that were not followed to their end, as there were too many
	Open         int    // that have begun and not ended, but for those that wait for something to happen
}

// Tracker follows the commands of one connection: at most MostCommands, which take 30 KiB beside up to 8 KiB for their classes and
// targets, and of most connections a few KiB. It is not safe for concurrent use.
type Tracker struct {
	protocol Protocol
	decoder  Decoder
	fit      Fit
	fits     bool   // a message has fitted
	firm     bool   // one did by more than a faint likeness
	cut      bool   // headers were not captured: the commands are not followed any more
	forgot   bool   // how something went on is not known
	turned   int    // 1: the ends were exchanged
	misfits  int    // in a row
	borne    uint64 // ID of the newest command that was answered
	counts   Counts
	failure  Command // the newest that has failed
	times    Took
	classes  []Class  // at most mostClasses
	targets  []Target // at most mostTargets
	pairs    []Pair   // at most mostPairs
	began    *Onset   // nil: no command was late
	// There were more of them.
	classless, targetless, pairless bool

	commands  []Command
	next      int // where it is looked first for room for the next command
	places    []place
	oldest    int // of places, where there are as many as may be
	unread    int // how many of them are to be fetched, and were not
	fetched   uint64
	hidden    bool   // not all READs come to the tap
	strange   uint64 // how many commands had begun when a READ asked last for memory that none is known to have named
	seen      [2][repeats]uint64
	message   *Message // at hand
	moved     [mostMoves]move
	flow      flow
	failures  []Failed
	cancelled []Cancel // at most mostCancels
	moveCount uint64
	queue     uint32 // of its controller, plus one; 0: it is not known
	sends     uint16 // hsqsize of that
	releases  releases
	foreign   []foreign // at most mostForeign
}

// NewTracker returns a tracker of a connection that seems to be of a protocol. assigned says that communication management has connected it to a port of
// that protocol.
func NewTracker(p Protocol, assigned bool) *Tracker {
	t := &Tracker{protocol: p, decoder: p.Decoder()}
	if assigned {
		t.fit, t.firm = named, true
	}
	return t
}

// Recognized reports whether the connection is of the protocol.
func (t *Tracker) Recognized() bool { return t.fit >= Recognized }

// Refuted reports whether the connection is not of the protocol, as its messages have shown: where only answers speak for it, one that is not is enough.
func (t *Tracker) Refuted() bool {
	return t.misfits >= mostMisfits || t.misfits > 0 && !t.firm && !t.Recognized()
}

// Protocol is what the connection is of.
func (t *Tracker) Protocol() string { return t.protocol.Name() }

// Turn exchanges the ends of the connection.
func (t *Tracker) Turn() { t.turned ^= 1 }

// Message takes a message. One that is retransmitted counts once.
func (t *Tracker) Message(m *Message) {
	m.From ^= t.turned
	t.take(m)
	m.From ^= t.turned
}

func (t *Tracker) take(m *Message) {
	if m.Kind == Send && t.repeated(m) {
		return
	}
	if !t.Recognized() {
		f := t.protocol.Fit(m)
		if t.fits = t.fits || f != NoFit; !t.fits {
			return
		}
		if f > Faint {
			t.fit += f
			t.firm = true
		}
	}
	if m.Cut() && len(m.Head) < t.protocol.Headers() {
		t.Cut()
	}
	if t.cut {
		return
	}
	if m.Kind == Write {
		t.moves(move{m.VA, m.Time, m.Frame, m.RKey, false})
		t.flow.adds(m.Time, m.DMALen)
	}
	t.message = m
	if t.decoder.Message(m, t) {
		t.misfits = 0
	} else if m.Kind == Send {
		t.misfits++
	}
	if t.message = nil; m.Kind == Send {
		t.releases.sent(m)
	}
}

// Begin begins a command of the end that has sent the message at hand, and returns it; it is valid until the next one begins. One of the same ID that has not ended has done so unseen.
func (t *Tracker) Begin(c Command) *Command {
	m := t.message
	c.Since, c.Frame, c.Tap, c.From, c.state = m.Time, m.Frame, m.Tap, uint8(m.From), open
	t.counts.Begun++
	c.order, c.before = t.counts.Begun, t.flow.units()
	if was := t.Find(m.From, c.ID); was != nil {
		was.state = ended
	}
	at := t.room()
	*at = c
	t.classify(at)
	return at
}

// room returns the place for another command.
func (t *Tracker) room() *Command {
	n := len(t.commands)
	for i := range n {
		k := (t.next + i) % n
		if t.commands[k].state != open {
			t.next = k + 1
			return &t.commands[k]
		}
	}
	if n < MostCommands {
		t.next = n + 1
		t.commands = append(t.commands, make([]Command, max(n, leastPlaces))...)
		return &t.commands[n]
	}
	c := &t.commands[0]
	for i := range t.commands {
		if k := &t.commands[i]; k.order < c.order {
			c = k
		}
	}
	t.counts.GivenUp++
	return c
}

// Memory adds memory that the command which was begun last has named: an address, an R_Key and a length in bytes.
func (t *Tracker) Memory(addr uint64, rkey, length uint32) {
	t.memory(place{addr, rkey, length, t.counts.Begun << placeBits})
}

// MemoryOf adds memory that a command has named.
func (t *Tracker) MemoryOf(c *Command, addr uint64, rkey, length uint32) {
	t.memory(place{addr, rkey, length, c.order << placeBits})
}

func (t *Tracker) memory(p place) {
	if p.length == 0 {
		return
	}
	if p.unread() {
		t.unread++
	}
	if len(t.places) < mostRanges {
		t.places = append(t.places, p)
		return
	}
	if t.places[t.oldest].unread() {
		t.unread--
	}
	t.places[t.oldest] = p
	t.oldest = (t.oldest + 1) % mostRanges
}

// Find returns the command of an end that has an ID and has not ended, or nil.
func (t *Tracker) Find(from int, id uint64) *Command {
	for i := range t.commands {
		if c := &t.commands[i]; c.ID == id && c.state == open && int(c.From) == from {
			return c
		}
	}
	return nil
}

// End ends a command of an end with a status, which is 0 where it did what it should. It reports whether there is one.
func (t *Tracker) End(from int, id uint64, status uint32) bool {
	c := t.Find(from, id)
	if c == nil {
		return false
	}
	c.state, c.Status = ended, status
	t.counts.Ended++
	if t.message.Invalidates {
		t.invalidates(c)
	}
	t.borneOut(c)
	t.took(c)
	if status != 0 {
		t.counts.Failed++
		t.failure = *c
		t.failed(c)
	} else if c.fetch > 0 {
		t.answered(c)
	}
	return true
}

// borneOut has an answer speak for the protocol, which names a command by its ID, and another one than the answer before it did.
func (t *Tracker) borneOut(c *Command) {
	if !t.Recognized() && t.Answered() && (t.counts.Ended == 1 || c.ID != t.borne) {
		t.fit += Likely
	}
	t.borne = c.ID
}

// Answered reports whether the peer answers commands with messages of their own.
func (t *Tracker) Answered() bool { return t.protocol.Answered() }

// From is the end of the connection that has sent a command.
func (t *Tracker) From(c *Command) int { return int(c.From) ^ t.turned }

// EndUpTo ends all commands of an end whose IDs are not above one.
func (t *Tracker) EndUpTo(from int, id uint64) {
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && int(c.From) == from && c.ID <= id {
			c.state = ended
			t.counts.Ended++
		}
	}
}

// Forget has nothing be open, as how what has begun went on is not known.
func (t *Tracker) Forget() {
	t.forgot = true
	for i := range t.commands {
		t.commands[i].state = unused
	}
}

// Cut has no command be followed any more, as the capture does not hold the headers of each message.
func (t *Tracker) Cut() {
	t.Forget()
	t.cut, t.times = true, Took{}
}

// Counts returns how many commands there were.
func (t *Tracker) Counts() Counts {
	n := t.counts
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits {
			n.Open++
		}
	}
	return n
}

// Oldest returns the command that began first of those that have not ended, but for those that wait for something to happen; nil: there is none.
func (t *Tracker) Oldest() *Command {
	var oldest *Command
	least := uint64(math.MaxUint64)
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits && c.order < least {
			oldest, least = c, c.order
		}
	}
	return oldest
}

// EndedAfter counts the commands that began after one and have ended.
func (t *Tracker) EndedAfter(c *Command) uint64 {
	waiting := t.counts.GivenUp
	for i := range t.commands {
		if k := &t.commands[i]; k.state == open && k.order > c.order {
			waiting++
		}
	}
	return t.counts.Begun - c.order - min(waiting, t.counts.Begun-c.order)
}

// Failure returns the newest command that has failed, or nil.
func (t *Tracker) Failure() *Command {
	if t.failure.state == unused {
		return nil
	}
	return &t.failure
}

// Owner returns the command that has named memory, by address, R_Key and length in bytes, which a READ or WRITE uses: of several the one that has not ended, and
// then the newest. nil: none that is known.
func (t *Tracker) Owner(addr uint64, rkey, length uint32) *Command {
	var owner *Command
	for i := range t.places {
		p := &t.places[i]
		if p.rkey != rkey || addr < p.addr || addr-p.addr > uint64(p.length) || uint64(length) > uint64(p.length)-(addr-p.addr) {
			continue
		}
		if c := t.ordered(p.of >> placeBits); c != nil && (owner == nil || c.state < owner.state || c.state == owner.state && c.order > owner.order) {
			owner = c
		}
	}
	return owner
}

// ordered returns a command by its order, or nil where it is not known any more.
func (t *Tracker) ordered(order uint64) *Command {
	for i := range t.commands {
		if c := &t.commands[i]; c.order == order && c.state != unused {
			return c
		}
	}
	return nil
}

// Ended reports whether a command has ended.
func (c *Command) Ended() bool { return c.state == ended }

// Describe names a command.
func (t *Tracker) Describe(c *Command) string { return t.decoder.Describe(c) }

// Blocks says which blocks of a device a command names; "": none, or that is not known.
func (t *Tracker) Blocks(c *Command) string {
	if d, ok := t.decoder.(interface{ Blocks(c *Command) string }); ok {
		return d.Blocks(c)
	}
	return ""
}

// Status says in words how a command has failed.
func (t *Tracker) Status(c *Command) string { return t.decoder.Status(c) }
