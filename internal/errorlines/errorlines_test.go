package errorlines

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// TestRead reads lines as programs print them (public threads).
func TestRead(t *testing.T) {
	a := func(s string) packet.Addr {
		addr, err := packet.ParseAddr(s)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	for _, c := range []struct {
		name, text string
		want       Line
	}{
		{
			"NCCL", "node1:4242:4300 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<40211> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid ::ffff:10.0.0.1 remoteGids ::ffff:10.0.0.2 hca mlx5_0",
			Line{Number: 1, Addrs: []packet.Addr{a("10.0.0.2"), a("10.0.0.1")}, Status: 12, Known: true},
		},
		{
			"NCCL, older", "NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 32754, vendor err 129",
			Line{Number: 1, Status: 12, Known: true},
		},
		{
			"UCX", "ib_mlx5_log.c:177  UCX  ERROR RC QP 0x1a7 wqe[0]: RDMA_READ s-- [rva 0x7f0000001000 rkey 0x1234] [va 0x10 len 64 lkey 0x99] [rqpn 0x1b2 dgid=::ffff:10.0.0.2 sgid_index=3 traffic_class=106]",
			Line{Number: 1, QPNs: []uint32{0x1a7, 0x1b2}, Addrs: []packet.Addr{a("10.0.0.2")}, Keys: []uint32{0x1234}},
		},
		{
			"UCX, status", "ib_mlx5_log.c:177  UCX  ERROR Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
			Line{Number: 1, Status: 12, Known: true},
		},
		{
			"SPDK", "nvme_rdma.c:2573:nvme_rdma_log_wc_status: *ERROR*: WC error, qid 1, qp state 1, request 0x1 type 1, status: (12): transport retry counter exceeded",
			Line{Number: 1, Status: 12, Known: true},
		},
		{
			"rpcrdma", "rpcrdma: connection to 10.77.0.2:20049 closed (-103)",
			Line{Number: 1, Addrs: []packet.Addr{a("10.77.0.2")}},
		},
		{
			"libfabric", "libfabric:812:1700000000::verbs:ep_data:vrb_poll_cq():101<warn> remote access error (10) qp_num 300",
			Line{Number: 1, QPNs: []uint32{300}, Status: 10, Known: true},
		},
	} {
		list, left, err := Read(strings.NewReader(c.text + "\n"))
		if err != nil || left != 0 || len(list) != 1 {
			t.Fatalf("%s: %v %d %v", c.name, list, left, err)
		}
		c.want.Text = c.text
		if diff := cmp.Diff(c.want, list[0]); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if list, _, err := Read(strings.NewReader("starting at 12:30:01\nnothing to see, 17 files\n\n")); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("qp 0x1 ::1 status=12\n\x00\xff rkey 0x")
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := Read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	})
}
