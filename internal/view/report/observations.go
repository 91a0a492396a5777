package report

import "slices"

// Observations are what is told beside incidents, of programs, hosts and the capture: what limits the pace, what stopped, what took long. Each is a sentence or more. No rule is broken there.
func (r *Run) Observations() (list []string) {
	t := &text{Options: Options{All: true}, run: r, res: r.Result, noted: &list}
	t.observations()
	return list
}

// observations tells them.
func (t *text) observations() {
	list := t.run.Incidents()
	if len(list) > 0 {
		t.besideIncidents(list)
		return
	}
	t.order()
	t.datagramsMissing()
	t.unechoed()
	t.ended()
	t.few(slices.Concat(t.hanging(), t.limited(), t.failed(), t.left()))
	switch u := t.unfinishedExchange(); {
	case t.standstills(list):
	case u == nil:
		t.quieted()
	case t.noted != nil: // else it was told first
		t.prose("  ", u.String())
	}
	if t.disordered() {
		return
	}
	t.few(t.shares())
	t.few(t.tails())
	t.readsFirst()
	t.commands()
	waits := t.waitsTold() // first, as turns leaves out what that explains
	t.turns()
	if len(t.longTurns(longestTurn)) == 0 {
		t.spikes()
	}
	t.few(append(t.slowHosts(), t.commandless()))
	if waits == "" {
		t.paces()
		return
	}
	t.prose("  ", waits)
}
