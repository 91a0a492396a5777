package incident

import (
	"fmt"
	"time"
)

// capture tells what keeps the capture itself from being trusted, and what to do.
func (t *teller) capture() {
	r := t.run
	untrusted := func(what string, next ...string) {
		t.order = append(t.order, &Incident{Kind: Untrusted, Certainty: Proven, What: what, Begin: r.First, End: r.Last, Next: next})
	}
	if r.Dropped > 0 {
		untrusted(fmt.Sprintf("The capture lost %s: what is missing in it may have been sent.", count(r.Dropped, "packet")),
			"capture with a larger buffer (tcpdump -B), fewer bytes of each packet (-s 256), or a filter on the hosts of interest", "write to a faster disk or to memory")
	} else {
		t.lostFrames()
	}
	t.twice()
	t.clockSet()
	t.oneDirection()
}

// clockSet tells that a clock of the capture was set.
func (t *teller) clockSet() {
	k := t.run.Clock
	if k.Count == 0 {
		return
	}
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: t.run.First, End: t.run.Last, Tap: k.Tap}
	i.show(k.Frame)
	by := span(int64(k.By.Abs()))
	if k.By.Abs() > 24*time.Hour {
		by = "more than a day"
	}
	way := "ahead"
	if k.By < 0 {
		way = "back"
	}
	i.What = fmt.Sprintf("A clock of the capture was set %s by %s, in frame %d: nothing that rests on time is proven.", way, by, k.Frame)
	i.Next = []string{"what set the clock of the capturing host: NTP, PTP or its hypervisor; have it slewed, and not stepped"}
	if len(t.run.Taps) > 1 {
		i.Next = []string{"captures of several interfaces need one clock (PTP, or one capturing host)"}
	}
	t.order = append(t.order, i)
}

// From how many copies on, and from what share of the packets on, as one of so many, it is not the network that makes them.
const (
	fewestCopies = 64
	copiedShare  = 4
)

// twice tells that the capture holds a large part of the packets twice.
func (t *teller) twice() {
	k := &t.run.Copies
	once := t.run.RDMA - min(t.run.RDMA, t.run.Repeated+k.Count)
	if once < fewestCopies || copiedShare*k.Count < once {
		return
	}
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: k.First, End: k.Last, Tap: k.Tap}
	i.show(k.Frame, k.Newest)
	i.What = fmt.Sprintf("The capture holds %s of %s twice.", number(k.Count), count(once, "packet"))
	if k.Within > 0 && t.timed() {
		i.fact("apart", "at most "+span(k.Within)+", where a copy comes right after its packet")
	}
	i.FitsWith = []string{"a mirror of both directions of each port, or of several ports that the same packets pass", "a capture of all interfaces (tcpdump -i any), where packets pass several", "a network that duplicates packets, though hardly so many"}
	i.Next = []string{"editcap -d to take the copies out: duplicate-request and duplicate-response are theirs", "mirror one direction of each port, or capture on one interface"}
	t.order = append(t.order, i)
}
