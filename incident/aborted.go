package incident

import (
	"fmt"

	"ibwitness/agent"
)

// aborted tells that the end of command o of c, which has no answer, had asked to abort it, and whether that was answered.
func (t *teller) aborted(i *Incident, c *agent.Connection, o *agent.Operation) {
	k := t.abortOf(c, o)
	if k == nil || o.Unsure || !t.timed() || t.lossy() {
		return
	}
	answered := ""
	if k.Answered {
		answered = "; that was answered, and the command was not"
	}
	i.fact("abort", fmt.Sprintf("%v asked to abort the command %s after it: %s in frame %d%s", i.Local.Addr, span(k.At-o.Since), k.Name, k.Frame, answered))
	if k.Tap == i.Tap {
		i.show(k.Frame)
	}
}
