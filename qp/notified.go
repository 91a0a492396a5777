package qp

// Notified is that a receiver asked a queue pair to slow down, by CNPs.
type Notified struct {
	Count       uint64
	First, Last int64  // when the first and the newest came
	Bytes       uint64 // payload that the queue pair had sent when the first came
	Until       uint64 // and when the newest came
}

// Notify notes a CNP at time now to a queue pair that has sent so many bytes of payload.
func (s *SendQueue) Notify(now int64, bytes uint64) {
	t := s.trouble()
	if t.Notified == nil {
		t.Notified = &Notified{First: now, Bytes: bytes}
	}
	t.Notified.Count++
	t.Notified.Last, t.Notified.Until = now, bytes
}
