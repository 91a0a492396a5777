package web

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// forgetful is a recorder that holds frames 2 and from 90 on, until it forgets all.
type forgetful struct{ over atomic.Bool }

func (r *forgetful) Around(f *rule.Finding, n int) (list []fabricagent.Frame) {
	if r.over.Load() {
		return nil
	}
	for _, e := range f.Evidence {
		list = append(list, fabricagent.Frame{Number: e})
	}
	for i := f.Frame - uint64(n)/2; i <= f.Frame; i++ {
		list = append(list, fabricagent.Frame{Number: i})
	}
	return list
}

// TestRecorded: the frames around findings are there although the recorder has forgotten them, those of the first findings of each rule and accused
// in a minute; and frames that are not adjacent are said to be so.
func TestRecorded(t *testing.T) {
	synctest.Test(t, testRecorded)
}

func testRecorded(t *testing.T) {
	r := new(forgetful)
	k := NewRecorded(r)
	list := endless(20, 1e18)
	for i := range list {
		list[i].Accused = list[0].Accused
		list[i].Frame += 100
		list[i].Evidence = []uint64{2}
	}
	k.Found(list)
	synctest.Wait() // until the recorder was asked
	_, frames, err := k.Around(&list[15])
	if err != nil || len(frames) == 0 {
		t.Errorf("what the recorder still has: %v", err)
	}
	r.over.Store(true)
	if _, _, err := k.Around(&list[15]); !errors.Is(err, ErrNoFrames) {
		t.Errorf("%v", err)
	}
	_, frames, err = k.Around(&list[1])
	if err != nil || len(frames) != 22 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	for i, f := range frames {
		if f.Apart != (i == 1) {
			t.Errorf("frame %d apart: %t", f.Number, f.Apart)
		}
	}
	if k.Close(); len(k.ready) != eachInMinute {
		t.Errorf("the frames of %d findings are kept", len(k.ready))
	}
}
