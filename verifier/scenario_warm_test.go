package verifier_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/rc"
)

// Each scenario runs as written and with the fast paths off; and where it has connections, both ways in warmed-up flows: legal messages come before
// the first packet of each, so that its packets meet the fast paths. With and without these all must be the same. What a warmed-up flow shows must be
// what is written, unless the scenario says that it is about the beginning of a flow: cold.

// warmMessages are the messages that each requester sends ahead.
const warmMessages = 4

// heat is what was put before the flows of a scenario.
type heat struct {
	frames []uint64          // that are not written
	shift  map[string]uint32 // by connection: what to add to MSNs, where they are known to begin with 0
	taken  bool              // the fast path of RC took the last of them
	needs  bool              // there is a connection of RC
}

// verifierOf is the verifier of a scenario's agent.
func (s *scenario) verifier() *verifier.Verifier {
	return (*verifier.Verifier)(reflect.ValueOf(s.agent).Elem().FieldByName("ver").UnsafePointer())
}

// rc is the verifier of RC.
func (s *scenario) rc() *rc.Verifier {
	return (*rc.Verifier)(reflect.ValueOf(s.agent).Elem().FieldByName("rc").UnsafePointer())
}

// everyWay runs a scenario in all ways, and returns it as written. fired are the rules found in warmed-up flows.
func everyWay(t *testing.T, opt *options, encap encap, input string, pos string, fired map[rule.ID]bool) (*scenario, error) {
	run := func(input string, thorough bool, h *heat) (*scenario, error) {
		s := newScenario(opt, encap)
		s.heat = h
		s.verifier().Thorough = thorough
		return s, s.run(input)
	}
	var found []string // what each run found
	pair := func(what, input string, h func() *heat) (*scenario, error) {
		fast, err := run(input, false, h())
		if err != nil {
			return fast, err
		}
		slow, err := run(input, true, h())
		if err != nil {
			return fast, fmt.Errorf("with the fast paths off: %w", err)
		}
		found = append(found, what+": "+fast.summary(), what+", with the fast paths off: "+slow.summary())
		if d := cmp.Diff(slow.agent.Rec.Findings, fast.agent.Rec.Findings); d != "" {
			t.Errorf("%s: %s: %s: a fast path swallows what the verifiers proper find: thorough (-) and fast (+):\n%s", pos, encap.name, what, d)
		}
		for id := range fast.agent.Rec.Cover {
			if a, b := slow.agent.Rec.Cover[id], fast.agent.Rec.Cover[id]; a != b {
				t.Errorf("%s: %s: %s: %v: %+v without the fast paths, %+v with them", pos, encap.name, what, rule.ID(id), a, b)
			}
		}
		if d := cmp.Diff(slow.agent.Shown, fast.agent.Shown); d != "" {
			t.Errorf("%s: %s: %s: without the fast paths (-) and with them (+) other things are counted:\n%s", pos, encap.name, what, d)
		}
		return fast, nil
	}
	s, err := pair("as written", input, func() *heat { return nil })
	if err != nil {
		return s, err
	}
	warmed, plan := s.warmUp(input)
	var w *scenario
	if plan != nil {
		w, err = pair("in warmed-up flows", warmed, func() *heat { return &heat{shift: maps.Clone(plan.shift), needs: plan.needs} })
	}
	for _, e := range s.check() {
		t.Errorf("%s: %s: %s; what the runs found (if only those with the fast paths off find it, a fast path swallows it):\n\t%s", pos, encap.name, e, strings.Join(found, "\n\t"))
	}
	same := w == nil || err == nil && w.print() == s.print() && (!w.heat.needs || w.heat.taken)
	opt.differs = opt.differs || !same
	switch {
	case w == nil || opt.cold:
	case err != nil:
		t.Errorf("%s: %s: in warmed-up flows: %v", pos, encap.name, err)
	case w.print() != s.print():
		t.Errorf("%s: %s: in warmed-up flows, with legal messages before the first packet, this is found:\n%snot:\n%sWhere another rule is right to fire in a flow that has begun, "+
			"write packets of that flow before, and with=RULE; where the scenario is about the beginning of a flow, say cold.", pos, encap.name, w.print(), s.print())
	default:
		if w.heat.needs && !w.heat.taken {
			t.Errorf("%s: %s: the flows did not warm up: the fast path of RC took none of the messages ahead; say cold where that is right", pos, encap.name)
		}
		for i := range w.agent.Rec.Findings {
			fired[w.agent.Rec.Findings[i].Rule] = true
		}
	}
	return s, nil
}

// summary counts what was found, by rule.
func (s *scenario) summary() string {
	times := map[string]int{}
	for i := range s.agent.Rec.Findings {
		if f := &s.agent.Rec.Findings[i]; f.Class != rule.Event {
			times[fmt.Sprintf("%v %v", f.Rule, f.Class)]++
		}
	}
	if len(times) == 0 {
		return "nothing"
	}
	return strings.TrimPrefix(fmt.Sprint(times), "map")
}

