package upper

// mostCancels is how many requests to cancel a command are kept: the newest.
const mostCancels = 16

// Cancel is a request of an end to cancel a command of its own.
type Cancel struct {
	Name  string // of the request
	At    int64  // when it came, nanoseconds since the Unix epoch
	Frame uint64
	ID    uint64 // of the command
	Queue uint16 // where the command is of another connection of the same controller, as of NVMe
	Tap   uint16
	// Answered says that the peer has answered it: of SMB2, it never does.
	Answered bool
	// The orders of the command, where it is of the same connection, and of the request, where that is a command itself.
	of, by uint64
}

// cancels notes that the message at hand asks to cancel a command of its end, by its ID, that is open. by is the request, where it is a command
// itself.
func (t *Tracker) cancels(name string, id uint64, by *Command) {
	if c := t.Find(t.message.From, id); c != nil {
		t.cancel(Cancel{Name: name, ID: id, of: c.order}, by)
	}
}

func (t *Tracker) cancel(k Cancel, by *Command) {
	k.At, k.Frame, k.Tap = t.message.Time, t.message.Frame, t.message.Tap
	if by != nil {
		k.by = by.order
	}
	if len(t.cancelled) == mostCancels {
		copy(t.cancelled, t.cancelled[1:])
		t.cancelled = t.cancelled[:mostCancels-1]
	}
	t.cancelled = append(t.cancelled, k)
}

// Cancelled returns the first request to cancel a command that is known; false: there is none.
func (t *Tracker) Cancelled(c *Command) (k Cancel, is bool) {
	for _, k = range t.cancelled {
		if k.of == c.order {
			return t.answeredCancel(k), true
		}
	}
	return Cancel{}, false
}

// Aborts returns the requests to cancel commands of other connections, in order.
func (t *Tracker) Aborts() (list []Cancel) {
	for _, k := range t.cancelled {
		if k.of == 0 {
			list = append(list, t.answeredCancel(k))
		}
	}
	return list
}

func (t *Tracker) answeredCancel(k Cancel) Cancel {
	if k.by != 0 {
		by := t.ordered(k.by)
		k.Answered = by == nil || by.state == ended // of one that is not known any more it may have been
	}
	return k
}
