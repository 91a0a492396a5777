package message_test

import (
	"bytes"
	"math"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/message"
)

const fuzzLog = `{"ev":"device","gid":"10.0.0.1"}
{"ev":"create_qp","t":1,"qpn":17,"type":"rc"}
{"ev":"modify_qp","t":2,"qpn":17,"to":"INIT","pkey_index":0,"port_num":1,"qp_access_flags":14}
{"ev":"modify_qp","t":3,"qpn":17,"to":"RTR","path_mtu":256,"dest_qp_num":34,"rq_psn":500,"max_dest_rd_atomic":4,"min_rnr_timer":12,"dgid":"10.0.0.2"}
{"ev":"modify_qp","t":4,"qpn":17,"to":"RTS","sq_psn":100,"timeout":14,"retry_cnt":7,"rnr_retry":7,"max_rd_atomic":4}
{"ev":"post_recv","t":5,"qpn":17,"wr_id":9,"length":600}
{"ev":"post_send","t":5,"qpn":17,"wr_id":1,"opcode":"SEND","length":600,"flags":2}
{"ev":"post_send","t":5,"qpn":17,"wr_id":2,"opcode":"RDMA_READ","length":600,"flags":3}
{"ev":"cqe","t":60,"qpn":17,"wr_id":1,"status_code":0,"opcode":"SEND"}
{"ev":"cqe","t":70,"qpn":17,"wr_id":9,"status_code":0,"opcode":"RECV","byte_len":3}
`

// FuzzAgent compares any log with any packets: nothing panics, and what is found is counted. A packet is four bytes: direction and
// number of bytes, opcode, PSN, syndrome.
func FuzzAgent(f *testing.F) {
	f.Add([]byte(fuzzLog), []byte{0, 0, 0, 0, 0, 1, 1, 0, 0, 2, 2, 0, 1, 17, 2, 31, 0, 12, 3, 0, 1, 13, 3, 31, 1, 14, 4, 31, 1, 15, 5, 31})
	f.Add([]byte(fuzzLog), []byte{3, 4, 0, 0, 2, 17, 0, 31, 0, 0, 1, 0, 0, 2, 3, 0, 1, 17, 1, 0x60})
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	f.Fuzz(func(t *testing.T, text, wire []byte) {
		log, err := eventlog.Read("fuzz", bytes.NewReader(text))
		if err != nil {
			return
		}
		var rec rule.Recorder
		agent := cq.New(&rec, func(packet.Addr) bool { return len(wire)%3 == 0 })
		messages := message.New(agent)
		source, events := agent.Source(log.Name, log.Addr, log.Exact), log.Events
		upTo := func(now int64) {
			for ; len(events) > 0 && events[0].Time <= now; events = events[1:] {
				agent.Event(source, &events[0])
			}
		}
		var now int64
		for ; len(wire) >= 4; wire = wire[4:] {
			now += 10
			upTo(now)
			p := packet.Packet{
				Time: now, Frame: uint64(now), Encap: packet.RoCEv2IPv4, Src: a, Dst: b, DestQP: 34, SrcQP: 17, PSN: 100 + packet.PSN(wire[2]),
				Opcode: packet.Opcode(wire[1]), Syndrome: packet.Syndrome(wire[3]), DMALen: uint32(wire[3]) << (wire[0] >> 4),
			}
			if wire[0]&1 != 0 {
				p.Src, p.Dst, p.DestQP, p.SrcQP = b, a, 17, 34
			}
			if wire[0]&2 != 0 {
				p.PSN += 400
			}
			p.Has = packet.HasBTH | p.Info().Headers
			p.Payload = make([]byte, int(wire[0])*4)
			p.PayloadLen = len(p.Payload)
			messages.Packet(&p)
		}
		upTo(math.MaxInt64)
		source.End(false, log.Cut)
		agent.Finish(now)
		for id, c := range rec.Cover {
			if c.Violated+c.Unproven > c.Exercised {
				t.Errorf("%v: %+v", rule.ID(id), c)
			}
		}
	})
}
