package smp

import (
	"cmp"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// Open is the requests of subnet management from one LID to another that have no answer when the capture ends, and should have had one.
type Open struct {
	Requests uint64
	Again    bool   // the oldest of them was repeated
	Since    int64  // when it was sent; where it was repeated with its transaction ID, the last time
	Frame    uint64 // in which it was sent first
	Tap      uint16
}

// question is what a request asks, and of whom: a manager that has no answer asks it again, with another transaction ID.
type question struct {
	class     mad.Class
	method    mad.Method
	attribute mad.Attribute
	modifier  uint32
	src, dst  uint16
	drSLID    uint16
	drDLID    uint16
	hops      uint16
	path      [64]byte
}

func (x *exchange) question() question {
	q := question{
		class: x.Class, method: x.Method, attribute: x.Attribute, modifier: x.Modifier, src: x.src, dst: x.dst, drSLID: x.drSLID, drDLID: x.drDLID, hops: x.ClassSpecific & 0xFF,
	}
	if x.Class == mad.ClassSubnetDirected {
		copy(q.path[:], hopsOf(x.initial[:], int(q.hops)))
	} else {
		q.hops = 0
	}
	return q
}

// maxAsking bounds what is kept of questions without an answer.
const maxAsking = 1 << 14

// awaits notes a new request, to which there is to be an answer.
func (v *Verifier) awaits(x *exchange) {
	q := x.question()
	switch old := v.asking[q]; {
	case old == nil && len(v.asking) >= maxAsking:
		return
	case old != nil:
		if x.before = old.before; x.before == nil {
			x.before = old
		}
	}
	v.asking[q] = x
}

// defaultRespTime is the code of the time to answer where none was told: 4.3 s.
const defaultRespTime = 20

// due reports whether a request should have been answered until a time: its node had its time, and it is none that a wrong M_Key has refused.
func (x *exchange) due(end int64) bool {
	limit := int64(4096) << defaultRespTime
	if p := x.at.port(); p.Knows(subnet.KnowsInfo) {
		limit = 4096 << p.RespTime
	}
	return x.waits() && end-x.last > limit
}

// waits reports whether an answer to a request that has none is missing: it is none that a wrong M_Key has refused, and none was taken for it.
func (x *exchange) waits() bool {
	refused := x.wrongMKey && (x.Method == mad.Set || x.protect >= 2)
	return x.mine && !x.mismatched && !refused
}

// Open returns the requests without an answer, of each pair of LIDs that has any, whose nodes had their time, up to time end; what was asked several times over
// counts once. All on directed routes are of one pair.
func (v *Verifier) Open(end int64) (all []Open) {
	at := map[[2]uint16]int{}
	for _, x := range v.asking {
		first := x
		if x.before != nil {
			first = x.before
		}
		if !first.due(end) {
			continue
		}
		pair := [2]uint16{x.src, x.dst}
		i, ok := at[pair]
		if !ok {
			i = len(all)
			at[pair], all = i, append(all, Open{})
		}
		o := &all[i]
		if o.Requests == 0 || cmp.Or(cmp.Compare(first.last, o.Since), cmp.Compare(first.frame, o.Frame), cmp.Compare(first.tap, o.Tap)) < 0 {
			o.Again, o.Since, o.Frame, o.Tap = x != first || x.asked > 1, first.last, first.frame, first.tap
		}
		o.Requests++
	}
	return all
}
