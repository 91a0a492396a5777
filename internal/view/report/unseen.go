package report

import (
	"fmt"

	"ibwitness/agent"
)

// logsUnseen says of which queue pairs of logs the capture shows nothing, but those of OtherLogs.
func (t *text) logsUnseen() {
	for _, u := range t.res.LogsUnseen {
		if u.Seen > 0 {
			t.prose("        ", unseen(u))
		}
	}
}

// unseen says of which queue pairs of a log the capture shows nothing.
func unseen(u agent.LogUnseen) string {
	first := fmt.Sprintf("0x%x", u.QPN)
	if !u.Dest.IsZero() {
		first += fmt.Sprintf(", connected to 0x%x at %v", u.DestQPN, u.Dest)
	}
	return fmt.Sprintf("%s tells of %s that completed requests of which no packet was captured (the first is %s): they were compared with nothing", printable(u.Log), count(uint64(u.QPs), "queue pair"), first)
}

// OtherLogs are the problems of logs that tell of nothing that the capture shows; r may be nil.
func OtherLogs(r *agent.Result) (list []Problem) {
	if r == nil {
		return nil
	}
	for _, u := range r.LogsUnseen {
		if u.Seen == 0 && r.RDMA > 0 {
			list = append(list, Problem{Message: unseen(u) + ": check that log and capture are of one run, and dest_qp_num, dgid, sq_psn and rq_psn"})
		}
	}
	return list
}
