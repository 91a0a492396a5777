package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// What to look at next where an NVMe controller refuses a connection, by its status.
const (
	nvmeVersions = "the versions and settings of the NVMe host on {to} and of the target on {by}: " +
		"the private data of the REQ is not what the target expects"
	nvmeReads = "how many outstanding READs the adapters of {to} and {by} allow (max_qp_rd_atom and max_qp_init_rd_atom of ibv_devinfo -v), " +
		"against those of the REQ"
)

var nvmeNext = [...]string{
	1: nvmeVersions, 2: nvmeVersions,
	3: "how many I/O queues {to} asks for (nvme connect --nr-io-queues), against how many the target on {by} allows",
	4: "for queue 0, the admin queue, how many entries the NVMe host of {to} asks for: Linux's target takes 32 (hsqsize 31), and --queue-size does not change it; " +
		"for I/O queues a shorter one (nvme connect --queue-size); or the limit of the target on {by}, and its log",
	5: "a shorter queue on {to} (nvme connect --queue-size for I/O queues), or the limit of the target on {by}, and its log",
	6: "memory, queue pairs and the limits of the target on {by}, and its log",
	7: nvmeReads, 8: nvmeReads,
}

// nvmeResources is the status by which a controller lacks resources for a queue.
const nvmeResources = 6

// nvmeQueue is the number of the queue that was refused; 0: the admin queue, or it is not known.
func nvmeQueue(r *cm.Refusal) (id int) {
	if _, queue, ok := strings.Cut(r.Private, ": queue "); ok {
		_, _ = fmt.Sscanf(queue, "%d", &id)
	}
	return id
}

// invalidSends is the status by which a controller refuses the hsqsize of a REQ.
const invalidSends = 4

// acceptedShorter says, of a queue that an NVMe controller refuses since its hsqsize is not valid, with which one at most it accepted another of the same kind, admin or I/O: that proves the limit.
func (t *teller) acceptedShorter(i *Incident, r *cm.Refusal) {
	var id, receives, sends uint16
	_, queue, _ := strings.Cut(r.Private, ": ")
	if n, _ := fmt.Sscanf(queue, "queue %d, hrqsize %d, hsqsize %d", &id, &receives, &sends); n < 3 || r.NVMeStatus() != invalidSends || r.ByAsker {
		return
	}
	var best *rule.Finding
	most := uint16(0)
	for _, f := range t.accepted(i.Peer.Addr) {
		if f.Detail != r.Service {
			continue
		}
		if u := t.queueOf(f); u != nil && (u.Queue == "queue 0") == (id == 0) && u.HSQSize < sends && u.HSQSize > most {
			best, most = f, u.HSQSize
		}
	}
	if best == nil {
		return
	}
	kind := "an I/O queue"
	if id == 0 {
		kind = "the admin queue"
	}
	i.fact("others", fmt.Sprintf("%v accepted %s of %v with hsqsize %d in frame %d, for the same service: it takes that there, and not %d", i.Peer.Addr, kind, best.Accused.Addr, most, best.Frame, sends))
	if best.Tap == i.Tap {
		i.show(best.Frame)
	}
}

// queueOf is what is known of the queue of an NVMe connection that a host accepted; nil: nothing, or its queue pairs were connected several times.
func (t *teller) queueOf(f *rule.Finding) (u *agent.Upper) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		a, b := &c.Ends[0], &c.Ends[1]
		if c.PairedBy != agent.ByCM || a.Addr != f.Accused.Addr || a.QPN != f.Accused.QPN || b.Addr != f.Peer.Addr || b.QPN != f.Peer.QPN {
			continue
		}
		if u != nil || c.Upper == nil || c.Upper.Queue == "" || c.Upper.HSQSize == 0 {
			return nil
		}
		u = c.Upper
	}
	return u
}
