package incident

import (
	"fmt"
	"time"

	"ibwitness/cq"
	"ibwitness/rule"
)

// datagrams tells of queue pairs that received fewer datagrams than came to them: nobody else tells of that.
func (t *teller) datagrams() {
	for k := range t.run.Datagrams {
		if d := &t.run.Datagrams[k]; worthTelling(d) {
			t.dropped(d)
		}
	}
}

// misaddressed tells of queue pairs that sent datagrams with another Q_Key than that of their destination, which drops them.
func (t *teller) misaddressed() {
	type flow struct{ from, to rule.Endpoint }
	told := map[flow]*Incident{}
	sent := map[*Incident]uint64{}
	var order []*Incident
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.UDQKEY001 || f.Class != rule.Violation {
			continue
		}
		i := told[flow{f.Accused, f.Peer}]
		if i == nil {
			i = &Incident{
				Kind: DatagramsDropped, Certainty: Proven, Connections: 1, Begin: f.Time, Tap: f.Tap,
				Local: Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}, Peer: Party{f.Peer.Addr, f.Peer.QPN, f.Peer.QPNKnown},
			}
			i.show(f.Frame)
			i.fact("first", fmt.Sprintf("%s in place of the %s", f.Actual, f.Expected))
			told[flow{f.Accused, f.Peer}] = i
			order = append(order, i)
		}
		i.End = f.Time
		sent[i]++
	}
	for _, i := range order {
		i.Lost = time.Duration(i.End - i.Begin)
		i.What = fmt.Sprintf("%v sent %s with another Q_Key than that of %v, which drops them, and nobody is told.", &i.Local, count(sent[i], "datagram"), &i.Peer)
		i.FitsWith = []string{"the Q_Key of another queue pair, or of an earlier one with the same number", "a Q_Key that the two programs did not agree on"}
		i.Next = []string{"the Q_Key in the send requests of " + i.Local.String() + ", against that which " + i.Peer.String() + " was set up with", "the counter of Q_Key violations of " + i.Peer.Addr.String()}
		t.tell(i, "Q_Key "+fmt.Sprint(i.Peer.QPN))
	}
}

// From how many datagrams on it is worth telling that a queue pair did not receive them though a receive request may have been there: so many, and a tenth. Fewer may be what is on
// its way, or lies in a completion queue, when a program ends.
const fewDatagrams = 3

func worthTelling(d *cq.Dropped) bool {
	if d.Came > d.Posted {
		return true
	}
	n := d.Came - d.Completed
	return n >= fewDatagrams && n*tenth >= d.Came
}

// dropped tells of the datagrams that a queue pair did not receive.
func (t *teller) dropped(d *cq.Dropped) {
	i := &Incident{
		Kind: DatagramsDropped, Certainty: Likely, Local: Party{d.From, d.FromQPN, true}, Peer: Party{d.Addr, d.QPN, true}, Connections: 1,
		Begin: d.Begin.Time, End: d.Newest.Time, Tap: d.Begin.Tap, Lost: time.Duration(d.Newest.Time - d.Begin.Time),
	}
	i.show(d.Begin.Frame)
	if d.Newest.Tap == d.Begin.Tap {
		i.show(d.Newest.Frame)
	}
	came := fmt.Sprintf("%s came to the tap for %v", count(d.Came, "datagram"), &i.Peer)
	unready := d.Came > d.Posted
	if unready {
		i.What = fmt.Sprintf("%s, which had %s: at least %s %s dropped, and nobody is told.", came, count(d.Posted, "receive request"), number(d.Came-d.Posted), were(d.Came-d.Posted))
		if d.GoesOn {
			i.Certainty = Proven // whatever became of them between tap and queue pair
		}
	} else {
		i.What = fmt.Sprintf("%s, and %s completed, although %s were posted: %s were dropped on the way, or by it.", came, count(d.Completed, "receive request"), number(d.Posted), number(d.Came-d.Completed))
	}
	i.fact("received", fmt.Sprintf("%s of %s completed with success", number(d.Completed), count(d.Posted, "receive request")))
	if !d.GoesOn {
		i.fact("log", "tells of nothing after the newest of them: its program may have ended, or wait")
	}
	i.reasonsOfDrop(unready)
	t.tell(i, fmt.Sprint(d.QPN))
}

func (i *Incident) reasonsOfDrop(unready bool) {
	host := i.Peer.Addr.String()
	if unready {
		i.FitsWith = []string{"a receiver that posts too few receive requests, or posts them too late"}
		i.Next = []string{"how many receive requests the program on " + host + " keeps posted, against how many datagrams come at once", "out_of_buffer of " + host + ", which counts such drops on some adapters"}
		return
	}
	i.FitsWith = []string{"a receiver that had no receive request at times", "another P_Key than that of the datagrams", "a loss after the tap", "a program that has stopped polling"}
	i.Next = []string{"how many receive requests the program on " + host + " keeps posted, and whether it polls its completion queue", "the P_Keys of both ports", "out_of_buffer and rx_dropped of " + host}
}

func were(n uint64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
