package mad

import "testing"

// TestRPCReceives: the size of receives is read from the private data of RPC over RDMA, after the CMA header of a REQ and by itself in a REP; not where another version, protocol or service has private data, or it is cut.
func TestRPCReceives(t *testing.T) {
	data := []byte{0xF6, 0xAB, 0x0E, 0x18, 1, 1, 0, 3}
	with := func(at int, b byte) []byte {
		out := append([]byte(nil), data...)
		out[at] = b
		return out
	}
	ip := ServiceID(0x0000000001064E51) // TCP, port 20049
	for n, k := range []struct {
		id   ServiceID
		data []byte
		want uint16
	}{
		{ip, data, 4}, {ip, with(7, 0), 1}, {ip, with(7, 255), 256}, {ip, with(4, 2), 0}, {ip, with(3, 0), 0}, {ip, data[:7], 0}, {ip, nil, 0}, {1, data, 0},
	} {
		q := REQ{ServiceID: k.id, Private: append(make([]byte, IPHeaderSize), k.data...)}
		if got := q.RPCReceives(); got != k.want {
			t.Errorf("REQ %d: %d", n, got)
		}
		if k.id != ip {
			continue
		}
		if got := (&REP{Private: k.data}).RPCReceives(); got != k.want {
			t.Errorf("REP %d: %d", n, got)
		}
	}
	if got := (&REQ{ServiceID: ip, Private: make([]byte, IPHeaderSize-1)}).RPCReceives(); got != 0 {
		t.Errorf("cut: %d", got)
	}
}
