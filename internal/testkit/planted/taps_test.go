package planted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

// folder returns the folder of captures, and skips the test where it is not here.
func folder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = "../../../../shared/captures"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no captures here: set IBWITNESS_CAPTURES to the folder of captures")
	}
	return dir
}

// examineTaps runs the engine over several captures of one run. The key of a finding has no tap: the taps number alike.
func examineTaps(t *testing.T, taps []*Capture, workers int, near ...packet.Addr) (found []rule.Finding) {
	t.Helper()
	var paths []string
	for i, c := range taps {
		p := filepath.Join(t.TempDir(), fmt.Sprintf("tap%d.pcap", i))
		if err := os.WriteFile(p, c.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	src, err := fabricagent.Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: workers, Near: near})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(r.Findings, func(f rule.Finding) bool { return f.Class == rule.Event })
}

// tapKey makes findings of two runs over the same taps the same.
type tapKey struct {
	rule  rule.ID
	class rule.Class
	tap   uint16
	frame uint64
}

func newAtTaps(found []rule.Finding, old map[tapKey]int) (out []rule.Finding) {
	seen := map[tapKey]int{}
	for _, f := range found {
		k := tapKey{f.Rule, f.Class, f.Tap, f.Frame}
		if seen[k]++; seen[k] > old[k] {
			out = append(out, f)
		}
	}
	return out
}

// twin returns the frame of another tap that shows the same packet, or nil.
func twin(c *Capture, p *packet.Packet) *Frame {
	for _, f := range c.Frames {
		if q := f.Packet; q != nil && q.ICRC == p.ICRC && q.IPID == p.IPID && q.PSN == p.PSN && q.Src == p.Src {
			return f
		}
	}
	return nil
}

// TestRandomFaultsAtTwoTaps changes one packet as both taps saw it. It is one fault: nobody else is accused, and it is not found twice.
func TestRandomFaultsAtTwoTaps(t *testing.T) {
	dir := folder(t)
	for _, name := range []string{"netem_tapbefore_loss2_rc_mixed_sidecar", "sidecar_rc_mixed"} {
		var whole []*Capture
		for _, tap := range []string{".a.pcap", ".b.pcap"} {
			c, err := Load(filepath.Join(dir, "rxe", name+tap))
			if err != nil {
				missing(t, err)
			}
			c.Frames = c.Frames[:min(300, len(c.Frames))]
			whole = append(whole, c)
		}
		blind := map[tapKey]int{}
		for _, f := range examineTaps(t, whole, 1) {
			blind[tapKey{f.Rule, f.Class, f.Tap, f.Frame}]++
		}
		t.Logf("%s: %d findings as it is", name, len(blind))
		for seed := range uint64(count(60)) {
			r := rand.New(rand.NewPCG(seed, 2))
			taps := []*Capture{{Link: whole[0].Link, Frames: slices.Clone(whole[0].Frames)}, {Link: whole[1].Link, Frames: slices.Clone(whole[1].Frames)}}
			i := r.IntN(len(taps[0].Frames) - 20)
			f := taps[0].Frames[i]
			if f.Packet == nil {
				continue
			}
			g := twin(taps[1], f.Packet)
			m := FieldMutations[r.IntN(len(FieldMutations))]
			if g == nil || f.Packet.Has&m.Has != m.Has {
				continue
			}
			a := f.Clone()
			if !m.Do(r, a.Packet) {
				continue
			}
			seal(a.Packet)
			b := g.Clone()
			b.Packet = a.Clone().Packet
			taps[0].Frames[i] = a
			taps[1].Frames[slices.Index(taps[1].Frames, g)] = b
			found := newAtTaps(examineTaps(t, taps, 1), blind)
			id := fmt.Sprintf("%s seed %d, frame %d (%v PSN %v by %v): %s", name, seed, f.Was, f.Packet.Opcode, f.Packet.PSN, f.Packet.Src, m.Name)
			seen := map[tapKey]bool{}
			for _, x := range found {
				if x.Class == rule.Violation && x.Accused.Addr != f.Packet.Src && randomKnown[x.Rule.String()] == "" {
					t.Errorf("innocent: %s: %s", id, lines(found))
					break
				}
				k := tapKey{rule: x.Rule, frame: x.Frame}
				if seen[k] {
					t.Errorf("found twice: %s: %s", id, lines(found))
				}
				seen[k] = true
			}
			if len(found) > 1+mostFurther {
				t.Logf("known, noise: %s: %s", id, lines(found))
			}
		}
	}
}

