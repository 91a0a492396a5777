package incident

import "ibwitness/mad"

// rejAdvice is what a reason of a REJ fits, and what to look at: {by} is the host that refused, {to} the one that it told, {service} what was asked for.
type rejAdvice struct{ fits, next []string }

// rejReasons is the advice on each reason of table T9.
var rejReasons = [...]rejAdvice{
	1:  {[]string{"a limit on queue pairs of {by}: of its adapter, its driver or its program"}, []string{"how many queue pairs {by} has (rdma resource), and its limits"}},
	2:  {[]string{"a request for RD, whose end-to-end context {by} does not have"}, []string{"which transport {to} asks for: hardly an adapter has RD"}},
	3:  {[]string{"a limit of {by}: memory, queue pairs, or connections that its program takes"}, []string{"the log and dmesg of {by}, its limits (ulimit -l), and how many connections it has"}},
	4:  {[]string{"an answer that did not reach {by} in time: a slow program on {to}, or lost datagrams"}, []string{"how long {to} took to answer, and whether its answers reached {by}"}},
	5:  {[]string{"a REQ with something that {by} does not support: its private data, its transport, or a shared receive queue"}, []string{"the versions of the programs and of rdma_cm on both hosts, and the device that {by} uses"}},
	6:  {[]string{"an exchange that {by} does not know (any more): it was restarted, or gave up before"}, []string{"whether {by} was restarted, and whether an earlier message of this exchange timed out"}},
	7:  {[]string{"a message of an earlier instance of this exchange: one of the hosts was restarted"}, []string{"whether one of the hosts was restarted"}},
	8:  {[]string{"no program of {by} that listens on {service}: it has ended, has not begun, or listens on another port or address"}, []string{"whether a program on {by} listens on {service} (rdma resource show cm_id), and on this address and device"}},
	9:  {[]string{"a transport service that the program on {by} does not take"}, []string{"the type of the queue pairs on both sides: RC, UC or XRC"}},
	10: {[]string{"a queue pair number or communication ID that {by} still takes for an earlier connection, as after {to} was restarted"}, []string{"whether {by} still has the earlier connection (rdma resource show qp): asking again after its TimeWait succeeds"}},
	11: {[]string{"a request for RD, whose domain {by} does not have"}, []string{"which transport {to} asks for: hardly an adapter has RD"}},
	12: {[]string{"a GID that is not, or no longer, one of {by}: an address that moved, or another RoCE version"}, []string{"the table of GIDs of {by} (rdma link, show_gids), and which one the name that {to} asked for resolves to"}},
	13: {[]string{"a LID that is not, or no longer, one of {by}"}, []string{"the LIDs of the ports (ibstat), and whether the subnet manager has changed them: the path that {to} uses may be old"}},
	14: {[]string{"a service level that {by} does not take for the path"}, []string{"the path record that {to} uses (saquery), and the SLs of the subnet manager"}},
	15: {[]string{"a traffic class that {by} does not take for the path"}, []string{"the traffic class that {to} sets (tos of rdma_cm), and what {by} allows"}},
	16: {[]string{"a hop limit that {by} does not take for the path"}, []string{"the hop limit that {to} sets, and whether a router is on the path"}},
	17: {[]string{"a packet rate that the port of {by} does not have"}, []string{"the path record that {to} uses (saquery), and the speeds of both ports"}},
	18: {[]string{"an alternate path to a GID that is not one of {by}"}, []string{"the alternate path that {to} asks for"}},
	19: {[]string{"an alternate path to a LID that is not one of {by}"}, []string{"the alternate path that {to} asks for"}},
	20: {[]string{"an alternate path with a service level that {by} does not take"}, []string{"the alternate path that {to} asks for"}},
	21: {[]string{"an alternate path with a traffic class that {by} does not take"}, []string{"the alternate path that {to} asks for"}},
	22: {[]string{"an alternate path with a hop limit that {by} does not take"}, []string{"the alternate path that {to} asks for"}},
	23: {[]string{"an alternate path with a packet rate that {by} does not have"}, []string{"the alternate path that {to} asks for"}},
	24: {[]string{"a service whose requests another port and communication manager takes, which the REJ names"}, []string{"whether {to} asks there: it has to follow the redirection itself"}},
	25: {[]string{"a service that is to be reached by another port, which the REJ names"}, []string{"whether {to} asks there: it has to follow the redirection itself"}},
	26: {[]string{"a path MTU that the port of {by} does not have"}, []string{"the MTU of the interfaces on both hosts, and the path MTU that {to} asks for"}},
	27: {[]string{"more READs and atomics at once than {by} has resources for"}, []string{"initiator_depth and responder_resources of both sides, against max_qp_rd_atom of the adapter of {by} (ibv_devinfo -v)"}},
	28: {[]string{"the program on {by} that refused itself: it calls rdma_reject", closedUntaken}, []string{"the log of the program on {by} at that time ({service}); the private data of the REJ may have its reason"}},
	29: {[]string{"an RNR retry count that {by} does not take"}, []string{"rnr_retry_count that {to} asks for"}},
	30: {[]string{"a communication ID that {to} uses for another exchange too"}, []string{"the communication manager of {to}: its version"}},
	31: {[]string{"another version of the communication manager on {by}"}, []string{"the versions of the communication managers on both hosts"}},
	32: {[]string{"a flow label that {by} does not take for the path"}, []string{"the flow label that {to} sets"}},
	33: {[]string{"an alternate path with a flow label that {by} does not take"}, []string{"the alternate path that {to} asks for"}},
	35: {[]string{"an option of a vendor that {by} does not support"}, []string{"the adapters and drivers of both hosts"}},
}

// closedUntaken is what fits a consumer reject beside a program that calls rdma_reject.
const closedUntaken = "a program on {by} that closed the request without having taken it, as where its backlog was full"

// adviceOn is the advice on a reason.
func adviceOn(r mad.RejReason) rejAdvice {
	if r.Defined() {
		return rejReasons[r]
	}
	return rejAdvice{next: []string{"the log of the program on {by}, and of its kernel: it gave a reason that is not defined"}}
}
