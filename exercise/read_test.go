package exercise_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/exercise"
	"ibwitness/internal/yamlfile"
)

// TestMistakes: each mistake in a script is told in its line, with what to do.
func TestMistakes(t *testing.T) {
	const ends = "ethernet: {exerciser: {address: 10.0.0.1, mac: \"02:00:00:00:00:01\"}, partner: {address: 10.0.0.2, mac: \"02:00:00:00:00:02\"}}\n"
	step := func(s string) string { return "link: {}\nstreams:\n  - steps:\n      - " + s + "\n" }
	for text, want := range map[string]string{
		"":         "it is empty; docs/exercise.md says what a script holds",
		"link: {}": "line 1: nothing to send",
		"streams: [{to: \"lid:2\", steps: [{op: rc_send_only}]}]":                                                                             "line 1: no wire",
		"link: {}\n" + ends + "streams: []":                                                                                                   "packets go over one of both",
		"link: {lanes: 3}\nstreams: []":                                                                                                       `line 1: "3": give one of 1, 15, 2, 4, 8`,
		"link: {partner: {fault: bad-luck}}\nstreams: []":                                                                                     `no fault of a port is called "bad-luck"`,
		"breaks: [XYZ-1]\nlink: {}\nstreams: []":                                                                                              `"XYZ-1" is no rule`,
		step("{op: rc_send_only}"):                                                                                                            "line 4: a packet without a destination",
		step("{op: rc_sent_only, to: \"lid:2\"}"):                                                                                             `line 4: "rc_sent_only" is no opcode`,
		step("{op: rc_send_only, to: 10.0.0.2}"):                                                                                              "line 4: to and from are LIDs on a native link",
		step("{op: rc_send_only, to: lid2}"):                                                                                                  `line 4: "lid2" is no address`,
		step("{op: rc_send_only, to: \"lid:2\", set: {psm: 4}}"):                                                                              `line 4: set has no key "psm": give one of ack_req`,
		step("{op: rc_send_only, to: \"lid:2\", set: {psn: 0x1000000}}"):                                                                      `line 4: "0x1000000": give a number from 0 to 16777215`,
		step("{op: rc_send_only, to: \"lid:2\", set: {psn: {random: [9, 1]}}}"):                                                               "line 4: random: give the least and the greatest value",
		step("{op: rc_send_only, to: \"lid:2\", icrc: bad}"):                                                                                  `line 4: "bad": give right, wrong, or the CRC`,
		step("{op: rc_send_only, to: \"lid:2\", payload: xyz}"):                                                                               `line 4: "xyz": give bytes as pairs of hexadecimal digits`,
		step("{op: rc_send_only, pause: 1us}"):                                                                                                "line 4: a step is told by one key of op, mad",
		step("{to: \"lid:2\"}"):                                                                                                               "line 4: a step is told by one key of op, mad",
		step("{wait: {stream: nobody}}"):                                                                                                      `line 4: stream "nobody" is none of streams`,
		step("{wait: {count: 2}}"):                                                                                                            "line 4: a trigger without a condition",
		step("{flow: {vl: 16}}"):                                                                                                              `line 4: "16": give a number from 0 to 15`,
		step("{flow: {vl: 0, fccl: +5000}}"):                                                                                                  `line 4: "+5000": give a count of blocks`,
		step("{ipv6: 59, to: \"lid:2\"}"):                                                                                                     "line 4: a raw IPv6 packet has addresses",
		step("{mad: {attribute: PortInfo}, to: \"lid:2\"}"):                                                                                   "line 4: a MAD without a class",
		step("{mad: {class: subnet_directed, attribute: PortInfo}, to: \"lid:2\"}"):                                                           "line 4: a directed route without a route",
		step("{mad: {class: subnet, attribute: PortInfos}, to: \"lid:2\"}"):                                                                   `line 4: "PortInfos" is no attribute of its class`,
		step("{mad: {class: subnet, attribute: PortInfo, fields: {LUD: 1}}, to: \"lid:2\"}"):                                                  `line 4: PortInfo has no key "LUD"`,
		step("{pause: 1us}") + "    repeat: forever\n":                                                                                        "line 3: stream 1 has no packet and no end",
		ends + "streams: [{steps: [{flow: {vl: 0}}]}]":                                                                                        "line 2: link packets and raw packets are those of a native link",
		ends + "streams: [{to: 10.0.0.2, steps: [{op: rc_send_only, credits: ignore}]}]":                                                      "line 2: credits, state, vl",
		ends + "streams: [{to: \"fe80::1\", steps: [{op: rc_send_only}]}]":                                                                    "give addresses that are both IPv4, or both IPv6",
		ends + "streams: [{steps: [{link: down}]}]":                                                                                           "line 2: link: only a native link has that",
		"link: {}\nstreams: [{of: partner, to: \"lid:1\", steps: [{op: rc_send_only, credits: ignore}]}]":                                     "line 2: the partner keeps to the rules of the link",
		"link: {}\nstreams: [{name: a, steps: [{pause: 1s}]}, {name: a, steps: [{pause: 1s}]}]":                                               `stream "a" has the name of the one in line 2`,
		step("{mad: {class: cm, attribute: RTU, fields: {Private: \"" + strings.Repeat("00", 225) + "\"}}, to: \"lid:2\"}"):                   "line 4: mad: RTU: more private data",
		step("{mad: {class: cm, attribute: REQ, fields: {PathMtu: 5}}, to: \"lid:2\"}"):                                                       `line 4: REQ has no key "PathMtu": give one of Alternate_FlowLabel`,
		"ethernet: {exerciser: {address: 10.0.0.1, mac: 1}, partner: {address: 10.0.0.2, mac: x}}\nstreams: []":                               `"1" is no Ethernet address`,
		"ethernet: {exerciser: {address: \"lid:1\", mac: \"02:00:00:00:00:01\"}, partner: {}}\nstreams: []":                                   "a station has an IPv4 or IPv6 address",
		"link: {sinks: {15: {capacity: 3}}}\nstreams: []":                                                                                     `"15" is no data lane`,
		"link: {}\nstreams:\n  - to: lid:2\n    steps:\n      - {op: 0x04, length: 4, end: middle}\n":                                         `line 5: "middle": give one of ebp`,
		"link: {}\nstreams:\n  - to: lid:2\n    start: {pattern: {at: 3}}\n    steps:\n      - {op: 4}\n":                                     "line 4: pattern: give bytes:",
		"link: {}\nstreams:\n  - to: lid:2\n    start: {stream: x, op: 4}\n    steps:\n      - {op: 4}\n":                                     "line 4: stream: the end of a stream has no other conditions",
		"link: {}\nstreams:\n  - to: lid:2\n    steps:\n      - {mad: {class: cm, data_at: 250, data: \"" + strings.Repeat("00", 10) + "\"}}": "line 5: data: 10 bytes from byte 250 on do not fit a MAD",
	} {
		_, err := exercise.Read("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
		if le := (*yamlfile.LineError)(nil); text != "" && !errors.As(err, &le) {
			t.Errorf("%q: no line", text)
		}
	}
	if _, err := exercise.ReadFile("none.yaml"); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("%v", err)
	}
}

// FuzzRead: no text ends the program, and what is read runs to its end.
func FuzzRead(f *testing.F) {
	list, _ := filepath.Glob("../examples/exercise/*.yaml")
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := exercise.Read("x.yaml", text)
		if err != nil {
			return
		}
		s.Until, s.Packets, s.Memory = 200_000, 300, 10_000
		r, err := s.Start()
		if err != nil {
			return
		}
		for {
			b, err := r.Source.Next()
			if err != nil {
				break
			}
			b.Release()
		}
		if r.Result() == nil {
			t.Error("no result")
		}
	})
}
