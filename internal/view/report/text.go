package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
)

// text is the report for people. The verdict comes first, then what led to it, then what was seen and what was not judged.
type text struct {
	Options
	paint
	out   *bufio.Writer
	run   *Run
	res   *agent.Result
	list  []Entry
	count tally
	// narrow says that what is wider than Width is broken: on a terminal, which would break it within words.
	narrow bool
	noted  *[]string // where sentences go in place of the output; nil: they are written
	rounds struct {
		known bool
		idle  []timing.Sent // see betweenRounds
	}
	timed struct {
		known bool
		list  []*agent.Connection // see measured
	}
	quiets struct {
		known bool
		wentQuiet
		ok bool
	}
	slow    *string       // see limit; nil: not looked for
	waited  time.Duration // for the host that lastOfRounds names
	rounded []packet.Addr // hosts that go in rounds, of which lastOfRounds names one that is late most of the time
	waitsUp bool          // that was told before incidents
	readsUp bool          // what bounds READs was told before how long commands took
	hungUp  bool          // likewise programs that answer no more
	shared  []shared      // servers of which it is told how long commands of their clients took
	stopped struct {
		known    bool
		exchange *unfinished // see unfinishedExchange
	}
}

// Report writes the report.
func (t *text) Report(w io.Writer, run *Run) error {
	if t.Width == 0 {
		t.Width = 100
	} else {
		t.narrow = true
	}
	t.Width = max(t.Width, 36)
	t.paint = newPaint(t.Color)
	t.out, t.run, t.res = bufio.NewWriterSize(w, 1<<16), run, run.Result
	t.list = entries(t.res.Findings, t.All)
	t.count = tallyOf(t.list)

	t.verdict()
	t.problems()
	t.caveats()
	beside := slices.Concat(emptyWrites(t.res), othersOf(t.res))
	first := t.othersFirst(beside)
	if first {
		t.line("")
		t.otherFrames(beside, true)
	}
	t.incidents()
	t.errors()
	if t.seen(); !first && len(beside) > 0 {
		t.otherFrames(beside, false)
	}
	t.findings("Violations", t.red, func(e *Entry) bool { return violation(e, rule.Error) })
	t.findings("Warnings", t.yellow, func(e *Entry) bool { return violation(e, rule.Warning) })
	t.findings("Notes", t.bold, func(e *Entry) bool { return violation(e, rule.Info) })
	t.findings("Not proven", t.yellow, func(e *Entry) bool { return e.Class == rule.Unproven })
	t.unprovenHint()
	t.waived()
	t.events()
	t.latencies()
	t.top()
	t.timing()
	t.connections()
	t.settings()
	if t.res.RDMA > 0 {
		t.coverage()
	}
	t.notJudged()
	return t.out.Flush()
}

func violation(e *Entry, s rule.Severity) bool {
	return e.Class == rule.Violation && e.Rule.Row().Severity == s
}

func (t *text) line(format string, args ...any) {
	if t.noted == nil {
		fmt.Fprintf(t.out, format+"\n", args...)
	}
}

// flow writes a line after a margin. Where it is too wide it goes on further in.
func (t *text) flow(margin, words string) {
	room := t.Width - len(margin)
	if !t.narrow || ansi.StringWidth(words) <= room {
		t.line("%s%s", margin, words)
		return
	}
	for i, l := range styled(words, room-4) {
		if i == 1 {
			margin += "    "
		}
		t.line("%s%s", margin, strings.TrimLeft(l, " "))
	}
}

// unbroken is a hyphen at which ansi.Wordwrap does not break: names of rules and events have hyphens.
const unbroken = "\u2011"

// styled breaks text that may have colours at blanks into lines of at most width columns.
func styled(words string, width int) []string {
	kept := ansi.Wordwrap(strings.ReplaceAll(words, "-", unbroken), width, "")
	return strings.Split(strings.ReplaceAll(kept, unbroken, "-"), "\n")
}

func (t *text) lines(lines []string) {
	for _, l := range lines {
		words := strings.TrimLeft(l, " ")
		t.flow(l[:len(l)-len(words)], words)
	}
}

// prose writes text, wrapped, after a lead that only its first line has.
func (t *text) prose(lead, words string) {
	if t.noted != nil {
		*t.noted = append(*t.noted, words)
		return
	}
	words, next, _ := strings.Cut(words, " Next: ")
	blank := strings.Repeat(" ", len(lead))
	for i, l := range wrap(words, min(t.Width, 110)-len(lead)) {
		if i > 0 {
			lead = blank
		}
		t.line("%s%s", lead, l)
	}
	t.part("next", strings.TrimSuffix(next, "."))
}

func (t *text) heading(title string) { t.line("\n%s", t.bold(title)) }

