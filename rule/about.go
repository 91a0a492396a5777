package rule

import (
	"slices"
	"sort"

	"ibwitness/packet"
)

// Later packets take findings back, doubt them or prove them. There may be very many findings, so these are found by what they are about. The index is made when
// one is looked for first.

// mostAbout is how many findings of one subject are found by it: the newest ones.
const mostAbout = 64

// SteadyRules are the rules of which a single odd packet is proven by those after it.
var SteadyRules = []ID{PKY004, UDPKY001, BTH013, UCMIG001, UDQKEY001, NETGRH013, NETGRH006, NETGRH007, LNKSL001}

// subject is what a finding is about: the ends of its connection and, by the rule, a PSN, a gap or a frame.
type subject struct {
	rule ID // or nearAssumed
	ends ends
	at   uint64
}

type ends struct {
	accused, peer packet.Addr
	qpn           uint64
}

// What the QPN of a subject is where it is not that of the peer.
const (
	accusedAlone = 1 << 32 // of the accused: that of the peer is not known
	accusedToo   = 1 << 33 // of the accused: the finding is found by that of the peer, too
	neither      = 1 << 34 // none
)

// known returns the ends by which a finding is found; of two that are equal the second counts for nothing.
func known(accused, peer Endpoint) [2]ends {
	e := ends{accused.Addr, peer.Addr, neither}
	switch {
	case peer.QPNKnown && accused.QPNKnown:
		e.qpn = accusedToo | uint64(accused.QPN)
		return [2]ends{{e.accused, e.peer, uint64(peer.QPN)}, e}
	case peer.QPNKnown:
		e.qpn = uint64(peer.QPN)
	case accused.QPNKnown:
		e.qpn = accusedAlone | uint64(accused.QPN)
	}
	return [2]ends{e, e}
}

// sought returns the ends of findings that may accuse one end of a connection towards the other.
func sought(accused, peer Endpoint) [3]ends {
	e := ends{accused.Addr, peer.Addr, accusedToo | uint64(accused.QPN)}
	if peer.QPNKnown {
		e.qpn = uint64(peer.QPN)
	}
	return [3]ends{e, {e.accused, e.peer, accusedAlone | uint64(accused.QPN)}, {e.accused, e.peer, neither}}
}

// subject returns what a finding is about, but for its ends; false: nobody looks for it. Findings of some rules are found only by their frame.
func (f *Finding) subject() (s subject, ok, framed bool) {
	s.rule = f.Rule
	switch f.Rule {
	case RCRNR002, RCRNR005, RCRTY011, ROCV2031, CNGRP001:
		return onFrame(f.Rule, f.Tap, f.Frame), true, true
	case RCPSN001, RCPSN004:
		s.at = uint64(f.Gap)
	case RCRSP002, RCRSP005, RCRSP013, RCRSP015:
		s.at = uint64(f.PSN)
	case ROCV2018, RCRTY008:
	default:
		return s, slices.Contains(SteadyRules, f.Rule), false
	}
	return s, true, false
}

func onFrame(id ID, tap uint16, frame uint64) subject {
	return subject{rule: id, at: frame, ends: ends{qpn: uint64(tap)}}
}

// nearAssumed is the rule of the subjects of findings that assume the tap to be near, whatever they are.
const nearAssumed = ID(NumRules)

// about is the index: the numbers (Seq) of findings by their subjects.
type about map[subject][]uint32

func (x about) add(f *Finding) {
	if s, ok, framed := f.subject(); framed {
		x.put(s, f.Seq, mostAbout)
	} else if ok {
		x.both(s, f, mostAbout)
	}
	if f.Assumes&AssumesNear != 0 {
		x.both(subject{rule: nearAssumed}, f, 0)
	}
}

func (x about) both(s subject, f *Finding, most int) {
	k := known(f.Accused, f.Peer)
	s.ends = k[0]
	x.put(s, f.Seq, most)
	if k[1] != k[0] {
		s.ends = k[1]
		x.put(s, f.Seq, most)
	}
}

