package cq

import "ibwitness/hcaagent"

// consumers returns the messages to a queue pair that take a receive request, in order, and how many of them come before anything that
// the capture does not hold.
func (q *queuePair) consumers() (list []*message, sure int) {
	next, gap := int64(0), !q.in.anchor || !q.reliable()
	for i := range q.in.msgs {
		m := &q.in.msgs[i]
		gap = gap || m.first != next || m.partial || m.mixed
		next = m.first + int64(m.packets)
		if m.consumes() {
			list = append(list, m)
			if !gap {
				sure = len(list)
			}
		}
	}
	return list, sure
}

// successes returns the receive completions with success.
func (q *queuePair) successes() (list []*taken) {
	for _, t := range q.taken {
		if t.event.Completion.Status == hcaagent.Success {
			list = append(list, t)
		}
	}
	return list
}

// nothing is the place of a receive completion without a message.
const nothing = -1

// places says of which message each receive completion with success is. On a reliable service the n-th message takes the n-th request, whatever
// became of the completions before; where one does not fit and the next one does, the device has made it up.
func (q *queuePair) places(list []*message, done []*taken) []int {
	at := make([]int, len(done))
	ordered := q.reliable() && !q.recvs.shared && q.known
	madeUp := 0
	for i, t := range done {
		at[i] = i
		if !ordered {
			continue
		}
		at[i] = max(t.of.place-madeUp, 0)
		if n := at[i]; n < len(list) && i+1 < len(done) && done[i+1].of.place == t.of.place+1 && !q.matches(list[n], t) && q.matches(list[n], done[i+1]) &&
			(n+1 == len(list) || !q.matches(list[n+1], done[i+1])) {
			at[i] = nothing
			madeUp++
		}
	}
	return at
}

// pairReceives calls f with each message that takes a receive request, where that is certain, with the request and its completion.
func (q *queuePair) pairReceives(f func(*message, *receive, *taken)) {
	list, sure := q.consumers()
	done := q.successes()
	of := make([]*taken, sure)
	for i, n := range q.places(list[:sure], done) {
		if n != nothing && n < sure {
			of[n] = done[i]
		}
	}
	for i, m := range list[:sure] {
		var r *receive
		switch {
		case of[i] != nil && !q.recvs.shared && q.known:
			r = of[i].of
		case !q.recvs.shared && q.known && i < len(q.recvs.list):
			r = q.recvs.list[i]
		}
		f(m, r, of[i])
	}
}
