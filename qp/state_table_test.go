package qp

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/packet"
)

// stateTable reads a table of states from the comment of the package: the states of its columns, and the cells of a row by its event. Columns begin where their
// heads do; a line with nothing below the first state goes on with the row above it.
func stateTable(t *testing.T, head string) (states []string, rows map[string][]string) {
	t.Helper()
	source, err := os.ReadFile("qp.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(source), "//\t"+head)
	if !found {
		t.Fatalf("the comment of the package has no table that begins with %q", head)
	}
	table, _, _ = strings.Cut(table, "\n//\n")
	lines := strings.Split(head+table, "\n")
	columns := regexp.MustCompile(`\S+(?: \S+)*`).FindAllStringIndex(lines[0], -1)
	cell := func(line string, i int) string {
		to := len(line)
		if i+1 < len(columns) {
			to = min(columns[i+1][0], to)
		}
		return strings.TrimSpace(line[min(columns[i][0], to):to])
	}
	for i := range columns[1:] {
		states = append(states, cell(lines[0], i+1))
	}
	rows = map[string][]string{}
	var row []string
	for _, line := range lines[1:] {
		line = strings.TrimPrefix(line, "//\t")
		if cell(line, 1) != "" {
			event, _, _ := strings.Cut(cell(line, 0), ":")
			row = make([]string, len(states))
			rows[event] = row
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i] + " " + cell(line, i+1))
		}
	}
	return states, rows
}

// named are the states that a cell names, in order: what it leads to.
func named(cell string, states []string) (list []string) {
	for _, word := range strings.FieldsFunc(cell, func(r rune) bool { return r == ' ' || r == ',' || r == ':' }) {
		if slices.Contains(states, word) && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	slices.Sort(list)
	return list
}

// hold compares the table with what the transitions of each event make of each state: a cell names all that they lead to, and no other.
func hold(t *testing.T, states []string, rows map[string][]string, leads map[string]func(state string) []string) {
	t.Helper()
	for _, event := range slices.Sorted(maps.Keys(rows)) {
		lead := leads[event]
		if lead == nil {
			t.Errorf("no transitions are known for the event %q of the table", event)
			continue
		}
		for i, cell := range rows[event] {
			if cell == "-" {
				continue
			}
			got := lead(states[i])
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, named(cell, states)) {
				t.Errorf("%s, in %s: leads to %v, the table says %q", event, states[i], got, cell)
			}
		}
	}
	for event := range leads {
		if rows[event] == nil {
			t.Errorf("the table has no event %q", event)
		}
	}
}