// flow is what a scenario says of one connection.
type flow struct {
	service  string
	ends     [2]string              // as the lines name them
	requests [2]bool                // by the end that sends
	start    [2]packet.PSN          // first PSN of each end
	fields   [2]map[string][]string // of the lines of each end, the fields that stay the same in a flow
	lines    [2]int
	at       int  // line before which it begins
	known    bool // the PSNs at which it begins are, and so its MSNs
	marked   bool // congestion experienced: it is ECN-capable
}

// kept are the fields that a flow keeps, or that say where it is seen.
var kept = []string{"pkey", "sport", "mig", "tclass", "dscp", "flow", "sl", "vl", "ttl", "grh", "encap", "tap", "way", "xrcsrq", "pcp", "mac", "src", "dst", "sgid", "dgid"}

// warmUp writes legal messages before the first packet of each connection. It returns nil where there is none, or where they would be more than
// packets: to verbs events and on links.
func (s *scenario) warmUp(input string) (string, *heat) {
	lines := strings.Split(input, "\n")
	var flows []*flow
	cm := map[string]bool{}
	plan := &heat{shift: map[string]uint32{}}
	for i, text := range lines {
		text, _, _ = strings.Cut(text, "#")
		words := strings.Fields(text)
		if len(words) < 3 || words[0] == "attr" {
			continue
		}
		src, dst, err := parseWay(words[1])
		if err != nil || strings.HasPrefix(s.encap.name, "link") {
			return "", nil
		}
		if strings.HasPrefix(words[2], "CM_") {
			cm[min(src.name, dst.name)+max(src.name, dst.name)] = true
			continue
		}
		o, _, err := parseOpcode(words[2])
		if sv := o.Service(); err != nil || sv > packet.UC && sv != packet.XRC || src.qpn == packet.PSNMask || dst.qpn == packet.PSNMask {
			continue
		}
		a, b, _ := strings.Cut(words[1], ">")
		var f *flow
		end := 0
		for _, g := range flows {
			if g.ends == [2]string{a, b} {
				f = g
			} else if g.ends == [2]string{b, a} {
				f, end = g, 1
			}
		}
		if f == nil {
			f = &flow{service: map[packet.Service]string{packet.RC: "", packet.UC: "UC_", packet.XRC: "XRC_"}[o.Service()], ends: [2]string{a, b}, at: i, fields: [2]map[string][]string{{}, {}}}
			f.known = cm[min(src.name, dst.name)+max(src.name, dst.name)]
			flows = append(flows, f)
		}
		fs, _ := parseFields(words[3:])
		f.lines[end]++
		for k, name := range fs.names {
			f.marked = f.marked || name == "ecn"
			if slices.Contains(kept, name) {
				f.fields[end][name] = append(f.fields[end][name], name+"="+fs.values[k])
			}
		}
		if o.Info().Request && !f.requests[end] {
			f.requests[end], f.start[end] = true, src.start
			if n, ok := fs.number("psn"); ok {
				f.start[end] = packet.PSN(n & packet.PSNMask)
			}
		}
	}
	flows = slices.DeleteFunc(flows, func(f *flow) bool { return f.requests == [2]bool{} })
	if len(flows) == 0 {
		return "", nil
	}
	for _, f := range flows {
		f.begin(lines)
		if f.known {
			plan.shift[f.key()] = warmMessages
		}
		plan.needs = plan.needs || f.service == ""
	}
	slices.SortStableFunc(flows, func(a, b *flow) int { return b.at - a.at })
	for _, f := range flows {
		lines = slices.Concat(lines[:f.at], f.messages(lines), lines[f.at:])
	}
	return strings.Join(lines, "\n"), plan
}

// key names a connection by its hosts.
func (f *flow) key() string {
	a, b := f.ends[0][:1], f.ends[1][:1]
	return min(a, b) + max(a, b)
}

