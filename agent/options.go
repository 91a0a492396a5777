package agent

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// Options steer a run.
type Options struct {
	Workers int           // goroutines that decode and verify; 0: one a CPU
	Near    []packet.Addr // endpoints that the tap is near: what it shows leaving them was sent, what it shows arriving did arrive
	// Events are logs of verbs events, one a device: with them work requests and completions are compared with the packets.
	Events []*hcaagent.Log
	// Unordered says that the events which a Session is given come in the order of time, but those of one time in any order, before and after the frames of it, as the
	// processes of a simulation make them. They are compared with packets when a later time is told.
	Unordered bool
	// OneClock says that one clock stamps events, and frames at their last byte, from before the queue pairs are at work, as in a simulation: in which order they came is
	// certain, and what events give a queue pair holds from its first packet on. Run takes one worker then, and judges all as a Session does that is attached to the
	// simulation; logs say of which device they are, and are Exact. Watch has no meaning.
	OneClock bool
	// Profile is what the devices do otherwise than the standard, on purpose.
	Profile verifier.Profile
	// Watch, where not nil, has the run hand out findings while it goes on, and forget connections that are over: for a run without end.
	Watch *Watch
	// Coverage has the run count what of the protocol the packets have shown: Result.Shown.
	Coverage bool
	// Latencies has the run measure response times. A run with Watch always measures them.
	Latencies bool
	// Timing has the run measure what the messages of each connection took: Connection.Timing. Messages is how many of them are kept, those that began first.
	Timing   bool
	Messages int
	// Short, where not nil, is asked now and then whether memory is short. Then the longest idle half of the connections is forgotten, and of the findings that are
	// kept those like many others: see Result.Forgotten.
	Short func() bool
	// Progress, where not nil, is called now and then from one goroutine with the packets read so far.
	Progress func(packets uint64)
}
