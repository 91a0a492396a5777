package agent

import (
	"testing"

	"ibwitness/wqe"
)

// TestPostedQueue: a completion takes the oldest request with its ID that owes one, and those before it that owe none.
func TestPostedQueue(t *testing.T) {
	for _, most := range []int{0, 4} {
		p := postedQueue{most: most}
		take := func(id uint64, failed bool, va uint64) {
			t.Helper()
			r, ok := p.take(id, failed)
			if ok != (va != 0) || ok && r.segments[0].VA != va {
				t.Errorf("request %d: %+v, %v, want the one at %d", id, r, ok, va)
			}
		}
		at := uint64(0)
		add := func(id uint64, signaled bool) {
			at++
			p.add(postedRequest{id: id, signaled: signaled, segments: []wqe.Segment{{VA: at}}})
		}
		add(7, false)
		add(7, true)
		add(7, true)
		take(8, false, 0)
		take(7, false, 2)
		take(7, false, 3)
		take(7, false, 0)
		if p.first != len(p.list) {
			t.Errorf("%d requests left", len(p.list)-p.first)
		}
		add(1, false)
		add(2, true)
		take(1, false, 0)
		take(1, true, 4) // it failed
		add(3, true)
		take(3, false, 6)
		take(2, false, 5) // out of order, as of a shared receive queue
		for i := range uint64(100) {
			add(i, true)
			take(i, false, 7+i)
		}
		if cap(p.list) > 64 {
			t.Errorf("room for %d requests, of which one was there at a time", cap(p.list))
		}
		add(1, true)
		p.clear()
		take(1, false, 0)
	}
	p := postedQueue{most: 4}
	for i := range uint64(10) {
		p.add(postedRequest{id: i, signaled: true})
	}
	if _, ok := p.take(5, false); ok || len(p.list)-p.first != 4 {
		t.Errorf("%d requests in a queue that holds 4", len(p.list)-p.first)
	}
	p = postedQueue{}
	for i := range uint64(mostPosted + 5) {
		p.add(postedRequest{id: i, signaled: true})
	}
	if n := len(p.list) - p.first; n != mostPosted {
		t.Errorf("%d requests are kept", n)
	}
	if _, ok := (*postedQueue)(nil).take(1, false); ok {
		t.Error("a request of a queue that there is not")
	}
}
