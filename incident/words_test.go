package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// TestRequestWords: the PSN of a request is that of its first packet, in the frame that is named; where what was retransmitted or refused begins later in it, that is said.
func TestRequestWords(t *testing.T) {
	const head = `
about: a request of which a part is retransmitted or refused
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 15}
qps: {a1: {hca: a, peer: b1, psn: 0x100}, b1: {hca: b, peer: a1}}
taps: [middle]
`
	for _, k := range []struct{ name, more, want, not string }{
		{
			"the last response is lost", "work: [{qp: a1, op: read, length: 4096, repeat: 5, every: 500ms}]\nerrors: [{do: drop, from: b, op: read_response_last, nth: 2, where: after}]\n",
			"PSN 0x000104, in frame 6, asked for again from PSN 0x000107, once\n", "sent twice",
		},
		{
			"all of a READ is lost", "work: [{qp: a1, op: read, length: 4096, repeat: 5, every: 500ms}]\nerrors: [{do: drop, from: a, op: read, nth: 2, where: after}]\n",
			"PSN 0x000104, in frame 6, sent twice\n", "again from",
		},
		{
			"the end of a long WRITE is lost", "work: [{qp: a1, op: write, length: 262144, repeat: 2, every: 500ms}]\nerrors: [{do: drop, from: a, op: request, nth: 200, count: 57, where: after}]\n",
			"PSN 0x000100, in frame 1, retransmitted from PSN 0x000180, once\n", "sent twice",
		},
		{
			"the last packets of a short WRITE are lost", "work: [{qp: a1, op: write, length: 4096, repeat: 5, every: 500ms}]\nerrors: [{do: drop, from: a, op: request, nth: 7, count: 2, where: after}]\n",
			"PSN 0x000104, in frame 6, sent twice\n", "retransmitted from",
		},
		{
			"a SEND is refused before all of it was sent", "work: [{qp: b1, op: receive, length: 1024}, {qp: a1, op: send, length: 8192}]\n",
			"SEND of at least ", "SEND of 8",
		},
		{
			"a SEND is refused that was sent", "work: [{qp: b1, op: receive, length: 1024}, {qp: a1, op: send, length: 2048}]\n",
			"SEND of 2,048 bytes, PSN 0x000100, in frame 1, refused at PSN 0x000101\n", "at least",
		},
	} {
		if got := happened(t, frames(t, head+k.more), agent.Options{}); !strings.Contains(got, k.want) || strings.Contains(got, k.not) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
