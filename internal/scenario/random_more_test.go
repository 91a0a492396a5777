package scenario

import (
	"fmt"
	"strings"

	"ibwitness/verifier"
)

// sharedQueues gives the second adapter two shared receive queues for each of n connections.
func (c *chance) sharedQueues(n int) {
	c.line("srqs:")
	for i := range n {
		for _, s := range []string{"s", "t"} {
			c.line("  %s%d: {hca: b, limit: %d, domain: d%d}", s, i, c.IntN(4), i)
		}
	}
}

// half is the type of the queue pair of an adapter.
func half(typ, hca string) string {
	switch {
	case typ != "XRC":
		return typ
	case hca == "a":
		return "XRC-initiator"
	}
	return "XRC-target"
}

// joins has a datagram queue pair join multicast groups: none, one or both.
func (c *chance) joins() string {
	if !c.more || c.is(0.3) {
		return ""
	}
	return fmt.Sprintf("groups: [%s], ", strings.Join(c.groups[:1+c.IntN(2)], ", "))
}

// receive posts n receive requests for a queue pair; on XRC to both queues.
func (c *chance) receive(i int, typ, to string, n int) {
	if typ != "XRC" {
		c.line("  - {qp: %s%d, op: receive, length: %d, repeat: %d, at: %dus}", to, i, 30000, n, pick(c, 0, 0, 0, c.IntN(100)))
		return
	}
	for _, s := range []string{"s", "t"} {
		c.line("  - {srq: %s%d, op: receive, length: %d, repeat: %d, at: %dus}", s, i, 30000, n, pick(c, 0, 0, 0, c.IntN(100)))
	}
}

// dest is where a message goes, and what else it has, where its service or operation asks for that.
func (c *chance) dest(i int, typ, to, op string) string {
	switch {
	case typ == "XRC":
		return fmt.Sprintf(", to: %s%d", pick(c, "s", "t"), i)
	case op == "flush":
		return fmt.Sprintf(", placement: %s, whole: %v%s", pick(c, "global", "persistent", "both"), c.is(0.2), c.spare(op))
	case typ == "RC" && c.more:
		return c.spare(op)
	case typ != "UD":
		return ""
	case c.more && c.is(0.5):
		return ", to: " + pick(c, c.groups[:]...)
	}
	return fmt.Sprintf(", to: %s%d", to, i)
}

// spare has an operation on the memory of the peer use the region that a SEND with Invalidate will take back, now and then. That one waits for
// what it may not take the key from: a READ that is retransmitted needs it.
func (c *chance) spare(op string) string {
	if op == "send_inv" || !strings.HasPrefix(op, "send") && c.is(0.3) {
		return ", spare: true"
	}
	return ""
}

// cnps has the adapters send CNPs, now and then, and says to the verifier how.
func (c *chance) cnps() string {
	if !c.more || c.is(0.5) {
		return ""
	}
	by, every, class := pick(c, "qp", "ip", "port"), 4+c.IntN(100), c.IntN(64)<<2|c.IntN(3)
	if c.is(0.8) {
		p, err := verifier.ParseProfile(fmt.Sprintf("cnp-per-%s=%dus,cnp-dscp=%d", by, every, class>>2))
		if err != nil {
			panic(err)
		}
		c.profile = p
	}
	return fmt.Sprintf(", cnp: per-%s, cnp_interval: %dus, cnp_traffic_class: %d", by, every, class)
}

// ecn is the traffic class of a queue pair: ECN-capable or not.
func (c *chance) ecn() int {
	if !c.more {
		return 0
	}
	return c.IntN(3)
}
