package soft

// consequences are the rules that a device breaks together with that of its fault, and why.
var consequences = map[string]map[string]string{
	"add-for-swap":          {"RC-ATM-002": "the compare operand is where a FetchAdd has none"},
	"cnp-short":             {"CNG-CNP-001": "what has no reserved bytes is no CNP"},
	"cnp-takes-psn":         {"RC-RTY-005": "the peer asks for the PSN that was never sent"},
	"datagram-other-qkey":   {"UD-QKEY-001": "the Q_Key is not that of the destination either"},
	"error-behind-flush":    {"CPL-ORD-001": "a request after the one that failed completes before it"},
	"completion-lost":       {"CPL-SIG-003": "it never comes"},
	"error-completion-lost": {"QPS-ERR-002": "those after it are flushed, and it is not"},
	"flush-lost":            {"CPL-ORD-001": "those after it are flushed before it"},
	"flushed-with-error":    {"CPL-STS-003": "no NAK names the requests that are to be flushed"},
	"flushed-with-success":  {"CPL-LEN-003": "a READ that was not answered has brought no bytes", "CPL-STS-013": "and has no response"},
	"read-completes-early":  {"CPL-MEM-001": "the data is not there yet"},
	"read-other-length":     {"CPL-LEN-004": "the message has another length than its request", "CPL-STS-008": "it refuses a response that fits what it asked for"},
	"receive-flush-lost":    {"CPL-ORD-001": "those after it are flushed before it"},
	"retry-not-reloaded":    {"CPL-STS-006": "the request has had fewer tries than are its due"},
	"rnr-not-reloaded":      {"CPL-STS-007": "the request has had fewer RNR NAKs than it must take"},
	"sends-in-rtr":          {"RC-RTY-010": "its PSN is that of RESET, as the QP got none on the way to RTS, and lies before what its peer has acknowledged"},
	"signal-all-lost":       {"CPL-ORD-001": "those after it complete before it"},
	"start-psn":             {"RC-RTY-005": "the peer asks for the PSN that was never sent"},
	"success-behind-error":  {"CPL-STS-012": "nothing has acknowledged the request"},
	"too-long-taken":        {"CPL-MEM-001": "memory has no room for all of the message"},
	"ud-gsi-qkey":           {"UD-QP1-001": "the datagram is no MAD, whatever its Q_Key"},
	"ud-privileged-qkey":    {"PKY-012": "the packet has the Q_Key as the request has it", "UD-QKEY-001": "which is not that of the destination"},
	"write-visible-late":    {"CPL-MEM-001": "a look at the memory does not find the data"},
}
