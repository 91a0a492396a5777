package planted

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

// randomBases are the captures in which nothing is impaired, as patterns in the folder of captures.
var randomBases = []string{
	"rxe/rc_*.pcap", "rxe/sidecar_*.pcap", "rxe/cm_*.pcap", "rxe/uc_*.pcap", "rxe/ud_*.pcap", "rxe/ipv6_*.pcap", "rxe/vlan*.pcap",
	"rxe/rnr_*.pcap", "rxe/err_*.pcap", "public/*.pcap",
}

// randomFrames is how many frames of a long capture are used.
const randomFrames = 400

// fewest is how many RDMA packets a capture must have, that one may be compared with the others.
const fewest = 8

// mostFurther is how many findings more than one a single fault may give.
const mostFurther = 4

// subject is a capture to mutate, and what is found in it as it is.
type subject struct {
	name string
	c    *Capture // frames that are written as they were read
	open []*Frame // the same, taken apart
	rdma []int    // those that hold an RDMA packet
	near []packet.Addr
	old  []map[key]int // blind, then near each of near
	evs  int
}

// examine runs the engine and returns all that it finds, events counted only.
func examine(t *testing.T, c *Capture, workers int, near ...packet.Addr) (found []rule.Finding, events int) {
	t.Helper()
	src, err := fabricagent.OpenReader("mutated.pcap", bytes.NewReader(c.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: workers, Near: near})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Class == rule.Event {
			events++
		} else {
			found = append(found, f)
		}
	}
	return found, events
}

func newSubject(t *testing.T, path string) *subject {
	t.Helper()
	whole, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	whole.Frames = whole.Frames[:min(randomFrames, len(whole.Frames))]
	s := &subject{name: strings.TrimSuffix(filepath.Base(path), ".pcap"), c: &Capture{Link: whole.Link}, open: whole.Frames, near: hosts(whole)}
	for i, f := range whole.Frames {
		if f.Packet != nil && f.Packet.Has&packet.HasBTH != 0 {
			s.rdma = append(s.rdma, i)
		}
		s.c.Frames = append(s.c.Frames, &Frame{Time: f.Time, Raw: f.Raw, Was: f.Was, Wire: f.Wire})
	}
	if len(s.near) > 3 {
		s.near = s.near[:3]
	}
	for i := -1; i < len(s.near); i++ {
		m := map[key]int{}
		found, n := examine(t, s.c, 1, s.at(i)...)
		for _, f := range found {
			m[keyOf(s.c, &f)]++
		}
		if i < 0 {
			s.evs = n
		}
		s.old = append(s.old, m)
	}
	return s
}

// at is the tap position: -1 is not known.
func (s *subject) at(i int) []packet.Addr {
	if i < 0 {
		return nil
	}
	return s.near[i : i+1]
}

// outcome counts what became of one kind of mutation.
type outcome struct{ violation, unproven, event, silent int }

// examiner collects the outcomes of random mutations and the invariants that they break.
type examiner struct {
	outcomes map[string]*outcome
	broken   map[string][]string
	silent   map[string][]string
	weakened int // findings of the capture itself whose class a mutation changed
}

// unweakened drops findings that the capture has without the mutation too, in another class, and counts them.
func (e *examiner) unweakened(found []rule.Finding, c *Capture, old map[key]int) (out []rule.Finding) {
	for _, f := range found {
		k := keyOf(c, &f)
		k.class = rule.Violation
		if f.Class == rule.Violation {
			k.class = rule.Unproven
		}
		if k.was != 0 && old[k] > 0 {
			e.weakened++
			continue
		}
		out = append(out, f)
	}
	return out
}

func (e *examiner) breaks(sign, what string) { e.broken[sign] = append(e.broken[sign], what) }

