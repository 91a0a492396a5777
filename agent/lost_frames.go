package agent

import (
	"maps"

	"ibwitness/agent/internal/connection"
)

// lostFrames is Dropped for a run that goes on for long: what is known is in doubt, and is forgotten soon; what begins again then is proven again.
func (t *Transport) lostFrames() {
	t.gmp.Forget()
	if t.links != nil {
		t.links.Dropped()
	}
	if t.table.Lossy {
		return // so is every connection
	}
	t.table.Dropped()
	t.smp.Lossy = true
}

// forget drops the connections that leave, and all that is kept of them. What was judged stays.
func (t *Transport) forget() {
	t.uppers.forget()
	maps.DeleteFunc(t.former, func(c *connection.Connection, _ *former) bool { return !c.Watched() })
	t.timings.forget()
	t.table.Forget()
	t.smp.Recover()
	if t.links != nil {
		t.links.Recover()
	}
}
