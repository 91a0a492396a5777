package exercise

import (
	"cmp"
	"testing"

	"ibwitness/packet"
)

// TestFields: each field that a script may set has the value that it is given in the packet that leaves, and what is not set stays right.
func TestFields(t *testing.T) {
	wires := map[string]string{
		"native": "link: {lid: 1}\n",
		"ipv4":   "ethernet: {exerciser: {address: 10.0.0.1, mac: \"02:00:00:00:00:01\"}, partner: {address: 10.0.0.2, mac: \"02:00:00:00:00:02\"}}\n",
	}
	of := map[string]string{ // an opcode that has the field, and on which wire, where that is not the first one
		"eec": "rd_send_only", "rdeth_res": "rd_send_only", "qkey": "ud_send_only", "deth_res": "ud_send_only", "src_qp": "ud_send_only", "xrc_res": "xrc_send_only",
		"xrc_srq": "xrc_send_only", "feth_res": "rc_flush", "selectivity": "rc_flush", "placement": "rc_flush", "va": "rc_write_only", "rkey": "rc_write_only",
		"dma_len": "rc_write_only", "swap_add": "rc_cmp_swap", "compare": "rc_cmp_swap", "syndrome": "rc_acknowledge", "msn": "rc_acknowledge",
		"orig_data": "rc_atomic_acknowledge", "imm": "rc_send_only_imm", "inv_rkey": "rc_send_only_inv",
	}
	for name, id := range fieldNames {
		wire, form, to := "native", "op: "+cmp.Or(of[name], "rc_send_only"), "\"lid:2\""
		switch name {
		case "rwh_res", "ether_type":
			form = "raw: 0x0800"
		case "ip_ver", "dscp", "ecn", "flow_label", "pay_len", "nxt_hdr", "hop_lmt":
			form += ", dgid: \"fe80::2\", sgid: \"fe80::1\""
		case "ihl", "ip_id", "ip_flags", "fragment_offset", "ip_sum", "src_port", "dst_port", "udp_len", "udp_sum":
			wire, to = "ipv4", "10.0.0.2"
		}
		s, err := Read("x.yaml", []byte(wires[wire]+"streams: [{to: "+to+", steps: [{"+form+", length: 8, set: {"+name+": 1}}]}]"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, from := s.Streams[0].Steps[0].Packet, source{addr: packet.LIDAddr(1), lanes: 1}
		if wire == "ipv4" {
			from = s.Ethernet.sources()[0]
		}
		x := p.packet(&from, 0, nil)
		before := id.Value(x)
		data, _ := p.build(&from, 0, nil)
		p.Set = nil
		plain, _ := p.build(&from, 0, nil)
		id.Set(x, 1)
		if id.Value(x) != 1 || string(data) == string(plain) && before != 1 {
			t.Errorf("%s: value %d, %d before: % x", name, id.Value(x), before, data)
		}
	}
}
