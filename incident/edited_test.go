package incident_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/internal/scenario"
	"ibwitness/packet"
)

// writes are four WRITEs of eight packets each, from 10.0.0.1 to 10.0.0.2, as the tap of the first adapter sees them.
const writes = `
about: four WRITEs
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: a1, op: write, length: 8000, repeat: 4}
`

// frames are what the tap of a scenario sees.
func frames(t *testing.T, text string) (list []fabricagent.Frame) {
	t.Helper()
	sc, err := scenario.Read("scenario.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	run, err := sc.Start(scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := run.Ahead()
	defer in.Close()
	for {
		b, err := in.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Frames {
			f.Data = bytes.Clone(f.Data)
			list = append(list, f)
		}
		b.Release()
	}
}

// judged is what frames show in their order in the list, which take the times that come in theirs, and numbers.
func judged(t *testing.T, list []fabricagent.Frame, opt agent.Options) *agent.Result {
	t.Helper()
	newest, ordered := int64(0), slices.Clone(list)
	for i := range ordered {
		newest = max(newest, ordered[i].Time)
		ordered[i].Time = newest
	}
	return stamped(t, ordered, opt)
}

// stamped is judged with the times that frames have.
func stamped(t *testing.T, list []fabricagent.Frame, opt agent.Options) *agent.Result {
	t.Helper()
	s := agent.NewSession(opt)
	last := slices.MaxFunc(list, func(a, b fabricagent.Frame) int { return int(a.Tap) - int(b.Tap) }).Tap
	for range last + 1 {
		if _, err := s.Tap(fabricagent.Tap{File: "edited", Link: list[0].Link}); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range list {
		f.Number = uint64(i + 1)
		if _, err := s.Frame(&f); err != nil {
			t.Fatal(err)
		}
	}
	result, _, err := s.End()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// happened is what frames tell: see judged.
func happened(t *testing.T, list []fabricagent.Frame, opt agent.Options) string {
	t.Helper()
	return toldOf(judged(t, list, opt))
}

// toldOf is what a result tells.
func toldOf(r *agent.Result) string {
	var b strings.Builder
	told(&b, "frames", incident.Of(r))
	return b.String()
}

// changed has a function change the RoCEv2 packet of frame f as its sender could have sent it: with the checksums that go with it.
func changed(f *fabricagent.Frame, change func(*packet.Packet)) {
	const ethernet = 14
	var p packet.Packet
	if !packet.DecodeIP(&p, f.Data[ethernet:], int(f.Len)-ethernet) {
		panic("no RoCEv2 packet")
	}
	p.Rest()
	change(&p)
	p.SealIPv4()
	p.SealICRC()
	f.Data = p.Append(f.Data[:ethernet:ethernet])
	f.Len = uint32(len(f.Data))
}
