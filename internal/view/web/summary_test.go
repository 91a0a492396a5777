package web

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"ibwitness/internal/view/report"
)

// TestSameAsText: the page says the verdict, what it rests on and what is counted beside it in the words of the text report.
func TestSameAsText(t *testing.T) {
	for _, file := range []string{"rnr_retry_exceeded.pcap", "k612_many_faults.gb.pcap.gz", "k612_delay_over_timeout.ra.pcap.gz", "election-a.pcap.zst", "election-b.pcap.zst", "k6.1_nfs_link_flap.pcap.zst", "cm_rping_ipv6.pcap"} {
		run := judged(t, "../../../testdata/captures/"+file)
		var text bytes.Buffer
		sink, err := report.New("text", report.Options{Width: 110})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Report(&text, run); err != nil {
			t.Fatal(err)
		}
		m := NewModel(Options{})
		m.Finish(run)
		s := m.Summary()
		head, _, _ := strings.Cut(text.String(), "\n\n")
		if want, got := strings.Join(strings.Fields(head), " "), strings.TrimSpace(s.Verdict+" "+s.Sentence+" "+s.Also); got != want {
			t.Errorf("%s: the page says\n%s\nand the text\n%s", file, got, want)
		}
	}
}

// TestTroubleOfNodes: the connections of management datagrams count the findings on them, whose endpoints are named as nodes of the subnet.
func TestTroubleOfNodes(t *testing.T) {
	m := NewModel(Options{})
	m.Finish(judged(t, "../../../testdata/captures/election-a.pcap.zst"))
	var all byKind
	for _, c := range m.Connections(ConnectionsQuery{Limit: 100}).Items {
		for k, n := range c.Trouble {
			all[k] += n
		}
	}
	if s := m.Summary(); all[warning] != s.Counts[warning] || all[warning] == 0 || all[unproven] != s.Counts[unproven] {
		t.Errorf("connections count %v, of %v", all, s.Counts)
	}
}

// TestEventAccusesNobody: the ladder of a legal event names roles, and accuses no end.
func TestEventAccusesNobody(t *testing.T) {
	s := finishedServer(t, capture)
	for class, accused := range map[string]int{"event": 0, "violation": 1} {
		var list answered
		get(t, s, "/api/findings?class="+class+"&limit=1", 200, &list)
		var drawn struct {
			Ends []struct {
				Role    string
				Accused bool
			}
		}
		get(t, s, "/api/finding/"+strconv.FormatUint(list.Items[0].ID, 10)+"/ladder", 200, &drawn)
		n := 0
		for _, e := range drawn.Ends {
			if e.Accused {
				n++
			}
			if e.Role == "" {
				t.Errorf("%s: an end without a role", class)
			}
		}
		if n != accused {
			t.Errorf("%s: %d ends are accused, want %d", class, n, accused)
		}
	}
}
