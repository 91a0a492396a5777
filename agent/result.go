package agent

import (
	"time"

	"ibwitness/coverage"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/verifier/cm"
	"ibwitness/verifier/ud"
	"ibwitness/wqe"
)

// Result is everything that a run found. It is the same whatever the number of workers.
type Result struct {
	Packets     uint64          // frames read, of any protocol
	RDMA        uint64          // of them, InfiniBand or RoCE packets
	Repeated    uint64          // RDMA packets that another tap had already shown
	Copies      verifier.Copies // RDMA packets that came twice: the network made them, or the capture
	Mirrored    []Mirrored      // directions between hosts whose packets came twice, by addresses
	Dropped     uint64          // packets that the capture says it lost
	Gaps        uint64          // where the capture has lost packets without saying so, as MSNs show
	Undecoded   uint64          // RDMA packets whose headers are inconsistent
	Unjudged    uint64          // RDMA packets of which no verifier of a transport service has judged more than the base transport header
	Events      int             // logs of verbs events that were compared with the packets
	First, Last int64           // times of the first and last frame, nanoseconds since the Unix epoch
	LogClocks   []LogClock      // of the logs whose clock is not that of the packets
	LogsUnseen  []LogUnseen     // the logs that tell of queue pairs which the capture shows nothing of
	Taps        []fabricagent.Tap
	Findings    []rule.Finding // in frame order: time, tap, frame, then the order in which the verifiers spoke
	Waived      []rule.Waived  // violations that are no errors, see Waive; in that order too
	Connections []Connection   // in the order of their first packet
	Cover       [rule.NumRules]rule.Count
	Shown       coverage.Counts // what else of the protocol the packets have shown, with Options.Coverage
	Open        Open
	Clock       ClockStep              // what shows that a clock of the capture was set; Count 0: nothing
	Skewed      []Skew                 // hosts of which two clocks stamp what they send and receive, by address
	Apart       []Apart                // taps the clocks of which differ, the ones that do most first
	Disorder    Disorder               // frames that are stamped before one which comes before them
	Numbered    []Numbering            // hosts whose packets one counter numbered, by address and tap
	Arrived     []packet.Addr          // hosts of which the capture holds each number of that counter, though packets came after later ones
	ArrivedQPs  []NumberedPair         // the same of what hosts sent to queue pairs that have a counter of their own
	Silences    []Silence              // the longest times without any frame, 50 ms or longer, in the order in which they were
	Forgotten   Forgotten              // since there was too much
	TapCounts   []TapCount             // what each of several taps shows of the packets from host to host, by address and DSCP
	Echoes      []Echo                 // hosts that answered pings, by address; nil: none did, or too many to say
	Discards    []Discards             // of RoCEv2 packets, by ICMP; nil: there are none, or too many to say
	Pings       []Sign                 // echo requests, in the order of frames; nil: there are none, or too many
	Signs       []Sign                 // of hosts that are up, in the order of frames; nil: there are none, or too many
	OtherFrames []OtherFrames          // frames without RDMA, by kind; pause frames are in Paused
	Neighbors   []fabricagent.Neighbor // ports that LLDP names, by Ethernet address; nil: there are none, or too many
	NoRoCE      []NoRoCE               // datagrams to port 4791 of other programs, by where they come from
	Moved       []Moved                // hosts whose address moved to another Ethernet address, by address
	NotJudged   []Note                 // what was not judged and why, most frequent first
	Paused      []link.Paused          // who had whom pause on Ethernet, by pause frames, in the order in which it began
	Latencies   *verifier.Latencies    // nil: not measured
	// MessagesDropped is how many messages were not kept, as they began after those that are.
	MessagesDropped uint64
	REQs            []cm.Unanswered     // of CM that nothing has answered, in the order of their first
	SIDRs           []cm.Resolved       // SIDR_REQs that were answered, of the last minute
	Delayed         []cm.Delayed        // REJs of CM after an MRA had asked for more time
	Streams         []ud.Stream         // of datagrams, by the queue pair that sent them, in the order of their first
	Datagrams       []cq.Dropped        // on their way to queue pairs whose logs tell that they did not receive them
	AwaitedMADs     uint64              // management requests, but those of subnet management, that are not answered when the capture ends, however shortly they wait
	AwaitedSince    int64               // when the oldest of them was sent
	MADs            []subnet.Unanswered // management requests that nothing has answered, in the order of their first
}

