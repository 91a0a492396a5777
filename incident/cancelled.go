package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/upper"
)

// cancelled says that the end of a command whose memory a refused request is for had asked to cancel it: until its final answer the peer may use the
// memory.
func (t *teller) cancelled(i *Incident, c *agent.Connection, n *agent.Named) {
	k := n.Cancel
	if k == nil {
		k = t.abortOf(c, n.Of)
	}
	if k == nil || k.At <= n.Of.Since || k.At >= i.Begin || !t.timed() {
		return
	}
	holder, user := c.Ends[n.Of.From].Addr, c.Ends[1-n.Of.From].Addr
	said := fmt.Sprintf("%v had asked to cancel that command: %s in frame %d, %s after it and %s before the request",
		holder, k.Name, k.Frame, span(k.At-n.Of.Since), span(i.Begin-k.At))
	if k.Tap == i.Tap {
		i.show(k.Frame)
	}
	if k.Answered || n.Done || n.Of.Unsure {
		i.fact("cancel", said)
		return
	}
	i.fact("cancel", fmt.Sprintf("%s; the capture holds no final answer to it", said))
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("memory that %v released after its %s, before the final answer to the command: "+
		"until that %v may use it", holder, k.Name, user))
	i.Next = slices.Insert(i.Next, 0,
		fmt.Sprintf("whether %v released the memory of the command that it had cancelled, without its final answer", holder),
		fmt.Sprintf("why %v took %s for that command", user, span(i.Begin-n.Of.Since)))
}

// abortOf returns the request by which the end of a command of an I/O queue of NVMe asked to abort it, on the admin queue; nil: there is none that
// is known, or several queues may be meant.
func (t *teller) abortOf(c *agent.Connection, o *agent.Operation) (abort *upper.Cancel) {
	queue, list := c.Upper.Queue, t.siblings(c)
	if queue == "" || len(list) > mostOthers {
		return nil
	}
	for _, d := range list {
		switch {
		case d == c || d.Upper == nil:
		case d.Upper.Queue == queue && d.First <= o.Since && (d.Closed.At == 0 || d.Closed.At > o.Since):
			return nil // of another controller
		default:
			for n := range d.Upper.Aborts {
				if k := &d.Upper.Aborts[n]; abort == nil && k.At > o.Since && o.ID == k.ID && fmt.Sprintf("queue %d", k.Queue) == queue {
					abort = k
				}
			}
		}
	}
	return abort
}
