package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// stateTests are those of the states of queue pairs and of their attributes.
var stateTests = []*Test{transitions, requiredAttributes, attributeValues, postsBeforeRTS, established}

// legal are the transitions between states that every type of queue pair has, but to RESET and to ERR, which every state has.
var legal = map[qp.State][]qp.State{
	qp.Reset: {qp.Init}, qp.Init: {qp.Init, qp.RTR}, qp.RTR: {qp.RTS}, qp.RTS: {qp.RTS, qp.SQD}, qp.SQD: {qp.SQD, qp.RTS}, qp.Err: nil,
}

// states are those that a queue pair can be brought to by its consumer.
var states = []qp.State{qp.Reset, qp.Init, qp.RTR, qp.RTS, qp.SQD, qp.Err}

// stateTypes are the types of queue pairs that tests of states take.
var stateTypes = []qp.Type{qp.TypeRC, qp.TypeUC, qp.TypeUD}

// pairIn makes a queue pair and brings it to a state. In SQD its send queue has drained: before that a device may refuse the next transition.
func (r *run) pairIn(t qp.Type, s qp.State) *conn {
	c := r.made(t, func(a *qp.Attr) { answering(a); datagrams(a) }, nil)
	c.bring(min(s, qp.RTS))
	switch {
	case s == qp.SQD:
		r.must(r.dev.TransitionQP(ctx, c.qp, s, qp.Attr{Known: qp.KnowsSQDNotify, SQDNotify: true}))
		r.until(r.soon(), func() bool { return c.events(cq.AsyncSQDrained) > 0 })
	case s > qp.RTS:
		r.must(r.dev.TransitionQP(ctx, c.qp, s, qp.Attr{}))
	}
	return c
}

// modify asks for a transition, also one that must be refused.
func (c *conn) modify(to qp.State, a qp.Attr) error {
	err := c.r.dev.Deliberately().TransitionQP(ctx, c.qp, to, a)
	c.r.note("queue pair %#x to %v: %v", c.qp.QPN, to, taken(err))
	return err
}

// taken is the result of a verb.
func taken(err error) string {
	if err == nil {
		return "taken"
	}
	return "refused: " + err.Error()
}

// refusedOr judges the result of a verb, and that the queue pair is in a state.
func (c *conn) refusedOr(id, what string, refused bool, err error, s qp.State) bool {
	want := "taken"
	if refused {
		want = "refused"
	}
	got := c.state()
	return c.r.check(id, (err != nil) == refused && got == s, fmt.Sprintf("%s %s, state %v", what, want, s), fmt.Sprintf("%s, state %v", taken(err), got))
}

