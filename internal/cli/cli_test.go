package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
)

func TestProblems(t *testing.T) {
	cut := &fabricagent.FileError{Path: "a.pcap", Offset: 24, Frame: 1, Kind: fabricagent.CutShort, Err: errors.New("the end")}
	lost := &fabricagent.FileError{Path: "b.pcap", Kind: fabricagent.NotFound, Err: errors.New("no")}
	list, interrupted := problems(errors.Join(cut, lost, context.Canceled))
	if !interrupted || len(list) != 2 || !list[0].Kept || list[1].Kept {
		t.Errorf("%v, interrupted %v", list, interrupted)
	}
	list, interrupted = problems(errors.New("agent: out of luck"))
	if want := []report.Problem{{Message: "out of luck"}}; interrupted || !cmp.Equal(list, want) {
		t.Errorf("got %v, want %v", list, want)
	}
	if list, interrupted = problems(nil); list != nil || interrupted {
		t.Errorf("no error, but %v", list)
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{"10.0.0.1": "10.0.0.1", "fe80::1": "fe80::1", "lid:0x5": "lid:5"} {
		var a address
		if err := a.UnmarshalText([]byte(text)); err != nil || packet.Addr(a).String() != want {
			t.Errorf("%s: got %v, %v", text, packet.Addr(a), err)
		}
	}
	var a address
	if a.UnmarshalText([]byte("lid:70000")) == nil {
		t.Error("lid:70000 is an address")
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]int{"RC-RSP-003": 1, "rc-rsp-003": 1, "SEQUENCE-NAK-REPEATED": 1, "RC-RSP-00": 9, "nonsense": 0} {
		if got := lookup(name); len(got) != want {
			t.Errorf("%s: got %v, want %d", name, got, want)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"Show no progress.":                       "Show no progress",
		"Verify captures: who broke which rule.":  "Verify captures",
		"The tap is near (an IP address). Again.": "The tap is near",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 9999: "9999", 12345: "12.3 k", 12345678: "12.3 M", 5e9: "5.0 G"} {
		if got := short(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}
