package replay

import (
	"testing"

	"ibwitness/packet"
)

// readied are the events that make QP 17 of the device ready.
var readied = []step{
	event(`{"ev":"reg_mr","mr":1,"addr":4096,"length":65536,"lkey":9,"rkey":9,"access":1}`),
	event(`{"ev":"create_qp","qpn":17,"type":"rc"}`),
	event(`{"ev":"modify_qp","qpn":17,"to":"INIT","pkey":65535,"port_num":1,"qp_access_flags":0}`),
	event(`{"ev":"modify_qp","qpn":17,"to":"RTR","path_mtu":256,"dest_qp_num":18,"rq_psn":9,"max_dest_rd_atomic":2,"min_rnr_timer":1,"dgid":"lid:2"}`),
	event(`{"ev":"modify_qp","qpn":17,"to":"RTS","sq_psn":5,"timeout":8,"retry_cnt":7,"rnr_retry":7,"max_rd_atomic":2}`),
}

// sent is a SEND of 16 bytes that QP 17 sends.
func sent(psn packet.PSN) step {
	return frame(&packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), DestQP: 18, PSN: psn, Src: device, Dst: peer, Payload: make([]byte, 16)})
}

// TestSegments posts work requests of several segments: a SEND of three that make up its 16 bytes, one of two that are 20, and a receive request of two for a SEND of 16. Only what
// the second sends is wrong.
func TestSegments(t *testing.T) {
	steps := append(readied[:len(readied):len(readied)],
		segment(4096, 8, 9), segment(8192, 4, 9), send(17, 1, "IBW_SEND", 12288, 4, 9), sent(5),
		segment(4096, 8, 9), send(17, 2, "IBW_SEND", 12288, 12, 9), sent(6),
		segment(4096, 8, 9), segment(4096, 8, 9), receive(17, 3, 0, 0, 0),
		frame(&packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), DestQP: 17, PSN: 9, Src: peer, Dst: device, Payload: make([]byte, 16)}),
		completed(17, 3, "IBW_WC_RECV", 16),
	)
	tells(t, steps, "violation CPL-LEN-004 message-length, requester lid:1 QP 0x11: expected 20 bytes in 1 packets, actual 16 bytes in 1 packets; work request 2 [10.7†] (frame 2)")
}
