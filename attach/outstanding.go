package attach

import (
	"encoding/json"

	"ibwitness/internal/view/report"
)

// Outstanding is requests without a response, or work requests without a completion, of one queue pair.
type Outstanding struct {
	QP      string `json:"qp"`
	Peer    string `json:"peer,omitempty"`
	What    string `json:"what"`
	Count   int    `json:"count"`
	SincePS uint64 `json:"since_ps"`        // when the oldest began to wait, or a response last came that acknowledged others
	Frame   uint64 `json:"frame,omitempty"` // in which the oldest began
	ID      uint64 `json:"wr_id,omitempty"` // of the oldest work request
	Note    string `json:"note,omitempty"`  // why it may wait for nothing any more
}

// Outstanding lists what waits for something, for a check at the end of a test.
func (r *Run) Outstanding() (list []Outstanding) {
	if r.result != nil {
		return r.left
	}
	for _, w := range r.session.Outstanding() {
		o := Outstanding{QP: report.Party(&w.QP), What: w.What.String(), Count: w.Count, SincePS: r.stamp(w.Since), Frame: w.Frame, ID: w.ID}
		if w.MayHaveGivenUp {
			o.Note = "the requester may have given up: only its verbs events tell whether its retries are exhausted"
		}
		if !w.Peer.Addr.IsZero() {
			o.Peer = report.Party(&w.Peer)
		}
		list = append(list, o)
	}
	return list
}

// JSON is one of them as JSON.
func (o *Outstanding) JSON() []byte {
	text, _ := json.Marshal(o)
	return text
}
