package web

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/ladder"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

// finished is a run that is over.
type finished struct {
	run    *report.Run
	step   int64 // nanoseconds from point to point of the histories
	seried map[way]seried

	messages *Messages
	shared   report.Shared        // nil: nobody has asked
	damaged  map[packet.Addr]bool // addresses that only damaged packets have

	word, sentence string // of the verdict
}

// way is a direction of a connection.
type way struct {
	src, dst packet.Addr
	qpn      uint32
}

// seried is the connection of a direction.
type seried struct {
	*history
	service packet.Service
}

// mostSeries is how many connections of a finished run have a history.
const mostSeries = 5000

// Finish takes a run that is over.
func (m *Model) Finish(run *report.Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := run.Result
	m.incidentsOf(run)
	m.start = r.First
	m.timeline.cover(r.First, r.Last)
	list, _ := report.Fold(r.Findings, false)
	for i := range list {
		m.list(&list[i])
	}
	for i := range r.Findings {
		m.timeline.add(r.Findings[i].Time, kindOf(&r.Findings[i]))
	}
	busy := m.busiest(r.Connections)
	span := max(1, r.Last-r.First)
	m.done = &finished{run: run, step: span/points + 1, seried: map[way]seried{}, messages: messagesOf(r), damaged: report.OnlyDamaged(r)}
	m.done.word, m.done.sentence = run.Head()
	for i := range r.Connections {
		c := &r.Connections[i]
		if i == mostTracks {
			m.conns.left = uint64(len(r.Connections) - i)
			break
		}
		t := &track{id: uint64(i) + 1, c: *c, rate: float32(float64(sumsOf(c).bytes) / (float64(span) / 1e9))}
		m.conns.tracks[t.id] = t
		if busy == nil || busy[i] {
			t.history = &history{n: points}
			for from := range c.Ends {
				if to := &c.Ends[1-from]; to.QPNKnown {
					m.done.seried[way{c.Ends[from].Addr, to.Addr, to.QPN}] = seried{t.history, c.Service}
				}
			}
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		k, at := way{f.Accused.Addr, f.Peer.Addr, f.Peer.QPN}, (f.Time-m.start)/m.done.step
		h := m.done.seried[k].history
		if h == nil || at < 0 || at >= points {
			continue
		}
		switch f.Rule {
		case rule.EvRetransmission:
			h.resent[at] += m.done.per()
		case rule.EvRNRNAK:
			h.rnr[at] += m.done.per()
		}
	}
	m.changed++
}

// per is what one in a part of the time is in a second.
func (d *finished) per() float32 { return float32(1e9) / float32(d.step) }

// busiest picks the connections that have a history, those with most trouble and then most packets; nil: all.
func (m *Model) busiest(list []agent.Connection) map[int]bool {
	if len(list) <= mostSeries {
		return nil
	}
	order, weights := make([]int, len(list)), make([]float64, len(list))
	for i := range list {
		t := track{c: list[i]}
		order[i], weights[i] = i, 1e5*trouble(&t, m.troubled[flowOf(&list[i]).Ordered()])+float64(sumsOf(&list[i]).packets)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	busy := make(map[int]bool, mostSeries)
	for _, i := range order[:mostSeries] {
		busy[i] = true
	}
	return busy
}

// add counts a packet in the history of its connection, when the capture is read once more.
func (m *Model) add(f *fabricagent.Frame, p *packet.Packet) {
	if p.Has&packet.HasBTH == 0 {
		return
	}
	h := m.done.seried[way{p.Src, p.Dst, p.DestQP}]
	i := (f.Time - m.start) / m.done.step
	if h.history == nil || h.service != p.Opcode.Service() || i < 0 || i >= points {
		return
	}
	h.rate[i] += float32(p.PayloadLen) * m.done.per()
}

// flow completes what a finding says of its connection by the connections that are known.
func flow(f ladder.Flow, conns []agent.Connection) ladder.Flow {
	for i := range conns {
		if (conns[i].Service <= packet.UC || conns[i].Service == packet.XRC) && f.Complete(flowOf(&conns[i])) {
			break
		}
	}
	return f
}

func (s *Summary) finished(m *Model) {
	r := m.done.run.Result
	s.verdict = m.done.run.Verdict()
	s.Packets, s.RDMA, s.Dropped, s.Repeated, s.Undecoded = r.Packets, r.RDMA, r.Dropped, r.Repeated, r.Undecoded
	s.Open, s.open = r.Open.Requests, r.Open
	s.Connections, s.Messages = len(r.Connections), m.done.messages.Total
	if r.Packets > 0 {
		s.First, s.Last, s.Span = stamp(r.First), stamp(r.Last), r.Last-r.First
	}
	s.Rules = report.CoverageOf(r)
	for _, p := range m.done.run.Problems {
		s.Problems = append(s.Problems, p.Message)
	}
	s.Problems = append(s.Problems, report.Caveats(r)...)
	s.NotJudged = append(s.NotJudged, r.NotJudged...)
	for _, l := range report.WaivedLines(r) {
		s.Notes = append(s.Notes, fmt.Sprintf("Waived (%s): %v", grouped(l.Count), l))
	}
	for _, t := range r.Taps {
		name := t.File
		if t.Interface != "" {
			name += ", " + t.Interface
		}
		s.Taps = append(s.Taps, name)
	}
}
