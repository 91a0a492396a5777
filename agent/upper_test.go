package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
)

// capturesDir is where the collection of captures is that IBWITNESS_CAPTURES names.
func capturesDir() string {
	return cmp.Or(os.Getenv("IBWITNESS_CAPTURES"), filepath.Join("..", "..", "shared", "captures"))
}

// openCapture opens a capture of the collection that IBWITNESS_CAPTURES names.
func openCapture(t *testing.T, name string) fabricagent.Source {
	t.Helper()
	name = filepath.Join(capturesDir(), name)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("%s is not there: set IBWITNESS_CAPTURES to the folder of the captures", name)
	}
	src, err := fabricagent.Open([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// carried is what was recognized of a capture, by connection.
func carried(t *testing.T, name string, opt Options) (list []*Upper) {
	t.Helper()
	r, err := Run(context.Background(), openCapture(t, name), opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Connections {
		if u := r.Connections[i].Upper; u != nil {
			list = append(list, u)
		}
	}
	return list
}

// TestUpperCaptures: how many commands captures of protocols above the transport have is what Wireshark says. All of them end, but for the last datagram of RDS, which nobody
// acknowledges, and the request of NVMe that waits for an event; and it does not matter how many workers there are.
func TestUpperCaptures(t *testing.T) {
	for _, k := range []struct {
		capture, protocol string
		commands          []uint64
		open              int
	}{
		{"public/lkml-nfsrdma-2021-02-18__sniffer.pcap", "RPC over RDMA", []uint64{28}, 0},
		{"suites/k6.1_nfs3_rdma.pcap", "RPC over RDMA", []uint64{111}, 0},
		{"suites/k6.1_nfs42_rdma.pcap", "RPC over RDMA", []uint64{103}, 0},
		{"suites/k6.12_nfs42_rdma.pcap", "RPC over RDMA", []uint64{103}, 0},
		{"suites/k6.1_nfs_loss_tapbehind.pcap", "RPC over RDMA", []uint64{100}, 0},
		{"suites/k6.1_nfs_reorder.pcap", "RPC over RDMA", []uint64{100}, 0},
		{"suites/k6.1_nfs_pause_server.pcap", "RPC over RDMA", []uint64{76}, 0},
		{"suites/k6.1_nfs_link_flap.pcap", "RPC over RDMA", []uint64{92}, 0},
		{"suites/k6.1_iser.pcap", "iSER", []uint64{39}, 0},
		{"suites/k6.1_iser_loss.pcap", "iSER", []uint64{40}, 0},
		{"suites/k6.12_iser_loss.pcap", "iSER", []uint64{48}, 0},
		{"suites/k6.1_rds_rdma.pcap", "RDS", []uint64{43}, 1},
		{"suites/k6.12_nvme_peer_pause_kato.pcap", "NVMe over RDMA", []uint64{26, 40}, 0},
	} {
		t.Run(filepath.Base(k.capture), func(t *testing.T) {
			list := carried(t, k.capture, Options{Workers: 1})
			if len(list) != len(k.commands) {
				t.Fatalf("%d connections are recognized, and there are %d", len(list), len(k.commands))
			}
			for i, u := range list {
				if u.Protocol != k.protocol || u.Begun != k.commands[i] || u.Open != k.open || u.GivenUp != 0 || (u.Oldest != nil) != (k.open > 0) {
					t.Errorf("%s %+v, oldest %+v; and it is %s with %d commands, of which %d are open", u.Protocol, u.Counts, u.Oldest, k.protocol, k.commands[i], k.open)
				}
			}
			one, _ := json.Marshal(list)
			if several, _ := json.Marshal(carried(t, k.capture, Options{Workers: 4})); string(several) != string(one) {
				t.Errorf("with four workers it is\n%s, and with one\n%s", several, one)
			}
		})
	}
}

// TestUpperNone: no other capture has a protocol that is known, but for those of NCCL.
func TestUpperNone(t *testing.T) {
	openCapture(t, "public/linlinw5__rping.pcap")
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "captures")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		base := filepath.Base(name)
		if slices.ContainsFunc([]string{"nfs", "iser", "nvme", "rds", "ring2"}, func(s string) bool { return strings.Contains(base, s) }) {
			continue
		}
		n++
		src, err := fabricagent.Open([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), src, Options{Workers: 1})
		src.Close()
		if r == nil {
			t.Fatal(err)
		}
		for i := range r.Connections {
			if u := r.Connections[i].Upper; u != nil {
				t.Errorf("%s: %s %+v", base, u.Protocol, u.Counts)
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d captures", n)
	}
}

// TestUpperCauses: every READ and WRITE of a target is of a command that has named the memory.
func TestUpperCauses(t *testing.T) {
	for _, k := range []struct {
		capture string
		example string // the command of the first one
	}{
		{"suites/k6.1_nfs3_rdma.pcap", "NFS ACL version 3 procedure 1, XID 0xb8b1e3a2"},
		{"suites/k6.1_nfs42_rdma.pcap", "NFS version 4 COMPOUND (EXCHANGE_ID), XID 0x3325f92b"},
		{"suites/k6.1_iser.pcap", "SCSI INQUIRY, initiator task tag 0x01000000, LUN 0"},
		{"suites/k6.12_nvme_peer_pause_kato.pcap", "NVMe Connect, command id 0"},
	} {
		t.Run(filepath.Base(k.capture), func(t *testing.T) {
			a, src := NewTransport(nil), openCapture(t, k.capture)
			of, none, first := 0, 0, ""
			var p packet.Packet
			for {
				b, err := src.Next()
				if b == nil {
					if !errors.Is(err, io.EOF) {
						t.Fatal(err)
					}
					break
				}
				for i := range b.Frames {
					if !fabricagent.Decode(&b.Frames[i], &p).IsRDMA() {
						continue
					}
					p.CheckICRC()
					a.Packet(&p)
					if p.Has&packet.HasRETH == 0 {
						continue
					}
					c, _ := a.table.ConnectionTo(&p)
					if o := a.causeOf(c, p.VA, p.RKey, p.DMALen); o == nil {
						none++
					} else if of++; first == "" {
						first = o.Name
					}
				}
				if b.Release(); err != nil {
					break
				}
			}
			if of == 0 || none > 0 || first != k.example {
				t.Errorf("%d READs and WRITEs are of a command, the first of %q, and %d of none", of, first, none)
			}
		})
	}
}

// TestUpperBound: of one bucket only so many connections are followed, and there is room again when they end.
func TestUpperBound(t *testing.T) {
	var u uppers
	list := make([]*connection.Connection, mostUppers+1)
	for i := range list {
		list[i] = new(connection.Connection)
		list[i].Service = packet.RC
		u.announce(list[i], tcpPort(4420), mad.NVMeQueue{ID: 3, Known: i == 1})
	}
	if len(u.of) != mostUppers || list[mostUppers].Headed() || !list[0].Headed() {
		t.Errorf("%d connections are followed", len(u.of))
	}
	u.end(list[0])
	u.announce(list[mostUppers], tcpPort(20049), mad.NVMeQueue{ID: 3, Known: true})
	if len(u.of) != mostUppers || !list[mostUppers].Headed() || list[0].Headed() {
		t.Errorf("%d connections are followed", len(u.of))
	}
	if of := [3]string{u.of[list[1]].Queue(), u.of[list[2]].Queue(), u.of[list[mostUppers]].Queue()}; of != [3]string{"queue 3", "", ""} {
		t.Errorf("queues: %q", of)
	}
	for _, c := range list {
		c.Leave(true)
	}
	if u.forget(); len(u.of) != 0 || u.buckets[packet.Bucket(packet.Addr{}, packet.Addr{})] != 0 {
		t.Errorf("%d connections are followed that were forgotten", len(u.of))
	}
	u.announce(new(connection.Connection), mad.ServiceID(1<<24|uint64(mad.ProtocolUDP)<<16|4420), mad.NVMeQueue{})
	if len(u.of) != 0 {
		t.Error("a port of UDP names a protocol")
	}
}

// tcpPort is the service ID of a port of the RDMA IP CM service.
func tcpPort(port uint64) mad.ServiceID {
	return mad.ServiceID(1<<24 | uint64(mad.ProtocolTCP)<<16 | port)
}
