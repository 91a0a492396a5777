package agent

import (
	"time"

	"ibwitness/upper"
)

// From how long on, and for how many times as long as others of its connection, a command is slow that takes less than upper.SlowAfter; how many have to be answered for that, how many
// of its opcode or procedure, which may take long each time, and for how many times as long as these in the mean.
const (
	rareAfter    = 100 * time.Millisecond
	rareTimes    = 100
	rareOf       = 64
	rareAlike    = 16
	rareOfItself = 10
)

// How many commands of a connection at least took upper.LateAfter or longer, all on one target, for how many others of which one waited, and for how
// many times as long as usual, and as any on another target, the slowest took, where it is slow for that.
const (
	lateOnOne     = 8
	lateBeside    = 3
	lateUsually   = 20
	lateElsewhere = 4
)

// nvme is the protocol whose commands of one opcode take as long as each other: a COMPOUND of NFS has operations that take very different times.
const nvme = "NVMe over RDMA"

// SlowCommands returns those of the commands of a connection that took longest which were slow: they took upper.SlowAfter or longer, far longer than the others, or
// are of several that were late, all on one of several targets.
func (c *Connection) SlowCommands() (slow []*Operation) {
	u := c.Upper
	if u == nil {
		return nil
	}
	for i, o := range u.Longest {
		if took := time.Duration(o.Ended - o.Since); int64(took) >= upper.SlowAfter || c.rare(took, o.Class, u.Longest[:i]) || c.lateOnTarget(took, o) {
			slow = append(slow, o)
		}
	}
	return slow
}

// rare reports whether a command of a class took far longer than the others, but for those that took even longer.
func (c *Connection) rare(took time.Duration, class int, longer []*Operation) bool {
	u := c.Upper
	if u.Protocol != nvme || u.Answers < rareOf || took < max(rareAfter, rareTimes*c.UsualCommand()) {
		return false
	}
	if class >= len(u.Classes) {
		return true
	}
	k := &u.Classes[class]
	if k.Answers < rareAlike {
		return false
	}
	all, n := k.Took-took, time.Duration(k.Answers-1)
	for _, o := range longer {
		if o.Class == class {
			all, n = all-time.Duration(o.Ended-o.Since), n-1
		}
	}
	return took >= rareOfItself*(all/n)
}

// lateOnTarget reports whether a command that took so long works on the one target of several on which commands were late, several times, while those on
// the others were answered.
func (c *Connection) lateOnTarget(took time.Duration, o *Operation) bool {
	u := c.Upper
	if o.Target < 1 || o.Target > len(u.Targets) || took < max(time.Duration(upper.LateAfter), lateUsually*c.UsualCommand()) {
		return false
	}
	k := &u.Targets[o.Target-1]
	if k.Late.Count < max(lateOnOne, u.Late.Count) || k.Late.Others < lateBeside {
		return false
	}
	for n := range u.Targets {
		if x := &u.Targets[n]; x != k && lateElsewhere*x.Longest > took {
			return false
		}
	}
	return true
}

// UsualCommand is how long the commands of a connection take in the median, or, where times are not measured, all but the slowest in the mean. One at least was answered.
func (c *Connection) UsualCommand() time.Duration {
	u := c.Upper
	if c.Timing != nil && c.Timing.Commands != nil {
		return c.Timing.Commands.Latency.Quantile(0.5)
	}
	return (u.Took - time.Duration(u.Slowest.Ended-u.Slowest.Since)) / time.Duration(max(u.Answers, 2)-1)
}