// TestOneTapMissesOne takes a packet away from one of two taps. What the other has seen was sent, so nothing is new, or nobody is accused.
func TestOneTapMissesOne(t *testing.T) {
	dir := folder(t)
	var whole []*Capture
	for _, tap := range []string{".a.pcap", ".b.pcap"} {
		c, err := Load(filepath.Join(dir, "rxe", "sidecar_rc_mixed"+tap))
		if err != nil {
			missing(t, err)
		}
		c.Frames = c.Frames[:min(300, len(c.Frames))]
		whole = append(whole, c)
	}
	old := map[string]int{}
	for _, f := range examineTaps(t, whole, 1) {
		old[f.Rule.String()+f.Class.String()]++
	}
	more, n := 0, 0
	for tap := range whole {
		for i := 0; i < len(whole[tap].Frames); i += 7 * sample.Stride(5) {
			taps := slices.Clone(whole)
			taps[tap] = &Capture{Link: whole[tap].Link, Frames: slices.Concat(whole[tap].Frames[:i], whole[tap].Frames[i+1:])}
			have := map[string]int{}
			n++
			for _, f := range examineTaps(t, taps, 1) {
				k := f.Rule.String() + f.Class.String()
				if have[k]++; have[k] <= old[k] {
					continue
				}
				more++
				if f.Class == rule.Violation {
					t.Errorf("tap %d misses frame %d: %s", tap, i+1, line(&f))
				}
			}
		}
	}
	t.Logf("%d packets missing at one tap, %d findings not proven: it is taken for a retransmission when the other tap shows it", n, more)
}

// TestWorkersAgree verifies mutated captures with 1, 2 and 8 workers.
func TestWorkersAgree(t *testing.T) {
	dir := folder(t)
	for _, name := range []string{"rxe/sidecar_rc_mtu256", "rxe/cm_rping_ipv6", "rxe/rc_write_bidir_8qp", "rxe/rnr_retry_exceeded", "rxe/uc_mixed_sidecar", "rxe/cm_udaddy_sidr", "public/linlinw5__ring2_node0", "public/lkml-nfsrdma-2021-02-18__sniffer", "public/wireshark-wiki__infiniband"} {
		s := newSubject(t, filepath.Join(dir, name+".pcap"))
		for seed := range uint64(count(6)) {
			c, _, kind := s.mutate(rand.New(rand.NewPCG(seed, 1)))
			want, events := examine(t, c, 1)
			for _, n := range []int{2, 8} {
				got, e := examine(t, c, n)
				if e != events || lines(got) != lines(want) {
					t.Errorf("%s seed %d (%s): %d workers find %d events and %s\n        1 worker %d and %s", name, seed, kind, n, e, lines(got), events, lines(want))
				}
			}
		}
	}
}

// TestResolvedForOneHost: what SIDR told one host of a QP is not used to judge others, which may be in other shards.
func TestResolvedForOneHost(t *testing.T) {
	whole, err := Load(filepath.Join(folder(t), "rxe", "cm_udaddy_sidr.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	c := whole.Clone()
	at := slices.IndexFunc(c.Frames, func(f *Frame) bool { return f.Packet != nil && f.Packet.DestQP > 1 })
	if at < 0 {
		t.Fatal("no datagram between QPs of users")
	}
	for i := range byte(16) {
		c.insert(c.Frames[at].Was, c.Frames[at].Was, 1, func(p *packet.Packet) {
			p.Src = packet.IPv4Addr([]byte{10, 0, 7, i})
			p.QKey ^= 0x55
		})
	}
	want, events := examine(t, c, 1)
	for _, n := range []int{2, 8} {
		if got, e := examine(t, c, n); e != events || lines(got) != lines(want) {
			t.Errorf("%d workers find %d events and %s\n        1 worker %d and %s", n, e, lines(got), events, lines(want))
		}
	}
}

// TestWrongAddressesForAll: packets with wrong addresses are found whatever shard they fall into.
func TestWrongAddressesForAll(t *testing.T) {
	for _, name := range []string{"sidecar_rc_mtu256", "cm_rping_ipv6", "uc_mixed_sidecar"} {
		whole, err := Load(filepath.Join(folder(t), "rxe", name+".pcap"))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(count(8)) {
			c, r := whole.Clone(), rand.New(rand.NewPCG(seed, 2))
			for i, f := range c.Frames {
				if p := f.Packet; p != nil && p.DestQP > 1 && i%9 == 5 {
					if r.IntN(2) == 0 {
						p.Src.Lo += r.Uint64N(200)
					} else {
						p.Dst.Lo += r.Uint64N(200)
					}
					seal(p)
				}
			}
			want, events := examine(t, c, 1)
			if !slices.ContainsFunc(want, func(f rule.Finding) bool {
				return f.Rule == rule.ROCV2029 || f.Rule == rule.ROCV2012 || f.Rule == rule.UCADR001
			}) {
				t.Errorf("%s seed %d: no address found: %s", name, seed, lines(want))
			}
			for _, n := range []int{2, 8} {
				if got, e := examine(t, c, n); e != events || lines(got) != lines(want) {
					t.Errorf("%s seed %d: %d workers find %d events and %s\n        1 worker %d and %s", name, seed, n, e, lines(got), events, lines(want))
				}
			}
		}
	}
}

// missing skips a test whose capture is not here, and fails it where the capture cannot be read.
func missing(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, fabricagent.NotFound) || errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	t.Fatal(err)
}
