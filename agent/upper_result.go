package agent

import (
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/qp"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// Upper is the protocol above the transport that a connection carries, and the commands of it, as far as their headers are on the wire.
type Upper struct {
	Protocol string
	Queue    string // of its controller, of NVMe, as the REQ of CM says: "queue 3"; "": that is not known
	upper.Counts
	Oldest  *Operation // that began first of those that are open; nil: none is
	Failure *Operation // the newest that has failed; nil: none has
	// Answered says that the peer answers a command with a message of its own as soon as it has done it.
	Answered bool
	HSQSize  uint16               // of Queue, as its REQ says; 0: that is not known
	Answers  uint64               // commands that the peer has answered so
	Took     time.Duration        // until it did, of all of them
	Slow     uint64               // of them, those that took upper.SlowAfter or longer
	Slowest  *Operation           // the one that took longest; nil: none was answered
	Longest  []*Operation         // those that did, Slowest first: up to upper.MostLongest
	Recent   []int64              // when the newest answers came, nanoseconds since the Unix epoch, in order; nil: there was none
	Newest   uint64               // frame of the newest answer
	Before   [2]int               // of those that are open, how many each end had begun before the newest request of it that waited or waits
	Credits  *upper.Credits       // how many messages each end may still send; nil: that is not known, or its protocol has none
	Releases [2][2]upper.Releases // by end: the times in which it held answers, and those of them in which it had no credit
	Grants   *upper.Credits       // the same where Left is not known, as the connection began before the capture; nil: it is known, or nothing of it is
	Named    [2]*Named            // what the peer of each end had named with the R_Key of the request of that which it refuses; nil: that is not known
	Renewed  [2]*Renewed          // and with the newest R_Key of the same region, where that is another; nil: that is not known
	Keyed    [2]*Keyed            // and at the address of the request with another R_Key than it has; nil: it did not, or that is not known
	// InvalidatedBy is the command that was answered with the SEND with Invalidate by which each end had invalidated the R_Key of the request of it
	// that its peer refuses; nil: that is not known.
	InvalidatedBy [2]*Operation
	Waiting       []*Operation // where an end refuses a request, the first of those that are open, up to mostWaiting; else nil
	Causes        [2][]Cause   // of the stalls of each end of its connection, as far as they are known
	// Fetched is how many commands there were whose peer has fetched data of theirs by RDMA READ, and, where the oldest that is open is one, Unfetched of how many it has to and has asked for none.
	Fetched   uint64
	Unfetched int
	// HasData is how many commands are open whose data their peer has asked for.
	HasData  int
	Calls    uint32         // that may be open at once, as the peer of Oldest grants; 0: that is not known
	CallsOf  uint64         // frame of the first reply that says so
	Classes  []Class        // its commands by opcode or procedure, where the peer answers them; nil: they are not known
	Targets  []Target       // and by what they work on
	Pairs    []Pair         // and by both, of those that were answered; nil: they are not known
	Onset    *upper.Onset   // when those of one class and target began to take long; nil: none was late, or it is not known of all
	Late     upper.Late     // of those that were answered, those that took upper.LateAfter or longer
	Failures []Failed       // commands that failed in a way that means trouble, by class and status, the first first
	Sought   string         // the session that its newest command which begins one asked for, and who; "": that is not known, or it has begun
	Aborts   []upper.Cancel // requests to cancel commands of other connections of its controller, in order
	// First is the first calls of RPC over RDMA, and OpenXIDs those of which there was no answer, the first ones.
	First    []upper.FirstCall
	OpenXIDs []uint32
	Granted  *upper.Lowered // the calls that an end grants the other, where they became fewer; nil: they did not
}

// Failed is commands of one class that failed with one status.
type Failed struct {
	*Operation        // the first of them, with Ended and Answer
	Count      uint64 // of them
	Opens      bool   // they begin a session
	Lost       bool   // the peer does not know the session or state of its client
}

// Named is memory that a command has named, so that the peer READs it or WRITEs to it.
type Named struct {
	Addr   uint64
	Length uint32        // bytes
	Parts  int           // in how many the command has named memory
	Of     *Operation    // the command
	Done   bool          // it has ended
	Answer uint64        // in which frame, if it was the newest that did; 0: it is not known
	Cancel *upper.Cancel // by which its end asked to cancel the command; nil: it did not, as far as is known
}

// Renewed is memory that a command has named with an R_Key which differs in its last 8 bits from that of a request: the same region, registered once more.
type Renewed struct {
	Named
	RKey uint32
	Held bool // a command that is over had named the address of the request with its R_Key
}

// Keyed is memory that a command, which was open then, has named with another R_Key than the request for it has.
type Keyed struct {
	Named
	RKey uint32
	Over *Operation // one that is over, and had named the address with the R_Key of the request; nil: none is known
}

// mostWaiting is how many commands are named that wait on a connection which a refusal ended.
const mostWaiting = 8

// Class is the commands of one opcode or procedure.
type Class struct {
	Name    string
	Open    int           // that have begun and not ended
	Answers uint64        // commands that the peer has answered
	Slow    uint64        // of them, those that took upper.SlowAfter or longer
	Took    time.Duration // until it did, of all of them
	Longest time.Duration // of them
	Newest  int64         // when the one of them began that began last, nanoseconds since the Unix epoch; 0: none was answered
}

// Target is the commands that work on one namespace or file system.
type Target struct {
	Name    string
	Open    int           // that have begun and not ended
	Answers uint64        // commands that the peer has answered
	Took    time.Duration // until it did, of all of them
	Longest time.Duration // of them
	Newest  int64         // when the one of them began that began last, nanoseconds since the Unix epoch; 0: none was answered
	Late    upper.Late
}

// Pair is the commands of one class that work on one target, and were answered.
type Pair struct {
	Class   int // its place among the classes
	Target  int // and among the targets, plus one; 0: it is not known what they work on
	Answers uint64
	Took    time.Duration // until they were, of all of them
	Longest time.Duration // of them
}

// Operation is a command of a protocol above the transport.
type Operation struct {
	Name   string // which one it is, in words
	Blocks string // which blocks of a device it names; "": none, or that is not known
	ID     uint64 // by which its end names it
	Since  int64  // when it began, nanoseconds since the Unix epoch
	Frame  uint64 // in which frame
	Tap    uint16
	From   int    // the end that sent it
	Ended  int64  // of Longest, when it was answered, and in which frame
	Answer uint64 // of Upper.Waiting that of an answer which was not delivered, as a request before it was refused; 0: there was none
	Status string // how it failed, in words; empty: it did not
	Later  uint64 // commands that began after it and have ended
	Others uint64 // of them, those of other classes; of Longest, those that ended before it
	Own    uint64 // of Longest, those of its own class that ended before it
	Class  int    // its place among the classes, where these are known
	Target int    // and of what it works on among the targets, plus one; 0: that is not known
	// Unfetched is how many bytes of data its peer has to fetch by RDMA READ, none of which it has asked for; 0: there are none, or it is not known.
	Unfetched  uint64
	HasData    bool          // its peer has asked for data of each part that it has to fetch
	StatusOnly bool          // its answer is hardly more than a status
	Interim    uint64        // frame in which its peer said that it goes on with it asynchronously (STATUS_PENDING of SMB2); 0: it did not
	Again      upper.Repeats // how often its end repeated it, with the ID that it had
	Moved      upper.Moved   // of Longest, when its peer first moved its data
	Ahead      uint64        // of Longest, bytes of data of other commands that it waited for, as its peer moved data all the time; 0: it did not
	Freed      upper.Freed   // of Longest, what its answer was held for
	Opens      bool          // it begins a session
	Lossy      bool          // of Longest: the capture has lost packets of its connection
	Unsure     bool          // it may have ended where the capture has lost packets, or in the direction that was not found
}

// recognized returns the tracker of a connection whose protocol is known, else nil.
func (u *uppers) recognized(c *connection.Connection) *upper.Tracker {
	if t := u.of[c]; t != nil && t.Recognized() {
		return t
	}
	return nil
}

// upper returns what the report shows of the protocol of a connection; nil where it is not known.
func (t *Transport) upper(c *connection.Connection) *Upper {
	u := t.uppers.recognized(c)
	if u == nil {
		return nil
	}
	out := &Upper{Protocol: u.Protocol(), Queue: u.Queue(), HSQSize: u.HSQSize(), Counts: u.Counts(), Oldest: t.operation(c, u, u.Oldest()), Failure: t.operation(c, u, u.Failure()), Answered: u.Answered(), Fetched: u.Fetched()}
	if o := out.Oldest; o != nil && o.Unfetched > 0 {
		out.Unfetched = u.WaitUnfetched()
	}
	if o := out.Oldest; o != nil {
		out.HasData = u.WaitFetched()
		if by, calls, frame := u.Calls(); by == 1-o.From && !c.Lossy {
			out.Calls, out.CallsOf = calls, frame
		}
	}
	if k, known := u.Credits(); c.Paired && !lossyCommands(c, u) {
		switch {
		case known:
			out.Credits = &k
		case k.Used != [2]upper.Grant{}:
			out.Grants = &k
		}
	}
	if s := u.Took(); s.Count > 0 {
		out.Answers, out.Took, out.Slow = s.Count, time.Duration(s.Sum), s.Slow
		out.Recent, out.Newest, out.Late = s.Recent(), s.Answer, s.Late
		for i := range s.Longest {
			if d := &s.Longest[i]; d.Answer != 0 {
				o := t.operation(c, u, &d.Command)
				o.Ended, o.Answer, o.Unsure, o.Others, o.Own, o.Moved, o.Ahead, o.Freed, o.Lossy = d.Ended, d.Answer, false, uint64(d.Others), uint64(d.Own), d.Moved, d.Ahead, d.Freed, lossyCommands(c, u)
				out.Longest = append(out.Longest, o)
			}
		}
		out.Slowest = out.Longest[0]
		for k := range out.Releases {
			out.Releases[k] = [2]upper.Releases{*u.Releases(k, false), *u.Releases(k, true)}
		}
	}
	for _, f := range u.Failures() {
		o := t.operation(c, u, &f.First)
		o.Ended, o.Answer = f.At, f.Answer
		out.Failures = append(out.Failures, Failed{o, f.Count, f.Opens, f.Lost})
	}
	out.First, out.OpenXIDs = u.FirstCalls()
	out.Sought, out.Aborts = u.Sought(), u.Aborts()
	if g, lowered := u.Lowered(); lowered && !c.Lossy {
		out.Granted = &g
	}
	for _, k := range u.Classes() {
		out.Classes = append(out.Classes, Class{u.Name(&k), k.Open, k.Answered, k.Slow, time.Duration(k.Sum), time.Duration(k.Longest), k.Newest})
	}
	for _, k := range u.Targets() {
		out.Targets = append(out.Targets, Target{u.TargetName(&k), k.Open, k.Answered, time.Duration(k.Sum), time.Duration(k.Longest), k.Newest, k.Late})
	}
	for _, k := range u.Pairs() {
		out.Pairs = append(out.Pairs, Pair{int(k.Class), int(k.Target), k.Answered, time.Duration(k.Sum), time.Duration(k.Longest)})
	}
	if k := u.Onset(); k != nil && len(out.Pairs) > 0 && !c.Lossy {
		o := *k
		out.Onset = &o
	}
	return out
}

// operation names a command; nil of nil.
func (t *Transport) operation(c *connection.Connection, u *upper.Tracker, k *upper.Command) *Operation {
	if k == nil {
		return nil
	}
	o := &Operation{Name: u.Describe(k), ID: k.ID, Since: k.Since, Frame: k.Frame, Tap: k.Tap, From: u.From(k), Later: u.EndedAfter(k), Others: u.OthersAfter(k), Class: u.ClassOf(k), Target: u.TargetOf(k) + 1, Again: k.Again, Opens: u.Opens(k), Interim: u.Interim(k), StatusOnly: u.StatusOnly(k), Blocks: u.Blocks(k)}
	if k.Status != 0 {
		o.Status = u.Status(k)
	} else {
		lost := lossyCommands(c, u)
		o.Unfetched, o.HasData = u.Unfetched(k), u.HasData(k)
		o.Unsure = lost || !c.Paired && !t.table.NeverAnswered(&c.Pair)
	}
	return o
}

// lossyCommands reports whether the capture has lost packets of a connection: else only the snap length cut them, and left what ends a command.
func lossyCommands(c *connection.Connection, u *upper.Tracker) bool {
	return c.Lossy && !(c.Cut() && u.Took().Count > 0)
}

// causeOf returns the command that a READ or WRITE of a connection belongs to, by the address, R_Key and length in bytes that it uses; nil where that is not known.
func (t *Transport) causeOf(c *connection.Connection, va uint64, rkey, length uint32) *Operation {
	u := t.uppers.recognized(c)
	if u == nil {
		return nil
	}
	return t.operation(c, u, u.Owner(va, rkey, length))
}

// causes returns which commands the requests belong to that waited long.
func (t *Transport) causes(c *connection.Connection, trouble *qp.Trouble) (list []Cause) {
	if trouble == nil || t.uppers.recognized(c) == nil {
		return nil
	}
	add := func(k *qp.Stall) {
		if r := &k.Request; k.Begun != 0 && (r.Op == wqe.Read || r.Op == wqe.Write) {
			if o := t.causeOf(c, r.VA, r.RKey, r.Length); o != nil {
				list = append(list, Cause{r.PSN, k.Since, o})
			}
		}
	}
	add(&trouble.Now)
	for i := range trouble.Longest {
		add(&trouble.Longest[i])
	}
	return list
}

// before counts the commands of end from of a connection that are open and had begun before its newest request that waited or waits.
func (t *Transport) before(c *connection.Connection, from int, trouble *qp.Trouble) int {
	u := t.uppers.recognized(c)
	if u == nil || trouble == nil || trouble.Now.Begun == 0 {
		return 0
	}
	return u.OpenBefore(from, trouble.Now.Tap, trouble.Now.Request.Frame)
}

// named returns what the peer of end from of a connection had named with the R_Key of the request of that end which it refuses; nil: it refuses none, or that is not known.
func (t *Transport) named(c *connection.Connection, from int, trouble *qp.Trouble) *Named {
	u := t.uppers.recognized(c)
	if u == nil || trouble == nil || trouble.Refusal.Time == 0 || trouble.Refusal.Request.RKey == 0 {
		return nil
	}
	n, known := u.Named(1-from, trouble.Refusal.Request.VA, trouble.Refusal.Request.RKey)
	if !known {
		return nil
	}
	return t.namedBy(c, u, &n)
}

// namedBy is memory that a command has named.
func (t *Transport) namedBy(c *connection.Connection, u *upper.Tracker, n *upper.Named) *Named {
	out := &Named{n.Addr, n.Length, n.Parts, t.operation(c, u, n.Of), n.Of.Ended(), u.AnsweredIn(n.Of), nil}
	if k, is := u.Cancelled(n.Of); is {
		out.Cancel = &k
	}
	return out
}

// renewed adds what the peer of end from of a connection had named with a newer R_Key of the region for which it refuses a request, and what waits then.
func (t *Transport) renewed(out *Upper, c *connection.Connection, from int, trouble *qp.Trouble) {
	u := t.uppers.recognized(c)
	if u == nil || trouble == nil || trouble.Refusal.Time == 0 {
		return
	}
	out.Waiting = nil
	for _, k := range u.Waiting(mostWaiting) {
		o := t.operation(c, u, k)
		o.Answer = u.AnsweredIn(k)
		out.Waiting = append(out.Waiting, o)
	}
	if r := &trouble.Refusal.Request; r.RKey != 0 {
		if frame, at := u.ForeignInvalidated(trouble.Refusal.Tap, r.Frame, r.RKey); frame != 0 && trouble.Refusal.Invalidated == nil {
			trouble.Refusal.Invalidated = &qp.Invalidation{Time: at, Frame: frame} // so long ago that the queue pair does not keep it
		}
		if at := trouble.Refusal.Invalidated; at != nil {
			out.InvalidatedBy[from] = t.operation(c, u, u.InvalidatedBy(trouble.Refusal.Tap, at.Frame, r.RKey))
		}
		if n, key, held := u.Renewed(1-from, r.VA, r.RKey); key != 0 {
			out.Renewed[from] = &Renewed{*t.namedBy(c, u, &n), key, held}
		}
		use := upper.Use{Addr: r.VA, RKey: r.RKey, Frame: r.Frame, Tap: trouble.Refusal.Tap}
		if x := trouble.Refusal.SentAfter; x != nil && x.Invalidates {
			use.Invalidates = x.InvRKey
		}
		if n, key, over := u.Keyed(1-from, use); key != 0 {
			out.Keyed[from] = &Keyed{*t.namedBy(c, u, &n), key, t.operation(c, u, over)}
		}
	}
}
