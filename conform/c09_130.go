package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// rnrTests are those of RNR NAKs at the requester.
var rnrTests = []*Test{rnrNAKWait, rnrEachCode, rnrCount, rnrInfinite, rnrReloaded, rnrQuiet, rnrLateACK}

// rnrWaitText is the assertion of C9-130.
const rnrWaitText = "A request that an RNR NAK refuses is retransmitted no sooner than the time of the NAK's timer code."

var rnrNAKWait = &Test{
	ID: "C09_130_01", Title: "wait after an RNR NAK",
	Abstract: "A requester whose SEND an RNR NAK refuses waits at least the time that the NAK names, retransmits the request unchanged, and gives up with RNR_RETRY_EXC_ERR when its RNR retry count is used up.",
	Covers:   []Statement{{"C9-130", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC: path MTU 1024, RNR retry count 1, ACK timeout 0, so that no timer but that of the RNR NAK can send."},
	Procedure: []string{
		"Have the device post a SEND of one path MTU.",
		"Receive it: one packet, SEND Only, the start PSN, a path MTU of payload, AckReq set.",
		"Send an RNR NAK for its PSN with timer code 31 (491.52 ms) and MSN 0, as no message is complete.",
		"Receive the retry. Until then the device must not complete the request.",
		"Refuse the retry with the same RNR NAK.",
		"Poll: the request completes once with RNR_RETRY_EXC_ERR, and there is no third try.",
		"Query the queue pair: it is in ERR.",
		"Have the device post another SEND: it is flushed, and nothing is sent.",
		"Do steps 1 to 4 on another connection and acknowledge the retry: the request completes once with success.",
		"Do the same with MSN 1 in the RNR NAK, as the page has it: the device must not mind.",
	},
	Assertions: []Assertion{
		{"v1c09-130#01", rnrWaitText},
		{"ours#01", "The SEND is one packet with the start PSN, a path MTU of payload and AckReq."},
		{"ours#02", "The first packet after the RNR NAK is the refused request, unchanged."},
		{"ours#03", "The request does not complete before its RNR retry count is used up."},
		{"ours#04", "The request is retransmitted once, and not more often."},
		{"ours#05", "The request completes once with RNR_RETRY_EXC_ERR, within 1 s."},
		{"ours#06", "The queue pair is in ERR then."},
		{"ours#07", "A request that is posted then is flushed, and nothing is sent."},
		{"ours#08", "A request whose retry is acknowledged completes once with success."},
	},
	Decisions: []Decision{
		{"The title names requester and responder.", "Only the requester is tested; X09_221 is to be the responder's."},
		{"The time of code 31 is given as 492.52 ms, later as 491.52 ms and as not infinite.", "49,152 units of 10 us are 491.52 ms. No code is without end: code 0 is 655.36 ms. X09_110 has all 32."},
		{"The abstract speaks of the wait; no step measures it or receives a retry.", "The wait is the assertion: from the sending of the NAK to the receiving of the retry. The way only adds time, so that the limit has no tolerance. There is no upper limit: beyond 4 times the time and 1 s it is noted; none in 20 s is inconclusive."},
		{"The RNR retry count is not given.", "1: with 0 the first RNR NAK ends in the error, with 1 the second. The ACK timeout is 0."},
		{"Memory and receive requests are set up at the tester.", "None: they are for a tester that is an adapter, and would contradict the RNR NAK. The device registers its send buffer."},
		{"MSN 1, and the NAK acknowledges the last packet.", "An RNR NAK counts no message and refuses its PSN: MSN 0, the PSN of the request. MSN 1 comes once more at the end: the result must be the same."},
		{"No completion, then an error, after a single RNR NAK.", "Only a second RNR NAK gives the error. Poll without result until the retry, refuse again, then one completion. A twin acknowledges the retry."},
		{"IBV_WC_RNR_RETRY_EXEC_ERR", "There is no such name: RNR_RETRY_EXC_ERR."},
		{"The retry and the wait are not said to be judged.", "The retry must equal the first try; that, and that nothing else is sent, the rules judge too (RC-RTY-004, RC-RNR-002, RC-RNR-005)."},
	},
	run: func(r *run) {
		const code = 31
		attr := func(a *qp.Attr) { a.RNRRetry, a.RetryCnt, a.Timeout = 1, 7, 0 }
		c := r.connect(attr)
		refused := func(c *conn, msn uint32) (first, nak, retry *packet.Packet) {
			r.at(1)
			c.post(wqe.OpSend, pmtu)
			r.at(2)
			first = c.any()
			sent := r.check("ours#01", first.Opcode == packet.Op(packet.RC, packet.SendOnly) && first.PSN == c.attr.SQPSN && first.PayloadLen == pmtu && first.AckReq,
				fmt.Sprintf("SEND Only, PSN %v, %d bytes, AckReq", c.attr.SQPSN, pmtu), fmt.Sprintf("%v, PSN %v, %d bytes, AckReq %v", first.Opcode, first.PSN, first.PayloadLen, first.AckReq), first)
			if !sent {
				r.halt("the request is not the one that the procedure refuses")
			}
			r.at(3)
			nak = c.rnrNAK(first, code, msn)
			r.at(4)
			return first, nak, c.retried(first, nak, code, "v1c09-130#01", "ours#02", "ours#03")
		}
		first, _, retry := refused(c, 0)
		if retry == nil {
			return
		}
		r.at(5)
		nak := c.rnrNAK(retry, code, 0)
		r.at(6)
		if !c.exceeded(first, nak, cq.RNRRetryExcErr, code, "ours#04", "ours#05") {
			return
		}
		r.at(7)
		c.inError("ours#06", nak)
		r.at(8)
		c.flushes("ours#07", 1)

		r.at(9)
		c = r.connect(attr)
		if _, _, retry = refused(c, 0); retry == nil {
			return
		}
		r.at(9)
		c.acknowledged(retry, 1, "ours#08")

		r.at(10)
		c = r.connect(attr)
		if _, _, retry = refused(c, 1); retry != nil {
			r.at(10)
			c.acknowledged(retry, 1, "ours#08")
		}
	},
}