// mutate changes one random frame of a subject by a random mutation.
func (s *subject) mutate(r *rand.Rand) (c *Capture, f *Frame, kind string) {
	for {
		i := s.rdma[r.IntN(len(s.rdma))]
		f = s.open[i].Clone()
		c = &Capture{Link: s.c.Link, Frames: slices.Clone(s.c.Frames)}
		c.Frames[i] = f
		n := r.IntN(len(FieldMutations) + 2*len(frameMutations))
		if n >= len(FieldMutations) {
			m := frameMutations[(n-len(FieldMutations))/2]
			if m.do(r, c, i) {
				return c, s.open[i], m.name
			}
			continue
		}
		m := FieldMutations[n]
		if f.Packet.Has&m.Has != m.Has || m.Has == packet.HasBTH && r.IntN(3) == 0 {
			continue
		}
		if m.Do(r, f.Packet) {
			seal(f.Packet)
			return c, s.open[i], m.Name
		}
	}
}

func (e *examiner) one(t *testing.T, s *subject, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	c, f, kind := s.mutate(r)
	what := kind
	if !slices.ContainsFunc(frameMutations, func(m frameMutation) bool { return m.name == kind }) {
		switch in := f.Packet.Info(); {
		case in.Response:
			what = "response: " + kind
		case in.Request:
			what = f.Packet.Opcode.Service().String() + " request: " + kind
		}
	}
	id := fmt.Sprintf("%s seed %d, frame %d (%v PSN %v by %v): %s%s", s.name, seed, f.Was, f.Packet.Opcode, f.Packet.PSN, f.Packet.Src, kind, changed(c, f))
	for i := -1; i < len(s.near); i++ {
		found, events := examine(t, c, 1, s.at(i)...)
		found = e.unweakened(fresh(c, found, s.old[i+1]), c, s.old[i+1])
		where := "blind"
		if i >= 0 {
			where = "near " + s.near[i].String()
			if s.near[i] != f.Packet.Src && s.near[i] != f.Packet.Dst {
				continue
			}
		}
		if i < 0 {
			e.count(what, id, found, events != s.evs)
		}
		if len(found) > 1+mostFurther {
			e.breaks("noise: "+what, id+", "+where+": "+lines(found))
		}
		for k := range found {
			x := &found[k]
			if x.Class != rule.Violation || x.Accused.Role == rule.Capture || x.Accused.Role == rule.Network {
				continue
			}
			if x.Accused.Addr == f.Packet.Src && (kind != "deleted" && kind != "moved" || i >= 0 && s.near[i] == f.Packet.Src) {
				continue
			}
			sign := "innocent: "
			if i >= 0 && s.near[i] == f.Packet.Dst && f.Packet.Src != f.Packet.Dst {
				sign = "near the honest: "
			}
			e.breaks(sign+what+" "+x.Rule.String(), id+", "+where+": "+lines(found))
			break
		}
	}
}

// changed says what a field mutation made of a packet.
func changed(c *Capture, f *Frame) string {
	g := c.Frame(f.Was)
	if g == nil || g.Packet == nil || len(c.Frames) == 0 {
		return ""
	}
	p, q := f.Packet, g.Packet
	switch {
	case p.Opcode != q.Opcode:
		return fmt.Sprintf(": %v, 0x%02x", q.Opcode, uint8(q.Opcode))
	case p.PSN != q.PSN:
		return ": " + q.PSN.String()
	case p.DestQP != q.DestQP:
		return fmt.Sprintf(": 0x%x to 0x%x", p.DestQP, q.DestQP)
	case p.Syndrome != q.Syndrome:
		return fmt.Sprintf(": 0x%02x", uint8(q.Syndrome))
	case p.MSN != q.MSN:
		return fmt.Sprintf(": %d to %d", p.MSN, q.MSN)
	case p.DMALen != q.DMALen:
		return fmt.Sprintf(": %d to %d", p.DMALen, q.DMALen)
	case p.PadCnt != q.PadCnt:
		return fmt.Sprintf(": %d to %d", p.PadCnt, q.PadCnt)
	case p.VA != q.VA:
		return fmt.Sprintf(": 0x%x to 0x%x", p.VA, q.VA)
	}
	return ""
}

func lines(found []rule.Finding) string {
	var b strings.Builder
	for i := range found {
		b.WriteString("\n            " + line(&found[i]))
	}
	return b.String()
}

