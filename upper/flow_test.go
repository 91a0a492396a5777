package upper

import (
	"testing"
	"time"
)

// TestAhead: a command waited for the data of others where its peer READs that all the time and its own last; not where the peer paused, asked for its own at once, or answered long after.
func TestAhead(t *testing.T) {
	const n, size = 32, 128 << 10
	for _, c := range []struct {
		name         string
		every, pause time.Duration
		own          int // its data is fetched after so many others
		after        time.Duration
		ahead        bool
	}{
		{"the last of all", 20 * time.Millisecond, 0, n, time.Millisecond, true},
		{"with a pause", 20 * time.Millisecond, 500 * time.Millisecond, n, time.Millisecond, false},
		{"at once", 20 * time.Millisecond, 0, 0, time.Millisecond, false},
		{"answered long after", 20 * time.Millisecond, 0, n, time.Second, false},
	} {
		k, at := &talk{TB: t}, int64(time.Hour)
		send := func(from int, b []byte) {
			k.psn++
			m := &Message{From: from, Whole: true, Head: b, Length: len(b), PSN: k.psn, Time: at, Frame: uint64(k.psn)}
			if k.t == nil {
				p, _ := Recognize(m)
				k.t = NewTracker(p, false)
			}
			k.t.Message(m)
		}
		write := func(cid uint16) { send(0, nvmeCommand(0x01, cid, 1, uint64(cid)<<20, uint32(cid)+1, size)) }
		fetch := func(cid uint16) { k.t.Read(uint64(cid)<<20, uint32(cid)+1, size, at, uint64(k.psn)) }
		write(1000)
		fetch(1000)
		send(1, nvmeResponse(1000, 0))
		for cid := range uint16(n + 1) {
			write(cid)
		}
		for i := range n + 1 {
			cid := uint16(i + 1)
			switch {
			case i == c.own:
				cid = 0
			case i > c.own:
				cid = uint16(i)
			}
			if fetch(cid); cid != 0 {
				at += int64(c.every)
				send(1, nvmeResponse(cid, 0))
			}
			if i == n/2 {
				at += int64(c.pause)
			}
		}
		at += int64(c.after)
		send(1, nvmeResponse(0, 0))
		d := &k.t.Took().Longest[0]
		if d.ID != 0 || (d.Ahead > 0) != c.ahead || c.ahead && d.Ahead != n*size {
			t.Errorf("%s: command %d took %v, %d bytes ahead", c.name, d.ID, time.Duration(d.Took()), d.Ahead)
		}
	}
}
