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

// TestServiceHungForAll: a server that answered no command of any client for long, though it had not stopped at once and answered some that came after the
// first that waited, is one incident of its service; not where only one client waited, or another was answered meanwhile.
func TestServiceHungForAll(t *testing.T) {
	const stop, end = 2 * time.Second, 12 * time.Second
	serve := func(offset uint32, waits bool) []fabricagent.Frame {
		q := new(queue)
		for id := uint32(6); q.now < 13*time.Second; id++ {
			q.now += time.Duration(offset) * time.Microsecond
			if waits && q.now >= stop && q.now < end {
				q.send(0, nfsMessages.command(id))
				for n := range uint32(12) { // others that began later are answered, then no more
					q.now += 20 * time.Millisecond
					q.send(0, nfsMessages.command(id+100+n))
					if n < 6 {
						q.now += 40 * time.Microsecond
						q.send(1, nfsMessages.answer(id+100+n))
					}
				}
				q.now = end + time.Duration(offset)*time.Microsecond
				for n := uint32(6); n < 12; n++ {
					q.send(1, nfsMessages.answer(id+100+n))
					q.now += time.Millisecond
				}
				q.now += 20 * time.Millisecond
				q.send(1, nfsMessages.answer(id))
				id += 200
			}
			q.send(0, nfsMessages.command(id))
			q.now += 40 * time.Microsecond
			q.send(1, nfsMessages.answer(id))
			q.now += 4 * time.Millisecond
		}
		return q.list
	}
	other := func(list []fabricagent.Frame, n byte) []fabricagent.Frame { // of another client
		for k := range list {
			f := &list[k]
			f.Data = slices.Clone(f.Data)
			changed(f, func(p *packet.Packet) {
				p.DestQP += uint32(n)
				for _, a := range []*packet.Addr{&p.Src, &p.Dst} {
					if *a == packet.IPv4Addr([]byte{10, 0, 0, 1}) {
						*a = packet.IPv4Addr([]byte{10, 0, 0, 10 + n})
					}
				}
			})
		}
		return list
	}
	run := func(lists ...[]fabricagent.Frame) string {
		list, q, m := slices.Concat(lists...), new(queue), nvmeMessages(func([]byte) {})
		for id := uint32(5); q.now < 13*time.Second; id++ { // its host goes on with another protocol
			q.send(0, m.command(id))
			q.now += 40 * time.Microsecond
			q.send(1, m.answer(id))
			q.now += 10 * time.Millisecond
		}
		list = append(list, ofQueue(q.list, 0x40)...)
		slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
		return reasonsOf(incident.Of(judged(t, list, agent.Options{Timing: true})))
	}
	const (
		told = "10.0.0.2 answered no command of any client (RPC over RDMA) from +2."
		took = "14 commands on 2 connections took 1s or longer, up to 10s; then all that waited had an answer within "
		fits = "fits: a program of 10.0.0.2 all of whose threads waited for one thing"
		slow = " to answer NFS"
		goes = "it had not stopped"
	)
	contains(t, "it hangs for all", run(serve(0, true), other(serve(0x10, true), 0x10)), []string{told, took, fits}, []string{slow, goes})
	contains(t, "it hangs for one", run(serve(0, true)), []string{slow}, []string{told, goes})
	contains(t, "it serves another", run(serve(0, true), other(serve(0x10, false), 0x10)), []string{slow}, []string{told, goes})
}
