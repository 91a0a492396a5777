package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// smallestMTU is the smallest path MTU, bytes.
const smallestMTU = 256

// requestsOf is how many of the packets of end from of a connection are requests, and says so: all, where its peer has sent none, or where each
// message is of one packet. Else it is of all packets, answers too, which is said, after their share, where its peer has sent a good part of requests.
func requestsOf(c *agent.Connection, from int, k *qp.Trouble) (n uint64, said, too string) {
	e, asked := &c.Ends[from], c.Ends[1-from].Messages
	if n, known := singlePackets(c, from, k); known {
		return n, count(n, "request"), ""
	}
	if n, known := packetsOfRequests(c, from, k); known {
		return n, count(n, "packet") + " of requests", ""
	}
	if asked > 0 && tenth*asked >= e.Packets {
		too = answersToo
	}
	return e.Packets, count(e.Packets, "packet"), too
}

// answersToo says that packets of which a share is told are answers, too.
const answersToo = ", answers included"

// singlePackets is how many requests an end has sent, where each of its messages is of one packet.
func singlePackets(c *agent.Connection, from int, k *qp.Trouble) (n uint64, known bool) {
	e := &c.Ends[from]
	if c.Ends[1-from].Messages == 0 || c.Timing == nil {
		return 0, false
	}
	for _, o := range c.Timing.Ends[from].Ops {
		if o != nil && o.Sizes.Most > max(c.PMTU, smallestMTU) {
			return 0, false
		}
	}
	n = e.Messages + uint64(e.Retransmissions)
	if k.Missing.Filled.PSNs > 0 { // retransmissions from a gap on are messages, too
		if rounds := k.Sum.Total() - uint64(k.Sum.Rounds[qp.NotReady]); uint64(placesOf(k).before) != rounds {
			return 0, false
		}
		n = e.Messages
	}
	return n, n <= e.Packets
}

// fewestOfRequests is of how many packets those of requests are told apart. A run that does not measure times tells of all packets.
const fewestOfRequests = 500

// packetsOfRequests is how many packets of requests an end has sent, where its peer has sent requests too and it is kept of each message how many it has:
// else of what it sent the ACKs cannot be told apart. Of a few packets they are not worth it.
func packetsOfRequests(c *agent.Connection, from int, k *qp.Trouble) (n uint64, known bool) {
	e := &c.Ends[from]
	if e.Packets < fewestOfRequests || c.Ends[1-from].Messages == 0 || c.Timing == nil || e.Stalled || k.Missing.PSNs > 0 {
		return 0, false
	}
	first, newest, sent := c.Timing.Ends[from].AllSent()
	if len(first)+len(newest) != sent {
		return 0, false
	}
	for op, o := range c.Timing.Ends[from].Ops {
		switch {
		case o == nil:
		case o.Incomplete > 0:
			return 0, false
		case wqe.Op(op).Responded():
			n, sent = n+o.Count, sent+int(o.Count)
		}
	}
	for _, m := range slices.Concat(first, newest) {
		n += uint64(m.Packets)
	}
	n += uint64(e.Retransmissions)
	return n, uint64(sent) == e.Messages && n < e.Packets
}

// slowestPart is the part of messages that the slowest are not, which users look at, of fewestSlowest or more.
const (
	slowestPart   = 0.99
	fewestSlowest = 100
)

// slowestWaited says that the slowest messages of end from of a connection waited for its timer, where most were answered far sooner; "": they did
// not, or it is not known.
func (t *teller) slowestWaited(c *agent.Connection, from int, k *qp.Trouble) string {
	e := &c.Ends[from]
	if c.Timing == nil || !t.timed() || e.Timer == 0 || !mostlyTimer(&k.Sum) {
		return ""
	}
	for _, o := range c.Timing.Ends[from].Ops {
		if o == nil || o.Latency.Count() < fewestSlowest || 2*o.Latency.Count() < e.Messages || uint64(k.Sum.Rounds[qp.TimerExpired])*100 < o.Latency.Count() {
			continue
		}
		usual, slow, timer := o.Quantile(0.5), o.Quantile(slowestPart), time.Duration(e.Timer)
		if slow >= timer-timer/50 && slowestFactor*usual <= slow {
			return fmt.Sprintf("the slowest 1 %% of %s took %s or longer, as the timer had to run out for them first; half of all took %s or less", count(o.Latency.Count(), "message"), span(int64(slow)), span(int64(usual)))
		}
	}
	return ""
}

// slowestFactor is how many times as long as most the slowest messages took at least for it to be told.
const slowestFactor = 10

// unharmed says to which other hosts a host retransmitted nothing, of so many messages that some would have been if they had been lost as often as n
// of those of a connection; "": it has none.
func (t *teller) unharmed(c *agent.Connection, from int, n uint64) string {
	e := &c.Ends[from]
	if t.run.Packets == 0 || e.Messages == 0 || n < tellingRounds {
		return ""
	}
	messages, hit := map[packet.Addr]uint64{}, map[packet.Addr]bool{}
	for k := range t.run.Connections {
		d := &t.run.Connections[k]
		for j := range d.Ends {
			switch to := d.Ends[1-j].Addr; {
			case d.Ends[j].Addr != e.Addr || !d.Service.Reliable():
			case d.Ends[j].Retransmissions > 0 || d.Ends[j].Stalled || d.Ends[1-j].Retransmissions > 0:
				hit[to] = true
			default:
				messages[to] += d.Ends[j].Messages
			}
		}
	}
	var list []packet.Addr
	all := uint64(0)
	for to := range messages {
		if !hit[to] && to != c.Ends[1-from].Addr && messages[to]*n >= tellingMisses*e.Messages {
			list, all = append(list, to), all+messages[to]
		}
	}
	slices.SortFunc(list, packet.Addr.Compare)
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("%v retransmitted nothing to %s, of %s: what all of its packets pass is not it", e.Addr, someOf(list), count(all, "message"))
}