func (e *examiner) count(what, id string, found []rule.Finding, event bool) {
	o := e.outcomes[what]
	if o == nil {
		o = new(outcome)
		e.outcomes[what] = o
	}
	switch {
	case slices.ContainsFunc(found, func(f rule.Finding) bool { return f.Class == rule.Violation }):
		o.violation++
	case len(found) > 0:
		o.unproven++
	case event:
		o.event++
	default:
		o.silent++
		e.silent[what] = append(e.silent[what], id)
	}
}

// randomKnown says under which rules innocents are known to be accused, and after which mutations findings are known to be many.
var randomKnown = map[string]string{
	"RC-RSP-043": "C2, a limit: a tap near the responder that is taken to lose nothing, and has lost the request between two RNR NAKs or shows another",
	"RC-RES-001": "C4, a limit: a response and its request contradict each other, and no other packet says which is wrong",
	"RC-RSP-010": "C4",
	"RC-RES-002": "C4, a limit, as of a READ with another DMALen; C5: or a path MTU was learned from a gap after a READ",
	"RC request": "P1: every retransmission of a packet that was changed once is blamed again; P2: a READ with a wrong DMALen",
	"moved":      "C5",
	"response":   "P4: outstanding READs are miscounted after a NAK that was not one",
}

// never are rules under which an honest endpoint is not to be accused at a tap near it either: what its peer did wrong cannot look
// like a breach of them.
var never = []string{"RC-RSP-005", "RC-RSP-013", "PKY-002"}

// TestRandomFaults plants random faults into captures of clean traffic. Nobody but the sender of the frame may be accused, and one
// fault gives few findings. IBWITNESS_RANDOM says how many faults a capture gets, IBWITNESS_SEED where the seeds begin.
func TestRandomFaults(t *testing.T) {
	dir := folder(t)
	n, start := count(12), uint64(0)
	if s := os.Getenv("IBWITNESS_SEED"); s != "" {
		start, _ = strconv.ParseUint(s, 10, 64)
	}
	var paths []string
	for _, p := range randomBases {
		found, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Skip("no captures here: set IBWITNESS_CAPTURES to the folder of captures")
	}
	only := os.Getenv("IBWITNESS_ONLY")
	e := &examiner{outcomes: map[string]*outcome{}, broken: map[string][]string{}, silent: map[string][]string{}}
	for _, p := range paths {
		if strings.Contains(p, "srq") || strings.HasSuffix(p, ".b.pcap") || only != "" && !strings.Contains(p, only) {
			continue
		}
		s := newSubject(t, p)
		if len(s.rdma) < fewest {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(s.name))
		for i := range n {
			e.one(t, s, uint64(h.Sum32())<<20+start+uint64(i))
		}
	}
	e.report(t)
}

func (e *examiner) report(t *testing.T) {
	shown := 2
	if s := os.Getenv("IBWITNESS_SHOWN"); s != "" {
		shown, _ = strconv.Atoi(s)
	}
	names := []string{}
	for k := range e.outcomes {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		o := e.outcomes[k]
		t.Logf("%-44s violation %4d  unproven %4d  event %4d  silent %4d", k, o.violation, o.unproven, o.event, o.silent)
		for i, s := range e.silent[k] {
			if i < shown {
				t.Log("    silent: " + s)
			}
		}
	}
	t.Logf("%d findings of the captures themselves changed their class", e.weakened)
	signs := []string{}
	for k := range e.broken {
		signs = append(signs, k)
	}
	sort.Strings(signs)
	for _, k := range signs {
		class, rest, _ := strings.Cut(k, ": ")
		what, _, _ := strings.Cut(rest, ":")
		id := rest[strings.LastIndex(rest, " ")+1:]
		if class == "noise" {
			id = what
		}
		why, ok := randomKnown[id]
		switch {
		case class == "near the honest" && !slices.Contains(never, id), ok:
			t.Logf("%s: %d times %s", k, len(e.broken[k]), why)
		default:
			t.Errorf("%s: %d times", k, len(e.broken[k]))
		}
		for i, s := range e.broken[k] {
			if i < shown {
				t.Log("    " + s)
			}
		}
	}
}

// count is how many mutations a test makes: n, with -short a sixth of it, or what IBWITNESS_RANDOM says.
func count(n int) int {
	n = sample.Part(n, 6)
	if s := os.Getenv("IBWITNESS_RANDOM"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	return n
}
