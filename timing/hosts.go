package timing

import (
	"cmp"
	"slices"
	"time"
)

// HostMessage is a message that one host sent to another; hosts are numbered from 0 on.
type HostMessage struct {
	Sent
	From, To int
}

// LongSilence is for how long a host sends and receives no message at least for that to be a wait. Times do not count in which all hosts were idle.
const LongSilence = int64(time.Millisecond)

// goesOn is in which part of the time that it waited, one in so many, a host goes on after the message that it waited for.
const goesOn = 4

// HostWaits is why a host had no message at times: it waited for that which came then, or went on by itself.
type HostWaits struct {
	Peers    []PeerMessages // hosts that send to it, in their order
	For      []WaitFor      // the host first that it waited for longest
	Own      time.Duration  // after which it went on by itself, in all
	Longest  time.Duration  // of those
	From, To int64          // its first and its last message that counts
}

// PeerMessages is how many messages a host had from another.
type PeerMessages struct{ Host, Count int }

// WaitFor is how long a host waited for messages of another, and then went on soon.
type WaitFor struct {
	Host    int
	Count   int
	Time    time.Duration
	Longest time.Duration
	Lag     time.Duration // at most, from the message of the other until the host went on
	First   time.Duration // of Time, in which no other had come that waited, too: the message was the first after a pause
}

// HostWaitsOf tells for how many hosts what they waited for.
func HostWaitsOf(hosts int, links []Link) []HostWaits {
	type event struct {
		at, end     int64
		host, other int
		sends       bool
	}
	list := MessagesOf(links)
	events := make([]event, 0, 2*len(list))
	out, together := make([]waiter, hosts), idleOf(hosts, list, acksOf(links))
	for h := range out {
		out[h] = waiter{idle: together, peers: map[int]int{}, came: map[int]int64{}, served: map[int]int64{}, waits: map[int]*WaitFor{}}
	}
	for _, x := range list {
		events = append(events, event{x.Begin, x.End, x.From, x.To, true}, event{x.End, x.End, x.To, x.From, false})
	}
	inOrder(events, func(e *event) int64 { return e.at })
	for _, e := range events {
		if w := &out[e.host]; e.sends {
			w.sends(e.at, e.end, e.other)
		} else {
			w.receives(e.at, e.other)
		}
	}
	all := make([]HostWaits, hosts)
	for h := range out {
		all[h] = out[h].done()
	}
	return all
}

// waiter follows a host.
type waiter struct {
	HostWaits
	idle    idle
	last    int64 // when its newest message, either way, was over
	peers   map[int]int
	came    map[int]int64 // when the newest message of each other host did
	served  map[int]int64 // when it began its newest message to each
	waits   map[int]*WaitFor
	pending struct { // the wait that the newest message to it has ended, which has sent nothing since; silence 0: none
		silence, at int64
		from        int
		first       bool // no other host waited, too
	}
}

// receives takes that a message came.
func (w *waiter) receives(at int64, from int) {
	w.peers[from]++
	if silence := w.silence(at); w.last != 0 && silence >= LongSilence && silence > w.pending.silence {
		w.pending.silence, w.pending.at, w.pending.from = silence, at, from
		w.pending.first = !w.othersWait(from)
	}
	w.came[from] = at
	w.passed(at)
}

// othersWait reports whether a host had come before another, and waits as well: the host has sent it nothing since, or has sent to the other since, as
// where all send in a round and only the other has not.
func (w *waiter) othersWait(other int) bool {
	for p, at := range w.came {
		if p != other && (at > w.served[p] || w.served[other] >= at) {
			return true
		}
	}
	return false
}

// sends takes that the host begins a message to another, which ends at a time.
func (w *waiter) sends(at, end int64, to int) {
	silence, lag := w.silence(at), at-w.pending.at
	if w.pending.silence != 0 && lag*goesOn <= w.pending.silence {
		f := w.waits[w.pending.from]
		if f == nil {
			f = &WaitFor{Host: w.pending.from}
			w.waits[w.pending.from] = f
		}
		f.Count++
		f.Time += time.Duration(w.pending.silence)
		if w.pending.first {
			f.First += time.Duration(w.pending.silence)
		}
		f.Longest, f.Lag = max(f.Longest, time.Duration(w.pending.silence)), max(f.Lag, time.Duration(lag))
	}
	if w.last != 0 && silence >= LongSilence {
		w.Own += time.Duration(silence)
		w.Longest = max(w.Longest, time.Duration(silence))
	}
	w.pending.silence, w.served[to] = 0, at
	w.passed(at)
	w.passed(end)
}

// silence is for how long the host has had no message, and sent none, while not all were idle.
func (w *waiter) silence(at int64) int64 { return int64(w.idle.busy(min(w.last, at), at)) }

func (w *waiter) passed(at int64) {
	if w.From == 0 {
		w.From = at
	}
	w.last, w.To = max(w.last, at), max(w.To, at)
}

func (w *waiter) done() HostWaits {
	for p, n := range w.peers {
		w.Peers = append(w.Peers, PeerMessages{p, n})
	}
	slices.SortFunc(w.Peers, func(a, b PeerMessages) int { return cmp.Compare(a.Host, b.Host) })
	for _, f := range w.waits {
		w.For = append(w.For, *f)
	}
	slices.SortFunc(w.For, func(a, b WaitFor) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Host, b.Host)) })
	return w.HostWaits
}
