package upper

// mostRecent is of how many answers it is known when they came: the newest.
const mostRecent = 32

// answered notes the message that has answered the command of an order, which is counted already.
func (s *Took) answered(m *Message, order uint64) {
	s.recent[(s.Count-1)%mostRecent], s.Answer = answer{m.Time, m.Frame, order, m.PSN, m.Tap}, m.Frame
	s.undone -= min(s.undone, 1)
}

// Recent is when the newest answers came, at most mostRecent, nanoseconds since the Unix epoch, in order.
func (s *Took) Recent() []int64 {
	n := min(s.Count, mostRecent-uint64(s.undone))
	list := make([]int64, 0, n)
	for k := s.Count - n; k < s.Count; k++ {
		list = append(list, s.recent[k%mostRecent].at)
	}
	return list
}

// OpenBefore counts the commands of an end that had begun before a frame of a tap and have not ended, but for those that wait for something to happen.
func (t *Tracker) OpenBefore(from int, tap uint16, frame uint64) (n int) {
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits && t.From(c) == from && c.Tap == tap && c.Frame < frame {
			n++
		}
	}
	return n
}
