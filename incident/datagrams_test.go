package incident_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/incident"
	"ibwitness/internal/scenario"
)

// logged runs a scenario with the logs of its adapters, and returns what it tells.
func logged(t *testing.T, text string) []incident.Incident {
	t.Helper()
	sc, err := scenario.Read("scenario.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	run, err := sc.Start(scenario.Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	result, err := agent.Run(context.Background(), run.Source, agent.Options{Near: run.NearAddrs(), Workers: 1, Events: run.Logs()})
	if err != nil {
		t.Fatal(err)
	}
	return incident.Of(result)
}

// unreliable is SENDs of UD: for so many receive requests, with a Q_Key.
const unreliable = `
about: SENDs on UD
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
attributes: {type: UD, qkey: 0x1234}
qps:
  a1: {hca: a}
  b1: {hca: b}
taps: [b]
work:
  - {qp: b1, op: receive, length: 200, repeat: %d}
  - {qp: a1, op: send, length: 64, to: b1, repeat: 40, every: 1ms, qkey: %s}
`

// TestDatagrams: datagrams for which a queue pair has no receive request are told, as nobody else tells of them.
func TestDatagrams(t *testing.T) {
	for posted, want := range map[int]string{
		5:  "datagrams-dropped proven 40 datagrams came to the tap for 10.0.0.2 QP 0xa32, which had 5 receive requests: at least 35 were dropped, and nobody is told.",
		39: "datagrams-dropped proven 40 datagrams came to the tap for 10.0.0.2 QP 0xa32, which had 39 receive requests: at least 1 was dropped, and nobody is told.",
		40: "",
		60: "",
	} {
		got := ""
		for _, i := range logged(t, fmt.Sprintf(unreliable, posted, "0x1234")) {
			got += i.Kind.String() + " " + i.Certainty.String() + " " + i.What
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%d receive requests: %q, want %q", posted, got, want)
		}
	}
}

// TestDatagramsDropped: where receive requests were left, only many datagrams that were not received are told.
func TestDatagramsDropped(t *testing.T) {
	for _, k := range []struct {
		d    cq.Dropped
		want string
	}{
		{cq.Dropped{Came: 40, Posted: 20, Completed: 20, GoesOn: true}, "proven"},
		{cq.Dropped{Came: 40, Posted: 20, Completed: 20}, "likely"},
		{cq.Dropped{Came: 40, Posted: 60, Completed: 30, GoesOn: true}, "likely"},
		{cq.Dropped{Came: 40, Posted: 60, Completed: 38, GoesOn: true}, ""},
		{cq.Dropped{Came: 400, Posted: 600, Completed: 380, GoesOn: true}, ""},
	} {
		got := ""
		for _, i := range incident.Of(&agent.Result{Datagrams: []cq.Dropped{k.d}}) {
			got += i.Certainty.String()
		}
		if got != k.want {
			t.Errorf("%+v: %q, want %q", k.d, got, k.want)
		}
	}
}

// TestQKey: datagrams with another Q_Key than that of their destination are told, and those with its Q_Key are not.
func TestQKey(t *testing.T) {
	for qkey, want := range map[string]string{
		"0x1234": "",
		"0x5678": "datagrams-dropped proven 10.0.0.1 QP 0x9bc sent 40 datagrams with another Q_Key than that of 10.0.0.2 QP 0xa32, which drops them, and nobody is told.",
	} {
		got := ""
		for _, i := range logged(t, fmt.Sprintf(unreliable, 60, qkey)) {
			got += i.Kind.String() + " " + i.Certainty.String() + " " + i.What
		}
		if got != want {
			t.Errorf("Q_Key %s: %q, want %q", qkey, got, want)
		}
	}
}