// LogClock is how the clock of a log of verbs events was aligned with that of the packets.
type LogClock struct {
	Log    string
	Known  bool          // requests or messages of it were seen; else its times are taken as they are
	Ahead  time.Duration // of the clock of the packets
	Within time.Duration // how far that may be off
	// SetBack says that it was set back in the run, so that nothing is proven by its times.
	SetBack bool
	// Finer says that it is claimed to be that of the packets, whose stamps are coarser: they do not show in which order events and packets came.
	Finer bool
}

// LogUnseen is the queue pairs of a log that were compared with nothing.
type LogUnseen struct {
	Log string
	cq.Unseen
}

// Note is a reason why packets were not judged, and how many.
type Note struct {
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
}

// Connection is one connection as the report shows it: a pair of QPs, and on UD a pair of QPs that exchanged datagrams.
type Connection struct {
	Service    packet.Service
	Encap      packet.Encap
	FirstTap   uint16 // of its first packet
	PMTU       uint32 // bytes; 0: not known
	PairedBy   PairedBy
	FirstHops  uint8              // hop limit (TTL) of its first packet on IP, where it is at most 7; 0: it is more, or not known
	Largest    uint16             // where the path MTU is not known: most bytes of payload of a packet
	Closed     Closed             // by CM
	First      int64              // time of its first packet
	FirstFrame uint64             // and its frame
	Ends       [2]End             // Ends[0] sent the first packet, or the CM REQ
	Upper      *Upper             // the protocol above the transport; nil: not recognized
	Stale      *Stale             // what came on it of the one before it between the same queue pairs; nil: nothing did
	Timing     *timing.Connection // what its messages took; nil: not measured
	Lone       *Lone              // responses of Ends[0] to requests that are not known; nil: there are none
	Midway     *Midway            // the message of which an end has sent a part, on RC and XRC; nil: none, or the rest may have been sent where the capture has a gap
}

// Lone is the PSNs of responses that answer no request in the capture, of a connection of which it holds nothing else.
type Lone struct {
	First, Newest packet.PSN
	NAK           bool // the newest is a PSN sequence NAK; else all are positive
}

// Closed is how CM has disconnected a connection.
type Closed struct {
	By    packet.Addr // who asked for it
	At    int64       // when a message showed that; 0: it has not
	Frame uint64      // of that
}

// End is one side of a connection and what it sent.
type End struct {
	Addr            packet.Addr
	QPN             uint32
	QPNKnown        bool
	Near            bool   // the user said that the tap is near it
	VLAN            uint16 // tag control information of the VLAN tag of its packets, as of packet.Packet; 0: no tag
	Packets         uint64 // sent
	Bytes           uint64 // payload sent
	Messages        uint64 // request messages completed on the wire, READs included
	Retransmissions uint32 // request packets retransmitted
	Duplicates      uint32 // request packets of the peer that arrived more than once
	NAKs            uint32 // sent, all codes
	SequenceNAKs    uint32 // sent
	RNRNAKs         uint32 // sent
	// Open is how many of its requests wait for an answer and have none when the capture ends, or had none when CM disconnected: on RC and XRC. OpenFrame is
	// the frame that began the oldest of them, and OpenSince when it last asked, or was last answered. OpenEnded are READs whose last response has come, and earlier ones
	// are missing: they may be what the capture has lost.
	Open      uint32
	OpenFrame uint64
	OpenSince int64
	Last      int64 // when it sent its newest packet; 0: it sent none
	// Trouble is what kept its requests from being answered; nil: nothing did. Stalled says that the request of the newest stall still waits.
	Trouble      *qp.Trouble
	Stalled      bool
	OpenEnded    uint16 // see Open
	AfterStalled AfterStalled
	Settings
	Path       Path
	Hop        *Hop  // nil: not known
	ECNCapable bool  // it sends RoCEv2, and its first packet was: ECN 01 or 10, or marked on its way
	NotECT     bool  // it sends RoCEv2, and its first packet was a request with ECN 00, and none of it is known to have been marked
	Timer      int64 // shortest time after which it retransmitted what nothing had answered, nanoseconds; 0: it never did
}

// AfterStalled is the smallest packet that was sent after the request of the newest stall, which still waits, of those that are kept: its payload with pad.
type AfterStalled struct {
	Known bool
	Least uint32
}

// Midway is a SEND or WRITE of which a part came, and not the last packet. Where both ends have one, it is that of which nothing has come for longer.
type Midway struct {
	From   int // the end that sends it
	Op     wqe.Op
	PSN    packet.PSN // of its first packet
	Length uint32     // bytes, of a WRITE whose first packet was seen; 0: not known
	Sent   uint32     // bytes of payload that were seen
	Begun  uint64     // frame of its first packet
	Frame  uint64     // of its newest packet
	Since  int64      // time of that
}

