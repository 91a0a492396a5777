package timing

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// walk goes back from each message of some hosts to that after which its sender went on.
type walk struct {
	all  []HostMessage   // in the order in which they began
	came [][]HostMessage // by the host that they came to, in the order in which they ended
	sent [][]HostMessage // by the host that sent them, in the order in which they began
	idle idle            // which does not count
}

func walkOf(hosts int, all []HostMessage, together idle) *walk {
	w := &walk{all: all, came: make([][]HostMessage, hosts), sent: make([][]HostMessage, hosts), idle: together}
	for _, m := range all {
		w.sent[m.From], w.came[m.To] = append(w.sent[m.From], m), append(w.came[m.To], m)
	}
	for _, list := range w.came {
		inOrder(list, func(m *HostMessage) int64 { return m.End })
	}
	return w
}

// had is the newest message that had come to a host when it sent one; nil: none had.
func (w *walk) had(m *HostMessage) *HostMessage {
	came := w.came[m.From]
	n, _ := slices.BinarySearchFunc(came, m.Begin+1, func(x HostMessage, at int64) int { return cmp.Compare(x.End, at) })
	for n--; n >= 0; n-- {
		if came[n].Begin < m.Begin { // not at the same time, as a clock may be coarse
			return &came[n]
		}
	}
	return nil
}

// after is the message after which a host sent one: the newest that had come to it, or that it had sent. nil: it is the first.
func (w *walk) after(m *HostMessage) *HostMessage {
	had, sent := w.had(m), w.sent[m.From]
	n, _ := slices.BinarySearchFunc(sent, m.Begin, func(x HostMessage, at int64) int { return cmp.Compare(x.Begin, at) })
	if n > 0 && (had == nil || sent[n-1].Begin > had.End) {
		return &sent[n-1]
	}
	return had
}

// path goes back from the last message, and from the last one before each time in which all were idle, and returns how long each host took on that way until it went on, and how long it was in all.
func (w *walk) path() (own []time.Duration, busy time.Duration) {
	own = make([]time.Duration, len(w.sent))
	next := func(at int64) *HostMessage { // the newest message that began before a time
		if n, _ := slices.BinarySearchFunc(w.all, at, func(x HostMessage, at int64) int { return cmp.Compare(x.Begin, at) }); n > 0 {
			return &w.all[n-1]
		}
		return nil
	}
	for m := next(math.MaxInt64); m != nil; {
		after := w.after(m)
		if after == nil {
			break
		}
		if n, _ := slices.BinarySearchFunc(w.idle, m.Begin+1, func(x Sent, at int64) int { return cmp.Compare(x.End, at) }); n > 0 && w.idle[n-1].Begin >= after.End {
			m = next(w.idle[n-1].End) // that it goes on then is no wait
			continue
		}
		own[m.From] += time.Duration(max(m.Begin-after.End, 0))
		busy += time.Duration(m.Begin - after.Begin)
		m = after
	}
	return own, busy
}

// goesOn is how long a host took each time until it sent a message after it had had one, while not all were idle.
func (w *walk) goesOn(host int) (list []time.Duration) {
	newest := int64(0)
	for i := range w.sent[host] {
		m := &w.sent[host][i]
		had := w.had(m)
		if had == nil || had.End == newest {
			continue
		}
		newest = had.End
		if took := time.Duration(m.Begin - had.End); w.idle.busy(had.End, m.Begin) == took {
			list = append(list, took)
		}
	}
	return list
}
