package remote_test

import (
	"testing"

	"ibwitness/hcaagent/realtime"
	"ibwitness/hcaagent/remote"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
)

// TestEthernet has two adapters in software talk to each other over raw Ethernet: each finds the Ethernet address of the other by ARP.
func TestEthernet(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	secret := remote.NewSecret()
	var ends [2]*end
	for i, name := range []string{"left", "right"} {
		port, err := realtime.OpenPort(realtime.PortOptions{Interface: name, Addrs: []packet.Addr{addr(byte(101 + i))}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = port.Close() })
		ends[i] = dial(t, serve(t, secret, port.Open).address, secret)
		if i := ends[i].Info(); i.Interface != name || i.MTU < 1024 || port.Kernel {
			t.Errorf("%+v, kernel %t", i, port.Kernel)
		}
	}
	suite(t, ends[0], ends[1])
}
