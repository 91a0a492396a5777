// Package incident tells what happened on the connections of a run, beside the verdict: which request was never answered, where packets were lost, who refused whom and
// what that led to. An incident accuses nobody: it rests on the same evidence as the findings, and says how certain it is.
//
// Others may import it: its API is kept stable.
package incident

import (
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// Kind is what kind of thing happened.
type Kind uint8

// The kinds, the gravest first.
const (
	Unanswered       Kind = iota // a request was retransmitted, or waited for long, and was never answered
	NeverAnswered                // the same of a connection whose peer has never sent anything on it
	Refused                      // a NAK ended the connection
	Exhausted                    // a receiver was not ready until the capture or the retries ended
	DatagramsDropped             // a queue pair received fewer datagrams than came to it
	Uncompleted                  // a request was over, and no completion came
	Rejected                     // the communication manager refused a connection
	Ignored                      // nothing answered a request for a connection
	Unserved                     // nothing answered management requests
	Waiting                      // the peer has not answered a command of the protocol above
	Interrupted                  // nothing came for a while, then it went on
	Slow                         // the peer took long to answer a command of the protocol above
	Damage                       // packets were damaged
	NotReady                     // a receiver was not ready at times
	Retransmitting               // much of what was sent was retransmitted, for a while
	Loss                         // packets were lost, and retransmitted
	Trimmed                      // a switch cut packets short in place of dropping them
	Reordered                    // packets came in another order than they were sent
	Paused                       // a port had the other end of its link pause
	Congestion                   // the network marked packets, or a receiver asked a sender to slow down
	Untrusted                    // the capture itself is not to be trusted
	NumKinds
)

// String is the name of the kind in JSON and metrics.
func (k Kind) String() string {
	return [...]string{
		"unanswered", "never-answered", "refused", "not-ready-exhausted", "datagrams-dropped", "completion-missing", "connection-refused", "connection-unanswered", "mad-unanswered", "command-unanswered", "interrupted", "command-slow", "damage", "not-ready", "storm", "loss",
		"trimmed", "reordered", "pause", "congestion", "capture",
	}[k]
}

// MarshalText has a kind be its name in JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Certainty is how certain what an incident says is.
type Certainty uint8

// The certainties.
const (
	Possible Certainty = iota // it fits, and other things do
	Likely                    // nothing in the capture speaks against it
	Proven                    // the frames show it
)

func (c Certainty) String() string { return [...]string{"possible", "likely", "proven"}[c] }

// MarshalText has a certainty be its name in JSON.
func (c Certainty) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Incident is what happened, on one connection or on several at once.
type Incident struct {
	Kind      Kind
	Certainty Certainty // of What
	What      string    // a plain sentence
	Local     Party     // whose requests it is about; for Rejected who asked for the connection
	Peer      Party
	// Connections is how many connections it is on, the one of Local and Peer among them.
	Connections int
	Begin       int64 // nanoseconds since the Unix epoch
	End         int64
	Ongoing     bool          // it had not ended when the capture did
	Lost        time.Duration // time without progress: the longest of several connections at once
	Tap         uint16
	Frames      []uint64      // that show it, ascending, of Tap
	Facts       []Fact        // what more the frames show, the most useful first
	Found       []Found       // the findings that belong to it and to no graver one, violations first; of a run that is over
	FitsWith    []string      // what would look like this
	Next        []string      // what to look at next
	Also        []packet.Addr // other hosts that lost Peer, that Local lost, or whose packets to Peer met congestion or were trimmed, at the same time
	Headline    string        // what the verdict line says of it, before rules that were broken in form only; "": nothing

	slowOf []*agent.Connection // whose commands were slow from a time on

	cause          string            // why a responder refused access, as far as the capture shows: of several causes each is told
	own            int64             // when what it names began, where others that it tells of may have before; 0: that is not known
	fin            *agent.Sign       // by which Peer closed a TCP connection of the program whose queue pair answers nothing since; nil: none shows
	leftOff        string            // what Local stopped in the midst of; "": it is not that
	retried        bool              // it begins when its request was first retransmitted
	lostAt         []int64           // when each of its group that is of a peer which sent nothing any more began
	common         packet.Addr       // what all that Also tells of have in common, where that is Local; else it is Peer
	gone           gone              // what of Peer is
	newest         [2]Party          // Local and Peer of the one of its group that was told last
	oneSided       bool              // the capture holds one direction of each connection
	foremost       bool              // it is told first: what the others say rests on it
	unserviced     bool              // a refusal, as no program listens
	roomOf         []packet.Addr     // a refusal: whose connections ended before later ones were accepted
	lostMany       bool              // the capture lost many packets
	copies         uint64            // packets of the capture that are copies of others, which are judged once
	episodic       bool              // slow commands in several times, of all connections between the hosts
	ungranted      bool              // Local granted Peer no credits to send its answers with
	lacks          bool              // the capture lost packets
	noLoss         bool              // likewise many, and nothing shows that the network lost any
	notNetwork     bool              // packets are in the capture twice, and all that looks wrong between their hosts comes of that and of what it lost
	losesFrames    bool              // it tells that the capture lost packets
	lacking        uint64            // how many, at least
	amongLost      string            // command whose answer is most likely among the packets that the capture lost
	inHole         bool              // what the capture, which lost packets, lacks: nobody asked for it again
	servedAlone    bool              // what its command works on was served on other connections of the two hosts meanwhile
	listed         bool              // its facts say which connections it tells of
	outlasting     []packet.Addr     // hosts of the connections whose requests outlasted it, as its facts say
	outlasted      bool              // retries that were used up in an outage that others outlasted
	ofTrimmed      bool              // losses on a way on which packets were trimmed
	ofMarked       bool              // losses on a way on which many packets were marked as having met congestion
	harmless       bool              // congestion that receivers answered, or packets that came late, and nothing was retransmitted for it
	heeding        string            // hosts of queue pairs that are seen to slow down after CNPs of congestion, all that matter; "": that is not known
	unequal        bool              // congestion that one sender does not yield to as others do, or to which all yield too far
	sharedFairly   bool              // congestion of senders that fill a link and get fair shares of it
	noneLost       bool              // losses that are none: all follow from packets that came after later ones
	readsCame      bool              // losses, or an interruption: READ responses came late, and as many as were asked for
	onePath        bool              // losses that may be on one path of several
	storm          int               // number of a pause that a port did not let go of, which others are within; 0: it is none
	costsMore      bool              // a pause: packets of several connections were retransmitted in its time
	within         int               // of the one that an interruption is told with
	lossyBeyond    []packet.Addr     // hosts between which and the tap packets were lost, of losses, where others show that it was there
	ofAll          bool              // losses of all connections on which one host sends to another
	amongLosses    bool              // an interruption: what it waited for was lost among many others
	answersGone    bool              // an interruption: the answers to what was retransmitted in it were lost before the tap
	lostAgain      bool              // an interruption: what was retransmitted in it was lost again, as the capture shows
	tailsLost      bool              // an interruption: what it waited for was lost after the last of several taps, and answered at once when a timer had it retransmitted
	endLost        bool              // an interruption: what was retransmitted in it was lost before the tap, in few rounds
	onceLost       bool              // it went back once, and that was answered at once
	unnumbered     bool              // that packets came late only the place shows at which they did
	programsOf     packet.Addr       // no program of it sent a message on any of its busy connections
	eachLost       bool              // an interruption: each that it tells of is one of these three
	allChance      bool              // an interruption: each that it tells of is one of the first two
	answerLost     bool              // an interruption: the answer had passed the tap
	ofAnswers      bool              // losses, some of answers
	allAnswers     bool              // losses, all of answers that had passed the tap
	explained      bool              // losses, most of which are packets that were overtaken
	trimsOnly      bool              // losses, and all of what NAKs asked for came trimmed, as far as they tell
	bursts         bursts            // of Trimmed: when packets were
	byDamage       bool              // losses, or an interruption: in each that it tells of as many packets came damaged as its requester went back
	cameBack       bool              // pauses: ends are told that sent requests right after them
	each           [][2]int64        // of interruptions that are told as one: when each was, first and last
	unkept         uint64            // interruptions of the same connections that are shorter and were not kept
	sum            *lossSum          // losses of several connections, of which it tells; nil: it is of one, or they have nothing in common
	mostLost       time.Duration     // of those that it tells of
	held           []packet.Addr     // a pause of a port that did not let go: the hosts that what is sent to waits for its end
	on             map[[2]Party]bool // an interruption: the connections that it tells of
	late           late
	unanswered     bool          // congestion whose receiver answers no marks, though another does
	led            bool          // packets that came late, or marks that their receiver does not answer: it tells of the stalls and losses that they led to
	costs          time.Duration // what these cost in all
	short          shortage      // of NotReady
	stalled        bool          // of it, the program of Peer was stalled for long
	unansweredFrom int64         // likewise, since when it owed an answer before it was not ready; 0: that is not known
	lateREQs       bool          // REQs that were answered late
	exhausted      exhaustion    // of Exhausted
	version        roceVersion   // of the requests that were never answered
	odd            roceVersion   // of the requests of a host whose peers send with the other one; 0: they do not
	accepted       bool          // the client of a refusal was accepted soon after
	ofHung         bool          // a connection that is not accepted, of a server that answers no command of anyone either
	follows        bool          // what the peer lacks on the connection tells why
	disconnected   bool          // the peer had asked to disconnect before the request was sent
	sized          bool          // only smaller packets pass
	whole          bool          // all of the peer is gone, as what else it does not answer shows
	notSized       bool          // small packets refute that only larger ones vanish
	deadToo        int           // other connections of the same hosts that What names, which answer nothing since then either
	hole           hole          // where they do, as far as that is known
	packet         uint32        // payload of a packet of the request, not of a READ; 0: not known
	refused        uint64        // frame of the request that a NAK refuses; 0: not known

	lulls    []lull // when the programs of Peer stopped
	protocol string // of late commands

	steppedBy int64 // by how much the clock of the capture stepped ahead, nanoseconds; 0: it did not

	again        retransmitting
	hop          *hopTold // next hop that moved; nil: it tells of none
	damaged      uint64   // packets that were, of Damage, or trimmed
	betweenHosts int      // between how many pairs of hosts, likewise
}

// Party is one side of an incident.
type Party struct {
	Addr     packet.Addr
	QPN      uint32
	QPNKnown bool
}

// Fact is a line of what the frames show: a label of one word, and text.
type Fact struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

func (i *Incident) fact(label, text string) {
	if text != "" {
		i.Facts = append(i.Facts, Fact{label, text})
	}
}

// Lacks reports whether it is that the capture lost packets.
func (i *Incident) Lacks() bool { return i.lacks }

// Failed reports whether something failed for good: a request, a connection or a command.
func (i *Incident) Failed() bool { return i.Kind < Interrupted && !i.accepted }

// Ordinary reports whether it is no more than what happens on networks under load, to who connects, or to a capture: packets marked as having met congestion, which
// nobody exploits, or that came late at no cost, short pauses, a refusal soon followed by a connection.
func (i *Incident) Ordinary() bool {
	switch i.Kind {
	case Congestion:
		return !i.unequal && !i.unanswered
	case Reordered:
		return i.harmless
	case Paused:
		return i.Lost < longestOrdinaryPause
	case Untrusted:
		return true
	}
	return i.Kind < Interrupted && i.accepted
}

// longestOrdinaryPause is up to how long a pause costs no more than those of switches and hosts under load.
const longestOrdinaryPause = time.Millisecond

// withAlso is what all that Also tells of have in common.
func (i *Incident) withAlso() packet.Addr {
	if i.common.IsZero() {
		return i.Peer.Addr
	}
	return i.common
}

// Between reports whether an incident tells of what is between two hosts, in either order.
func (i *Incident) Between(a, b packet.Addr) bool {
	of, common := pairBy(a, b), i.withAlso()
	return of == pairBy(i.Local.Addr, i.Peer.Addr) || slices.ContainsFunc(i.Also, func(x packet.Addr) bool { return of == pairBy(common, x) })
}

// OneSided reports whether an incident says that the capture holds one direction of each connection only.
func (i *Incident) OneSided() bool { return i.oneSided }
