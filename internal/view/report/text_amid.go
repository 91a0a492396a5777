package report

import (
	"ibwitness/incident"
	"ibwitness/rule"
)

// amidKinds are what has adapters do what they seldom do, and so break rules then, in the words of the verdict line.
var amidKinds = map[incident.Kind]string{
	incident.Damage: "packets were damaged", incident.Retransmitting: "packets were retransmitted", incident.Loss: "packets were retransmitted", incident.Trimmed: "packets were trimmed",
	incident.Reordered: "packets came out of order",
}

// amid has the verdict line end with what happened, where all violations were found while that lasted, of the same hosts: ", while packets were
// damaged (see below)". It does not say that one led to the other.
func (t *text) amid() string {
	list, all := t.run.Incidents(), uint64(0)
	if len(list) == 0 || amidKinds[list[0].Kind] == "" {
		return ""
	}
	for n := range t.list {
		if e := &t.list[n]; violation(e, rule.Error) {
			all += e.Times()
		}
	}
	for _, f := range list[0].Found {
		if f.Class == rule.Violation && f.Rule.Row().Severity == rule.Error && !f.Least {
			all -= min(all, f.Count)
		}
	}
	if all > 0 {
		return ""
	}
	return ", while " + amidKinds[list[0].Kind] + " (see below)"
}

// formOnly has the verdict line begin with what happened, where all violations are of the form of CNPs and the first incident is of a sender that
// does not heed them: "10.0.0.1 QP 0x12 does not slow down at CNPs (told first); beside that, "; "": it is not so.
func (t *text) formOnly() string {
	list := t.run.Incidents()
	if len(list) == 0 || list[0].Headline == "" {
		return ""
	}
	for n := range t.list {
		if e := &t.list[n]; violation(e, rule.Error) && e.Rule != rule.CNGCNP003 {
			return ""
		}
	}
	return list[0].Headline + " (told first); beside that, "
}
