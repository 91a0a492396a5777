package conform

import "strings"

// Mark says how certain it is what a compliance statement demands.
type Mark uint8

// The marks.
const (
	Stated Mark = iota // a public source states it, or shows the test for it
	Seen               // it was seen; what it means is known only from its context
	NoneID             // no id is confirmed: the test is ours
)

func (m Mark) String() string { return [...]string{"✓", "~", "—"}[m] }

// Statement is a compliance statement that a test covers.
type Statement struct {
	ID   string // "C9-130"; empty where Mark is NoneID
	Mark Mark
}

func (s Statement) String() string { return strings.TrimSpace(s.ID + " " + s.Mark.String()) }

// Kind is a kind of devices under test.
type Kind uint8

// The kinds.
const (
	Adapter        Kind = iota // driven through its verbs; the tester is the peer of its connections
	Switch                     // asked by subnet management packets; the tester is the subnet manager at one of its ports
	ChannelAdapter             // the same of a channel adapter or router
	Node                       // either of both
)

func (k Kind) String() string { return [...]string{"adapter", "switch", "channel-adapter", "node"}[k] }

// managed reports whether the device is asked by subnet management packets.
func (k Kind) managed() bool { return k != Adapter }

// Need is what a test needs of the device under test.
type Need uint8

// The needs.
const (
	Control        Need = 1 << iota // its verbs can be called
	Memory                          // its memory can be read
	Reads                           // it is an initiator of RDMA READ and atomics
	Managed                         // subnet management packets reach it
	Extended                        // it has FLUSH and ATOMIC WRITE (annex A19)
	Notifies                        // it sends congestion notification packets, and slows down by them (annex A17.9)
	Communication                   // it has a communication manager that tests drive
	Administration                  // the master subnet manager runs at it, with its subnet administration
)

var needTexts = [...]string{
	"control of the device through its verbs", "access to the memory of its regions", "RDMA READ and atomics as initiator", "a way for subnet management packets", "FLUSH and ATOMIC WRITE",
	"congestion management", "a communication manager", "a subnet manager",
}

func (n Need) String() string {
	var list []string
	for i, text := range needTexts {
		if n>>i&1 != 0 {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// Assertion is what a test holds the device to.
type Assertion struct {
	ID   string // "v1c09-130#01", "v1c14-024.1.1#08.01"; one that no confirmed statement has is "ours#01" and so on
	Text string
}

// Ours reports whether the assertion is of this project, and not of a statement.
func (a *Assertion) Ours() bool { return strings.HasPrefix(a.ID, "ours#") }

// Decision is what was done about a part of the original page that is wrong, unclear or missing.
type Decision struct{ Page, Done string }

// Test is one test, as a test specification writes it.
type Test struct {
	ID         string // of the class that it follows: "C09_130_01"; "X09_110" is ours
	Title      string // a few words
	Abstract   string
	Covers     []Statement
	Topology   string
	Device     Kind // that it is for
	Needs      Need
	Qualifiers []string // conditions besides Needs
	Setup      []string // initialisation
	Procedure  []string // its steps, numbered from 1
	Assertions []Assertion
	Decisions  []Decision
	// Breaks are the rules that the tester breaks on purpose, by id.
	Breaks []string

	native bool // on a link of InfiniBand, and not on Ethernet
	cabled bool // on native links with their flow control and delimiters, whose other ends the tester plays
	run    func(r *run)
}

// OnEthernet reports whether the test is of an adapter on Ethernet, as one in real time is.
func (t *Test) OnEthernet() bool { return t.Device == Adapter && !t.native && !t.cabled }

// Assertion returns the assertion with this id, or nil.
func (t *Test) Assertion(id string) *Assertion {
	for i := range t.Assertions {
		if t.Assertions[i].ID == id {
			return &t.Assertions[i]
		}
	}
	return nil
}

// Topologies of the tests.
const (
	pairTopology   = "tester and device under test, one link, RoCEv2 on IPv4"                                                     // of all tests of a connection
	subnetTopology = "tester at port 1 of the device under test, one link of InfiniBand"                                          // of tests by subnet management packets
	ownTopology    = "tester at port 1 of a switch, or at each port of another device under test in turn, one link of InfiniBand" // of those on each port that has an agent
	cableTopology  = "tester at port 1 of the device under test, one native link, whose other port the tester plays: each symbol of it"
	eachTopology   = "tester at one port of the device under test after the other, one link of InfiniBand" // of those on each port
)