// Cause is the command of the protocol above that a READ or WRITE belongs to which waited.
type Cause struct {
	PSN   packet.PSN // of the stall's request
	Since int64      // of the stall
	Of    *Operation
}

// SlowestNeeded is the longest that a request waited for its own answer on which the commands of the protocol above depend: a request of the end that sends them, or a READ of the other.
// The other's WRITEs and SENDs are on their way at once, whenever they are acknowledged. 0: none was measured.
func (c *Connection) SlowestNeeded() (most time.Duration) {
	if c.Timing == nil || c.Upper == nil || c.Upper.Slowest == nil {
		return c.SlowestMessage()
	}
	for e := range c.Timing.Ends {
		for kind, o := range c.Timing.Ends[e].Ops {
			if o != nil && (e == c.Upper.Slowest.From || wqe.Op(kind) == wqe.Read) {
				most = max(most, o.Most)
			}
		}
	}
	return most
}

// SlowestMessage is the longest that a request waited for its own answer; 0: that was not measured.
func (c *Connection) SlowestMessage() (most time.Duration) {
	if c.Timing == nil {
		return 0
	}
	for e := range c.Timing.Ends {
		for _, o := range c.Timing.Ends[e].Ops {
			if o != nil {
				most = max(most, o.Most)
			}
		}
	}
	return most
}

// Cause returns the command of the protocol above that the READ or WRITE of a stall of end from belongs to; nil: it is not known, or to none.
func (c *Connection) Cause(from int, k *qp.Stall) *Operation {
	if c.Upper == nil {
		return nil
	}
	for _, x := range c.Upper.Causes[from] {
		if x.PSN == k.Request.PSN && x.Since == k.Since {
			return x.Of
		}
	}
	return nil
}

// Settings is what CM or an HCA agent told of a queue pair.
type Settings struct {
	Known, ByCM                       qp.Known // ByCM: what only CM told, and the application can have set otherwise
	Timeout, MinRNRTimer              uint8    // codes
	RetryCnt, RNRRetry                uint8
	InitiatorDepth, ResponderResource uint8
	AskedDepth                        uint8  // of InitiatorDepth, what the REQ of CM asked for; 0: that is not known
	Receives                          uint16 // KiB of the receives that it announced for RPC over RDMA; 0: that is not known
	SRQ                               bool   // its responder receives from a shared receive queue; false: that is not known
}

func settingsOf(a *qp.Attr) Settings {
	if a == nil {
		return Settings{}
	}
	return Settings{a.Known, a.ByCM, a.Timeout, a.MinRNRTimer, a.RetryCnt, a.RNRRetry, a.MaxRdAtomic, a.MaxDestRdAtomic, a.AskedRdAtomic, a.Receives, a.SRQ}
}

// Knows reports whether an attribute is known.
func (s *Settings) Knows(k qp.Known) bool { return s.Known&k == k }

// Path is what the packets of an end have in common on their way, where any was seen: as the first had it.
type Path struct {
	Known bool
	Port  uint16 // UDP source port
	DSCP  uint8
	SL    uint8 // of InfiniBand
	PKey  uint16
	QKey  uint32 // of datagrams
	Entry
}

// Judged reports whether any packet of a transport service, or of a link, was judged.
func (r *Result) Judged() bool { return r.RDMA > r.Unjudged+r.Repeated }

// Waive takes the violations that are waived out of the findings. The rules count them on.
func (r *Result) Waive(w rule.Waivers) {
	kept := r.Findings[:0]
	for i := range r.Findings {
		f := &r.Findings[i]
		if why, ok := w.Of(f); ok && f.Class == rule.Violation {
			r.Waived = append(r.Waived, rule.Waived{Finding: *f, Why: why})
		} else {
			kept = append(kept, *f)
		}
	}
	clear(r.Findings[len(kept):])
	r.Findings = kept
}

// Violations counts the findings of a class and severity.
func (r *Result) Violations(s rule.Severity) (n uint64) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Class == rule.Violation && f.Rule.Row().Severity == s {
			n++
		}
	}
	return n
}

// Of counts the findings of a class.
func (r *Result) Of(c rule.Class) (n uint64) {
	for i := range r.Findings {
		if r.Findings[i].Class == c {
			n++
		}
	}
	return n
}
