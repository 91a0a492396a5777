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

// nvme is the protocol whose commands of one opcode take as long as each other: a COMPOUND of NFS has operations that take very different times.
const nvme = "NVMe over RDMA"

// SlowCommands returns those of the commands of a connection that took longest which were slow: they took upper.SlowAfter or longer, or far longer than the others.
func (c *Connection) SlowCommands() (slow []*Operation) {
	u := c.Upper
	if u == nil {
		return nil
	}
	for i, o := range u.Longest {
		if took := time.Duration(o.Ended - o.Since); int64(took) >= upper.SlowAfter || c.rare(took, o.Class, u.Longest[:i]) {
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

// UsualCommand is how long the commands of a connection take in the median, or, where times are not measured, all but the slowest in the mean. One at least was answered.
func (c *Connection) UsualCommand() time.Duration {
	u := c.Upper
	if c.Timing != nil && c.Timing.Commands != nil {
		return c.Timing.Commands.Latency.Quantile(0.5)
	}
	return (u.Took - time.Duration(u.Slowest.Ended-u.Slowest.Since)) / time.Duration(max(u.Answers, 2)-1)
}
