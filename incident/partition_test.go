package incident_test

import (
	"strings"
	"testing"
)

// TestPKeys: of an unanswered request the P_Keys of both ends are shown where one is that of a limited member, and not where both are the same of full members.
func TestPKeys(t *testing.T) {
	const text = `
about: nothing is answered
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
attributes: {timeout: 12}
taps: [middle]
qps:
  a1: {hca: a, peer: b1, pkey: KEY}
  b1: {hca: b, peer: a1, pkey: KEY}
work:
  - {qp: a1, op: write, length: 64}
errors:
  - {do: drop, from: a, where: after, count: all}
`
	const said = "P_Keys: packets of 10.0.0.1 on this connection carry 0x1234, of a limited member: full members only take them; 10.0.0.2 has sent nothing that tells its own"
	for key, told := range map[string]bool{"0x1234": true, "0x9234": false} {
		if got := reasons(t, strings.ReplaceAll(text, "KEY", key)); strings.Contains(got, said) != told || strings.Contains(got, "P_Keys: ") != told {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// TestPartitions: two queue pairs that drop what the other sends for its P_Key are one incident, which says so. Where the P_Keys agree, nothing is said of them.
func TestPartitions(t *testing.T) {
	const text = `
about: nothing is answered either way
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
attributes: {timeout: 12}
taps: [middle]
qps:
  a1: {hca: a, peer: b1, pkey: KEYA}
  b1: {hca: b, peer: a1, pkey: KEYB}
work:
  - {qp: b1, op: receive, length: 64, repeat: 4}
  - {qp: a1, op: send, length: 64, repeat: 2}
  - {qp: b1, op: write, length: 64, repeat: 2}
`
	const drops = `errors:
  - {do: drop, from: a, where: after, count: all}
  - {do: drop, from: b, where: after, count: all}
`
	for _, tt := range []struct {
		name, a, b, more string
		want, not        string
	}{
		{"of other partitions", "0x8002", "0x8001", "", "P_Key: packets of 10.0.0.2 carry P_Key 0x8001, those of 10.0.0.1 carry 0x8002", ""},
		{"of two limited members", "0x0001", "0x0001", "", "P_Key: packets of 10.0.0.2 and of 10.0.0.1 carry P_Key 0x0001: limited members of a partition do not take packets of one another", ""},
		{"the same", "0x8001", "0x8001", drops, "fits: a wrong destination QPN", "P_Key: "},
		{"of a limited and a full member", "0x0001", "0x8001", drops, "fits: a wrong destination QPN", "P_Key: "},
	} {
		got := reasons(t, strings.NewReplacer("KEYA", tt.a, "KEYB", tt.b).Replace(text)+tt.more)
		if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %s\nwant %q, and not %q", tt.name, got, tt.want, tt.not)
		}
		if tt.not == "" && (!strings.Contains(got, "frames: 1\n") || !strings.Contains(got, "fits: a P_Key that the two ends do not agree on: each")) {
			t.Errorf("%s: %s\nwant one incident", tt.name, got)
		}
	}
}
