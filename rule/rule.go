// Package rule is the catalogue of checkable statements of the InfiniBand Architecture, and the form in which every
// floor above reports what it found: findings, their classes, and coverage.
//
// Others may import it: its API is kept stable.
package rule

import (
	"slices"

	"ibwitness/expect"
	"ibwitness/packet"
)

// ID names one row of the catalogue; the constants carry the catalogue's id without its dashes, as RCPSN004 for "RC-PSN-004".
type ID uint16

// Severity is how grave a broken rule is.
type Severity uint8

// The severities. A proven breach of an Error rule accuses; a Warning is a should-level rule, a vendor variation or an unconfirmed row.
const (
	Info Severity = iota
	Warning
	Error
)

func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Needs is what must be known to judge a rule.
type Needs uint8

// What rules need: only packets, or also attributes of the QPs (from CM, from the HCA agent), or the link level; or besides packets what
// only verbs events show: work requests, completions, memory; or only verbs events.
const (
	Wire Needs = iota
	WireQP
	Link
	WireWQE
	WireCQE
	WireMem
	Verbs
)

func (n Needs) String() string {
	return [...]string{"wire", "wire+QP", "link", "wire+WQE", "wire+CQE", "wire+mem", "verbs"}[n]
}

// Row is one rule of the catalogue.
type Row struct {
	ID       string // catalogue id, "RC-PSN-004"
	Name     string // short name, "request-psn-gap"
	Severity Severity
	Needs    Needs
	Ref      string // section or compliance id; † marks a number that no public source confirms
	Text     string // what must hold
	Where    string // file that holds the check, "verifier/rc/request.go"; empty when the rule is not judged
	NotWhy   string // why the rule is not judged from the wire; empty when it is
}

// Class says what a finding asserts.
type Class uint8

// The classes. A violation is proven. An unproven finding would be one, but the view does not prove it (capture loss, joined in
// mid-stream, cut-off frame, tap in the middle). An event is legal, and what an operator wants counted.
const (
	Event Class = iota
	Unproven
	Violation
)

func (c Class) String() string { return [...]string{"event", "unproven", "violation"}[c] }

// Role is what the accused endpoint was when it broke the rule.
type Role uint8

// The roles.
const (
	NoRole    Role = iota
	Requester      // sends requests on RC
	Responder      // answers them
	Sender         // of a UC, UD or raw packet, or of any packet for a rule on its format
	Receiver
	Network // something between the endpoints
	Capture // the capture itself
)

func (r Role) String() string {
	return [...]string{"", "requester", "responder", "sender", "receiver", "network", "capture"}[r]
}

// Endpoint is one side of a finding.
type Endpoint struct {
	Role Role
	Addr packet.Addr
	QPN  uint32
	// QPNKnown is false while the number of the QP has not been learned: on RC and UC a packet names only its destination.
	QPNKnown bool
	Node     Node
}

// Node is the node of an InfiniBand subnet that an endpoint is, as far as subnet management packets have shown.
type Node struct {
	GUID        uint64 // NodeGUID; 0: not known
	Description string // NodeDescription; empty: not known
	Route       string // directed route by which it was reached, as "0,1,3": 0 is the node at which the route begins; empty: reached by its LID
}

// Finding is one rule, one accused endpoint, the frames that prove it, expected and actual.
type Finding struct {
	Rule     ID
	Class    Class
	Service  packet.Service
	Opcode   packet.Opcode
	HasBTH   bool // Service, Opcode and PSN are meaningful
	PSN      packet.PSN
	Time     int64 // nanoseconds since the Unix epoch
	Tap      uint16
	Frame    uint64
	Evidence []uint64 // earlier (or later) frames of the same tap that the finding rests on, without Frame itself
	Accused  Endpoint
	Peer     Endpoint
	Expected string
	Actual   string
	Detail   string     // what a reader must know beside expected and actual; for an unproven finding: why it is not proven
	Seq      uint32     // order of findings on one frame; set by Recorder
	Gap      Gap        // what the finding says is missing
	Before   uint64     // frame of the request before that; 0: it is not kept
	Assumes  Assumption // what may prove it, beside the packets themselves
	Cut      bool       // the snap length cut the frame: its ICRC was not judged, so that nothing can prove it
	// Log and Line are the place of the event that the finding is about: a file of verbs events, and a line of it from 1 on. Frame is 0
	// where no frame shows it.
	Log  string
	Line int
	// Comparison is the packet of the finding beside the one that was expected, field by field: with all headers and the payload where events tell of its work
	// request, as far as they tell; else with what the wire determines. It is nil where no field of it is wrong: it should not have been sent,
	// or not then, or is missing, and nil beyond the first findings of a rule and class (see Recorder.Compares).
	Comparison *expect.Comparison
	// Beyond says that there are very many like it: it is counted, and will not be kept.
	Beyond bool
}

// Assumption is what has to be true of a capture for a missing packet to prove a finding.
type Assumption uint8

// The assumptions; a finding may rest on several.
const (
	AssumesNear  Assumption = 1 << iota // the tap is near an endpoint
	AssumesWhole                        // the capture has lost nothing
)

// Gap is the PSN of a packet that was not sent, has not arrived or was not answered; 0: none.
type Gap uint32

// GapAt is the gap where the packet with this PSN should be.
func GapAt(psn packet.PSN) Gap { return Gap(psn) | 1<<31 }

// PSN returns the PSN of a gap.
func (g Gap) PSN() packet.PSN { return packet.PSN(g &^ (1 << 31)) }