// begin has what CM and attributes say of where the QPs of a connection begin leave room for the messages ahead.
func (f *flow) begin(lines []string) {
	told := [2]bool{}
	for i, text := range lines[:f.at] {
		body, _, _ := strings.Cut(text, "#")
		words := strings.Fields(body)
		ahead := func(k, end int, otherwise packet.PSN) { // field k of the line is where an end begins
			if told[end] || !f.requests[end] {
				return
			}
			told[end] = true
			f.start[end] = otherwise
			name, v, _ := strings.Cut(words[max(k, 0)], "=")
			if n, err := strconv.ParseUint(v, 0, 64); k >= 0 && err == nil {
				f.start[end] = packet.PSN(n)
				words[k] = fmt.Sprintf("%s=%d", name, f.start[end].Add(-warmMessages))
			} else {
				words = append(words, fmt.Sprintf("psn=%d", f.start[end].Add(-warmMessages)))
			}
			lines[i] = strings.Join(words, " ")
		}
		field := func(name string) int {
			return slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, name+"=") })
		}
		if len(words) > 2 && words[0] == "attr" && slices.Contains(f.ends[:], words[1]) {
			end := slices.Index(f.ends[:], words[1])
			if k := field("sqpsn"); k >= 0 {
				f.known = true
				told[end] = false
				ahead(k, end, 0)
			}
			if k := field("rqpsn"); k >= 0 {
				f.known = true
				told[1-end] = false
				ahead(k, 1-end, 0)
			}
			continue
		}
		if len(words) < 3 || !strings.HasPrefix(words[2], "CM_") || !strings.HasSuffix(words[2], "_REQ") && !strings.HasSuffix(words[2], "_REP") || strings.Contains(words[2], "SIDR") {
			continue
		}
		src, dst, _ := parseWay(words[1])
		for end := range 2 { // the psn of a REQ or REP is where its receiver starts to send
			if k := f.ends; strings.HasPrefix(k[end], dst.name) && strings.HasPrefix(k[1-end], src.name) {
				ahead(field("psn"), end, dst.start)
			}
		}
	}
}

// messages are the lines ahead. They come after the line before them, or well before the first.
func (f *flow) messages(lines []string) (out []string) {
	var from, to time.Duration
	first := true
	for i, text := range lines[:f.at+1] {
		body, _, _ := strings.Cut(text, "#")
		words := strings.Fields(body)
		if len(words) == 0 || words[0] == "attr" {
			continue
		}
		d, _ := time.ParseDuration(strings.TrimPrefix(words[0], "+"))
		if from = to; words[0][0] == '+' {
			d += to
		}
		to = d
		if i < f.at {
			first = false
		} else {
			words[0] = to.String()
			lines[i] = strings.Join(words, " ")
		}
	}
	if first {
		from = to - time.Millisecond
	}
	var keep [2]string
	for end, fields := range f.fields {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if v := fields[name]; (f.lines[end] > 1 || name == "tap" || name == "way" || name == "encap") && len(v) == f.lines[end] && len(slices.Compact(slices.Clone(v))) == 1 {
				keep[end] += " " + v[0]
			}
		}
	}
	if f.marked {
		keep[0], keep[1] = keep[0]+" ecn=2", keep[1]+" ecn=2"
	}
	sent := [2]int{}
	add := func(end int, format string, args ...any) {
		src, _ := parseEnd(f.ends[end])
		out = append(out, fmt.Sprintf("TIME %s>%s %s%s ipid=%d%s ahead", f.ends[end], f.ends[1-end], f.service, fmt.Sprintf(format, args...), src.n<<12-64+uint64(sent[end]), keep[end]))
		sent[end]++
	}
	for i := range warmMessages {
		for end := range 2 {
			if !f.requests[end] {
				continue
			}
			psn, msn := f.start[end].Add(i-warmMessages), uint32(i+1-warmMessages)&packet.PSNMask
			if f.known {
				msn = uint32(i + 1)
			}
			demand := " ackreq"
			if f.service == "UC_" {
				demand = ""
			}
			add(end, "SEND_ONLY psn=%d len=16%s", psn, demand)
			if demand != "" {
				add(1-end, "ACK psn=%d msn=%d", psn, msn)
			}
		}
	}
	for i := range out {
		at := from + (to-from)*time.Duration(i+1)/time.Duration(len(out)+1)
		out[i] = strings.Replace(out[i], "TIME", at.String(), 1)
	}
	return out
}

// ahead reads a line that warmUp has written, and forgets that it did.
func (s *scenario) ahead(words []string) error {
	qps := s.qps
	s.qps = maps.Clone(qps)
	for k, q := range s.qps {
		c := *q
		s.qps[k] = &c
	}
	shift := s.heat.shift
	s.heat.shift = nil
	err := s.packet(words)
	s.qps, s.heat.shift = qps, shift
	s.heat.frames = append(s.heat.frames, s.frames)
	s.heat.taken = s.rc().FastPathPackets() > 0
	return err
}

// written is the number that a frame has in the scenario as written; 0: it comes before that.
func (s *scenario) written(frame uint64) uint64 {
	if s.heat == nil {
		return frame
	}
	n := frame
	for _, f := range s.heat.frames {
		switch {
		case f == frame:
			return 0
		case f < frame:
			n--
		}
	}
	return n
}

var msnText = regexp.MustCompile(`\bMSN (\d+)`)

// cool writes a line of a warmed-up flow as it would be without: MSNs.
func (s *scenario) cool(line string) string {
	if s.heat == nil || len(s.heat.shift) == 0 {
		return line
	}
	return msnText.ReplaceAllStringFunc(line, func(m string) string {
		n, _ := strconv.Atoi(m[4:])
		return fmt.Sprintf("MSN %d", uint32(n-warmMessages)&packet.PSNMask)
	})
}
