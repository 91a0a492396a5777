package incident

import (
	"cmp"
	"fmt"

	"ibwitness/agent"
)

// openOn counts the commands of c and of the other connections of its hosts, of the same protocol, that have no answer and had been sent when c ended,
// where all of them work on one target, on which none was answered that began after the oldest of c; on says on how many connections they are. 0: they do not all, or it is not known.
func (t *teller) openOn(c *agent.Connection, target string) (open int, on string) {
	list, from := t.siblings(c), c.Upper.Oldest.From
	if len(list) > mostOthers || t.lossy() {
		return 0, ""
	}
	end, queues := cmp.Or(c.Closed.At, t.run.Last), 0
	for _, d := range list {
		u := d.Upper
		if u == nil || u.Protocol != c.Upper.Protocol || d.First >= end || d.Closed.At != 0 && d.Closed.At < c.Upper.Oldest.Since {
			continue
		}
		for n := range u.Targets {
			if x := &u.Targets[n]; x.Name == target && x.Newest > c.Upper.Oldest.Since {
				return 0, ""
			}
		}
		o := u.Oldest
		if o == nil || o.Since >= end {
			continue
		}
		k := targetOf(u, o)
		if k == nil || k.Name != target || k.Open != u.Open || o.Unsure || d.Ends[o.From].Addr != c.Ends[from].Addr {
			return 0, ""
		}
		open, queues = open+u.Open, queues+1
	}
	if queues > 1 {
		on = fmt.Sprintf(" on %d connections", queues)
	}
	return open, on
}
