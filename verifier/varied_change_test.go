package verifier_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"ibwitness/internal/testkit/planted"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// variation is a scenario with random changes.
type variation struct {
	*scenario
	*rand.Rand
	about []string // what was changed
	opt   options
	lines []string

	// The frame that is changed, and how; fed is how many frames there have been, held one that is let go after the frame until.
	at, fed, until uint64
	change         func(v *variation, frame []byte, wireLen int, p packet.Packet) error
	held           func() error
	how            packet.Encap
}

// tries is how often changes may have made something that is no scenario.
const tries = 50

// vary runs a scenario with random changes, always the same ones. frames are how many it has, by encapsulation, where that is known.
func vary(t *testing.T, d *datadriven.TestData, key string, k uint64, frames map[string]uint64) *variation {
	t.Helper()
	opt, err := parseOptions(d)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.New(rand.NewPCG(h.Sum64(), k))
	for range tries {
		v := &variation{Rand: r, opt: *opt, lines: strings.Split(d.Input, "\n")}
		if v.run(opt.encaps[r.IntN(len(opt.encaps))], k, frames) == nil {
			return v
		}
	}
	d.Fatalf(t, "no variation of it is a scenario")
	return nil
}

// run makes the changes and runs the scenario.
func (v *variation) run(encap encap, k uint64, frames map[string]uint64) error {
	id := encap.name
	v.scenario = newScenario(&v.opt, encap)
	if v.IntN(3) == 0 {
		if warmed, plan := v.warmUp(strings.Join(v.lines, "\n")); plan != nil {
			v.lines = strings.Split(warmed, "\n")
			v.say("in warmed-up flows")
			id += " warm"
		}
	}
	if k%8 == 7 {
		v.other()
		id += fmt.Sprint(" other first", len(v.lines))
	}
	if frames[id] == 0 {
		if err := v.scenario.run(strings.Join(v.lines, "\n")); err != nil {
			return err
		}
		frames[id] = 1 + v.frames
	}
	for range 1 + v.IntN(3) {
		switch n := v.IntN(20); {
		case n < 3:
			v.place()
		case n < 10 || frames[id] == 1:
			lineChanges[v.IntN(len(lineChanges))](v)
		default:
			v.at = 1 + v.Uint64N(frames[id]-1)
			v.change = v.frameChange()
		}
	}
	v.scenario = newScenario(&v.opt, encap)
	v.varied, v.rc().Latencies = v, new(verifier.Latencies)
	return v.scenario.run(strings.Join(v.lines, "\n"))
}

// other has the other end of the first connection send a message before all else, so that what the scenario has of the first end is of the second.
func (v *variation) other() {
	for k, text := range v.lines {
		text, _, _ = strings.Cut(text, "#")
		words := strings.Fields(text)
		if len(words) < 3 || words[0] == "attr" || strings.HasPrefix(words[2], "CM_") {
			continue
		}
		a, b, way := strings.Cut(words[1], ">")
		o, _, err := parseOpcode(words[2])
		service := map[packet.Service]string{packet.RC: "", packet.UC: "UC_", packet.XRC: "XRC_"}
		prefix, ok := service[o.Service()]
		if !way || err != nil || !ok {
			return
		}
		v.lines = slices.Insert(v.lines, k, fmt.Sprintf("+0s %s>%s %sSEND_ONLY", b, a, prefix))
		v.say("before line %d a message of %s", k+1, b)
		return
	}
}

func (v *variation) say(format string, args ...any) {
	v.about = append(v.about, fmt.Sprintf(format, args...))
}

// place puts the tap elsewhere, or changes what is known of it.
func (v *variation) place() {
	switch o := &v.opt; v.IntN(8) {
	case 0:
		o.lossy = !o.lossy
		v.say("lossy %v", o.lossy)
	case 1:
		o.several = !o.several
		v.say("several taps %v", o.several)
	default:
		o.near = [][]string{nil, {"A"}, {"B"}, {"A", "B"}}[v.IntN(4)]
		v.say("near %v", o.near)
	}
}

// lineChanges change the lines of a scenario.
var lineChanges = []func(v *variation){
	func(v *variation) {
		k := v.IntN(len(v.lines))
		v.say("without line %d", k+1)
		v.lines[k] = ""
	},
	func(v *variation) {
		k := v.IntN(len(v.lines))
		v.say("line %d twice", k+1)
		v.lines = slices.Insert(v.lines, k, v.lines[k])
	},
	func(v *variation) {
		k := v.IntN(len(v.lines))
		v.say("up to line %d", k+1)
		v.lines = v.lines[:k+1]
	},
	(*variation).delay, (*variation).delay, (*variation).delay, (*variation).many,
	(*variation).number, (*variation).number, (*variation).number,
}