// problems says what was wrong with the input, and that the run was stopped.
func (t *text) problems() {
	if t.run.Interrupted {
		t.line("%s", t.yellow("! interrupted: this is what was judged so far"))
	}
	for _, p := range t.run.Problems {
		for i, l := range wrap(p.Message, min(t.Width, 110)-2) {
			t.line("%s%s", t.yellow([...]string{"! ", "  "}[min(i, 1)]), l)
		}
	}
}

// caveats says what keeps the report from being trusted.
func (t *text) caveats() {
	for _, c := range Caveats(t.res) {
		for i, l := range wrap(c, min(t.Width, 110)-2) {
			t.line("%s%s", t.yellow([...]string{"! ", "  "}[min(i, 1)]), l)
		}
	}
}

// seen says what the capture holds.
func (t *text) seen() {
	r := t.res
	s := count(r.Packets, "frame")
	if len(r.Taps) == 1 {
		s = tapName(r.Taps[0]) + ": " + s
	}
	if r.Packets > 0 {
		s += " over " + span(time.Duration(r.Last-r.First))
	}
	s += "; " + count(r.RDMA, "InfiniBand or RoCE packet")
	if how := encapsulations(r); len(how) > 0 {
		s += " (" + enumerate(how) + ")"
	}
	if len(r.Connections) > 0 {
		s += " on " + count(len(r.Connections), "connection")
	}
	if r.Repeated > 0 {
		s += "; " + number(r.Repeated) + " seen at more than one tap"
	}
	switch {
	case r.Dropped > 0:
		s += "; the capture lost " + count(r.Dropped, "packet")
	case r.Gaps > 0:
		s += "; it reports no drops, but lost packets, as MSNs show"
	default:
		s += "; no drops reported"
	}
	t.line("")
	t.prose("Seen    ", s)
	t.logClocks()
	t.logsUnseen()
	if len(r.Taps) > 1 {
		t.taps(r.Taps)
	}
}

// encapsulations are how the packets were carried.
func encapsulations(r *agent.Result) (how []string) {
	carried := map[packet.Encap]bool{}
	for i := range r.Connections {
		if e := r.Connections[i].Encap; e != packet.NoEncap && !carried[e] {
			carried[e] = true
			how = append(how, e.String())
		}
	}
	return how
}

// taps lists the taps, and what each has lost.
func (t *text) taps(taps []fabricagent.Tap) {
	const most = 8
	for i, tap := range taps {
		if i == most && !t.All && len(taps) > most+1 {
			t.line("        … and %s", count(len(taps)-most, "more tap"))
			break
		}
		name := tapName(tap)
		if tap.Dropped > 0 {
			name += ", lost " + count(tap.Dropped, "packet")
		}
		t.line("        tap %d: %s", i, name)
	}
}

// logClocks says how the clocks of logs of verbs events were aligned, where they differ for certain from that of the capture.
func (t *text) logClocks() {
	for _, c := range t.res.LogClocks {
		if c.Known && !c.SetBack && !c.Finer && c.Ahead.Abs() <= c.Within && !t.All {
			continue
		}
		s := "clock of " + printable(c.Log) + ": "
		switch way := " ahead of"; {
		case !c.Known:
			s += "taken to be that of the capture; no packet of it shows more"
		default:
			if c.Ahead < 0 {
				way = " behind"
			}
			s += span(c.Ahead.Abs()) + way + " that of the capture, to within " + span(c.Within)
		}
		if c.Finer {
			s += "; it is said to be that of the capture, whose microseconds do not tell in which order its events and packets came: save the capture with nanoseconds"
		}
		if c.SetBack {
			s += "; it was set back in the run, so that its times prove nothing"
		}
		t.prose("        ", s)
	}
}

func tapName(tap fabricagent.Tap) string {
	name := tap.File
	if name == "-" {
		name = "standard input"
	}
	if tap.Interface != "" {
		name += ", interface " + tap.Interface
	}
	return printable(name)
}

// notJudged says what was left out, and why.
func (t *text) notJudged() {
	if len(t.res.NotJudged) == 0 {
		return
	}
	t.heading("Not judged")
	tab := newTable(">", "")
	const most = 12
	for i, n := range t.res.NotJudged {
		if i == most && !t.All && len(t.res.NotJudged) > most+1 {
			tab.add("", fmt.Sprintf("… and %d more reasons (--all)", len(t.res.NotJudged)-most))
			break
		}
		tab.add(number(n.Count), printable(n.Reason))
	}
	t.lines(tab.lines("  ", t.dim))
}

// measured are the connections whose times were measured. All passes that need times go over them: of 100,000 connections that have none, each pass would
// fetch them all from memory.
func (t *text) measured() []*agent.Connection {
	if !t.timed.known {
		t.timed.known = true
		for i := range t.res.Connections {
			if c := &t.res.Connections[i]; c.Timing != nil {
				t.timed.list = append(t.timed.list, c)
			}
		}
	}
	return t.timed.list
}
