package gmp

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/rule"
)

// unmatchedOf is a response to a request that its own pair does not know.
type unmatchedOf struct {
	*unmatched
	v *Verifier
	i int
}

// Reconcile holds responses to requests that their own pairs of addresses do not know against the requests of other pairs that have no answer (rule
// MAD-TID-002): they came from another address than was asked, or went to another one than asked. Those pairs may be of other verifiers. made is
// called with the index of a verifier that has made a finding.
func Reconcile(made func(i int), all ...*Verifier) {
	var lost []unmatchedOf
	for i, v := range all {
		for _, q := range v.list {
			for k := range q.unasked {
				lost = append(lost, unmatchedOf{&q.unasked[k], v, i})
			}
			q.unasked = nil
		}
	}
	if len(lost) == 0 {
		return
	}
	slices.SortFunc(lost, func(a, b unmatchedOf) int {
		return cmp.Or(cmp.Compare(a.p.Time, b.p.Time), cmp.Compare(a.p.Tap, b.p.Tap), cmp.Compare(a.p.Frame, b.p.Frame))
	})
	open := map[key][]*exchange{}
	for _, v := range all {
		for _, q := range v.list {
			for i := range q.table.ring {
				if x := &q.table.ring[i]; x.asked && !x.answered {
					open[x.key] = append(open[x.key], x)
				}
			}
		}
	}
	for _, w := range lost {
		if w.v.mismatchedAddress(w.unmatched, open[w.k]) {
			made(w.i)
		}
	}
}

// mismatchedAddress judges a response by the one request that it may be to, and reports whether there is one.
func (v *Verifier) mismatchedAddress(s *unmatched, list []*exchange) bool {
	var x *exchange
	p := &s.p
	for _, y := range list {
		if y.answered || answerTo(s.k.class, y.h.Method) != s.h.Method || y.h.Attribute != s.h.Attribute || y.h.Modifier != s.h.Modifier ||
			(y.pair.to == p.Src) == (y.pair.from == p.Dst) || y.time-early > p.Time || p.Time-y.time > limit(defaultRespTime) {
			continue
		}
		if x != nil {
			return false
		}
		x = y
	}
	if x == nil {
		return false
	}
	x.answered = true
	v.covered(rule.MADTID002)
	w := rule.Verdict{Rule: rule.MADTID002, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap}}
	ok := v.sees(p.Src, p.SGID) || v.sees(p.Dst, p.DGID)
	if x.pair.to != p.Src {
		ok = ok || v.sees(x.pair.to, x.dgid)
		w.Expected, w.Actual = fmt.Sprintf("a response from %v, the destination of the request", x.pair.to), fmt.Sprintf("from %v", p.Src)
	} else {
		w.Expected, w.Actual = fmt.Sprintf("a response to %v, the source of the request", x.pair.from), fmt.Sprintf("to %v", p.Dst)
	}
	w.Class, w.Detail = rule.Proven(ok), why(ok, "its request may have been sent before the capture began, or lost before the tap")
	v.accuse(x.pair.to, p, w) // nobody else knows of the request
	return true
}
