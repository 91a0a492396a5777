package replay

import (
	"testing"

	"ibwitness/packet"
)

// out and in are packets of 16 bytes that leave the device, or reach it.
func out(p packet.Packet) step {
	p.Src, p.Dst, p.Payload = device, peer, make([]byte, 16)
	return frame(&p)
}

func in(p packet.Packet) step {
	p.Src, p.Dst, p.Payload = peer, device, make([]byte, 16)
	return frame(&p)
}

// TestFields posts and completes what has more than a segment to tell, right and wrong: datagrams, requests that invalidate a key, and requests for a shared receive queue of XRC.
func TestFields(t *testing.T) {
	const qkey = 0x80001111
	none, no := vector(0), yes(false)
	datagram := func(psn packet.PSN, dest, src uint32) packet.Packet {
		return packet.Packet{Opcode: packet.Op(packet.UD, packet.SendOnly), PSN: psn, QKey: qkey, DestQP: dest, SrcQP: src}
	}
	to := func(id, qpn, key, ah uint64) step {
		return send(21, id, "IBW_SEND", 4096, 16, 9, none, none, none, none, none, none, number(qpn), vector(key), number(ah))
	}
	from := func(id, qpn uint64, grh bool) step {
		return completed(21, id, "IBW_WC_RECV", 56, no, none, no, none, number(qpn), number(0), yes(grh), number(2), number(0))
	}
	invalidate := func(psn packet.PSN, dest, key uint32) packet.Packet {
		return packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnlyInv), PSN: psn, DestQP: dest, InvRKey: key}
	}
	invalidated := func(id, key uint64) step {
		return completed(17, id, "IBW_WC_RECV", 16, no, none, yes(true), vector(key))
	}
	shared := func(id, srq uint64) step {
		return send(22, id, "IBW_SEND", 4096, 16, 9, none, none, none, none, none, none, number(0), none, number(0), number(srq))
	}
	xrc := func(psn packet.PSN) packet.Packet {
		return packet.Packet{Opcode: packet.Op(packet.XRC, packet.SendOnly), DestQP: 23, PSN: psn, XRCSRQ: 7}
	}
	steps := append(readied[:len(readied):len(readied)],
		event(`{"ev":"create_qp","qpn":21,"type":"ud"}`),
		event(`{"ev":"create_ah","ah":3,"dgid":"lid:2"}`), event(`{"ev":"create_ah","ah":4,"dgid":"lid:3"}`),
		event(`{"ev":"modify_qp","qpn":21,"to":"INIT","pkey":65535,"port_num":1,"qkey":2147488017}`),
		event(`{"ev":"modify_qp","qpn":21,"to":"RTR"}`), event(`{"ev":"modify_qp","qpn":21,"to":"RTS","sq_psn":5}`),
		event(`{"ev":"create_qp","qpn":22,"type":"xrc_ini"}`),
		event(`{"ev":"modify_qp","qpn":22,"to":"INIT","pkey":65535,"port_num":1,"qp_access_flags":0}`),
		event(`{"ev":"modify_qp","qpn":22,"to":"RTR","path_mtu":256,"dest_qp_num":23,"rq_psn":9,"dgid":"lid:2"}`),
		event(`{"ev":"modify_qp","qpn":22,"to":"RTS","sq_psn":5,"timeout":8,"retry_cnt":7,"rnr_retry":7,"max_rd_atomic":2}`),
		to(1, 34, qkey, 3), out(datagram(5, 34, 21)),
		to(2, 35, qkey, 3), out(datagram(6, 34, 21)),
		to(3, 34, 0x2222, 3), out(datagram(7, 34, 21)),
		to(4, 34, qkey, 4), out(datagram(8, 34, 21)),
		receive(21, 5, 4096, 256, 9), in(datagram(0, 21, 34)), from(5, 34, false),
		receive(21, 6, 4096, 256, 9), in(datagram(1, 21, 34)), from(6, 35, false),
		receive(21, 7, 4096, 256, 9), in(datagram(2, 21, 34)), from(7, 34, true),
		send(17, 8, "IBW_SEND_WITH_INV", 4096, 16, 9, none, none, none, vector(0x77)), out(invalidate(5, 18, 0x77)),
		send(17, 9, "IBW_SEND_WITH_INV", 4096, 16, 9, none, none, vector(0x77), vector(0x78)), out(invalidate(6, 18, 0x77)),
		receive(17, 10, 4096, 256, 9), in(invalidate(9, 17, 0x55)), invalidated(10, 0x55),
		receive(17, 11, 4096, 256, 9), in(invalidate(10, 17, 0x55)), invalidated(11, 0x56),
		shared(12, 7), out(xrc(5)),
		shared(13, 8), out(xrc(6)),
	)
	tells(
		t, steps,
		"violation RC-LEN-010 request-header, sender lid:1 QP 0x15: expected destination QP 0x23, actual 0x22; work request 2 [9.4†] (frame 2)",
		"violation RC-LEN-010 request-header, sender lid:1 QP 0x15: expected Q_Key 0x2222, actual 0x80001111; work request 3 [9.4†] (frame 3)",
		"warning UD-AH-001 address-handle, sender lid:1 QP 0x15: expected to lid:3, actual lid:2; work request 4 [11.2.2†] (frame 4)",
		"violation UD-CQE-001 datagram-source, receiver lid:1 QP 0x15: expected source QP 0x22, actual 0x23; receive request 6 [11.4.2] (frame 6)",
		"violation UD-GRH-002 grh-flag, receiver lid:1 QP 0x15: expected GRH flag 0, actual 1; receive request 7 [11.4.2] (frame 7)",
		"violation RC-LEN-010 request-header, requester lid:1 QP 0x11: expected R_Key to invalidate 0x78, actual 0x77; work request 9 [9.4†] (frame 9)",
		"violation CPL-INV-001 completion-invalidate, responder lid:1 QP 0x11: expected invalidated R_Key 0x55, actual 0x56; receive request 11 [9.4.1.1†] (frame 11)",
		"violation RC-LEN-010 request-header, requester lid:1 QP 0x16: expected shared receive queue 0x8, actual 0x7; work request 13 [9.4†] (frame 13)",
	)
}
