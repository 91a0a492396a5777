package mad

import "testing"

// TestNVMeQueue: the queue is read from the private data of a REQ to a TCP port; not where that is of another format, or zeros, as of a REQ that was cut, or short.
func TestNVMeQueue(t *testing.T) {
	port := ServiceID(1<<24 | uint64(ProtocolTCP)<<16 | 4420)
	data := func(b ...byte) []byte { return append(make([]byte, IPHeaderSize), b...) }
	for name, k := range map[string]struct {
		of   REQ
		want NVMeQueue
	}{
		"queue 3": {REQ{ServiceID: port, Private: data(0, 0, 3, 0, 128, 0, 127, 0, 0, 0)}, NVMeQueue{3, 128, 127, true}},
		"admin":   {REQ{ServiceID: port, Private: data(0, 0, 0, 0, 32, 0, 31, 0)}, NVMeQueue{0, 32, 31, true}},
		"format":  {REQ{ServiceID: port, Private: data(1, 0, 3, 0, 128, 0, 127, 0)}, NVMeQueue{}},
		"zeros":   {REQ{ServiceID: port, Private: data(0, 0, 0, 0, 0, 0, 0, 0)}, NVMeQueue{}},
		"short":   {REQ{ServiceID: port, Private: data(0, 0, 3, 0, 128, 0)}, NVMeQueue{}},
		"service": {REQ{ServiceID: 7, Private: data(0, 0, 3, 0, 128, 0, 127, 0)}, NVMeQueue{}},
	} {
		if got := k.of.NVMeQueue(); got != k.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
