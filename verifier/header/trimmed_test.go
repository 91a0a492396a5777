package header

import "testing"

// TestTrimmedDSCP: the detail of a trimmed packet says which DSCP it has, and which others of its queue pair; another detail does not.
func TestTrimmedDSCP(t *testing.T) {
	for detail, want := range map[string][2]uint8{
		"114 bytes in place of 4140, DSCP 11 in place of 26": {11, 26},
		"shorter than its Total Length 4140":                 {},
		"DSCP 11":                                            {11},
	} {
		came, usual, known := TrimmedDSCP(detail)
		if known != (want[1] != 0) || known && (came != want[0] || usual != want[1]) {
			t.Errorf("%q: %d in place of %d, %t", detail, came, usual, known)
		}
	}
}
