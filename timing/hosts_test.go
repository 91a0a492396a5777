package timing

import (
	"testing"
	"time"
)

// TestHostWaits: a host that goes on soon after a message came for which it had none waited for its sender; one that goes on long after the last message went on by itself.
func TestHostWaits(t *testing.T) {
	ms := int64(time.Millisecond)
	list := []Link{{Hosts: [2]int{0, 1}}, {Hosts: [2]int{0, 2}}}
	send := func(from, to int, at int64) {
		l := &list[max(from, to)-1]
		l.Sent[min(from, 1)] = append(l.Sent[min(from, 1)], Sent{Begin: at, End: at + 1000})
	}
	for round := range int64(4) {
		at := (1 + 100*round) * ms
		send(0, 1, at)
		send(1, 0, at+50*ms) // 0 waits for 1, which goes on by itself
		send(2, 0, at+52*ms) // comes while 0 has not gone on
		send(0, 2, at+53*ms)
	}
	all := HostWaitsOf(3, list)
	w := &all[0]
	if len(w.For) != 1 || w.For[0].Host != 1 || w.For[0].Count != 4 || w.For[0].Longest.Round(time.Millisecond) != 50*time.Millisecond || w.For[0].Lag.Round(time.Millisecond) != 3*time.Millisecond {
		t.Errorf("for: %+v", w.For)
	}
	if w.Own.Round(time.Millisecond) != 3*47*time.Millisecond || w.Longest.Round(time.Millisecond) != 47*time.Millisecond {
		t.Errorf("of its own: %v, at most %v", w.Own, w.Longest)
	}
	if len(w.Peers) != 2 || w.Peers[0] != (PeerMessages{1, 4}) || w.Peers[1] != (PeerMessages{2, 4}) {
		t.Errorf("peers: %+v", w.Peers)
	}
	if w := &all[1]; len(w.For) != 0 || w.Own.Round(time.Millisecond) != 4*50*time.Millisecond {
		t.Errorf("the one that is late: %+v", w)
	}
}

// TestMergedSent: the messages of connections that turn out to be one are in the order in which they began, and no more of them are kept than of one.
func TestMergedSent(t *testing.T) {
	var a, b End
	for n := range int64(MostSent) {
		a.sent(&Message{Begin: 2 * n, Sent: 2 * n})
		b.sent(&Message{Begin: 2*n + 1, Sent: 2*n + 1})
	}
	a.sent(&Message{Begin: 3 * MostSent})
	a.mergeSent(&b)
	if len(a.Sent) != MostSent || a.Sent[0].Begin != 0 || a.Sent[1].Begin != 1 || a.Sent[MostSent-1].Begin != MostSent-1 {
		t.Errorf("%d, the last began at %d", len(a.Sent), a.Sent[len(a.Sent)-1].Begin)
	}
	if _, newest, n := a.AllSent(); n != 2*MostSent+1 || len(newest) != MostNewest || newest[0].Begin != 2*MostSent-MostNewest+1 || newest[MostNewest-1].Begin != 3*MostSent {
		t.Errorf("%d in all, the newest %d from %d on", n, len(newest), newest[0].Begin)
	}
	a.sent(&Message{Begin: 4 * MostSent})
	if _, newest, n := a.AllSent(); n != 2*MostSent+2 || newest[MostNewest-1].Begin != 4*MostSent || newest[MostNewest-2].Begin != 3*MostSent {
		t.Errorf("%d in all, the last of %d", n, newest[MostNewest-1].Begin)
	}
}
