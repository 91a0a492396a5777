package report

import "ibwitness/agent"

// jsonUpper is the protocol above the transport that a connection carries.
type jsonUpper struct {
	Protocol string         `json:"protocol"`
	Commands uint64         `json:"commands"`
	Ended    uint64         `json:"ended"`
	Failed   uint64         `json:"failed,omitempty"`
	GivenUp  uint64         `json:"given_up,omitempty"`
	Open     int            `json:"open"`
	Oldest   *jsonOperation `json:"oldest,omitempty"`
	Failure  *jsonOperation `json:"failure,omitempty"`
	Slow     uint64         `json:"slow,omitempty"`
	Slowest  *jsonOperation `json:"slowest,omitempty"`
}

// jsonOperation is a command of it.
type jsonOperation struct {
	Command string `json:"command"`
	Since   string `json:"since"`
	Tap     uint16 `json:"tap"`
	Frame   uint64 `json:"frame"`
	Status  string `json:"status,omitempty"`
	Unsure  bool   `json:"unsure,omitempty"`
	Ended   string `json:"ended,omitempty"`
	Answer  uint64 `json:"answer_frame,omitempty"`
}

func upperLine(u *agent.Upper) *jsonUpper {
	if u == nil {
		return nil
	}
	slowest := u.Slowest
	if u.Slow == 0 {
		slowest = nil
	}
	return &jsonUpper{
		Protocol: u.Protocol, Commands: u.Begun, Ended: u.Ended, Failed: u.Failed, GivenUp: u.GivenUp, Open: u.Open,
		Oldest: operationLine(u.Oldest), Failure: operationLine(u.Failure),
		Slow: u.Slow, Slowest: operationLine(slowest),
	}
}

func operationLine(o *agent.Operation) *jsonOperation {
	if o == nil {
		return nil
	}
	out := &jsonOperation{Command: o.Name, Since: stamp(o.Since), Tap: o.Tap, Frame: o.Frame, Status: o.Status, Unsure: o.Unsure, Answer: o.Answer}
	if o.Ended != 0 {
		out.Ended = stamp(o.Ended)
	}
	return out
}
