package view

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/planted"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/rule"
)

const (
	variations = 96 // of each capture
	listed     = 4  // of which findings are in the golden file
	stretch    = 400
)

// TestVaried holds what is said of stretches of real captures with random faults in them, seen through views. Nobody has judged whether that is right: it shows
// what a change of the verifiers changes. testdata/varied.txt has a line for each capture, and make golden writes it; captures that are not here are passed over.
// A line has of the first variations the findings, as rule, frame and class, and of each a checksum of all that is said.
func TestVaried(t *testing.T) {
	const golden = "testdata/varied.txt"
	b, err := os.ReadFile(golden)
	if err != nil && !tally.Rewriting() {
		t.Fatal(err)
	}
	was := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		was[parts[0]] = parts[1:]
	}
	x := examiner{t: t}
	list := x.captures()
	slices.SortFunc(list, func(a, b *Capture) int { return strings.Compare(a.Name, b.Name) })
	told := 0
	for _, c := range list {
		var now []string
		for k := 0; k < variations; k += sample.Stride(variations / 3) {
			about, res := vary(t, c, uint64(k))
			all := said(res)
			brief := fmt.Sprintf("%04x", crc32.ChecksumIEEE([]byte(all))&0xffff)
			if k < listed {
				brief = found(res) + brief
			}
			now = append(now, brief)
			if old := was[c.Name]; !tally.Rewriting() && (k >= len(old) || old[k] != brief) {
				t.Errorf("%s: %s:\n  now %s\n  was %s\nNow this is said of it:\n%s", c.Name, about, brief, strings.Join(old[min(k, len(old)):min(k+1, len(old))], ""), all)
				if told++; told >= 20 || flag.Lookup("test.failfast").Value.String() == "true" {
					t.Fatal("and perhaps more; make golden writes what is said now")
				}
			}
		}
		was[c.Name] = now
	}
	if tally.Rewriting() {
		var out strings.Builder
		for _, name := range slices.Sorted(maps.Keys(was)) { // also of captures that are not here
			fmt.Fprintf(&out, "%s | %s\n", name, strings.Join(was[name], " | "))
		}
		if err := os.WriteFile(golden, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// vary verifies a stretch of a capture with random faults, always the same ones.
func vary(t *testing.T, c *Capture, k uint64) (about string, res *agent.Result) {
	h := fnv.New64a()
	h.Write([]byte(c.Name))
	r := rand.New(rand.NewPCG(h.Sum64(), k))
	frames, taps := c.Frames()
	from := 0
	if k%3 > 0 && len(frames) > stretch {
		from = r.IntN(len(frames) - stretch)
	}
	v := New(r, taps, frames[from:min(from+stretch, len(frames))])
	v.Pairs, v.Others = c.Pairs, []*Capture{c}
	v.Say("frames from %d on", from+1)
	switch r.IntN(3) {
	case 0:
		v.Near = slices.Clone(c.Near)
	case 1:
		var p packet.Packet
		if f := v.Frames[r.IntN(len(v.Frames))].Frame; fabricagent.Decode(&f, &p).IsRDMA() {
			v.Near = []packet.Addr{p.Src}
		}
	}
	for range 1 + r.IntN(3) {
		if len(v.Frames) > 0 {
			v.spoil(v.IntN(len(v.Frames)))
		}
	}
	if r.IntN(2) == 0 {
		n := r.IntN(len(Kinds))
		v.Say("%s", Kinds[n].Name)
		Kinds[n].Do(v)
	}
	v.Finish()
	src, err := v.Open()
	if err != nil {
		return strings.Join(v.About, ", "), new(agent.Result) // nothing is left
	}
	defer src.Close()
	res, err = agent.Run(context.Background(), src, agent.Options{Near: v.Near, Workers: 1})
	if err != nil {
		t.Fatalf("%s: %v: %v", c.Name, v.About, err)
	}
	return fmt.Sprintf("near %v, %s", v.Near, strings.Join(v.About, ", ")), res
}

// spoil plants a fault into a frame.
func (v *View) spoil(i int) {
	f := &v.Frames[i]
	switch v.IntN(8) {
	case 0:
		v.Say("frame %d lost", i+1)
		v.Frames = slices.Delete(v.Frames, i, i+1)
		return
	case 1:
		v.Say("frame %d again", i+1)
		g := *f
		later := min(i+1+v.IntN(4), len(v.Frames)-1)
		g.At, g.Time = v.Frames[later].At, v.Frames[later].Time
		v.Frames = slices.Insert(v.Frames, later+1, g)
		return
	}
	var p packet.Packet
	data := slices.Clone(f.Data)
	g := f.Frame
	g.Data = data
	if fabricagent.Decode(&g, &p) != fabricagent.RDMA || p.Cut || p.Has&packet.HasBTH == 0 {
		return
	}
	at := bytes.Index(data, p.Data)
	head, tail := slices.Clone(data[:at]), slices.Clone(data[at+len(p.Data):])
	what := "a byte of its payload"
	if n := len(p.Payload); p.DestQP <= 1 && n >= 64 && v.IntN(4) > 0 {
		p.Payload[v.IntN([]int{24, 128, n}[v.IntN(3)]%(n+1))] ^= 1 << v.IntN(8)
	} else {
		for {
			m := planted.FieldMutations[v.IntN(len(planted.FieldMutations))]
			if p.Has&m.Has == m.Has && m.Do(v.Rand, &p) {
				what = m.Name
				break
			}
		}
	}
	v.Say("frame %d: %s", i+1, what)
	p.SealIPv4()
	p.SealICRC()
	data = append(p.Append(head), tail...)
	f.Len = uint32(int(f.Len) + len(data) - len(f.Data))
	f.Data = data
}

// found lists the findings, events apart.
func found(res *agent.Result) string {
	var b strings.Builder
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Class != rule.Event {
			fmt.Fprintf(&b, "%v@%d%c ", f.Rule, f.Frame, f.Class.String()[0])
		}
	}
	return b.String()
}

// said is all that is said of a capture.
func said(res *agent.Result) string {
	var b strings.Builder
	for i := range res.Findings {
		f := &res.Findings[i]
		fmt.Fprintf(&b, "%s, evidence %v, %v %v %v\n", line(f), f.Evidence, f.Gap, f.Assumes, f.Peer)
	}
	for id, c := range res.Cover {
		if c != (rule.Count{}) {
			fmt.Fprintf(&b, "%v %v ", rule.ID(id), c)
		}
	}
	for _, c := range res.Connections {
		fmt.Fprintf(&b, "\n%v path MTU %d: %v, %v", c.Service, c.PMTU, sums(&c.Ends[0]), sums(&c.Ends[1]))
	}
	fmt.Fprintf(&b, "\n%v unjudged, %v, %v", res.Unjudged, res.NotJudged, res.Clock)
	return b.String()
}

// sums is what an end has sent, without what incidents are told by.
func sums(e *agent.End) string {
	return fmt.Sprint("{", e.Addr, " ", e.QPN, " ", e.QPNKnown, " ", e.Near, " ", e.Packets, " ", e.Bytes, " ", e.Messages, " ", e.Retransmissions, " ", e.Duplicates, " ", e.NAKs, " ",
		e.SequenceNAKs, " ", e.RNRNAKs, " ", e.Open, " ", e.OpenFrame, " ", e.OpenSince, "}")
}
