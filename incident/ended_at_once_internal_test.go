package incident

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestProgramEndedAtOnce: a queue pair that stopped in the midst of a message, and others that answer nothing since their host closed TCP connections with several others at once, are one incident: its program
// ended. They are two where it closed one only, where the message stopped at another time or is of another host, and where the capture lost packets.
func TestProgramEndedAtOnce(t *testing.T) {
	const ms = int64(1e6)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name    string
		stopped int64
		of      byte
		to      []byte // hosts of the FINs, 1 ms apart
		dropped uint64
		want    bool
	}{
		{"at once", 999, 3, []byte{1, 2, 4}, 0, true},
		{"one FIN", 999, 3, []byte{2}, 0, false},
		{"two FINs to one", 999, 3, []byte{2, 2}, 0, false},
		{"stopped before", 500, 3, []byte{1, 2, 4}, 0, false},
		{"another host stopped", 999, 4, []byte{1, 2, 4}, 0, false},
		{"the capture lost packets", 999, 3, []byte{1, 2, 4}, 7, false},
	} {
		r := &agent.Result{First: 1, Last: 9000 * ms, Dropped: k.dropped}
		for n, to := range k.to {
			r.Signs = append(r.Signs, agent.Sign{Presence: fabricagent.Presence{Host: host(3), To: host(to), Ports: [2]uint16{uint16(40000 + n), 29500}, By: fabricagent.ByFIN}, At: (1000 + int64(n)) * ms, Frame: 50 + uint64(n)})
		}
		x := &teller{run: r}
		list := x.programsEnded([]Incident{
			{Kind: Unanswered, Certainty: Likely, What: "It stopped.", Local: Party{Addr: host(k.of), QPN: 9, QPNKnown: true}, leftOff: "QP 9 in the midst of an RDMA WRITE", Connections: 1, Begin: k.stopped * ms, Ongoing: true, Frames: []uint64{40}},
			{Kind: Unanswered, Certainty: Proven, What: "It answers nothing.", Local: Party{Addr: host(2)}, Peer: Party{Addr: host(3)}, fin: &r.Signs[0], Connections: 1, Begin: 1001 * ms, Ongoing: true},
		})
		one := len(list) == 1 && strings.HasPrefix(list[0].What, "A program on 10.0.0.3 ended or was killed, at ") && list[0].Certainty == Likely && len(list[0].FitsWith) == 1 &&
			told(&list[0], "TCP", "10.0.0.3 closed TCP connections with 10.0.0.1, 10.0.0.2 and 10.0.0.4 by FIN within 2ms") && told(&list[0], "left off", "QP 9 in the midst of an RDMA WRITE, 1ms before the first FIN")
		if one != k.want || !k.want && len(list) != 2 {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
