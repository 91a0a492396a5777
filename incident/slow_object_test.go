package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// onObject is so many commands of an opcode on an object, each of which took as long as the others.
type onObject struct {
	class, object string
	count         int
	took          time.Duration
}

// objectConnection is one on which 10.0.0.9 answered commands of a client.
func objectConnection(client byte, protocol string, list []onObject) agent.Connection {
	begin := int64(time.Hour)
	u := &agent.Upper{Protocol: protocol, Answered: true}
	w := new(timing.Waits)
	classes, objects := map[string]int{}, map[string]int{"": 0}
	for _, k := range list {
		n, all := uint64(k.count), time.Duration(k.count)*k.took
		for range k.count {
			w.Add(k.took, begin, 10)
		}
		if _, ok := classes[k.class]; !ok {
			classes[k.class] = len(u.Classes)
			u.Classes = append(u.Classes, agent.Class{Name: k.class})
		}
		if _, ok := objects[k.object]; !ok {
			u.Targets = append(u.Targets, agent.Target{Name: k.object})
			objects[k.object] = len(u.Targets)
		}
		x := &u.Classes[classes[k.class]]
		x.Answers, x.Took, x.Longest, x.Newest = x.Answers+n, x.Took+all, max(x.Longest, k.took), begin
		if at := objects[k.object]; at > 0 {
			x := &u.Targets[at-1]
			x.Answers, x.Took, x.Longest, x.Newest = x.Answers+n, x.Took+all, max(x.Longest, k.took), begin
		}
		u.Pairs = append(u.Pairs, agent.Pair{Class: classes[k.class], Target: objects[k.object], Answers: n, Took: all, Longest: k.took})
		u.Counts, u.Answers, u.Took = upper.Counts{Ended: u.Ended + n}, u.Answers+n, u.Took+all
		if o := u.Slowest; o == nil || int64(k.took) > o.Ended-o.Since {
			u.Slowest = &agent.Operation{
				Name: k.class + ", id 7", Since: begin, Frame: 55, Ended: begin + int64(k.took), Answer: 57, Class: classes[k.class], Target: objects[k.object],
			}
		}
	}
	u.Longest = []*agent.Operation{u.Slowest}
	acks := new(timing.Operation)
	acks.Observe(5 * time.Microsecond)
	c := agent.Connection{Service: packet.RC, First: begin, Timing: &timing.Connection{Commands: w}, Upper: u}
	c.Timing.Ends[0].Ops[wqe.Send] = acks
	for e := range c.Ends {
		addr := packet.IPv4Addr([]byte{10, 0, 0, []byte{client, 9}[e]})
		c.Ends[e] = agent.End{Addr: addr, QPN: 0x20 + uint32(client), QPNKnown: true, Packets: 100, Bytes: 400_000, Last: begin + int64(9*time.Second)}
	}
	return c
}

// toldOfObjects is all that is told of a result.
func toldOfObjects(r *agent.Result) string {
	got := ""
	for _, i := range Of(r) {
		got += i.What + "\n"
		for _, f := range i.Facts {
			got += f.Label + ": " + f.Text + "\n"
		}
		got += "fits: " + strings.Join(i.FitsWith, "; ") + "\nnext: " + strings.Join(i.Next, "; ") + "\n"
	}
	return got
}