// TestRequesterStates: the table of the states of a requester is true.
func TestRequesterStates(t *testing.T) {
	states, rows := stateTable(t, "event, and its transition                     Unjoined ")
	at := func(state string) *SendQueue {
		s := new(SendQueue)
		if state == "Unjoined" {
			return s
		}
		if s.Join(10); state == "Fresh" {
			s.Fresh = true
		}
		switch state {
		case "AfterGap":
			s.BeginGap(10, 12, false)
			s.Advance(13)
		case "Retransmitting":
			s.BeginRetransmission(8)
		case "AfterJump":
			s.BeginJump(&packet.Packet{PSN: 900_000}, nil)
		}
		if got := s.State().String(); got != state {
			t.Fatalf("the requester is %s, not %s", got, state)
		}
		return s
	}
	leads := func(do ...func(*SendQueue)) func(string) []string {
		return func(state string) (out []string) {
			for _, do := range do {
				s := at(state)
				do(s)
				out = append(out, s.State().String())
			}
			return out
		}
	}
	beneath := func(s *SendQueue) { // a gap beneath a retransmission
		if s.Retransmission.Active && !s.Gap.Open() {
			s.BeginGap(s.Next, s.Next.Add(2), false)
			s.Advance(s.Next.Add(3))
		}
	}
	next := func(s *SendQueue) {
		s.Begin()
		s.EndRetransmission()
		s.Advance(s.Next.Add(1))
	}
	fill := func(to packet.PSN) func(*SendQueue) {
		return func(s *SendQueue) {
			beneath(s)
			s.EndRetransmission()
			s.Rewind(s.Gap.From, 1024)
			s.FillGap(to)
			s.Advance(to)
			if !s.Gap.Open() {
				s.Resume(to)
			}
		}
	}
	hold(t, states, rows, map[string]func(string) []string{
		"first request of the capture": leads(func(s *SendQueue) { s.Join(50) }),
		"request with the next PSN": func(state string) []string {
			out := leads(next)(state)
			switch state {
			case "AfterGap":
				out = append(out, leads(func(s *SendQueue) { s.CloseGap(); next(s) })(state)...)
			case "Retransmitting":
				out = append(out, leads(func(s *SendQueue) { beneath(s); next(s) })(state)...)
			}
			return out
		},
		"request with a later PSN": leads(func(s *SendQueue) {
			s.Begin()
			s.EndRetransmission()
			if s.Gap.Open() {
				s.WidenGap(s.Next.Add(4))
			} else {
				s.BeginGap(s.Next, s.Next.Add(4), false)
			}
			s.Advance(s.Next.Add(5))
		}),
		"request in the gap": leads(fill(11), fill(12)),
		"request after one whose PSN was wrong": leads(func(s *SendQueue) {
			s.EndRetransmission()
			s.Resume(40)
			s.CloseGap()
		}),
		"acknowledged beyond the gap": leads(func(s *SendQueue) {
			s.CloseGap()
			s.CatchUp()
		}),
		"request with an earlier PSN": leads(func(s *SendQueue) {
			if s.Fresh {
				s.Join(s.Next.Add(-2))
				return
			}
			s.BeginRetransmission(8)
		}),
		"request far from the stream": leads(func(s *SendQueue) {
			if s.Fresh {
				s.Join(700_000)
				return
			}
			s.BeginJump(&packet.Packet{PSN: 700_000}, nil)
		}),
		"the stream continues": leads(
			func(s *SendQueue) { s.CloseJump() },
			func(s *SendQueue) { s.BeginRetransmission(8); s.CloseJump() },
			func(s *SendQueue) { s.BeginGap(10, 12, false); s.Advance(13); s.CloseJump() },
		),
		"headers cut, or requests missed": leads(func(s *SendQueue) { s.Unjoin() }),
	})
}

// TestResponderStates: the table of the states of a responder is true.
func TestResponderStates(t *testing.T) {
	states, rows := stateTable(t, "event, and its transition                     Expecting ")
	nak := func(to Responder, syndrome packet.Syndrome) func(*ReceiveQueue) {
		return func(r *ReceiveQueue) { r.TakeNAK(to, &packet.Packet{PSN: 7, Syndrome: syndrome}) }
	}
	leads := func(do func(*ReceiveQueue)) func(string) []string {
		return func(state string) []string {
			var r ReceiveQueue
			r.Join(7)
			switch state {
			case "SequenceNAKed":
				nak(SequenceNAKed, packet.NAKSequence)(&r)
			case "RNRNAKed":
				nak(RNRNAKed, packet.Syndrome(0x21))(&r)
			case "Failed":
				nak(Failed, packet.NAKRemoteAccess)(&r)
			}
			if got := r.State.String(); got != state {
				t.Fatalf("the responder is %s, not %s", got, state)
			}
			do(&r)
			return []string{r.State.String()}
		}
	}
	hold(t, states, rows, map[string]func(string) []string{
		"PSN sequence NAK":              leads(nak(SequenceNAKed, packet.NAKSequence)),
		"RNR NAK":                       leads(nak(RNRNAKed, packet.Syndrome(0x21))),
		"fatal NAK":                     leads(nak(Failed, packet.NAKRemoteAccess)),
		"the PSN that it asks for came": leads((*ReceiveQueue).CloseNAK),
		"response from that PSN on":     leads((*ReceiveQueue).CloseNAK),
	})
	for name, do := range map[string]func(*ReceiveQueue){
		"no NAK": nak(Expecting, packet.NAKSequence), "an ACK": nak(SequenceNAKed, 0),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken for a NAK", name)
				}
			}()
			var r ReceiveQueue
			do(&r)
		}()
	}
}
