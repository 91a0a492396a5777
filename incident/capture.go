package incident

import (
	"fmt"
	"time"

	"ibwitness/verifier"
)

// capture tells what keeps the capture itself from being trusted, and what to do.
func (t *teller) capture() {
	r := t.run
	if r.Dropped > 0 {
		i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: r.First, End: r.Last, lacks: true, losesFrames: true}
		i.What, i.Next = lostPackets(r.Dropped)
		t.lostMany(i, r.Dropped, r.Packets)
		t.order = append(t.order, i)
	} else {
		t.lostFrames()
	}
	t.skewed()
	t.twice()
	t.mirrored()
	t.routed()
	t.clockSet()
	t.oneDirection()
}

// lostPackets says that a capture lost packets, and what to do.
func lostPackets(n uint64) (what string, next []string) {
	return fmt.Sprintf("The capture lost %s: what is missing in it may have been sent.", count(n, "packet")),
		[]string{"capture with a larger buffer (tcpdump -B), fewer bytes of each packet (-s 256), or a filter on the hosts of interest", "write to a faster disk or to memory"}
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

// copied reports whether the capture holds a large part of the packets twice: see verifier.Copies.Distort.
func (t *teller) copied() bool {
	_, once := t.copies()
	return t.run.Copies.Distort(once)
}

// copies is how many packets are copies of others, as far as they are told from retransmissions, and how many others there are.
func (t *teller) copies() (n, once uint64) {
	n = t.run.Copies.Count
	return n, t.run.RDMA - min(t.run.RDMA, t.run.Repeated+n)
}

// routed tells that the capture holds a large part of the packets before and after a router.
func (t *teller) routed() {
	k := &t.run.Copies
	n, once := t.copies()
	if t.copied() || !verifier.Many(k.Routed, once) {
		return
	}
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: k.First, End: k.Last, Tap: k.Tap}
	i.show(k.Frame, k.Newest)
	i.copies = n
	i.What = fmt.Sprintf("The capture holds %s packets twice, before and after a router (TTL %d and %d): of %s, %s are copies of others. Each is judged once.",
		part(n, once), k.Hops[0], k.Hops[1], number(n+once), number(n))
	if k.Within > 0 && t.timed() {
		i.fact("apart", "at most "+span(k.Within))
	}
	i.FitsWith = []string{"a mirror of several ports of a router, or of what comes in at a port and of what goes out at another", "a capture that was merged of taps on both sides of one"}
	i.Next = []string{"for tools that take copies for retransmissions: mirror one port, or one direction of each"}
	t.order = append(t.order, i)
}

// part is how many of the packets of a capture have copies.
func part(n, once uint64) string {
	if 2*n >= once {
		return "most"
	}
	return "many"
}

// twice tells that the capture holds a large part of the packets twice.
func (t *teller) twice() {
	if !t.copied() {
		return
	}
	k := &t.run.Copies
	n, once := t.copies()
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: k.First, End: k.Last, Tap: k.Tap, foremost: true}
	i.show(k.Frame, k.Newest)
	i.What = fmt.Sprintf("The capture holds %s packets twice: of %s, at least %s are copies of others.", part(n, once), number(n+once), number(n))
	if k.Within > 0 && t.timed() {
		i.fact("apart", "at most "+span(k.Within)+", where a copy comes right after its packet")
	}
	i.fact("not told", "losses, retransmissions and packets out of order, which copies among other packets look like; what is said of those below, copies may have made")
	i.FitsWith = []string{"a mirror of both directions of each port, or of several ports that the same packets pass", "a capture of all interfaces (tcpdump -i any), where packets pass several", "a network that duplicates packets, though hardly so many"}
	i.Next = []string{"take the copies out and check again: editcap -d, or editcap -w 0.001 where they do not come right after their packets", "mirror one direction of each port, or capture on one interface"}
	t.order = append(t.order, i)
}
