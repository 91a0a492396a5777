package agent

import "ibwitness/packet"

// A slot of time begins as short as this, and is made longer, until so long, where they would be too many.
const (
	shortestSlot = 27 // 134 ms, as a power of two of nanoseconds
	longestSlot  = 30
)

// newestBeside is how many of them a frame is looked for in: what a few hosts send in turn.
const newestBeside = 8

// beside is the first and last that a host sent to another in a slot of time, but RDMA.
type beside struct{ first, last Sign }

type besideKey struct {
	from, to packet.Addr
	slot     int64
}

// besides are those of a run; of too many none is known. As slots have the least length that is enough, they do not depend on who counts them.
type besides struct {
	list []beside // of a few frames
	of   map[besideKey]beside
	slot uint8
	many bool
}

// frame takes one of a few frames.
func (t *besides) frame(s *Sign) {
	for i := len(t.list) - 1; i >= max(0, len(t.list)-newestBeside); i-- {
		if k := &t.list[i]; k.last.Host == s.Host && k.last.To == s.To && k.last.At>>shortestSlot == s.At>>shortestSlot && k.last.Tap == s.Tap {
			k.last = *s
			return
		}
	}
	t.list = append(t.list, beside{*s, *s})
}

// addAll takes those of a few frames.
func (t *besides) addAll(list []beside) {
	if t.of == nil && len(list) > 0 {
		t.of, t.slot = map[besideKey]beside{}, shortestSlot
	}
	for i := range list {
		if t.many {
			return
		}
		t.add(&list[i])
		for len(t.of) > mostSigns && !t.many {
			t.widen()
		}
	}
}

func (t *besides) add(k *beside) {
	key := besideKey{k.first.Host, k.first.To, k.first.At >> t.slot}
	was, known := t.of[key]
	if !known {
		t.of[key] = *k
		return
	}
	if earlier(&k.first, &was.first) {
		was.first = k.first
	}
	if earlier(&was.last, &k.last) {
		was.last = k.last
	}
	t.of[key] = was
}

// widen makes slots twice as long.
func (t *besides) widen() {
	old := t.of
	if t.slot++; t.slot > longestSlot {
		t.many, t.of = true, nil
		return
	}
	t.of = map[besideKey]beside{}
	for _, k := range old {
		t.add(&k)
	}
}

// signs returns them, in no order.
func (t *besides) signs() (list []Sign) {
	for _, k := range t.of {
		if list = append(list, k.first); k.last.Frame != k.first.Frame {
			list = append(list, k.last)
		}
	}
	return list
}

// earlier is the order of signs, at one tap by their frames.
func earlier(a, b *Sign) bool {
	return a.At < b.At || a.At == b.At && (a.Tap < b.Tap || a.Tap == b.Tap && a.Frame < b.Frame)
}
