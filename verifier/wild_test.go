package verifier_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/verifier"
)

var (
	wildRuns = flag.Int("wild.runs", 4800, "connections of TestWild; with -v those from -wild.seed on are shown")
	wildSeed = flag.Uint64("wild.seed", 0, "first of them that is shown")
)

// inLine is how many of them are in a line of the golden file.
const inLine = 24

// TestWild holds what is said of wild connections: ends that do what they should more often than not, and otherwise anything, at PSNs and times that lie close together.
// Nobody has judged whether that is right, as of TestVaried: it shows what a change of the verifiers changes. testdata/varied/wild.txt has a checksum for each.
func TestWild(t *testing.T) {
	golden := filepath.Join("testdata", "varied", "wild.txt")
	b, err := os.ReadFile(golden)
	if err != nil && !tally.Rewriting() {
		t.Fatal(err)
	}
	was := strings.Fields(string(b))
	var now strings.Builder
	told := 0
	for k := 0; k < *wildRuns; k += sample.Stride(8) {
		w, s := newWild(t, uint64(k))
		said := s.brief(false)
		fmt.Fprintf(&now, "%s%c", said, " \n"[(k+1)/inLine*inLine/(k+1)])
		show := testing.Verbose() && uint64(k) >= *wildSeed
		if show {
			t.Logf("%s\n%s", w, s.whole())
		}
		if !tally.Rewriting() && (k >= len(was) || was[k] != said) {
			t.Errorf("connection %d:\n%s\nNow this is said of it:\n%s", k, w, s.whole())
			if told++; enough(told) {
				t.Fatal("and perhaps more; make golden writes what is said now")
			}
		}
	}
	if tally.Rewriting() {
		if err := os.WriteFile(golden, []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// wild is a wild connection: its lines, and those of its ends that send requests.
type wild struct {
	*rand.Rand
	datadriven.TestData
	encap   string
	service string // as prefix of operations
	now     time.Duration
	lines   []string
	pmtu    int
	credits bool
	window  int // requests outstanding
	marks   int // of how many packets one is marked as having experienced congestion; 0: they are not ECN-capable
	ends    []*wildEnd
	times   []time.Duration // of packets
	lost    func() bool     // whether the capture lacks the next frame
	count   uint64          // of those
}

// wildEnd is a requester and its responder.
type wildEnd struct {
	there, back, more string
	next              int           // PSN
	open              string        // what the message in flight is
	left              int           // of a WRITE that is, how many bytes
	sent              []wildRequest // with new PSNs
	again             int           // of sent, which one is to be retransmitted
	due               int           // of sent, which one is to be answered
}

type wildRequest struct {
	psn, span int
	op, line  string
}

// newWild makes up a connection, always the same one, and runs it.
func newWild(t *testing.T, seed uint64) (*wild, *scenario) {
	for r := rand.New(rand.NewPCG(seed, 23)); ; {
		w := &wild{Rand: r, pmtu: 256, encap: []string{"v4", "v4", "v4", "v6", "ib", "ibg", "v1"}[r.IntN(7)]}
		w.make()
		w.Cmd, w.Input = "trace", strings.Join(w.lines, "\n")
		o, err := parseOptions(&w.TestData)
		if err != nil {
			t.Fatal(err)
		}
		s := newScenario(o, encapByName[w.encap])
		s.lost = w.lost
		if w.chance(2) {
			s.rc().Latencies = new(verifier.Latencies)
		}
		if s.run(w.Input) == nil {
			return w, s
		}
	}
}

func (w *wild) String() string {
	var words []string
	for _, a := range w.CmdArgs {
		words = append(words, a.String())
	}
	lines := slices.Clone(w.lines)
	w.count = 0
	for i, text := range lines {
		if words := strings.Fields(text); words[0] != "attr" && words[1] != "end" && w.lost() {
			lines[i] += "  # not seen"
		}
	}
	return fmt.Sprintf("trace encap=%s %s\n%s", w.encap, strings.Join(words, " "), strings.Join(lines, "\n"))
}

// chance reports true once in n times.
func (w *wild) chance(n int) bool { return w.IntN(n) == 0 }

// pick returns one of several.
func (w *wild) pick(list ...string) string { return list[w.IntN(len(list))] }

func (w *wild) option(key string, values ...string) {
	w.CmdArgs = append(w.CmdArgs, datadriven.CmdArg{Key: key, Vals: values})
}

func (w *wild) line(format string, args ...any) {
	w.lines, w.times = append(w.lines, w.now.String()+" "+fmt.Sprintf(format, args...)), append(w.times, w.now)
}

// wait lets time pass: mostly little, and at times about as long as something waits for something.
func (w *wild) wait() {
	switch n := w.IntN(60); {
	case n == 5 && len(w.times) > 0: // just so long after some packet
		at := w.times[max(0, len(w.times)-1-w.IntN(5))] + times[w.IntN(len(times))] + []time.Duration{-1, 0, 0, 1}[w.IntN(4)]
		w.now = max(w.now, at)
	case n == 6:
	case n == 0:
		w.now += times[w.IntN(len(times))]
	case n == 1:
		w.now += []time.Duration{1e6, 5e6, 20e6, packet.Timeout(8), 4 * packet.Timeout(8), packet.Timeout(14)}[w.IntN(6)] + []time.Duration{-1, 0, 1}[w.IntN(3)]
	case n < 5:
		w.now += []time.Duration{4e3, 10e3, 30e3, 50e3, 100e3, 150e3, 300e3}[w.IntN(7)]
	default:
		w.now += time.Duration(200 + 100*w.IntN(20))
	}
}

func (w *wild) make() {
	near := w.pick("", "A", "B", "A", "B", "AB")
	w.option("pmtu", fmt.Sprint(w.pmtu))
	w.option("near", strings.Split(near, "")...)
	if w.chance(12) {
		w.option("lossy")
	}
	if w.chance(12) {
		w.option("taps")
	}
	if w.chance(8) {
		w.option("profile", w.pick("cnp-dscp=48", "adaptive-retransmission", "selective-repeat", "adaptive-routing"))
	}
	w.service = w.pick("", "", "", "", "", "", "XRC_", "RD_", "UC_")
	w.credits, w.window = w.chance(3), 8
	if w.service == "RD_" {
		w.window = 1
	}
	if w.chance(5) && w.encap[0] == 'v' {
		if w.marks = 1 + w.IntN(20); w.chance(2) {
			w.option("profile", w.pick("cnp-per-qp", "cnp-per-ip", "cnp-per-port")+w.pick("", "=50us", "=2ms"))
		}
	}
	starts := []int{500, 1, 0xFFFFF8, 0x7FFFFC, 5000}
	a, b := starts[w.IntN(len(starts))], starts[w.IntN(len(starts))]
	if w.chance(3) {
		w.attributes("A", a)
	}
	if w.chance(6) {
		w.attributes("B", b)
	}
	if w.service != "RD_" && w.chance(3) {
		there, back, x, y := "A>B", "B>A", a, b
		if w.chance(3) {
			there, back, x, y = back, there, b, a
		}
		uc, credits := "", ""
		if w.service == "UC_" {
			uc = " uc"
		}
		if w.credits {
			credits = " credits"
		}
		w.line("%s CM_REQ psn=%d pmtu=256 retry=%d rnr_retry=%d timeout=%d rd=3%s%s", there, y, w.IntN(8), w.IntN(8), 8+w.IntN(4), uc, credits)
		w.now += 100e3
		w.line("%s CM_REP psn=%d rnr_retry=%d rd=%d dest_rd=%d%s", back, x, w.IntN(8), 1+w.IntN(3), 1+w.IntN(3), credits)
		w.now += 100e3
		w.line("%s CM_RTU", there)
		w.now += []time.Duration{10e3, 10e3, 10e3, 1e9, 10e9, 11e9}[w.IntN(6)]
	}
	w.ends = append(w.ends, &wildEnd{there: "A>B", back: "B>A", next: a})
	if w.service == "RD_" {
		w.ends[0].more, w.ends[0].there, w.ends[0].back = " eec=0xb2", "A>B", "B>A"
	} else if w.service != "XRC_" && w.chance(4) {
		w.ends = append(w.ends, &wildEnd{there: "B>A", back: "A>B", next: b})
	}
	if w.chance(5) {
		w.ends = append(w.ends, &wildEnd{there: "A.0x12>B.0x23", back: "B.0x23>A.0x12", next: a + w.IntN(3), more: w.ends[0].more})
	}
	if w.chance(4) { // of its responder the first packet
		w.line("%s %sACK psn=%d msn=0%s", w.ends[0].back, w.service, (w.ends[0].next-1)&packet.PSNMask, strings.Replace(w.ends[0].more, "b2", "a1", 1))
	}
	begun := len(w.lines)
	for range 4 + w.IntN(28) {
		e := w.ends[w.IntN(len(w.ends))]
		w.wait()
		if w.marks > 0 && w.chance(5) {
			for range 1 + w.IntN(3) {
				w.line("%s CNP%s", e.back, w.pick("", "", "", " dscp=48", " becn=0"))
				w.wait()
			}
		}
		if w.service == "UC_" || w.IntN(9) < 5 && len(e.sent)-e.due < w.window || len(e.sent) == 0 {
			w.request(e)
		} else {
			w.response(e)
		}
	}
	switch w.IntN(4) {
	case 0:
		w.now += times[w.IntN(len(times))]
		w.line("end")
	case 1:
		w.now += 1e9
		w.line("end")
	}
	lost := map[uint64]bool{}
	if w.chance(3) {
		for range 1 + w.IntN(3) {
			lost[uint64(1+begun+w.IntN(len(w.lines)-begun))] = true
		}
	}
	late := uint64(0)
	if begun == 0 && w.chance(3) {
		late = uint64(w.IntN(12))
	}
	w.lost = func() bool {
		w.count++
		return w.count <= late || lost[w.count]
	}
}

// attributes has an HCA agent know some of a QP.
func (w *wild) attributes(name string, psn int) {
	text := "attr " + name
	for _, a := range []string{
		fmt.Sprint("sqpsn=", psn), "pmtu=256", fmt.Sprint("timeout=", 8+w.IntN(3)), fmt.Sprint("retry=", w.IntN(4)), fmt.Sprint("rnr_retry=", w.IntN(4)),
		fmt.Sprint("rd=", 1+w.IntN(3)), fmt.Sprint("dest_rd=", 1+w.IntN(3)), "credits=1", "access=15", "min_rnr=12",
	} {
		if w.chance(2) {
			text += " " + a
		}
	}
	w.lines = append(w.lines, text)
}

// odd returns a number near n: mostly n.
func (w *wild) odd(n int) int {
	if !w.chance(30) {
		return n & packet.PSNMask
	}
	return (n + []int{-2, -1, 1, 1, 2, 3, 40, 1 << 15, 1 << 23, -300}[w.IntN(10)]) & packet.PSNMask
}

// oddities are fields that hardly a packet has.
func (w *wild) oddities() (more string) {
	if w.marks > 0 {
		more = " ecn=2"
		if w.chance(w.marks) {
			more = " ecn=3"
		}
	}
	if !w.chance(30) {
		return more
	}
	return more + w.pick(" badicrc", " cut=50", " cut=60", " ecn=3", " ecn=1", " ipid=0", " ipid=4096", " ipid=8200", " tap=1", " way=in", " way=out", " pkey=0x8001", " mig", " becn", " fecn",
		" ttl=63", " ttl=0", " len=17", " len=256", " len=0", " ackreq", " se", " pad=3", " badsum", " sport=50000", " tclass=4", " flow=7", " resv7=1", " padbytes=1")
}

// request sends one: the next in turn, one that was sent before, or another.
func (w *wild) request(e *wildEnd) {
	if len(e.sent) > 0 && w.chance(9) && (w.service != "UC_" || w.chance(4)) { // it goes back
		e.again = max(e.due, len(e.sent)-4) + w.IntN(4)
		if w.chance(3) {
			e.again = max(0, len(e.sent)-1-w.IntN(8))
		}
	}
	if e.again < len(e.sent) && len(e.sent) > 0 {
		p := e.sent[e.again]
		e.again++
		if p.op == "READ_REQUEST" && p.span > 1 && w.chance(3) { // its tail
			n := 1 + w.IntN(p.span-1)
			w.line("%s %sREAD_REQUEST psn=%d dma=%d va=%d%s%s", e.there, w.service, (p.psn+n)&packet.PSNMask, 256*(p.span-n)-56, 0x10000+p.psn*0x1000+256*n, e.more, w.oddities())
			return
		}
		w.line("%s%s", p.line, w.oddities())
		return
	}
	p := wildRequest{psn: w.odd(e.next), span: 1}
	fields := ""
	first, only := "SEND_FIRST", "SEND_ONLY"
	if w.chance(2) {
		first, only = "WRITE_FIRST", "WRITE_ONLY"
	}
	kind := w.IntN(10)
	switch {
	case e.open == "WRITE" && e.left > 256 && !w.chance(25):
		p.op = "WRITE_MIDDLE"
		e.left -= 256
	case e.open == "WRITE" && !w.chance(25):
		p.op, e.open = "WRITE_LAST", ""
		fields += fmt.Sprint(" len=", e.left)
	case e.open == "SEND" && w.chance(3):
		p.op = "SEND_MIDDLE"
	case e.open == "SEND" && !w.chance(25):
		p.op, e.open = "SEND_LAST", ""
		fields += w.pick("", " len=256", " len=3")
	case kind < 3:
		p.op, e.open = first, strings.TrimSuffix(first, "_FIRST")
		if p.op == "WRITE_FIRST" {
			e.left = []int{512, 320, 259, 576, 800}[w.IntN(5)]
			fields += fmt.Sprint(" dma=", e.left)
			e.left -= 256
		}
	case kind < 7 || w.service == "UC_":
		p.op = only
		fields += w.pick("", " len=256", " len=0", " len=100")
	case kind < 9:
		p.op, p.span = "READ_REQUEST", 1+w.IntN(4)
		fields += fmt.Sprintf(" dma=%d va=%d", 256*p.span-56, 0x10000+p.psn*0x1000)
	default:
		p.op = w.pick("FETCH_ADD", "CMP_SWAP")
	}
	if w.chance(2) && !strings.Contains(p.op, "READ") && w.service != "UC_" {
		fields += " ackreq"
	}
	p.line = fmt.Sprintf("%s %s%s psn=%d%s%s", e.there, w.service, p.op, p.psn, fields, e.more)
	e.sent = append(e.sent, p)
	e.again = len(e.sent)
	e.next = p.psn + p.span
	if w.chance(15) {
		return // lost
	}
	w.line("%s%s", p.line, w.oddities())
	if w.chance(20) {
		w.wait()
		w.line("%s copy", e.there)
	}
}

// response answers: what is due, a part of it, or something else.
func (w *wild) response(e *wildEnd) {
	k := e.due
	if k >= len(e.sent) || w.chance(6) {
		k = max(0, len(e.sent)-1-w.IntN(4))
	}
	p := e.sent[k]
	more := w.oddities()
	if e.more != "" {
		more += " eec=0xa1"
	}
	if w.chance(20) {
		more += fmt.Sprint(" msn=", w.odd(k+1))
	}
	e.due = k + 1
	switch n := w.IntN(30); {
	case n == 0:
		w.line("%s %sNAK_SEQUENCE psn=%d%s", e.back, w.service, w.odd(p.psn), more)
		e.due, e.again = k, k
	case n == 1:
		w.line("%s %sRNR_NAK psn=%d timer=%d%s", e.back, w.service, w.odd(p.psn), []int{1, 12, 12, 12}[w.IntN(4)], more)
		e.due, e.again = k, k
		if w.chance(2) {
			w.now += packet.RNRTimer(12) + time.Duration(w.IntN(3)-1)
		}
	case n == 2 && w.chance(3):
		w.line("%s %s%s psn=%d%s", e.back, w.service, w.pick("NAK_INVALID", "NAK_ACCESS", "NAK_OPERATIONAL"), w.odd(p.psn), more)
	case n < 4: // an ACK, whatever was asked
		w.line("%s %sACK psn=%d%s%s", e.back, w.service, w.odd(p.psn), w.credit(), more)
	case p.op == "READ_REQUEST":
		w.read(e, p, more)
	case strings.HasPrefix(p.op, "FETCH"), strings.HasPrefix(p.op, "CMP"):
		w.line("%s %sATOMIC_ACK psn=%d%s", e.back, w.service, w.odd(p.psn), more)
	case strings.Contains(p.line, "ackreq") || w.chance(3):
		w.line("%s %sACK psn=%d%s%s", e.back, w.service, w.odd(p.psn), w.credit(), more)
	}
	if w.chance(20) && len(w.lines) > 0 && strings.Contains(w.lines[len(w.lines)-1], e.back) {
		w.wait()
		w.line("%s copy", e.back)
	}
}

// credit is what an ACK grants.
func (w *wild) credit() string {
	if !w.credits {
		return ""
	}
	return fmt.Sprint(" credits=", []int{0, 1, 2, 3, 5, 31}[w.IntN(6)])
}

// read answers a READ, at times with one response too few, or from another one on.
func (w *wild) read(e *wildEnd, p wildRequest, more string) {
	from, to := 0, p.span
	switch w.IntN(12) {
	case 0:
		from = w.IntN(p.span)
	case 1:
		to = w.IntN(p.span + 1)
	}
	for i := from; i < to; i++ {
		op, length := "READ_MIDDLE", " len=256"
		switch {
		case p.span == 1:
			op, length = "READ_ONLY", " len=200"
		case i == p.span-1:
			op, length = "READ_LAST", " len=200"
		case i == 0:
			op = "READ_FIRST"
		}
		if w.chance(20) {
			continue
		}
		w.line("%s %s%s psn=%d%s%s", e.back, w.service, op, w.odd(p.psn+i), length, more)
		more = strings.TrimSuffix(more, " ackreq")
		w.wait()
	}
}