// times are those that verifiers wait, or hold something for, and others.
var times = []time.Duration{
	1, 1000, 4000, 30_000, 50_000, 100_000, 150_000, 300_000, 1e6, 5e6, 10e6, 20e6, 70e6, 100e6, 200e6, 600e6, 1e9, 4e9, 5e9, 10e9, 20e9, 60e9, 100e9,
	packet.Timeout(8), packet.Timeout(14), 4 * packet.Timeout(8), 4 * packet.Timeout(14), 4*packet.Timeout(14) + 10e6,
}

// delay has a line, or all from it on, come later, or just so long after an earlier line.
func (v *variation) delay() {
	first, only, before := v.IntN(len(v.lines)), v.IntN(3) == 0, -1
	by := times[v.IntN(len(times))]
	if v.IntN(2) == 0 {
		before, by = v.IntN(first+1), by+[]time.Duration{-1, 0, 0, 1}[v.IntN(4)]
		v.say("from line %d (only it: %v) as if %v after line %d", first+1, only, by, before+1)
	} else {
		v.say("from line %d (only it: %v) %v later", first+1, only, by)
	}
	now, since := time.Duration(0), time.Duration(0)
	for i, text := range v.lines {
		word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		d, err := time.ParseDuration(strings.TrimPrefix(word, "+"))
		if err != nil {
			continue
		}
		if now += d; word[0] != '+' {
			now = d
		}
		switch {
		case i == before:
			since = now
		case i == first && before >= 0:
			by += since - now
		}
		at := now
		if i == first || i > first && !only {
			at = max(at+by, 0)
		}
		v.lines[i] = at.String() + " " + rest
	}
}

// many has a line come many times, a number in it one more each time.
func (v *variation) many() {
	k, n := v.IntN(len(v.lines)), []int{2, 4, 9, 17, 65}[v.IntN(5)]
	word, rest, _ := strings.Cut(strings.TrimSpace(v.lines[k]), " ")
	at, err := time.ParseDuration(strings.TrimPrefix(word, "+"))
	found := numbers.FindAllStringSubmatchIndex(rest, -1)
	if err != nil || word[0] == '+' || len(found) == 0 {
		return
	}
	m := found[v.IntN(len(found))][2:4]
	x, err := strconv.ParseUint(rest[m[0]:m[1]], 0, 64)
	if err != nil {
		return
	}
	var more []string
	for i := range n {
		more = append(more, fmt.Sprintf("%v %s%d%s", at+time.Duration(100*(i+1)), rest[:m[0]], x+uint64(i+1), rest[m[1]:]))
	}
	v.lines = slices.Insert(v.lines, k+1, more...)
	v.say("%d more after line %d: %s", n, k+1, more[0])
}

var numbers = regexp.MustCompile(`=(0x[0-9a-f]+|[0-9]+)\b`)

// number changes a number in a line.
func (v *variation) number() {
	k := v.IntN(len(v.lines))
	found := numbers.FindAllStringSubmatchIndex(v.lines[k], -1)
	if len(found) == 0 {
		return
	}
	at := found[v.IntN(len(found))][2:4]
	n, err := strconv.ParseUint(v.lines[k][at[0]:at[1]], 0, 64)
	if err != nil {
		return
	}
	n = []uint64{n + 1, n + 1, n - min(n, 1), n - min(n, 1), 0, 2 * n, n + 2, n ^ 1<<v.IntN(12), n + 256, (n + 1<<15 + v.Uint64N(3) - 1) & packet.PSNMask}[v.IntN(10)]
	v.lines[k] = fmt.Sprintf("%s%d%s", v.lines[k][:at[0]], n, v.lines[k][at[1]:])
	v.say("line %d: %s", k+1, v.lines[k])
}

