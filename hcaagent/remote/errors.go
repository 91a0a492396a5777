package remote

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/creachadair/jrpc2"

	"ibwitness/hcaagent"
	"ibwitness/qp"
)

// ErrGone says that the connection to the device has ended: dial again.
var ErrGone = errors.New("remote: the connection to the device has ended")

// ErrInUse says that another client has the device.
var ErrInUse = errors.New("remote: the device is in use")

// failedCode is the code of an error of the device.
const failedCode = jrpc2.Code(-32001)

// kinds are the errors that keep their kind, by name.
var kinds = []struct {
	name string
	err  error
}{
	{"not-found", hcaagent.ErrNotFound},
	{"busy", hcaagent.ErrBusy},
	{"full", hcaagent.ErrFull},
	{"unsupported", errors.ErrUnsupported},
	{"in-use", ErrInUse},
	{"deadline", context.DeadlineExceeded},
}

// failure is what a response says of an error, beside its text.
type failure struct {
	Seq        uint64
	Kinds      []string              `json:",omitempty"`
	Transition *qp.TransitionError   `json:",omitempty"`
	Unknown    *qp.UnknownError      `json:",omitempty"`
	Access     *hcaagent.AccessError `json:",omitempty"`
}

// encode makes an error of the device one of a response.
func encode(err error, seq uint64) *jrpc2.Error {
	f := failure{Seq: seq}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			f.Kinds = append(f.Kinds, k.name)
		}
	}
	errors.As(err, &f.Transition)
	errors.As(err, &f.Unknown)
	errors.As(err, &f.Access)
	return jrpc2.Errorf(failedCode, "%s", err.Error()).WithData(f)
}

// decode makes that error again, and returns the number of the last event before it.
func decode(e *jrpc2.Error) (uint64, error) {
	if e.Code != failedCode {
		return 0, errors.New("remote: the device's machine refuses the call: " + e.Message + " " + string(e.Data))
	}
	var f failure
	if json.Unmarshal(e.Data, &f) != nil {
		return 0, errors.New(e.Message)
	}
	d := &deviceError{text: e.Message}
	for _, name := range f.Kinds {
		for _, k := range kinds {
			if k.name == name {
				d.is = append(d.is, k.err)
			}
		}
	}
	if f.Transition != nil {
		d.is = append(d.is, f.Transition)
	}
	if f.Unknown != nil {
		d.is = append(d.is, f.Unknown)
	}
	if f.Access != nil {
		d.is = append(d.is, f.Access)
	}
	return f.Seq, d
}

// deviceError is an error of the device.
type deviceError struct {
	text string
	is   []error
}

func (e *deviceError) Error() string { return e.text }

// Unwrap returns its kinds.
func (e *deviceError) Unwrap() []error { return e.is }