// Count is the coverage of one rule.
type Count struct{ Exercised, Violated, Unproven uint64 }

// Add adds what another one has counted.
func (c *Count) Add(o Count) {
	c.Exercised += o.Exercised
	c.Violated += o.Violated
	c.Unproven += o.Unproven
}

// Passed is how often the rule was exercised and held.
func (c Count) Passed() uint64 { return c.Exercised - min(c.Exercised, c.Violated+c.Unproven) }

// Recorder collects the findings and the coverage of one shard of the engine. It is not safe for concurrent use.
type Recorder struct {
	Findings []Finding
	Cover    [NumRules]Count
	seq      uint32

	about  about // see there; nil: nothing was looked for yet
	found  []int
	looked uint64
	taken  bool // one that was taken back is in Findings

	clockless bool // see DoubtClock
	// Doubtful, where not nil, says why a violation is not proven, or nothing.
	Doubtful func(*Finding) string
	beyond   beyond
	changes  changes
}

// Add records a finding and counts it in the coverage of its rule.
func (r *Recorder) Add(f Finding) {
	n := len(r.Findings)
	if n == cap(r.Findings) {
		r.Findings = slices.Grow(r.Findings, max(n, 64))
	}
	r.Findings = append(r.Findings, f)
	r.added(&r.Findings[n]) // in its place: a copy that is asked of Doubtful would be allocated
}

// added counts the newest finding of the list.
func (r *Recorder) added(f *Finding) {
	r.seq++
	f.Seq = r.seq
	if r.clockless && f.Class == Violation && timed[f.Rule] {
		f.Class, f.Detail = Unproven, clockSteps
	}
	if r.Doubtful != nil && f.Class == Violation {
		if why := r.Doubtful(f); why != "" {
			f.Class, f.Detail = Unproven, why
		}
	}
	r.cover(f.Rule, f.Class)
	f.Beyond = r.beyond.add(f)
	r.changed(Found, f)
	if r.about != nil && !f.Beyond {
		r.about.add(f)
	}
}

// cover counts a finding in the coverage of its rule.
func (r *Recorder) cover(id ID, class Class) {
	switch class {
	case Violation:
		r.Cover[id].Violated++
	case Unproven:
		r.Cover[id].Unproven++
	case Event:
		r.Cover[id].Exercised++
	}
}

// Take removes the findings before a time and returns them, in the order in which they were made.
func (r *Recorder) Take(before int64) (out []Finding) {
	r.Settle()
	r.drop()
	r.about = nil
	stay := r.Findings[:0]
	for _, f := range r.Findings {
		if f.Time < before {
			out = append(out, f)
			r.beyond.take(&f)
		} else {
			stay = append(stay, f)
		}
	}
	clear(r.Findings[len(stay):])
	r.Findings = stay
	return out
}

// RemoveAll takes findings back, by their indices, in one step. Those that stay may accuse others than before.
func (r *Recorder) RemoveAll(gone map[int]bool) {
	r.about = nil
	if len(gone) == 0 {
		return
	}
	stay := r.Findings[:0]
	for i := range r.Findings {
		if gone[i] {
			r.uncount(&r.Findings[i])
			r.changed(Withdrawn, &r.Findings[i])
		} else {
			stay = append(stay, r.Findings[i])
		}
	}
	clear(r.Findings[len(stay):])
	r.Findings = stay
}

func (r *Recorder) uncount(f *Finding) {
	if f.Beyond {
		return // it stays counted
	}
	r.beyond.take(f)
	if f.Class == Violation {
		r.Cover[f.Rule].Violated--
	} else {
		r.Cover[f.Rule].Unproven--
	}
}

// Doubt says of finding i that it is not proven, and why.
func (r *Recorder) Doubt(i int, why string) {
	f := &r.Findings[i]
	if f.Class != Violation || f.Beyond {
		return
	}
	r.beyond.becomes(f, Unproven)
	f.Detail = why
	r.Cover[f.Rule].Violated--
	r.Cover[f.Rule].Unproven++
	r.changed(BecameDoubted, f)
}

// PacketsLost is why what rests on what a capture does not show is not proven.
const PacketsLost = "the capture lost packets: a missing packet may have passed the tap"

// Incomplete doubts what was proven by what the capture does not show: it has lost packets, as it says only now.
func (r *Recorder) Incomplete() {
	for i := range r.Findings {
		if r.Findings[i].Assumes != 0 {
			r.Doubt(i, PacketsLost)
		}
	}
}

// Prove makes a violation of an unproven finding; why is what has proven it since. A frame that was cut may be a damaged one: of it nothing
// is ever proven.
func (r *Recorder) Prove(i int, why string) {
	f := &r.Findings[i]
	if f.Class != Unproven || f.Cut || f.Beyond || r.clockless && timed[f.Rule] {
		return
	}
	r.beyond.becomes(f, Violation)
	f.Detail = why
	r.Cover[f.Rule].Unproven--
	r.Cover[f.Rule].Violated++
	r.changed(BecameProven, f)
	if r.about != nil && f.Assumes&AssumesNear != 0 {
		r.about.both(subject{rule: nearAssumed}, f, 0)
	}
}

// Row returns the catalogue row of a rule.
func (id ID) Row() *Row { return &catalogue[id] }

func (id ID) String() string {
	if int(id) >= NumRules {
		return "no rule"
	}
	return catalogue[id].ID
}
