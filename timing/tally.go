package timing

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// mostAwaited is how many runs of responses that have not come are kept, and mostRecent how many READs are.
const mostAwaited, mostRecent = 4096, 64

// Tally is what the READs of an end asked for, and what came of it, each as often as it was sent: a retransmitted READ and the copies of its response count too.
type Tally struct {
	Requests  uint64 // READ requests
	Asked     uint64 // bytes that they asked for
	Again     uint64 // of the requests, those that were retransmitted
	Responses uint64 // response packets that came
	Came      uint64 // bytes of them
	Copies    uint64 // of the responses, those that had come before
	Filled    uint64 // of the responses, those that came first after later ones, and that nothing shows to have left before these: they may have been retransmitted
	Numbered  bool   // responses have IPv4 identifications
	awaited   []awaited
	recent    []awaited  // the newest READs
	oldest    int        // of these
	newest    awaited    // that with the highest PSN
	first     packet.PSN // of the first request
	next      packet.PSN // after the newest response
	id        uint16     // IPv4 identification of the response that left last
	unknown   bool       // what comes is not known, or not all of it
	begun     bool       // a response to the first request, or a later one, has come: those before answer what was sent before the capture
}

// awaited is a run of responses that a READ asked for and that have not come.
type awaited struct {
	from packet.PSN
	n    int    // 0: as many as so many bytes take, when the path MTU is known
	size uint32 // bytes
}

// AllCame reports whether each response that was asked for came, and as many bytes as were asked for.
func (t *Tally) AllCame() bool { return t.EachCame() && t.Asked == t.Came }

// EachCame reports whether each response that was asked for came, be it that a READ was retransmitted for it.
func (t *Tally) EachCame() bool { return t.Requests > 0 && !t.unknown && len(t.awaited) == 0 }

// asks takes a READ request.
func (t *Tally) asks(pair *qp.Pair, p *packet.Packet) {
	again := t.asked(pair.PMTU, p.PSN)
	t.Requests++
	t.Asked += uint64(p.DMALen)
	t.unknown = t.unknown || p.Has&packet.HasRETH == 0
	switch {
	case again:
		t.Again++
	case t.unknown:
	case len(t.awaited) == mostAwaited:
		t.unknown, t.awaited = true, nil
	default:
		if t.Requests == 1 {
			t.first, t.next = p.PSN, p.PSN
		}
		r := awaited{p.PSN, pair.PSNs(p), p.DMALen}
		t.awaited = append(t.awaited, r)
		if t.Requests == 1 || p.PSN.After(t.newest.from) {
			t.newest = r
		}
		if len(t.recent) < mostRecent {
			t.recent = append(t.recent, r)
			return
		}
		t.recent[t.oldest] = r
		t.oldest = (t.oldest + 1) % mostRecent
	}
}

// asked reports whether the response with a PSN was asked for before, as far as that is kept.
func (t *Tally) asked(pmtu uint32, psn packet.PSN) bool {
	if t.Requests == 0 || psn.After(t.newest.last(pmtu)) {
		return false
	}
	for k := range t.recent {
		if r := &t.recent[k]; psn.In(r.from, r.last(pmtu)) {
			return true
		}
	}
	return psn.Before(t.first)
}

// last is the PSN of the last response of a run; of the first where it is not known.
func (r *awaited) last(pmtu uint32) packet.PSN {
	if r.n == 0 && pmtu != 0 {
		r.n = wqe.Packets(r.size, pmtu)
	}
	return r.from.Add(max(r.n, 1) - 1)
}

// answers takes a response to a READ of the end.
func (t *Tally) answers(pair *qp.Pair, p *packet.Packet) {
	if t.Requests == 0 || !t.begun && p.PSN.Before(t.next) {
		return
	}
	t.Responses++
	t.Came += uint64(p.PayloadLen)
	before := verifier.Numbered(p) && t.begun && verifier.LeftBefore(p, t.id)
	if t.begun = true; !before {
		t.id = p.IPID
	}
	t.Numbered = t.Numbered || verifier.Numbered(p)
	at := t.awaits(max(pair.PMTU, fullOf(p)), p.PSN)
	switch {
	case t.unknown:
		return
	case at < 0:
		t.Copies++
		return
	case !p.PSN.Before(t.next):
		t.next = p.PSN.Add(1)
	case !before:
		t.Filled++
	}
	switch r := t.awaited[at]; {
	case r.n == 1:
		t.awaited = slices.Delete(t.awaited, at, at+1)
	case p.PSN == r.from:
		t.awaited[at] = awaited{from: r.from.Add(1), n: r.n - 1}
	case p.PSN == r.from.Add(r.n-1):
		t.awaited[at].n--
	default:
		n := p.PSN.Diff(r.from)
		t.awaited[at].n = n
		t.awaited = slices.Insert(t.awaited, at+1, awaited{from: p.PSN.Add(1), n: r.n - n - 1})
	}
}

// fullOf is the path MTU by response p; 0: it does not tell.
func fullOf(p *packet.Packet) uint32 {
	if in := p.Info(); in.First || in.Middle {
		return uint32(p.PayloadLen)
	}
	return 0
}

// awaits finds the run that a response with a PSN is of; negative: it is of none. It is one of the newest, most likely: what comes before these was lost.
func (t *Tally) awaits(pmtu uint32, psn packet.PSN) int {
	for k := len(t.awaited) - 1; k >= 0; k-- {
		r := &t.awaited[k]
		last := r.last(pmtu)
		if r.n == 0 {
			t.unknown, t.awaited = true, nil
			return -1
		}
		if psn.In(r.from, last) {
			return k
		}
	}
	return -1
}

// Add adds another: each came only where it did of both.
func (t *Tally) Add(o *Tally) {
	t.Requests, t.Asked, t.Again, t.Copies, t.Filled = t.Requests+o.Requests, t.Asked+o.Asked, t.Again+o.Again, t.Copies+o.Copies, t.Filled+o.Filled
	t.Responses, t.Came, t.Numbered = t.Responses+o.Responses, t.Came+o.Came, t.Numbered || o.Numbered
	t.unknown = t.unknown || o.unknown
	t.awaited = slices.Concat(t.awaited, o.awaited)
}
