package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
)

// limited tells of clients whose server grants them far fewer calls at once than before, so that they wait for each other.
func (t *text) limited() (list []string) {
	for n := range t.res.Connections {
		c := &t.res.Connections[n]
		if c.Upper == nil || c.Upper.Granted == nil || t.res.Clock.Count > 0 {
			continue
		}
		g := c.Upper.Granted
		server, client := &c.Ends[g.By], &c.Ends[1-g.By]
		s := fmt.Sprintf("Since %s (frame %d) %v grants %v %s %s at once in place of %d (credits of %s), and it has had at most %d open since, %d before",
			offset(g.At, t.res.First), g.Frame, server.Addr, client.Addr, qp(client.QPN, client.QPNKnown), count(uint64(g.Now.Calls), "call"), g.Was.Calls, c.Upper.Protocol, g.Now.Open, g.Was.Open)
		if was, now := g.Was.Took(), g.Now.Took(); now > 0 && was > 0 {
			s += fmt.Sprintf("; an answer takes %s in the mean, %s before", span(now), span(was))
		}
		list = append(list, s+": its calls wait for the grant, and not for the network.")
	}
	return list
}

// failed tells of commands that failed in a way that means trouble; incidents tell of those with which a session begins.
func (t *text) failed() (list []string) {
	for n := range t.res.Connections {
		c := &t.res.Connections[n]
		if c.Upper == nil {
			continue
		}
		if failures := failuresOf(c.Upper); len(failures) > 0 {
			o := failures[0].Operation
			var told []string
			for k := range failures {
				told = append(told, failedOf(&failures[k]))
			}
			list = append(list, fmt.Sprintf("%v failed commands of %v %s: %s.", c.Ends[1-o.From].Addr, c.Ends[o.From].Addr, qp(c.Ends[o.From].QPN, c.Ends[o.From].QPNKnown), strings.Join(told, "; ")))
		}
	}
	return list
}

// failuresOf returns the failures that are told, by status.
func failuresOf(u *agent.Upper) (all []agent.Failed) {
	for k := range u.Failures {
		f := u.Failures[k]
		if f.Opens {
			continue
		}
		if n := slices.IndexFunc(all, func(x agent.Failed) bool { return x.Status == f.Status && x.From == f.From }); n >= 0 {
			all[n].Count += f.Count
		} else {
			all = append(all, f)
		}
	}
	return all
}

// failedOf says with which status how many commands failed.
func failedOf(f *agent.Failed) string {
	if f.Count == 1 {
		return fmt.Sprintf("%s: %s (frames %d to %d, %s)", f.Name, f.Status, f.Frame, f.Answer, span(time.Duration(f.Ended-f.Since)))
	}
	return fmt.Sprintf("%s with %s, the first %s (frames %d to %d)", count(f.Count, "command"), f.Status, f.Name, f.Frame, f.Answer)
}
