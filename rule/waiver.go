package rule

import (
	"encoding/json"
	"errors"
	"fmt"

	"ibwitness/packet"
)

// Waiver says which violations are no errors, and why.
type Waiver struct {
	Rule    string `json:"rule"`              // id in the catalogue
	Accused string `json:"accused,omitempty"` // only of this address; empty: of all
	Why     string `json:"why"`
}

// Waivers are waivers that were understood.
type Waivers struct{ of map[ID][]waiver }

type waiver struct {
	accused packet.Addr
	any     bool
	why     string
}

// NewWaivers checks a list of waivers.
func NewWaivers(list []Waiver) (w Waivers, err error) {
	for _, x := range list {
		id, ok := Lookup(x.Rule)
		if !ok {
			return w, fmt.Errorf("there is no rule %q: ibwitness rules lists them", x.Rule)
		}
		if x.Why == "" {
			return w, fmt.Errorf(`%s has no "why": say why it is no error here, the reports repeat it`, x.Rule)
		}
		y := waiver{any: x.Accused == "", why: x.Why}
		if !y.any {
			if y.accused, err = packet.ParseAddr(x.Accused); err != nil {
				return w, fmt.Errorf(`%s: "accused" is %q: give an IP address, a GID or lid:NUMBER`, x.Rule, x.Accused)
			}
		}
		if w.of == nil {
			w.of = map[ID][]waiver{}
		}
		w.of[id] = append(w.of[id], y)
	}
	return w, nil
}

// ReadWaivers reads a list of waivers in JSON, or that which an object has as "waive", such as the configuration of a run that is attached to a simulation.
func ReadWaivers(text []byte) (list []Waiver, err error) {
	if err := json.Unmarshal(text, &list); err == nil {
		return list, nil
	}
	var object struct {
		Waive []Waiver `json:"waive"`
	}
	switch err := json.Unmarshal(text, &object); {
	case err != nil:
		return nil, fmt.Errorf("no waivers in JSON: %w", err)
	case object.Waive == nil:
		return nil, errors.New(`it has no "waive": give a list of {"rule", "accused", "why"}, or an object that has one as "waive"`)
	}
	return object.Waive, nil
}

// Of says whether a finding, if it is a violation, is waived, and why.
func (w Waivers) Of(f *Finding) (why string, ok bool) {
	for _, x := range w.of[f.Rule] {
		if x.any || x.accused == f.Accused.Addr {
			return x.why, true
		}
	}
	return "", false
}

// Waived is a violation that is no error, and why.
type Waived struct {
	Finding
	Why string
}