func (x about) put(s subject, seq uint32, most int) {
	l := x[s]
	if most > 0 && len(l) == most {
		l = slices.Delete(l, 0, 1)
	}
	x[s] = append(l, seq)
}

func (r *Recorder) indexed() about {
	if r.about == nil {
		r.about = about{}
		for i := range r.Findings {
			r.about.add(&r.Findings[i])
		}
	}
	return r.about
}

// at returns the index of a finding by its number; false: it was taken back.
func (r *Recorder) at(seq uint32) (int, bool) {
	r.looked++
	i := sort.Search(len(r.Findings), func(i int) bool { return int32((r.Findings[i].Seq-seq)<<1) >= 0 })
	return i, i < len(r.Findings) && (r.Findings[i].Seq-seq)<<1 == 0 && r.Findings[i].Class != taken
}

// find adds the indices of the findings of a subject to those in r.found.
func (r *Recorder) find(s subject) {
	for _, seq := range r.indexed()[s] {
		if i, ok := r.at(seq); ok {
			r.found = append(r.found, i)
		}
	}
}

// About returns the indices of the newest findings of a rule, from the oldest on, that may accuse one end of a connection towards the other: QPNs that are known
// neither here nor there agree with any. At is the PSN of RC-RSP-002, RC-RSP-005, RC-RSP-013 and RC-RSP-015, the Gap of RC-PSN-001 and RC-PSN-004, and 0 of other rules. It is for the
// rules that subject knows, and valid until the next call.
func (r *Recorder) About(id ID, accused, peer Endpoint, at uint64) []int {
	r.found = r.found[:0]
	for _, e := range sought(accused, peer) {
		r.find(subject{id, e, at})
	}
	slices.Sort(r.found)
	return r.found
}

// OnFrame returns the indices of the findings of a rule on a frame: of RC-RNR-002, RC-RNR-005, RC-RTY-011, ROC-V2-031 and CNG-RP-001. It is valid until the next call.
func (r *Recorder) OnFrame(id ID, tap uint16, frame uint64) []int {
	r.found = r.found[:0]
	r.find(onFrame(id, tap, frame))
	return r.found
}

// DoubtNear doubts the findings that accuse one end of a connection towards the other, assume the tap to be near an endpoint, and are as wanted.
func (r *Recorder) DoubtNear(accused, peer Endpoint, want func(*Finding) bool, why string) {
	x := r.indexed()
	for _, e := range sought(accused, peer) {
		s := subject{rule: nearAssumed, ends: e}
		l := x[s]
		stay := l[:0]
		for _, seq := range l {
			switch i, ok := r.at(seq); {
			case !ok:
			case want(&r.Findings[i]):
				r.Doubt(i, why)
			default:
				stay = append(stay, seq)
			}
		}
		if len(l) > 0 {
			x[s] = stay
		}
	}
}

// Looked counts the findings that About, OnFrame and DoubtNear have looked at.
func (r *Recorder) Looked() uint64 { return r.looked }

// taken is the class of a finding that was taken back, and is in the list until Settle.
const taken Class = 1 << 7

// nearEnd is up to how many findings from the end of the list one leaves it at once.
const nearEnd = 1024

// Remove withdraws the finding at an index of Findings, as another finding explains the packet.
func (r *Recorder) Remove(i int) {
	f := &r.Findings[i]
	r.uncount(f)
	r.changed(Withdrawn, f)
	if len(r.Findings)-i <= nearEnd {
		r.Findings = slices.Delete(r.Findings, i, i+1)
		return
	}
	*f = Finding{Class: taken, Seq: f.Seq, Time: f.Time, Tap: f.Tap, Frame: f.Frame}
	r.taken = true
}

// Settle has the findings that were taken back leave the list.
func (r *Recorder) Settle() {
	if r.taken {
		r.Findings = slices.DeleteFunc(r.Findings, Finding.Taken)
		r.taken = false
	}
}

// Taken reports whether a finding was taken back: it counts for nothing, and leaves the list soon.
func (f Finding) Taken() bool { return f.Class == taken }
