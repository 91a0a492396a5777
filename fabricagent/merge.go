package fabricagent

import (
	"io"
	"math"
)

// merged merges several inputs by time. A time that steps back inside a file does not reorder that file: each frame
// counts as not before the ones ahead of it. Frames of equal time come in the order of their taps.
type merged struct {
	inputs []*input
	heads  []*head // a heap: the next frame to deliver is heads[0]'s
	fresh  []*head // not yet read
	taps   *tapList
	errs   []error // by input, with what Open found
	batch  uint64  // how many batches were begun
	closed bool
}

// head is the next frame of one input.
type head struct {
	in   *input
	lot  *lot
	next int    // index in lot.Frames
	held uint64 // the last batch that holds lot, by number: its buffers may be those of an earlier one again
	time int64  // not before: the latest time of the input so far
	tap  uint16
	err  error // what comes after lot
}

func newMerged(inputs []*input, taps *tapList, errs []error) *merged {
	m := &merged{inputs: inputs, taps: taps, errs: errs}
	for _, in := range inputs {
		m.fresh = append(m.fresh, &head{in: in, time: math.MinInt64})
	}
	return m
}

func (m *merged) Next() (*Batch, error) {
	if m.closed {
		return nil, io.EOF
	}
	for _, h := range m.fresh {
		if m.refill(h) {
			m.push(h)
		}
	}
	m.fresh = nil
	out := newLot()
	m.batch++
	for len(out.Frames) < BatchSize && len(m.heads) > 0 {
		h := m.heads[0]
		if h.held != m.batch {
			h.held = m.batch
			out.hold(h.lot)
		}
		n := len(out.Frames)
		out.Frames = out.Frames[:n+1]
		out.Frames[n] = h.lot.Frames[h.next]
		h.next++
		if h.next < len(h.lot.Frames) || m.refill(h) {
			h.look()
		} else {
			last := len(m.heads) - 1
			m.heads[0] = m.heads[last]
			m.heads = m.heads[:last]
		}
		m.sink(0)
	}
	if len(out.Frames) > 0 {
		return &out.Batch, nil
	}
	out.Release()
	return nil, finalError(&m.errs)
}

// refill reads the next frames of an input. It is false at its end.
func (m *merged) refill(h *head) bool {
	if h.lot != nil {
		h.lot.release()
		h.lot = nil
	}
	if h.err == nil {
		h.lot, h.next, h.held = newLot(), 0, 0
		h.err = h.in.reader.fill(h.lot)
		if len(h.lot.Frames) > 0 {
			return true
		}
		h.lot.release()
		h.lot = nil
	}
	if h.err != io.EOF {
		m.errs[h.in.order] = h.err
	}
	// Many rotated files in a row would hold their buffers and descriptors to the end.
	if err := h.in.close(); err != nil && m.errs[h.in.order] == nil {
		m.errs[h.in.order] = h.in.fail(Unreadable, 0, err)
	}
	return false
}

// look takes the sort key of the next frame.
func (h *head) look() {
	f := &h.lot.Frames[h.next]
	h.time = max(h.time, f.Time)
	h.tap = f.Tap
}

func (h *head) before(o *head) bool {
	return h.time < o.time || h.time == o.time && h.tap < o.tap
}

func (m *merged) push(h *head) {
	h.look()
	i := len(m.heads)
	m.heads = append(m.heads, h)
	for i > 0 {
		up := (i - 1) / 2
		if !m.heads[i].before(m.heads[up]) {
			return
		}
		m.heads[i], m.heads[up] = m.heads[up], m.heads[i]
		i = up
	}
}

// sink moves head i down to its place in the heap.
func (m *merged) sink(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.heads); c++ {
			if m.heads[c].before(m.heads[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.heads[i], m.heads[least] = m.heads[least], m.heads[i]
		i = least
	}
}

func (m *merged) Taps() []Tap { return m.taps.list() }

func (m *merged) Progress() (done, total int64) { return progress(m.inputs) }

func (m *merged) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	for _, h := range m.heads {
		h.lot.release()
	}
	m.heads, m.fresh = nil, nil
	return closeAll(m.inputs)
}