var transitions = &Test{
	ID: "X10_001", Title: "state transitions",
	Abstract: "Each transition between the states of a queue pair that the table of transitions has is made, with the attributes that it needs; each other is refused, and changes nothing.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each pair of states make a queue pair of RC, UC and UD, and bring it to the first."},
	Procedure: []string{
		"Ask for the transition to the second state, with the attributes that this state takes. Query the queue pair.",
	},
	Assertions: []Assertion{{"ours#01", "A transition of the table is made, and the queue pair is in the state then."}, {"ours#02", "Another one is refused, and the queue pair stays in its state."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. RESET to ERR is not judged: devices differ. SQE, which no consumer brings a queue pair to, is X10_008."}},
	run: func(r *run) {
		r.at(1)
		for _, t := range stateTypes {
			for _, from := range states {
				for _, to := range states {
					if from == qp.Reset && to == qp.Err {
						continue
					}
					c := r.pairIn(t, from)
					ok := to == qp.Reset || to == qp.Err
					for _, s := range legal[from] {
						ok = ok || s == to
					}
					a := c.given(to-1, to)
					if ok {
						a = c.given(from, to)
					}
					what := fmt.Sprintf("%v, %v to %v", t, from, to)
					if err := c.modify(to, a); ok {
						c.refusedOr("ours#01", what, false, err, to)
					} else {
						c.refusedOr("ours#02", what, true, err, from)
					}
				}
			}
		}
	},
}

// needs are the attributes that a transition of a connected queue pair of RC, or one of UD, needs, and some that it does not take.
var needs = []struct {
	t               qp.Type
	from            qp.State
	needed, foreign qp.Known
}{
	{qp.TypeRC, qp.Reset, qp.KnowsPKey | qp.KnowsPort | qp.KnowsAccess, qp.KnowsPMTU | qp.KnowsSQPSN | qp.KnowsRetryCnt | qp.KnowsMaxRdAtomic | qp.KnowsQKey},
	{
		qp.TypeRC, qp.Init, qp.KnowsDestAddr | qp.KnowsPMTU | qp.KnowsDestQPN | qp.KnowsRQPSN | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
		qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic | qp.KnowsQKey,
	},
	{
		qp.TypeRC, qp.RTR, qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsSQPSN | qp.KnowsMaxRdAtomic,
		qp.KnowsPMTU | qp.KnowsDestQPN | qp.KnowsRQPSN | qp.KnowsPort | qp.KnowsQKey,
	},
	{qp.TypeUD, qp.Reset, qp.KnowsPKey | qp.KnowsPort | qp.KnowsQKey, qp.KnowsPMTU | qp.KnowsSQPSN | qp.KnowsAccess | qp.KnowsDestQPN},
	{qp.TypeUD, qp.RTR, qp.KnowsSQPSN, qp.KnowsPMTU | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsDestQPN},
}

var requiredAttributes = &Test{
	ID: "X10_002", Title: "attributes that are missing, or do not belong there",
	Abstract: "A transition without one of the attributes that it needs, and one with an attribute that it does not take, are refused, and change nothing.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"For each attribute make a queue pair of RC or UD, and bring it to RESET, INIT or RTR."},
	Procedure:  []string{"Ask for the next state without one of the attributes that it needs. Query the queue pair.", "Ask for the next state with one attribute more than it takes. Query the queue pair."},
	Assertions: []Assertion{{"ours#01", "Without an attribute that it needs the transition is refused, and the queue pair stays in its state."}, {"ours#02", "With an attribute that it does not take it is refused, and the queue pair stays in its state."}},
	Decisions:  ours,
	run: func(r *run) {
		for _, x := range needs {
			for bit := qp.Known(1); bit != 0 && bit <= x.needed|x.foreign; bit <<= 1 {
				if (x.needed|x.foreign)&bit == 0 {
					continue
				}
				c := r.pairIn(x.t, x.from)
				a := c.given(x.from, x.from+1)
				id := "ours#01"
				if a.Known = x.needed &^ bit; x.needed&bit == 0 {
					id, a.Known = "ours#02", x.needed|bit
				}
				r.again(map[string]int{"ours#01": 1, "ours#02": 2}[id])
				err := c.modify(x.from+1, a)
				c.refusedOr(id, fmt.Sprintf("%v, %v to %v, %v", x.t, x.from, x.from+1, bit), true, err, x.from)
			}
		}
	},
}

// beyond are values that attributes must not have, by what the device can do.
func beyond(l qp.Limits) []struct {
	name   string
	from   qp.State
	change func(a *qp.Attr)
} {
	type value = struct {
		name   string
		from   qp.State
		change func(a *qp.Attr)
	}
	return []value{
		{"a P_Key index after the end of the table", qp.Reset, func(a *qp.Attr) { a.PKey, a.PKeyIndex = 0, uint16(l.PKeys) }},
		{"a port after the last", qp.Reset, func(a *qp.Attr) { a.Port = uint8(l.Ports) + 1 }},
		{"port 0", qp.Reset, func(a *qp.Attr) { a.Port = 0 }},
		{"the path MTU 300", qp.Init, func(a *qp.Attr) { a.PMTU = 300 }},
		{"the path MTU 8192", qp.Init, func(a *qp.Attr) { a.PMTU = 8192 }},
		{"a destination QPN of 25 bits", qp.Init, func(a *qp.Attr) { a.DestQPN = 1<<24 + 1 }},
		{"an RQ PSN of 25 bits", qp.Init, func(a *qp.Attr) { a.RQPSN = 1<<24 + 1 }},
		{"the minimum RNR timer 32", qp.Init, func(a *qp.Attr) { a.MinRNRTimer = 32 }},
		{"more responder resources than the device has", qp.Init, func(a *qp.Attr) { a.MaxDestRdAtomic = l.MaxDestRdAtomic + 1 }},
		{"an SQ PSN of 25 bits", qp.RTR, func(a *qp.Attr) { a.SQPSN = 1<<24 + 1 }},
		{"the ACK timeout 32", qp.RTR, func(a *qp.Attr) { a.Timeout = 32 }},
		{"the retry count 8", qp.RTR, func(a *qp.Attr) { a.RetryCnt = 8 }},
		{"the RNR retry count 8", qp.RTR, func(a *qp.Attr) { a.RNRRetry = 8 }},
		{"a greater initiator depth than the device has", qp.RTR, func(a *qp.Attr) { a.MaxRdAtomic = l.MaxRdAtomic + 1 }},
		{"another current state", qp.RTR, func(a *qp.Attr) { a.Known |= qp.KnowsCurState; a.CurState = qp.SQD }},
	}
}

var attributeValues = &Test{
	ID: "X10_003", Title: "values of attributes",
	Abstract: "A transition with a value that an attribute must not have, or beyond what the device can do, is refused, and changes nothing; with a right one it is made.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"For each value make a queue pair of RC, and bring it to RESET, INIT or RTR."},
	Procedure:  []string{"Ask for the next state with the value. Query the queue pair.", "Ask for it with a right value. Query the queue pair."},
	Assertions: []Assertion{{"ours#01", "The transition is refused, and the queue pair stays in its state."}, {"ours#02", "With a right value it is made."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. How much the device can do is what it says of itself: initiator depth, responder resources, P_Key table, ports."}},
	run: func(r *run) {
		for _, x := range beyond(r.limits) {
			c := r.pairIn(qp.TypeRC, x.from)
			a := c.given(x.from, x.from+1)
			good := a
			x.change(&a)
			r.again(1)
			err := c.modify(x.from+1, a)
			if !c.refusedOr("ours#01", x.name, true, err, x.from) {
				continue
			}
			r.again(2)
			c.refusedOr("ours#02", x.name, false, c.modify(x.from+1, good), x.from+1)
		}
	},
}

var postsBeforeRTS = &Test{
	ID: "X10_004", Title: "work requests before RTS",
	Abstract: "A receive request in RESET and a send request in RESET, INIT and RTR are refused at once, and nothing is sent.",
	Covers:   []Statement{{"C10-97.2.1", Seen}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a queue pair of RC and one of UD for each state from RESET to RTR."},
	Procedure: []string{
		"Post a receive request in RESET, and in INIT and RTR.", "Post a send request in RESET, INIT and RTR, and wait for 10 ms.", "Bring the queue pair to RTS, and wait for 10 ms.",
		"Have the device post a SEND, and receive it. Bring the queue pair to RESET and to INIT, and wait for 10 ms.",
	},
	Assertions: []Assertion{{"ours#01", "A receive request is refused in RESET, and taken in INIT and RTR."}, {"ours#02", "A send request is refused in each."}, {"ours#03", "Nothing is sent, and no request completes; nor is what was posted before a RESET sent in INIT."}},
	Decisions:  ours,
	run: func(r *run) {
		for _, t := range []qp.Type{qp.TypeRC, qp.TypeUD} {
			for _, s := range []qp.State{qp.Reset, qp.Init, qp.RTR} {
				c := r.pairIn(t, s)
				list := []wqe.Segment{{VA: r.memory.va, Length: 64, LKey: r.memory.lkey}}
				r.again(1)
				err := r.dev.Deliberately().PostReceive(ctx, c.qp, wqe.ReceiveRequest{ID: 1, Segments: list})
				c.refusedOr("ours#01", fmt.Sprintf("%v, receive request in %v", t, s), s == qp.Reset, err, s)
				r.again(2)
				err = r.dev.Deliberately().PostSend(ctx, c.qp, wqe.SendRequest{
					ID: 2, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: list, Dest: wqe.QP{Addr: r.net.tester, QPN: c.qpn}, QKey: ownQKey,
				})
				c.refusedOr("ours#02", fmt.Sprintf("%v, send request in %v", t, s), true, err, s)
				got := c.quiet()
				r.check("ours#03", got == nil && len(c.completions) == 0, "nothing sent, and no completion", happened(got, c.completions), got)
				r.again(3)
				for from := s; from < qp.RTS; from++ {
					r.must(r.dev.TransitionQP(ctx, c.qp, from+1, c.given(from, from+1)))
				}
				got = c.quiet()
				r.check("ours#03", got == nil && len(c.completions) == 0, "nothing sent, and no completion", happened(got, c.completions), got)
			}
			c := r.pairIn(t, qp.RTS)
			r.again(4)
			c.posts(wqe.OpSend, 64, nil)
			sent := c.any()
			r.must(r.dev.TransitionQP(ctx, c.qp, qp.Reset, qp.Attr{}))
			r.must(r.dev.TransitionQP(ctx, c.qp, qp.Init, c.given(qp.Reset, qp.Init)))
			got := c.quiet()
			r.check("ours#03", got == nil, "nothing sent in INIT", happened(got, nil), sent, got)
		}
	},
}

var established = &Test{
	ID: "X10_009", Title: "communication established",
	Abstract: "The first packet that a queue pair of RC or UC receives in RTR raises one event that communication is established; on UD none does.",
	Covers:   []Statement{{"o11-5.1.1", Stated}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Make a queue pair of RC, UC and UD, bring it to RTR, and have the device post receive requests."},
	Procedure:  []string{"Send three SENDs, and poll.", "Bring the queue pair to RTS, send one more SEND, and poll."},
	Assertions: []Assertion{{"ours#01", "There is one event by the first SEND on RC and UC, and no other then."}, {"ours#02", "There is none on UD."}, {"ours#03", "Each SEND completes a receive request."}},
	Decisions:  ours,
	run: func(r *run) {
		for _, t := range stateTypes {
			c := r.pairIn(t, qp.RTR)
			id, want := "ours#01", 1
			if t == qp.TypeUD {
				id, want = "ours#02", 0
			}
			for range 4 {
				c.postReceive(128)
			}
			for i := range 4 {
				r.again(1)
				if i == 3 {
					r.again(2)
					r.must(r.dev.TransitionQP(ctx, c.qp, qp.RTS, c.given(qp.RTR, qp.RTS)))
				}
				p := c.ask(packet.SendOnly, pattern(1, 64), nil)
				list := c.completed(i+1, r.soon())
				c.once("ours#03", list[min(i, len(list)):], cq.Success, p)
				n := c.events(cq.AsyncCommEstablished)
				r.check(id, n == want, fmt.Sprintf("%d events", want), fmt.Sprintf("%d events", n), p)
			}
		}
	},
}

// events is how often the device has told of something of the queue pair.
func (c *conn) events(what cq.Async) (n int) {
	for _, e := range c.r.asyncs {
		if e.Kind == cq.EvAsync && e.Async == what && e.QP.QPN == c.qp.QPN {
			n++
		}
	}
	return n
}
