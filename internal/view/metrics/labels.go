package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"ibwitness/packet"
	"ibwitness/rule"
)

// events are the names of the events. Where node_exporter's collector of InfiniBand counters counts the same at one adapter, the name is its.
var events = [...]struct {
	id         rule.ID
	name, help string
}{
	{rule.EvRetransmission, "retransmissions_total", "Retransmitted request packets."},
	{rule.EvDuplicate, "duplicate_requests_packets_total", "Duplicate request packets that reached a responder."},
	{rule.EvTimeout, "local_ack_timeout_errors_total", "Transport timers of requesters that expired."},
	{rule.EvSeqNAK, "packet_sequence_errors_total", "NAKs that report a PSN sequence error."},
	{rule.EvRNRNAK, "rnr_nak_retry_packets_received_total", "RNR NAKs: the responder was not ready."},
	{rule.EvNAKInvalidRequest, "req_remote_invalid_request_errors_total", "NAKs that refuse a request as invalid."},
	{rule.EvNAKRemoteAccess, "req_remote_access_errors_total", "NAKs that refuse access to memory."},
	{rule.EvNAKRemoteOperational, "req_remote_operational_errors_total", "NAKs of a responder that could not carry out a request."},
	{rule.EvOutOfOrder, "out_of_sequence_packets_received_total", "Request packets that arrived out of order."},
	{rule.EvDuplicateResponse, "duplicate_responses_packets_total", "Retransmitted responses."},
	{rule.EvCNP, "np_cnp_packets_sent_total", "Congestion notification packets."},
	{rule.EvCE, "np_ecn_marked_roce_packets_received_total", "Packets that carry the mark of congestion."},
	{rule.EvReconnect, "reconnects_total", "Queue pairs that were connected again."},
	{rule.EvConnect, "connects_total", "Connections that the connection manager set up."},
	{rule.EvDisconnect, "disconnects_total", "Connections that the connection manager ended."},
	{rule.EvReject, "rejects_total", "Connections that were refused."},
	{rule.EvUnanswered, "unanswered_requests_total", "Requests without a response."},
	{rule.EvTrimmed, "trimmed_packets_total", "Packets that a switch cut short in place of dropping them."},
}

// Labels say which labels the counters of findings have beside those that are bounded by themselves.
type Labels struct {
	Addresses bool // of the endpoint that is accused, or that caused an event
	QPNs      bool // and its QP
	Limit     int  // endpoints, or QPs, that have a value of their own; findings of others go to "other"
}

// other is the value of the labels of an endpoint beyond the limit.
const other = "other"

// counted is what findings are counted by.
type counted struct {
	rule  rule.ID
	class rule.Class
	role  rule.Role // of a violation
	label int       // in labels.values
}

// named is what labels name of an endpoint.
type named struct {
	addr packet.Addr
	qpn  uint32
	is   bool // the QPN is known
}

// labels are the descriptions of the counters of findings, and the values that their labels have.
type labels struct {
	Labels
	violations, unproven *prometheus.Desc
	events               [len(events)]*prometheus.Desc
	known                map[named]int
	values               [][]string // the first one is that of other
	over                 uint64     // findings that went there
}

var overflow = desc("label_overflow_total", "Findings that are counted with the address \"other\", since as many endpoints as may be have labels of their own.")

func newLabels(o Labels) labels {
	var names []string
	if o.Addresses || o.QPNs {
		names = append(names, "address")
	}
	if o.QPNs {
		names = append(names, "qpn")
	}
	l := labels{
		Labels: o, known: map[named]int{}, values: [][]string{slices.Repeat([]string{other}, len(names))},
		violations: desc("violations_total", "Violations: proven breaches of a rule.", append([]string{"rule", "severity", "accused"}, names...)...),
		unproven:   desc("unproven_total", "Findings that would be violations, but that the capture does not prove.", append([]string{"rule"}, names...)...),
	}
	for i, e := range events {
		l.events[i] = desc(e.name, e.help, names...)
	}
	return l
}

// Label gives the counters of findings more labels. It comes before all findings.
func (c *Collector) Label(o Labels) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.labels = newLabels(o)
}

// of returns which values of the labels an endpoint has.
func (l *labels) of(e *rule.Endpoint, count uint64) int {
	if !l.Addresses && !l.QPNs {
		return 0
	}
	k := named{addr: e.Addr}
	if l.QPNs && e.QPNKnown {
		k.qpn, k.is = e.QPN, true
	}
	i, ok := l.known[k]
	if !ok && len(l.known) < l.Limit {
		i = len(l.values)
		l.known[k] = i
		l.values = append(l.values, k.text(l.QPNs))
	}
	if i == 0 {
		l.over += count
	}
	return i
}

// text are the values of the labels: empty where there is none, as for what is not of one endpoint.
func (k *named) text(qpns bool) (values []string) {
	address, qpn := "", ""
	if !k.addr.IsZero() {
		address = k.addr.String()
	}
	if k.is {
		qpn = strconv.FormatUint(uint64(k.qpn), 10)
	}
	if qpns {
		return []string{address, qpn}
	}
	return []string{address}
}

// collect tells the counters of findings.
func (l *labels) collect(counts map[counted]uint64, count func(*prometheus.Desc, uint64, ...string)) {
	var seen [len(events)]bool
	for k, n := range counts {
		row, values := k.rule.Row(), l.values[k.label]
		switch k.class {
		case rule.Violation:
			count(l.violations, n, append([]string{row.ID, row.Severity.String(), k.role.String()}, values...)...)
		case rule.Unproven:
			count(l.unproven, n, append([]string{row.ID}, values...)...)
		case rule.Event:
			for i := range events {
				if events[i].id == k.rule {
					seen[i] = true
					count(l.events[i], n, values...)
				}
			}
		}
	}
	if l.Addresses || l.QPNs {
		count(overflow, l.over)
		return
	}
	for i := range events {
		if !seen[i] {
			count(l.events[i], 0)
		}
	}
}
