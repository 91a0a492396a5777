package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/wqe"
)

// From how many messages on, and from how long a wait of each on, it is told that an end waited for the answer to each before it sent the next.
const (
	paceMessages = 16
	paceLatency  = 100 * time.Microsecond
	pacesTold    = 3
)

// pace is an end that had about one request outstanding at a time.
type pace struct {
	end     *agent.End
	op      wqe.Op
	n       uint64
	mean    time.Duration
	bytes   uint64
	elapsed time.Duration
}

// paces tells, where times were measured, of ends that waited for the answer to each request before they sent the next, and for long: nothing is wrong there, and it is slow.
func (t *text) paces() {
	list := t.paced()
	for k, p := range list {
		if k == pacesTold && !t.All {
			t.line("  … and %s so; --all tells every one", count(len(list)-k, "more end"))
			return
		}
		t.prose("  ", p.String())
	}
}

func (t *text) paced() (list []pace) {
	for i := range t.res.Connections {
		for from := range 2 {
			if p, ok := paceOf(&t.res.Connections[i], from); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// paceOf is the pace of an end: of the operation that most of the time went to.
func paceOf(c *agent.Connection, from int) (p pace, ok bool) {
	if c.Timing == nil || !c.Service.Reliable() {
		return p, false
	}
	e := &c.Timing.Ends[from]
	waited, most := uint64(0), uint64(0)
	n := uint64(0)
	for op, o := range e.Ops {
		if o == nil {
			continue
		}
		waited += o.Latency.Sum
		if o.Latency.Sum > most {
			most, n = o.Latency.Sum, o.Latency.Count()
			p.op, p.bytes = wqe.Op(op), o.Bytes
		}
	}
	p.end = &c.Ends[from]
	p.elapsed = time.Duration(max(c.Ends[0].Last, c.Ends[1].Last) - c.First)
	if n < paceMessages || p.elapsed <= 0 {
		return p, false
	}
	p.n, p.mean = n, time.Duration(most/n)
	outstanding := float64(waited) / float64(p.elapsed) // in the mean
	waits := e.Gaps != nil && e.Gaps.Sum > uint64(p.elapsed)/2 && (!p.op.Responded() || e.Reads == 1)
	return p, p.mean >= paceLatency && outstanding > 0.8 && outstanding < 1.2 && waits
}

// String says that an end waited for each answer, and what that came to.
func (p *pace) String() string {
	rate := number(uint64(float64(p.n)/p.elapsed.Seconds())) + " a second"
	if !p.op.Atomic() {
		rate = bitRate(p.bytes, p.elapsed)
	}
	who := fmt.Sprintf("%v %s had ", p.end.Addr, qp(p.end.QPN, p.end.QPNKnown))
	if p.op.Responded() {
		return fmt.Sprintf("%sone %v outstanding at a time, %s each until its answer: %s (max_rd_atomic, or a program that waits for each?).", who, p.op, span(p.mean), rate)
	}
	return fmt.Sprintf("%sabout one %v outstanding in the mean, %s each until its answer, and sent nothing most of the time: %s (a program that waits for each, or a responder that answers late?).", who, p.op, span(p.mean), rate)
}

// bitRate writes a rate in bits a second.
func bitRate(bytes uint64, d time.Duration) string {
	bits := 8 * float64(bytes) / d.Seconds()
	switch {
	case bits >= 1e9:
		return fmt.Sprintf("%.3g Gbit/s", bits/1e9)
	case bits >= 1e6:
		return fmt.Sprintf("%.3g Mbit/s", bits/1e6)
	}
	return fmt.Sprintf("%.3g kbit/s", bits/1e3)
}
