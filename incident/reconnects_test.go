package incident_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/mad"
)

// TestReconnects: a requester that disconnects after a silence and connects once more at once, twice or more, is told to possibly send large packets which do not come to the tap, where all that came are small; not where larger
// ones came, where it disconnects without a silence, or does not connect at once.
func TestReconnects(t *testing.T) {
	const scene = `
about: small WRITEs on three connections, one after the other
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 4096}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
taps: [b]
work:
  - {qp: a1, op: write, length: LENGTH, repeat: 5, every: 1ms, at: 1s}
  - {qp: a2, op: write, length: 200, repeat: 5, every: 1ms, at: 6s}
  - {qp: a3, op: write, length: 200, repeat: 5, every: 1ms, at: 11s}
`
	with := func(length string, silence, after time.Duration) string {
		work := frames(t, strings.Replace(scene, "LENGTH", length, 1))
		var list []fabricagent.Frame
		shift := int64(0)
		for n, m := range slices.Collect(slices.Chunk(work, 10)) {
			first, answer, id := decoded(&m[0]), decoded(&m[1]), uint32(n)
			cm := asked(t,
				&mad.REQ{Header: mad.CMHeader(mad.AttrREQ, uint64(70+n)), LocalCommID: 0xA0 + id, ServiceID: 0x1061144, LocalQPN: answer.DestQP, PathMTU: 5, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20, StartingPSN: first.PSN},
				&mad.REP{Header: mad.CMHeader(mad.AttrREP, uint64(70+n)), LocalCommID: 0xB0 + id, RemoteCommID: 0xA0 + id, LocalQPN: first.DestQP, StartingPSN: 0x200000},
				&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, uint64(70+n)), LocalCommID: 0xA0 + id, RemoteCommID: 0xB0 + id})
			end := asked(t, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, uint64(90+n)), LocalCommID: 0xA0 + id, RemoteCommID: 0xB0 + id, RemoteQPN: first.DestQP},
				&mad.DREP{Header: mad.CMHeader(mad.AttrDREP, uint64(90+n)), LocalCommID: 0xB0 + id, RemoteCommID: 0xA0 + id})
			begin := m[0].Time + shift
			for k := range cm {
				cm[k].Time = begin - int64(time.Millisecond)
			}
			for k := range m {
				m[k].Time += shift
			}
			for k := range end {
				end[k].Time = m[len(m)-1].Time + int64(silence)
			}
			list = append(append(append(list, cm...), m...), end...)
			if n < 2 {
				shift = end[0].Time + int64(after) - work[10*(n+1)].Time
			}
		}
		slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
		return measuredFrames(t, list)
	}
	const told = "unanswered (possible): 10.0.0.1 disconnected 10.0.0.2 twice, each time after nothing had come of the connection for 4s on average, and connected once more at once: requests of larger packets may not come to the tap."
	contains(t, "small", with("200", 4*time.Second, 100*time.Millisecond), []string{told, "size: what came from 10.0.0.1 to 10.0.0.2 carried up to 200 bytes in a packet, on 3 connections; the path MTU of the queue pair is 4,096 bytes"}, nil)
	contains(t, "large", with("4096", 4*time.Second, 100*time.Millisecond), []string{"frames: 0"}, nil)
	contains(t, "without a silence", with("200", 10*time.Millisecond, 100*time.Millisecond), []string{"frames: 0"}, nil)
	contains(t, "not at once", with("200", 4*time.Second, 10*time.Second), []string{"frames: 0"}, nil)
}
