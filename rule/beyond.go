package rule

import (
	"slices"

	"ibwitness/packet"
)

// mostAlike is how many findings of a rule among the hosts of a bucket (see packet.Bucket) a Recorder keeps. What is beyond that is counted: nobody reads it, and a
// flood could make findings faster than they are told.
const mostAlike = 4096

// More is how many findings there were beyond those that are kept.
type More struct {
	Rule    ID
	Class   Class
	Role    Role        // of the accused
	Accused packet.Addr // all that is said of the accused
	Count   uint64
}

// beyond counts findings of each rule by bucket, and those that are beyond what is kept.
type beyond struct {
	kept    [NumRules][Violation + 1]*keptCount
	waiting int // how many of the list are beyond, and have yet to be dropped
	more    map[More]*uint64
}

// keptCount is how many findings of a rule and class are kept, by bucket, how many were compared, and what was counted last that is not kept.
type keptCount struct {
	kept     [packet.Buckets]uint16
	compared [packet.Buckets]compared
	last     accusation
	counted  *uint64 // for what last says of the accused; nil: none
	full     bool    // of the two hosts of last, no more are kept
}

// accusation is what distinguishes findings of one rule and class that are counted.
type accusation struct {
	role          Role
	accused, peer packet.Addr
}

// compared is how many findings of a bucket were compared in the last second in which there was one.
type compared struct {
	second int64
	count  uint8
}

// Full reports whether further findings of a rule and class on packets between two hosts will not be kept, so that they need no texts.
func (r *Recorder) Full(id ID, class Class, a, b packet.Addr) bool {
	k := r.beyond.kept[id][class]
	return k != nil && k.kept[packet.Bucket(a, b)] >= mostAlike
}

// mostCompared is of how many findings of a rule and class among the hosts of a bucket, in each second of the capture, the packets are compared with the expected
// ones: a systematic fault is seen by the first, and in a flood each comparison costs more than its packet.
const mostCompared = 8

// mostDamaged is of how many packets with a wrong ICRC: which bits were flipped in them tells what damages them.
const mostDamaged = 16

// Compares reports whether the packet of a finding of a rule and class between two hosts shall be compared with the expected one, and counts it. What becomes of
// the finding later does not matter, so that a run that tells its findings as it goes compares the same ones as a run that keeps them. Time is in ns.
func (r *Recorder) Compares(id ID, class Class, a, b packet.Addr, time int64) bool {
	if class == Event {
		return false
	}
	n := &r.beyond.kind(id, class).compared[packet.Bucket(a, b)]
	if second := time / 1e9; n.second != second {
		*n = compared{second: second}
	}
	most := uint8(mostCompared)
	if id == ROCV2019 {
		most = mostDamaged
	}
	if n.count >= most {
		return false
	}
	n.count++
	return true
}

// kind is where findings of a rule and class are counted.
func (x *beyond) kind(id ID, class Class) *keptCount {
	k := &x.kept[id][class]
	if *k == nil {
		*k = new(keptCount)
	}
	return *k
}

// of is where findings like one are counted.
func (x *beyond) of(f *Finding) *uint16 {
	return &x.kind(f.Rule, f.Class).kept[packet.Bucket(f.Accused.Addr, f.Peer.Addr)]
}

// add counts a finding that is made, and reports whether it is beyond those that are kept.
func (x *beyond) add(f *Finding) bool {
	if n := x.of(f); *n < mostAlike {
		*n++
		return false
	}
	x.waiting++
	x.count(More{Rule: f.Rule, Class: f.Class, Role: f.Accused.Role, Accused: f.Accused.Addr})
	return true
}

// count counts a finding that is not kept.
func (x *beyond) count(m More) {
	k := x.kind(m.Rule, m.Class)
	if k.counted == nil || m.Role != k.last.role || m.Accused != k.last.accused {
		if x.more == nil {
			x.more = map[More]*uint64{}
		}
		n := x.more[m]
		if n == nil {
			n = new(uint64)
			x.more[m] = n
		}
		k.last, k.counted, k.full = accusation{role: m.Role, accused: m.Accused}, n, false
	}
	*k.counted++
}

// Surplus counts a verdict without making a finding of it, where so many findings of its rule and class are kept that it would be dropped. The result is false, and nothing
// is counted, where the verdict is to be reported.
func (r *Recorder) Surplus(id ID, class Class, role Role, accused, peer packet.Addr) bool {
	if class == Violation && (r.Doubtful != nil || r.clockless && timed[id]) {
		return false // it may be one of another class
	}
	k := r.beyond.kept[id][class]
	if k == nil {
		return false
	}
	if is := (accusation{role, accused, peer}); !k.full || k.last != is {
		if k.kept[packet.Bucket(accused, peer)] < mostAlike {
			return false
		}
		r.Alike(More{Rule: id, Class: class, Role: role, Accused: accused})
		k.last, k.full = is, true
		return true
	}
	r.cover(id, class)
	*k.counted++
	return true
}

// Alike counts a finding that Full says will not be kept, in place of Add.
func (r *Recorder) Alike(m More) {
	if r.clockless && m.Class == Violation && timed[m.Rule] {
		m.Class = Unproven
	}
	r.cover(m.Rule, m.Class)
	r.beyond.count(m)
}

// take counts a finding that is not kept any more, or not as one of its class.
func (x *beyond) take(f *Finding) {
	x.kind(f.Rule, f.Class).full = false
	if n := x.of(f); *n > 0 {
		*n--
	}
}

// becomes counts a finding as one of another class.
func (x *beyond) becomes(f *Finding, class Class) {
	x.take(f)
	f.Class = class
	if n := x.of(f); *n < mostAlike {
		*n++
	}
}

// Trim drops the findings beyond those that are kept, once there are enough of them to pay for it. It is called between packets: while a packet is verified, its verifiers
// find in the list all findings that they have made on it.
func (r *Recorder) Trim() {
	if r.beyond.waiting > max(mostAlike, len(r.Findings)/2) {
		r.drop()
	}
}

// drop drops all findings beyond those that are kept.
func (r *Recorder) drop() {
	if r.beyond.waiting > 0 {
		r.beyond.waiting = 0
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Beyond })
	}
}

// More returns how many findings there were beyond those that are kept, since it was asked last, in no order.
func (r *Recorder) More() []More {
	r.drop()
	var list []More
	for m, n := range r.beyond.more {
		m.Count = *n
		list = append(list, m)
	}
	r.beyond.more = nil
	for id := range r.beyond.kept {
		for _, k := range r.beyond.kept[id] {
			if k != nil {
				k.counted, k.full = nil, false
			}
		}
	}
	return list
}
