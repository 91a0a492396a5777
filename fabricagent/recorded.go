package fabricagent

import (
	"encoding/json"
	"fmt"
	"strings"

	"ibwitness/packet"
	"ibwitness/rule"
)

// Recorded is what a recording says of the run that it is of, so that it can be judged as that run was.
type Recorded struct {
	Simulation bool          // one clock of a simulation stamps events, and frames at their last byte
	Near       []packet.Addr // endpoints that the taps are near
	Profile    []string      // what devices do otherwise than the standard, on purpose
	Waive      []rule.Waiver // violations that are no errors
	End        int64         // when the run ended, nanoseconds since the Unix epoch; 0: it is not known yet
	Garbled    error         // why what an input says cannot be understood
}

// Recording is a Source that may be a recording of a run.
type Recording interface {
	// Recorded returns what all its inputs say of the run, and false where one of them says nothing, or what cannot be understood: Garbled is why. End is known when all
	// frames were read.
	Recorded() (Recorded, bool)
}

// remark is Recorded in the comment of a section.
type remark struct {
	Simulation bool     `json:"simulation,omitempty"`
	Near       []string `json:"near,omitempty"`
	Profile    []string `json:"profile,omitempty"`

	Waive []rule.Waiver `json:"waive,omitempty"`
}

// remarkMark begins such a comment.
const remarkMark = "ibwitness run: "

// comment is what the comment of a section says.
func (r *Recorded) comment() string {
	x := remark{Simulation: r.Simulation, Profile: r.Profile, Waive: r.Waive}
	for _, a := range r.Near {
		x.Near = append(x.Near, a.String())
	}
	text, _ := json.Marshal(x)
	return remarkMark + string(text)
}

// recorded reads the comment of a section; nil: it is another one, or cannot be understood.
func recorded(comment string) (*Recorded, error) {
	text, ok := strings.CutPrefix(comment, remarkMark)
	if !ok {
		return nil, nil
	}
	var x remark
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		return nil, err
	}
	if _, err := rule.NewWaivers(x.Waive); err != nil {
		return nil, err
	}
	r := &Recorded{Simulation: x.Simulation, Profile: x.Profile, Waive: x.Waive}
	for _, s := range x.Near {
		a, err := packet.ParseAddr(s)
		if err != nil {
			return nil, err
		}
		r.Near = append(r.Near, a)
	}
	return r, nil
}

// String is one line for people.
func (r *Recorded) String() string {
	var list []string
	if r.Simulation {
		list = append(list, "one clock of a simulation")
	}
	for _, a := range r.Near {
		list = append(list, fmt.Sprintf("near %v", a))
	}
	if len(r.Profile) > 0 {
		list = append(list, "profile "+strings.Join(r.Profile, ","))
	}
	if n := len(r.Waive); n > 0 {
		list = append(list, fmt.Sprintf("waivers: %d", n))
	}
	return strings.Join(list, ", ")
}

// Recorded is that of Recording.
func (s *single) Recorded() (Recorded, bool) { return allRecorded([]*input{s.in}) }

// Recorded is that of Recording.
func (m *merged) Recorded() (Recorded, bool) { return allRecorded(m.inputs) }

// allRecorded adds up what inputs say. What devices do otherwise the first one says.
func allRecorded(inputs []*input) (all Recorded, ok bool) {
	for i, in := range inputs {
		r := in.recorded
		if r == nil {
			return Recorded{Garbled: in.garbled}, false
		}
		if i == 0 {
			all.Simulation, all.Profile = r.Simulation, r.Profile
		}
		all.Simulation = all.Simulation && r.Simulation
		all.Near = append(all.Near, r.Near...)
		all.Waive = append(all.Waive, r.Waive...)
		all.End = max(all.End, r.End)
	}
	return all, true
}
