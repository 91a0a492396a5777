package soft

// constant are the faults that lie in what the device can do at all.
var constant = map[string]bool{
	"access-granted": true, "answers-in-error": true, "arming-weakened": true, "atomic-write-granted": true, "atomic-write-unpermitted": true,
	"begins-drained": true, "beyond-region": true, "cnp-for-cnp": true, "credit-ignored": true, "current-state-ignored": true, "drained-unasked": true,
	"early-retry": true, "fence-ignored": true, "initiator-depth-200": true, "key-invalidated": true, "key-unknown": true, "late-retry": true,
	"limit-again": true, "nak-not-counted": true, "next-missed": true, "overrun-filled": true, "overrun-ignored": true, "path-mtu-odd": true,
	"permission-ignored": true, "persists-unpermitted": true, "pkey-index-5": true, "port-2": true, "probe-whole": true, "psn-of-25-bits": true,
	"qkey-ignored": true, "queue-too-deep": true, "rc-in-sqe": true, "requests-before-rts": true, "resend-before-timer": true, "resources-200": true,
	"retry-count-9": true, "retry-forever": true, "retry-not-reloaded": true, "rnr-forever": true, "rnr-not-reloaded": true, "sends-in-rtr": true,
	"solicited-missed": true, "timer-code": true, "timer-not-off": true, "too-long-taken": true, "too-many-atomic-writes": true, "too-many-reads": true,
	"uc-gap-ignored": true, "xrc-other-domain": true, "xrc-unknown-queue-taken": true,
}

// Constant reports whether a fault shows whenever it can: Options.FaultAt and FaultAll say nothing of it.
func Constant(name string) bool { return constant[name] }
