package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/header"
)

// nakedTrims is what PSN sequence NAKs asked for of what had come trimmed.
type nakedTrims struct {
	times map[trimmedQP]map[packet.PSN]int64 // when a PSN came trimmed, the last time
	asked map[trimmedQP]uint32               // NAKs
	psns  map[trimmedQP]map[packet.PSN]bool  // that they asked for
}

func newNakedTrims() nakedTrims {
	return nakedTrims{map[trimmedQP]map[packet.PSN]int64{}, map[trimmedQP]uint32{}, map[trimmedQP]map[packet.PSN]bool{}}
}

// came takes a packet of a queue pair that came trimmed.
func (n *nakedTrims) came(q trimmedQP, psn packet.PSN, at int64) {
	if n.times[q] == nil {
		n.times[q], n.psns[q] = map[packet.PSN]int64{}, map[packet.PSN]bool{}
	}
	n.times[q][psn] = at
}

// asks takes a PSN sequence NAK, and reports whether it asks for what had come trimmed, and when that had, the last time.
func (n *nakedTrims) asks(f *rule.Finding) (since int64, trimmed bool) {
	q := qpOf(&f.Peer)
	if since, trimmed = n.times[q][f.PSN]; trimmed {
		n.asked[q]++
		n.psns[q][f.PSN] = true
	}
	return since, trimmed
}

// distinct is how many packets they asked for.
func (n *nakedTrims) distinct() (sum uint64) {
	for _, psns := range n.psns {
		sum += uint64(len(psns))
	}
	return sum
}

// asksForTrims says how many of all PSN sequence NAKs of a receiver ask for what had come trimmed.
func (r *repairs) asksForTrims(naks uint64) string {
	part := fmt.Sprintf("%s of its %s ask", number(r.asked), count(naks, "PSN sequence NAK"))
	if r.asked == naks {
		part = fmt.Sprintf("all of its %s, for %s, ask", count(naks, "PSN sequence NAK"), count(r.naked.distinct(), "PSN"))
	}
	return part + " for just what came trimmed"
}

// onlyTrimsNaked reports whether a receiver asked for nothing of end from of c but what had come trimmed, and took what had passed the tap whole before it asked for that: others had overtaken it, as trimmed packets do.
func (t *teller) onlyTrimsNaked(c *agent.Connection, from int, k *qp.Trouble) bool {
	e, to := &c.Ends[from], &c.Ends[1-from]
	if k.Asked.After == 0 {
		return true
	}
	if k.Asked.Late < k.Asked.After || !t.cut[way{e.Addr, to.Addr}] || !e.QPNKnown || t.limited() {
		return false
	}
	return to.SequenceNAKs == t.repairsTo(to.Addr).naked.asked[trimmedQP{e.Addr, e.QPN}]
}

// trimmedDSCPs is with which DSCP packets came that were trimmed, and which others of their connection have.
type trimmedDSCPs struct {
	came, usual uint8
	n           uint64
}

// takeDSCP takes the DSCP of a packet that was trimmed.
func (r *repairs) takeDSCP(detail string) {
	came, usual, known := header.TrimmedDSCP(detail)
	if !known {
		return
	}
	at := slices.IndexFunc(r.dscps, func(d trimmedDSCPs) bool { return d.came == came && d.usual == usual })
	if at < 0 {
		at, r.dscps = len(r.dscps), append(r.dscps, trimmedDSCPs{came: came, usual: usual})
	}
	r.dscps[at].n++
}

// tellDSCP says with which DSCP they came.
func (i *Incident) tellDSCP(list []trimmedDSCPs) {
	slices.SortStableFunc(list, func(a, b trimmedDSCPs) int { return cmp.Compare(b.n, a.n) })
	var said []string
	for _, d := range list[:min(len(list), portsShown)] {
		s := fmt.Sprintf("%d in place of %d", d.came, d.usual)
		if len(list) > 1 {
			s += fmt.Sprintf(" (%s)", count(d.n, "packet"))
		}
		said = append(said, s)
	}
	i.fact("DSCP", enumerate(said))
}

// unmarkedTrims says that the capture shows no sign of congestion but the trimmed packets.
func (t *teller) unmarkedTrims(i *Incident) {
	if t.limited() || t.run.Packets == 0 || t.run.Cover[rule.EvCE].Exercised+t.run.Cover[rule.EvCNP].Exercised > 0 {
		return
	}
	i.fact("marks", "none: no packet in the capture has a CE mark, and it holds no CNP")
}