// TestSlowObject: a file, LUN, namespace or file system all commands on which are slow, for all clients, is named where those of the same opcodes on
// others are fast; not where the others are slow, too, do something else, there are none, requests waited for their own answers as long or were
// retransmitted, much data moved, or the capture has lost packets.
func TestSlowObject(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	list := func(read, write, flush, a, b string, fast time.Duration) []onObject {
		return []onObject{
			{read, a, 50, 90 * ms}, {write, a, 40, 140 * ms}, {flush, a, 10, 320 * ms}, {read, b, 60, fast}, {write, b, 50, fast}, {"other", "", 20, 60 * us},
		}
	}
	smb := func(fast time.Duration) []onObject {
		return list("SMB2 READ", "SMB2 WRITE", "SMB2 FLUSH", "file id 27", "file id 77", fast)
	}
	const (
		half = " are slow for 10.0.0.1 and 10.0.0.2: half of them took "
		rest = "in the mean SMB2 READ 90ms (100), WRITE 140ms (80) and FLUSH 320ms (20); those on file id 77, on the same 2 connections, " +
			"took 230µs at most, in the mean SMB2 READ 230µs (120) and WRITE 230µs (100)."
		network = "transport: no request on these 2 connections waited longer than 5µs for its own answer, " +
			"and none was retransmitted: it is not the network"
		fits = " is on there, and the others are not: its disk, RAID, cache or snapshot"
	)
	both := func(protocol string, list []onObject) []agent.Connection {
		return []agent.Connection{objectConnection(1, protocol, list), objectConnection(2, protocol, list)}
	}
	for _, k := range []struct {
		name string
		list []agent.Connection
		set  func(r *agent.Result)
		want []string // nil: it is not told
	}{
		{"a file of SMB2", both("SMB Direct", smb(230*us)), nil, []string{
			"Commands on file id 27 of 10.0.0.9" + half, rest, network, "what file id 27" + fits,
			"next: at 10.0.0.9: the volume with the file of id 27: latency of its disk",
		}},
		{"a LUN of iSCSI", both("iSER", list("SCSI READ(10)", "SCSI WRITE(10)", "SCSI SYNCHRONIZE CACHE(10)", "LUN 1", "LUN 0", 230*us)), nil, []string{
			"Commands on LUN 1 of 10.0.0.9" + half, "those on LUN 0, on the same 2 connections, took 230µs at most",
			"next: at 10.0.0.9: what LUN 1 is on: iostat -x",
		}},
		{"a namespace of NVMe", both("NVMe over RDMA", list("NVMe Read", "NVMe Write", "NVMe Flush", "namespace 2", "namespace 1", 230*us)), nil, []string{
			"Commands on namespace 2 of 10.0.0.9" + half, "what namespace 2" + fits,
		}},
		{"a file system of NFSv4", both(rpcOverRDMA, list("NFS version 4 READ", "NFS version 4 WRITE", "NFS version 4 COMMIT", "the export of fsid=5",
			"the export of fsid=1", 230*us)), nil, []string{
			"Commands on the export of fsid=5 of 10.0.0.9" + half,
			"what the export of fsid=5 is on: iostat -x",
		}},
		{"the other is slow, too", both("SMB Direct", smb(9*ms)), nil, nil},
		{"one client is fast", []agent.Connection{
			objectConnection(1, "SMB Direct", smb(230*us)),
			objectConnection(2, "SMB Direct", []onObject{{"SMB2 READ", "file id 27", 90, 200 * us}, {"SMB2 READ", "file id 77", 90, 200 * us}}),
		}, nil, nil},
		{"only reads on the other", both("SMB Direct", []onObject{
			{"SMB2 WRITE", "file id 27", 60, 90 * ms},
			{"SMB2 READ", "file id 77", 90, 200 * us},
		}), nil, nil},
		{"no other", both("SMB Direct", []onObject{{"SMB2 READ", "file id 27", 60, 90 * ms}, {"SMB2 WRITE", "file id 27", 90, 80 * ms}}), nil, nil},
		{"much data", both("SMB Direct", smb(230*us)), func(r *agent.Result) { r.Connections[1].Ends[1].Bytes = 1 << 32 }, nil},
		{"late ACKs", both("SMB Direct", smb(230*us)), func(r *agent.Result) { r.Connections[1].Timing.Ends[0].Ops[wqe.Send].Observe(60 * ms) }, nil},
		{"trouble", both("SMB Direct", smb(230*us)), func(r *agent.Result) { r.Connections[1].Ends[0].Trouble = &qp.Trouble{} }, nil},
		{"lost packets", both("SMB Direct", smb(230*us)), func(r *agent.Result) { r.Dropped = 1 }, nil},
	} {
		r := &agent.Result{RDMA: 20, First: int64(time.Hour), Last: int64(time.Hour + 9*time.Second), Connections: k.list}
		if k.set != nil {
			k.set(r)
		}
		got := toldOfObjects(r)
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		if told := strings.Contains(got, "Commands on"); told != (k.want != nil) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestSlowClassesOfOthers: procedures of NFS version 4 and opcodes of SMB2 and iSCSI that are slow are told, where others are not, on whatever they
// work; not where all are.
func TestSlowClassesOfOthers(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for _, k := range []struct{ protocol, write, flush, read, object, want, next string }{
		{
			rpcOverRDMA, "NFS version 4 WRITE", "NFS version 4 COMMIT", "NFS version 4 READ", "the export of fsid=1",
			"NFS version 4 WRITE and COMMIT of 10.0.0.9 are slow for 10.0.0.1: half of them took ", "next: at 10.0.0.9: the disks that nfsd exports, ",
		},
		{
			"SMB Direct", "SMB2 WRITE", "SMB2 FLUSH", "SMB2 READ", "file id 27",
			"SMB2 WRITE and FLUSH of 10.0.0.9 are slow for 10.0.0.1: half of them took ", "next: at 10.0.0.9: its disks: latency of its disk",
		},
		{
			"iSER", "SCSI WRITE(10)", "SCSI SYNCHRONIZE CACHE(10)", "SCSI READ(10)", "LUN 1",
			"SCSI WRITE(10) and SYNCHRONIZE CACHE(10) of 10.0.0.9 are slow for 10.0.0.1: half of them took ", "next: at 10.0.0.9: its disks: iostat -x",
		},
	} {
		for read, told := range map[time.Duration]bool{200 * us: true, 80 * ms: false} {
			c := objectConnection(1, k.protocol, []onObject{{k.write, k.object, 60, 160 * ms}, {k.flush, k.object, 20, 500 * ms}, {k.read, k.object, 50, read}})
			got := toldOfObjects(&agent.Result{RDMA: 20, First: int64(time.Hour), Last: int64(time.Hour + 9*time.Second), Connections: []agent.Connection{c}})
			if strings.Contains(got, k.want) != told || strings.Contains(got, k.next) != told || strings.Contains(got, "need of the server") != told {
				t.Errorf("%s, reads of %v: %s", k.protocol, read, got)
			}
		}
	}
}
