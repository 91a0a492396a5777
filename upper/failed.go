package upper

// mostFailed is how many kinds of failures are kept: the first.
const mostFailed = 8

// Failed is commands of one class that have ended with one status which means trouble.
type Failed struct {
	Count  uint64
	First  Command
	At     int64  // when that was answered
	Answer uint64 // in which frame
	Opens  bool   // they begin a session
	Lost   bool   // the peer does not know the session or state of its client
}

// judge is a decoder of a protocol whose statuses are told apart.
type judge interface {
	// Trouble reports whether the status with which a command has failed means trouble: many are usual.
	Trouble(c *Command) bool
	// Opens reports whether a command begins a session.
	Opens(c *Command) bool
	// Lost reports whether the status of one says that the peer does not know the session or state of its client.
	Lost(c *Command) bool
}

// failed notes that a command has failed, which the message at hand answers.
func (t *Tracker) failed(c *Command) {
	j, ok := t.decoder.(judge)
	if !ok || !j.Trouble(c) {
		return
	}
	for i := range t.failures {
		if f := &t.failures[i]; f.First.class == c.class && f.First.Status == c.Status {
			f.Count++
			return
		}
	}
	if len(t.failures) < mostFailed {
		t.failures = append(t.failures, Failed{1, *c, t.message.Time, t.message.Frame, j.Opens(c), j.Lost(c)})
	}
}

// Failures returns the commands that failed in a way that means trouble, by class and status, the first first.
func (t *Tracker) Failures() []Failed { return t.failures }

// Opens reports whether a command begins a session.
func (t *Tracker) Opens(c *Command) bool {
	j, ok := t.decoder.(judge)
	return ok && j.Opens(c)
}

// Sought names the session that the newest command which begins one asks for, and who asks; "": that is not known, or it has begun.
func (t *Tracker) Sought() string {
	if d, ok := t.decoder.(interface{ Sought() string }); ok {
		return d.Sought()
	}
	return ""
}

// ReadData takes the beginning of the data of a READ response that an end has sent, of a connection that has just begun.
func (t *Tracker) ReadData(from int, head []byte) {
	if d, ok := t.decoder.(*nvmeDecoder); ok && !t.cut && d.connect != nil && from^t.turned == d.host {
		d.connect.read(head)
	}
}
