package hcaagent

import "testing"

func TestAccessError(t *testing.T) {
	err := error(&AccessError{Reason: "R_Key 0x1 is not registered"})
	if want := "hcaagent: memory access: R_Key 0x1 is not registered"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