// frameChange returns a change of one frame.
func (v *variation) frameChange() func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
	later, x := 1+v.Uint64N(3), v.IntN(1<<20)
	switch v.IntN(12) {
	case 0, 1:
		v.say("frame %d lost", v.at)
		return func(*variation, []byte, int, packet.Packet) error { return nil }
	case 2:
		v.say("frame %d %d later", v.at, later)
		return func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
			v.hold(later, frame, wireLen, p)
			return nil
		}
	case 3, 4:
		id := uint16(x%2) << 14
		v.say("frame %d again %d later, IPv4 identification %#x more", v.at, later, id)
		return func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
			again, wire := v.edit(frame, wireLen, p, func(q *packet.Packet) { q.IPID += id })
			v.hold(later, again, wire, p)
			return v.deliver(v.how, frame, wireLen, &p)
		}
	case 5:
		v.say("frame %d cut", v.at)
		return func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
			return v.deliver(v.how, frame[:len(frame)-x%max(len(frame)-40, 1)], wireLen, &p)
		}
	case 6:
		v.say("frame %d damaged", v.at)
		return func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
			frame = bytes.Clone(frame)
			if len(frame) > 0 {
				frame[x%len(frame)] ^= 1 << (x % 7)
			}
			return v.deliver(v.how, frame, wireLen, &p)
		}
	case 7:
		f := networkFields[x%len(networkFields)]
		v.say("frame %d: network field %d", v.at, x%len(networkFields))
		return changed(f)
	}
	seed := v.Uint64()
	v.say("frame %d: a field, seed %d", v.at, seed)
	return changed(func(p *packet.Packet) { changeField(rand.New(rand.NewPCG(seed, 0)), p) })
}

// hold delivers a frame after some more.
func (v *variation) hold(later uint64, frame []byte, wireLen int, p packet.Packet) {
	frame = bytes.Clone(frame)
	v.until, v.held = v.fed+later, func() error {
		p.Time = max(p.Time, v.now)
		return v.deliver(v.how, frame, wireLen, &p)
	}
}

// feed is in front of the agent.
func (v *variation) feed(how packet.Encap, frame []byte, wireLen int, p *packet.Packet) error {
	v.fed++
	v.how = how
	if v.fed != v.at {
		if err := v.deliver(how, frame, wireLen, p); err != nil {
			return err
		}
	} else {
		_ = v.change(v, frame, wireLen, *p) // what no longer decodes is lost
	}
	if h := v.held; h != nil && v.fed >= v.until {
		v.held = nil
		_ = h()
	}
	return nil
}

// edit changes a packet; lengths that are right stay so, and checksums are right afterwards.
func (v *variation) edit(frame []byte, wireLen int, p packet.Packet, change func(p *packet.Packet)) ([]byte, int) {
	frame = bytes.Clone(frame)
	if !decode(v.how, &p, frame, wireLen) || p.Cut || p.Has&packet.HasBTH == 0 {
		return frame, wireLen
	}
	change(&p)
	p.SealIPv4()
	p.SealICRC()
	out := p.Append(nil)
	return out, len(out)
}

func changed(change func(p *packet.Packet)) func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
	return func(v *variation, frame []byte, wireLen int, p packet.Packet) error {
		frame, wireLen = v.edit(frame, wireLen, p, change)
		return v.deliver(v.how, frame, wireLen, &p)
	}
}

// networkFields are changes before the BTH.
var networkFields = []func(p *packet.Packet){
	func(p *packet.Packet) { p.TClass ^= 1 },
	func(p *packet.Packet) { p.TClass ^= 4 },
	func(p *packet.Packet) { p.HopLmt-- },
	func(p *packet.Packet) { p.HopLmt = 1 },
	func(p *packet.Packet) { p.SrcPort++ },
	func(p *packet.Packet) { p.FlowLabel++ },
	func(p *packet.Packet) { p.IPID-- },
	func(p *packet.Packet) { p.IPID ^= 0x8000 },
	func(p *packet.Packet) { p.SL ^= 1 },
	func(p *packet.Packet) { p.VL ^= 1 },
	func(p *packet.Packet) { p.UDPSum++ },
	func(p *packet.Packet) { p.PayLen++ },
	func(p *packet.Packet) { p.PktLen++ },
	func(p *packet.Packet) { p.Src, p.SGID, p.SLID = p.Dst, p.DGID, p.DLID },
}

// changeField changes a field of the transport's headers, or a byte of a management datagram.
func changeField(r *rand.Rand, p *packet.Packet) {
	if n := len(p.Payload); p.DestQP <= 1 && n >= 64 && r.IntN(5) > 0 {
		at := r.IntN(n)
		switch r.IntN(4) {
		case 0:
			at = r.IntN(24)
		case 1:
			at = r.IntN(min(n, 128))
		}
		b := p.Payload[at]
		p.Payload[at] = []byte{b ^ 1<<r.IntN(8), b + 1, b - 1, 0, 0xFF, byte(r.Uint32())}[r.IntN(6)]
		return
	}
	for range tries {
		m := planted.FieldMutations[r.IntN(len(planted.FieldMutations))]
		if p.Has&m.Has == m.Has && (m.Has != packet.HasBTH || r.IntN(2) == 0) && m.Do(r, p) {
			return
		}
	}
}
