package incident_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
)

// ofQueue moves frames of 10.0.0.1 and 10.0.0.2 to other queue pairs.
func ofQueue(list []fabricagent.Frame, offset uint32) (moved []fabricagent.Frame) {
	for _, f := range list {
		f.Data = slices.Clone(f.Data)
		changed(&f, func(p *packet.Packet) { p.DestQP += offset })
		moved = append(moved, f)
	}
	return moved
}

// TestServiceStopped: a host that answered no command of a protocol on any connection for a while, and then all at once, while it
// acknowledged them and served another protocol, is one incident, and its program that serves them stopped or waited; not where it answered on one
// of them meanwhile, or answered the last ones much later.
func TestServiceStopped(t *testing.T) {
	serve := func(m upperMessages, offset uint32, goesOn bool, late time.Duration) []fabricagent.Frame {
		q := new(queue)
		id := uint32(5)
		for q.now < 5*time.Second {
			id++
			q.now += time.Duration(offset) * time.Microsecond
			if stop := 2 * time.Second; !goesOn && q.now >= stop && q.now < stop+time.Second { // several wait
				first := id
				for range 4 {
					q.send(0, m.command(id))
					q.now += time.Millisecond
					id++
				}
				q.now = stop + 1500*time.Millisecond + time.Duration(offset)*time.Microsecond
				for ; first < id; first++ {
					if first == id-1 {
						q.now += late
					}
					q.send(1, m.answer(first))
				}
			}
			q.send(0, m.command(id))
			q.now += 40 * time.Microsecond
			q.send(1, m.answer(id))
			q.now += 4 * time.Millisecond
		}
		return ofQueue(q.list, offset)
	}
	nvme := nvmeMessages(func([]byte) {})
	run := func(goesOn bool, late time.Duration) string {
		list := slices.Concat(serve(nvme, 0, false, late), serve(nvme, 0x10, goesOn, late), serve(nvme, 0x20, false, late))
		list = append(list, serve(nfsMessages, 0x30, true, 0)...)
		slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
		return reasonsOf(incident.Of(judged(t, list, agent.Options{Timing: true})))
	}
	const (
		told = "10.0.0.2 answered no command of any client (NVMe over RDMA) for 1.5s, while its adapter acknowledged what came within 2µs, " +
			"and then the 12 commands that waited on 3 connections, within "
		still  = "its software stopped or waited, and not its adapter or the network."
		others = "others: 10.0.0.2 answered commands of RPC over RDMA all the time"
		fits   = "fits: the program of 10.0.0.2 that serves these clients, stopped as a whole, and not the host"
		slow   = " to answer NVMe Read"
		thread = "a thread of its program"
	)
	contains(t, "it stops", run(false, 0), []string{told, still, others, fits}, []string{slow, thread})
	contains(t, "it goes on on one", run(true, 0), []string{slow, thread}, []string{still})
	contains(t, "it answers one much later", run(false, 300*time.Millisecond), []string{slow}, []string{still})
}
