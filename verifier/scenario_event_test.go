package verifier_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ibwitness/hcaagent/eventlog"
)

// event reads a line of a verbs event: time, host, event, fields by their names in an event log. It feeds it to the agent.
func (s *scenario) event(words []string) error {
	if err := s.time(words[0]); err != nil {
		return err
	}
	e, err := parseEnd(words[1])
	if err != nil {
		return err
	}
	fields := map[string]any{}
	for _, w := range words[3:] {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return fmt.Errorf("%q is no field: give name=value", w)
		}
		if fields[name] = value; name == "data" {
			if fields[name], err = pattern(value); err != nil {
				return err
			}
			continue
		}
		if n, err := strconv.ParseUint(value, 0, 64); err == nil {
			fields[name] = n
		} else if strings.HasPrefix(value, "[") {
			fields[name] = json.RawMessage(value)
		}
	}
	if words[2] == "ready" {
		return s.ready(e, fields)
	}
	return s.verb(e, words[2], fields)
}

// pattern is the hexadecimal digits of what packets carry: FROM:COUNT,… are bytes that count up, from one on.
func pattern(s string) (string, error) {
	var b []byte
	for _, run := range strings.Split(s, ",") {
		var from uint8
		var n int
		if _, err := fmt.Sscanf(run, "%v:%d", &from, &n); err != nil {
			return "", fmt.Errorf("data is %q: give FROM:COUNT,…", s)
		}
		for range n {
			b = append(b, from)
			from++
		}
	}
	return hex.EncodeToString(b), nil
}

// verb feeds one event of a log's format.
func (s *scenario) verb(e end, name string, fields map[string]any) error {
	line := map[string]any{"ev": name, "t": s.now, "qpn": e.qpn}
	for k, v := range fields {
		line[k] = v
	}
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	head := fmt.Sprintf(`{"ev":"device","gid":%q}`+"\n", s.encap.addr(e.host))
	log, err := eventlog.Read("event", strings.NewReader(head+string(b)))
	if err != nil {
		return err
	}
	for i := range log.Events {
		if log.Events[i].Line = 0; s.log {
			s.lines++
			log.Events[i].Line = s.lines
		}
		s.agent.Event(&log.Events[i])
	}
	return nil
}

// ready makes a queue pair and brings it to RTS, connected to the host that the field peer names. The fields change or add attributes;
// upto names an earlier state to stop at.
func (s *scenario) ready(e end, fields map[string]any) error {
	take := func(into map[string]any, names ...string) map[string]any {
		for _, n := range names {
			if v, ok := fields[n]; ok {
				into[n] = v
				if v == "none" {
					delete(into, n)
				}
				delete(fields, n)
			}
		}
		return into
	}
	name, _ := fields["peer"].(string)
	peer, err := parseEnd(name)
	if err != nil {
		return err
	}
	delete(fields, "peer")
	upto, _ := fields["upto"].(string)
	delete(fields, "upto")
	create := take(map[string]any{"type": "rc"}, "type", "pd", "srq", "sq_sig_all", "send_cq", "recv_cq", "max_send_sge", "max_recv_sge", "max_inline")
	typ := create["type"]
	init := map[string]any{"to": "INIT", "pkey_index": 0, "port_num": 1}
	rtr, rts := map[string]any{"to": "RTR"}, map[string]any{"to": "RTS", "sq_psn": e.start}
	if typ == "ud" {
		init["qkey"] = 0x1234
	} else {
		init["qp_access_flags"] = 14
		rtr["path_mtu"], rtr["dest_qp_num"], rtr["dgid"], rtr["rq_psn"] = s.pmtu, peer.qpn, s.encap.addr(peer.host).String(), peer.start
	}
	if typ == "rc" {
		rtr["max_dest_rd_atomic"], rtr["min_rnr_timer"] = 16, 12
		rts["timeout"], rts["retry_cnt"], rts["rnr_retry"], rts["max_rd_atomic"] = 14, 7, 7, 16
	}
	take(init, "pkey_index", "pkey", "port_num", "qp_access_flags", "qkey")
	take(rtr, "path_mtu", "dest_qp_num", "dgid", "rq_psn", "max_dest_rd_atomic", "min_rnr_timer")
	take(rts, "sq_psn", "timeout", "retry_cnt", "rnr_retry", "max_rd_atomic", "path_mig_state", "cur_qp_state")
	if len(fields) > 0 {
		return fmt.Errorf("no attributes %v", fields)
	}
	if err := s.verb(e, "create_qp", create); err != nil {
		return err
	}
	for _, to := range []map[string]any{init, rtr, rts} {
		if err := s.verb(e, "modify_qp", to); err != nil || to["to"] == upto {
			return err
		}
	}
	return nil
}
