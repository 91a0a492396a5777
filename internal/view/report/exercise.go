package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ibwitness/exercise"
)

// Exercise writes what an exercise has done: whether what the rules found is what the script says, its streams, and on a native link its port. The report of what was found
// comes after it.
func Exercise(w io.Writer, s *exercise.Script, r *exercise.Result, v *exercise.Verdict, opt Options) error {
	t := catalogueText(w, opt)
	t.exerciseVerdict(s, v)
	t.line("")
	tab := newTable("stream", ">packets", ">bytes", ">wait", ">triggers", ">not in time", "outcome")
	for i := range r.Streams {
		x := &r.Streams[i]
		tab.add(x.Name, fmt.Sprint(x.Sent), fmt.Sprint(x.Bytes), fmt.Sprint(x.Waiting), fmt.Sprint(x.Fired), fmt.Sprint(x.TimedOut), x.Outcome)
	}
	t.lines(tab.lines("", t.dim))
	t.line("")
	if len(r.Lanes) > 0 {
		t.exerciseLanes(r)
	}
	t.line("Received  %d packets, %d flow control packets, %d damaged; %d frames kept%s", r.Packets, r.Flows, r.Damaged, r.Kept, lostFrames(r.Lost))
	if r.Exceeded {
		t.line("Ended at the limit of packets: give packets: in the script where more are to come")
	}
	t.line("")
	return t.out.Flush()
}

// exerciseVerdict says whether what was found is what the script announces.
func (t *text) exerciseVerdict(s *exercise.Script, v *exercise.Verdict) {
	switch {
	case v.AsSaid() && len(v.Broken) == 0:
		t.line("%s  no rule is broken", t.green("AS SAID"))
	case v.AsSaid():
		t.line("%s  broken on purpose: %s", t.green("AS SAID"), strings.Join(v.Broken, ", "))
	default:
		t.line("%s  %s", t.red("NOT AS SAID"), t.unexpected(v))
	}
	if s.About != "" {
		t.line("%s", s.About)
	}
}

// unexpected says in what the findings are not those that the script announces.
func (*text) unexpected(v *exercise.Verdict) string {
	var parts []string
	if len(v.Others) > 0 {
		parts = append(parts, "broken, and not said: "+strings.Join(v.Others, ", "))
	}
	if len(v.Missing) > 0 {
		parts = append(parts, "said, and not broken: "+strings.Join(v.Missing, ", "))
	}
	return strings.Join(parts, "; ")
}

// exerciseLanes writes credits and sinks of the port.
func (t *text) exerciseLanes(r *exercise.Result) {
	tab := newTable(">VL", ">FCTBS", ">credit", ">ABR", ">FCCL", ">in the sink", ">of", ">taken", ">blocks", ">discarded")
	for i := range r.Lanes {
		l := &r.Lanes[i]
		tab.add(fmt.Sprint(l.VL), fmt.Sprint(l.FCTBS), fmt.Sprint(l.Credit), fmt.Sprint(l.ABR), fmt.Sprint(l.FCCL), fmt.Sprint(l.Used), fmt.Sprint(l.Capacity),
			fmt.Sprint(l.Taken), fmt.Sprint(l.Blocks), fmt.Sprint(l.Discarded))
	}
	t.lines(tab.lines("", t.dim))
	t.line("")
}

// lostFrames says how many frames the receive memory had no room for.
func lostFrames(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d older ones not, for which there was no room", n)
}

type jsonExercise struct {
	Kind     string       `json:"kind"`
	Script   string       `json:"script"`
	AsSaid   bool         `json:"as_said"`
	Broken   []string     `json:"broken"`
	Missing  []string     `json:"missing"`
	Others   []string     `json:"others"`
	Streams  []jsonStream `json:"streams"`
	Lanes    []jsonLane   `json:"lanes,omitempty"`
	LID      uint16       `json:"lid,omitempty"`
	Received jsonReceived `json:"received"`
	Memory   jsonKept     `json:"memory"`
	Exceeded bool         `json:"exceeded"`
}

type jsonStream struct {
	Name     string `json:"name"`
	Sent     uint64 `json:"packets"`
	Bytes    uint64 `json:"bytes"`
	Waiting  int    `json:"waiting"`
	Fired    int    `json:"triggers"`
	TimedOut int    `json:"timed_out"`
	Outcome  string `json:"outcome"`
}

type jsonLane struct {
	VL        uint8  `json:"vl"`
	FCTBS     uint16 `json:"fctbs"`
	Credit    uint16 `json:"credit"`
	ABR       uint16 `json:"abr"`
	FCCL      uint16 `json:"fccl"`
	Used      int    `json:"used"`
	Capacity  int    `json:"capacity"`
	Taken     uint64 `json:"taken"`
	Blocks    uint64 `json:"blocks"`
	Discarded uint64 `json:"discarded"`
}

type jsonReceived struct {
	Packets uint64 `json:"packets"`
	Flows   uint64 `json:"flow_control"`
	Damaged uint64 `json:"damaged"`
}

type jsonKept struct {
	Kept int    `json:"kept"`
	Lost uint64 `json:"lost"`
}

// ExerciseJSON writes what an exercise has done as a JSON object on a line. The report of what was found comes after it.
func ExerciseJSON(w io.Writer, s *exercise.Script, r *exercise.Result, v *exercise.Verdict) error {
	j := jsonExercise{
		Kind: "exercise", Script: s.File, AsSaid: v.AsSaid(), Broken: listed(v.Broken), Missing: listed(v.Missing), Others: listed(v.Others), LID: r.LID,
		Received: jsonReceived{r.Packets, r.Flows, r.Damaged}, Memory: jsonKept{r.Kept, r.Lost}, Exceeded: r.Exceeded,
	}
	for _, x := range r.Streams {
		j.Streams = append(j.Streams, jsonStream(x))
	}
	for _, x := range r.Lanes {
		j.Lanes = append(j.Lanes, jsonLane(x))
	}
	if err := json.NewEncoder(w).Encode(j); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// listed is a list that is not null in JSON.
func listed(list []string) []string { return append([]string{}, list...) }
