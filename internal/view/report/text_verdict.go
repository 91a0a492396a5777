package report

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/incident"
	"ibwitness/rule"
)

// Head is the verdict line of a run as the text has it: the word that it begins with, and the sentence after it.
func (r *Run) Head() (word, sentence string) {
	t := &text{run: r, res: r.Result, list: entries(r.Result.Findings, false)}
	t.count = tallyOf(t.list)
	return t.head(r.Verdict())
}

// head is the verdict in a word and a sentence.
func (t *text) head(v Verdict) (word, sentence string) {
	word = t.verdictHead(v)
	switch v {
	case Violated:
		sentence = t.breach(t.count.violations, "violation", "by", func(e *Entry) bool { return violation(e, rule.Error) })
		if first := t.formOnly(); first != "" {
			sentence = first + sentence
		} else {
			sentence += t.amid()
		}
	case Warned:
		sentence = t.breach(t.count.warnings, "warning", "by", func(e *Entry) bool { return violation(e, rule.Warning) })
	case Incomplete:
		sentence = "nothing violated in the part that was judged"
		if t.res.RDMA == 0 {
			sentence = "nothing was judged: no InfiniBand or RoCE packet in the part that could be read"
		}
	case NotJudged:
		sentence = t.nothing()
	case NotProven:
		sentence = t.suspicions(word == failed)
		if l := t.limit(); l != "" {
			sentence = strings.Replace(sentence, noneProven, noneProven+", but "+l, 1)
		}
	case Open, Clean:
		c := coverageOf(t.res)
		if sentence = NothingViolated(len(t.run.Incidents()), c.exercised, c.total); v == Open {
			sentence += "; " + t.unanswered()
		} else if h := t.programStopped(); word == midway && h != nil {
			sentence = t.butStopped(sentence, h)
		} else if u := t.unfinishedExchange(); word == midway {
			sentence = strings.Replace(sentence, "nothing violated", "nothing violated, but "+u.head(), 1)
		}
		if l := t.limit(); l != "" && word != midway {
			sentence = strings.Replace(sentence, "nothing violated", "nothing violated, but "+l, 1)
		}
	}
	return word, sentence
}

// verdict writes the line that a reader who reads one line needs.
func (t *text) verdict() {
	v := t.run.Verdict()
	head, rest := t.head(v)
	lead := head + "  "
	for i, l := range wrap(rest, min(t.Width, 110)-len(lead)) {
		if i > 0 {
			t.line("%s%s", strings.Repeat(" ", len(lead)), l)
			continue
		}
		t.line("%s  %s", t.paintVerdict(v, head), t.bold(l))
	}
	if also := t.also(v); also != "" {
		for _, l := range styled(also, min(t.Width, 110)-len(lead)) {
			t.line("%s%s", strings.Repeat(" ", len(lead)), l)
		}
	}
}

// failed is what the verdict line begins with in place of CLEAN where more happened than networks do under load, though nothing was violated: that is not what a reader who reads one line calls clean.
// So it does where something is suspected, and what happened would explain all of that.
const failed = "INCIDENT"

// midway is what it begins with where nothing happened to any request, or nothing that cost much, and yet the traffic of several hosts stopped in the middle of what they do, or a program answers no more.
const midway = "STOPPED"

// verdictHead is what the verdict line begins with.
func (t *text) verdictHead(v Verdict) string {
	if v == NotProven && len(t.run.Incidents()) > 0 && (t.excuse() != "" && !t.icrcsOpen() || len(t.open()) == 0) {
		return failed
	}
	switch {
	case v != Clean:
	case t.programStopped() != nil, len(t.run.Incidents()) == 0 && len(t.res.Skewed) == 0 && t.unfinishedExchange() != nil:
		return midway
	case len(t.res.Skewed) > 0, slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool { return !i.Ordinary() }):
		return failed
	}
	return v.String()
}

// paintVerdict colours what the verdict line begins with.
func (t *text) paintVerdict(v Verdict, head string) string {
	if head == failed || head == midway {
		return t.paint.yellow(head)
	}
	return t.paint.verdict(v, head)
}

// unanswered says which requests had no response when the capture ended, or that it does not hold the responses.
func (t *text) unanswered() string {
	o := &t.res.Open
	if t.oneWay() && !o.Again {
		return "the capture holds one direction only, and so no response to " + count(o.Requests, "request")
	}
	return openOf(t.res)
}

// oneWay reports whether the capture holds one direction of each connection only.
func (t *text) oneWay() bool {
	return slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool { return i.OneSided() })
}

// OneRule names the only rule that findings are of: "RC-RTY-001 (retry-limit)".
func OneRule(id, name string) string { return id + " (" + name + ")" }

// breach counts findings, their rules and who is accused, where whom has a word for that: "4 violations of 2 rules by 10.0.0.2".
func (t *text) breach(n int, noun, whom string, of func(*Entry) bool) string {
	broken := map[rule.ID]bool{}
	seen := map[string]bool{}
	var who, damaged []string
	only := OnlyDamaged(t.res)
	all := uint64(0)
	for i := range t.list {
		e := &t.list[i]
		if !of(e) {
			continue
		}
		broken[e.Rule] = true
		all += e.Times()
		name := "the " + e.Accused.Role.String()
		if !e.Accused.Addr.IsZero() {
			name = where(&e.Accused)
		}
		switch {
		case seen[name]:
		case only[e.Accused.Addr]:
			damaged = append(damaged, name)
		default:
			who = append(who, name)
		}
		seen[name] = true
	}
	if len(who) == 0 {
		who = damaged
	}
	const most = 3
	if len(who) > most+1 {
		who = append(who[:most], count(len(who)-most, "other"))
	}
	often := ""
	if all > uint64(n) {
		often = ", " + number(all) + " times in all"
	}
	rules := count(len(broken), "rule")
	for id := range broken {
		if len(broken) == 1 {
			rules = OneRule(id.Row().ID, id.Row().Name)
		}
	}
	if whom != "" {
		whom = " " + whom + " " + enumerate(who)
	}
	return fmt.Sprintf("%s of %s%s%s", count(n, noun), rules, whom, often)
}

func (t *text) unprovenErrors() (n int) {
	for i := range t.list {
		if e := &t.list[i]; e.Class == rule.Unproven && e.Rule.Row().Severity == rule.Error {
			n++
		}
	}
	return n
}

// also counts what the verdict line has not said.
func (t *text) also(v Verdict) string {
	c := &t.count
	a := Also{Warnings: uint64(c.warnings), Notes: uint64(c.notes), Unproven: uint64(c.unproven), Suspicions: uint64(t.unprovenErrors()), Waived: uint64(len(t.res.Waived)), Events: uint64(c.events), Open: t.res.Open.Requests}
	if s := a.Sentence(v); s != "" {
		return t.dim(s)
	}
	return ""
}

// nothing explains a capture without a packet to judge.
func (t *text) nothing() string {
	if t.res.RDMA > 0 {
		return Unjudged(t.res.RDMA, t.res.NotJudged)
	}
	if t.res.Packets == 0 {
		return "the capture holds no frame. Was the capturing program stopped before any traffic, or its filter too narrow?"
	}
	return NoRDMA(t.res.Packets, t.res.NotJudged) + ". Looked for UDP destination port 4791, " +
		"Ethertype 0x8915 and native InfiniBand, also inside VLAN, VXLAN, GRE, Geneve, MPLS and IP-in-IP. Check the interface and the " +
		"filter of the capture; an RDMA NIC keeps its traffic from the host's stack, so capture with tcpdump on the RDMA device " +
		"(-i mlx5_0), with ibdump, or at a mirror port."
}
