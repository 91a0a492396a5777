package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// attemptsAfter is how many attempts after the first one end e made with its newest request.
func attemptsAfter(e *agent.End) uint64 {
	if e.Trouble == nil {
		return 0
	}
	return uint64(e.Trouble.Attempts.Count)
}

// inAttempts says in how many attempts end e sent its newest request, each of a queue pair that was recreated: ", in 3 attempts".
func inAttempts(e *agent.End) string {
	if attemptsAfter(e) == 0 {
		return ""
	}
	return fmt.Sprintf(", in %d attempts", 1+attemptsAfter(e))
}

// tellAttempts says in which frames they begin.
func tellAttempts(i *Incident, e *agent.End, k *qp.Stall) {
	if attemptsAfter(e) == 0 {
		return
	}
	a := &e.Trouble.Attempts
	began := []string{fmt.Sprint(k.Request.Frame)}
	for n := range min(int(a.Count), len(a.Frames)) {
		f := packet.FrameNear(k.Frames.Last, a.Frames[n])
		began = append(began, fmt.Sprint(f))
		i.show(f)
	}
	more := ""
	if n := 1 + int(a.Count) - len(began); n > 0 {
		more = fmt.Sprintf(" and %d later", n)
	}
	i.fact("attempts", fmt.Sprintf("they begin in frames %s%s: the requester gave up, and began again with the same PSN", enumerate(began), more))
}

// retriesOf says how many retries a requester has made of n rounds, in each of its attempts.
func retriesOf(e *agent.End, n uint64) (text string, each uint64) {
	of := 1 + attemptsAfter(e)
	if of == 1 {
		return fmt.Sprintf("%d retries", n), n
	}
	if each = (n + 1) / of; each*of == n+1 {
		return fmt.Sprintf("%d retries in each of %d attempts", each-1, of), each - 1
	}
	return fmt.Sprintf("%d retries in %d attempts", n+1-of, of), n
}

// otherQPN says what fits where nothing at a QPN ever answered, and the same host answers soon after at another one.
func (i *Incident) otherQPN(e *agent.End, next *agent.Connection) {
	if i.Kind != NeverAnswered || e == nil || !e.QPNKnown || !i.Peer.QPNKnown || e.QPN == i.Peer.QPN || e.Packets == 0 {
		return
	}
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a stale or wrong destination QPN: %v answers at QP 0x%x, which %v used from frame %d on; 0x%x is of a queue pair that is gone, or was never in RTR",
		e.Addr, e.QPN, i.Local.Addr, next.FirstFrame, i.Peer.QPN))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("where %v learned QP 0x%x (what both ends exchanged over TCP, a key-value store): what was published when the queue pair of %v was recreated, and when", i.Local.Addr, i.Peer.QPN, e.Addr))
}
