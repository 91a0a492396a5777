package upper

import (
	"slices"
	"testing"

	"ibwitness/packet"
)

// TestRefused: the answers that an end sent from a request on which its peer refused are none: what they answered is open, and counts among what was
// answered no more. Those before it, and those of another end or tap, stay; to take them back once more changes nothing.
func TestRefused(t *testing.T) {
	const answered, late = 6, int64(3e9)
	for _, tt := range []struct {
		name string
		end  int
		from From
		gone []uint64 // IDs that are open again
	}{
		{"two are after it", 1, From{1, 100*4 + 1, 4}, []uint64{4, 5}},
		{"one that was answered before it in PSNs", 1, From{1, 100*4 + 1, 5}, []uint64{5}},
		{"none is", 1, From{1, 1000, 9}, nil},
		{"not known where", 1, From{1, 0, 4}, nil},
		{"of the other end", 0, From{1, 100*4 + 1, 4}, nil},
		{"of another tap", 1, From{2, 100*4 + 1, 4}, nil},
	} {
		k := NewTracker(nvme{}, true)
		for n := range uint64(answered) {
			k.message = &Message{Time: int64(n), Frame: 100 * n, Tap: 1}
			c := k.Begin(Command{ID: n})
			k.On(c, 1, nil)
		}
		for n := range uint64(answered) {
			at := int64(10 + n)
			if n == 5 {
				at = late
			}
			k.message = &Message{From: 1, Time: at, Frame: 100*n + 1, Tap: 1, PSN: packet.PSN(n)}
			k.End(0, n, 0)
		}
		for range 2 {
			k.Refused(tt.end, tt.from)
		}
		s, left := k.Took(), uint64(answered-len(tt.gone))
		if k.Counts().Ended != left || k.Counts().Open != len(tt.gone) || s.Count != left || k.Classes()[0].Answered != left || k.Targets()[0].Answered != left || k.Pairs()[0].Answered != left ||
			len(s.Recent()) != int(left) || !slices.IsSorted(s.Recent()) || s.Answer != 100*(left-1)+1 {
			t.Errorf("%s: %+v, %d answers, the newest in frame %d, %v", tt.name, k.Counts(), s.Count, s.Answer, s.Recent())
		}
		for n := range uint64(answered) {
			c, gone := k.Find(0, n), slices.Contains(tt.gone, n)
			if (c != nil) != gone || gone && k.AnsweredIn(c) != 100*n+1 {
				t.Errorf("%s: command %d: %+v", tt.name, n, c)
			}
		}
		slow := uint64(1)
		if tt.gone != nil {
			slow = 0
		}
		if isLate := s.Longest[0].Took() > LateAfter; s.Slow != slow || s.Late.Count != slow || isLate != (slow == 1) || k.Targets()[0].Late.Count != slow ||
			(k.Classes()[0].Longest > LateAfter) != (slow == 1) || (k.Targets()[0].Longest > LateAfter) != (slow == 1) || (k.Pairs()[0].Longest > LateAfter) != (slow == 1) || (k.Onset() != nil) != (slow == 1) {
			t.Errorf("%s: %d slow: %+v", tt.name, s.Slow, s.Late)
		}
		k.message = &Message{From: 0, Time: late + 1, Frame: 2000, Tap: 1}
		k.Begin(Command{ID: 70})
		k.message = &Message{From: 1, Time: late + 2, Frame: 2001, Tap: 1, PSN: 70}
		k.End(0, 70, 0)
		if r := k.Took().Recent(); len(r) != int(left)+1 || r[left] != late+2 {
			t.Errorf("%s: then %v", tt.name, r)
		}
	}
}
