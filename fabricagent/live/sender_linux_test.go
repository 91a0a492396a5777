package live_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
)

// sendable is a frame to an address.
func sendable(to string, mac byte) []byte {
	dst, err := packet.ParseAddr(to)
	if err != nil {
		panic(err)
	}
	p := packet.Packet{Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.IPv4Addr([]byte{10, 0, 0, 1}), Dst: dst, PKey: 0xFFFF}
	if !dst.IsIPv4() {
		p.Encap, p.Src = packet.RoCEv1, packet.Addr{Hi: 0xFE80 << 48, Lo: 1}
	}
	return p.CompleteEthernet(nil, [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{mac, 0, 0, 0, 0, 2})
}

// unprivileged calls f in a thread without capabilities, which ends with it.
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocks it: the thread is not used again
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// TestSender: frames leave as they are, no faster than they may, and only to addresses that were named.
func TestSender(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"right"}})
	to := []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 2}), {Hi: 0xFE80 << 48, Lo: 2}}
	out, err := live.OpenSender(live.SendOptions{Interface: "left", To: to, Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var want [][]byte
	began := time.Now()
	for range 5 {
		want = append(want, sendable("10.0.0.2", 2), sendable("fe80::2", 2))
	}
	for _, f := range want {
		if err := out.Send(f); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 85*time.Millisecond {
		t.Errorf("10 frames at 100 a second took %v", took)
	}
	other := sendable("10.0.0.2", 2)
	other[12] = 0x88
	for name, f := range map[string][]byte{"another address": sendable("10.0.0.3", 2), "a group of stations": sendable("10.0.0.2", 3), "no IP": other, "short": {1, 2}, "cut": want[0][:20]} {
		if err, target := out.Send(f), (*live.TargetError)(nil); !errors.As(err, &target) {
			t.Errorf("%s: %v", name, err)
		}
	}
	i := 0
	if n := collect(t, s, len(want), func(f *fabricagent.Frame) {
		if i < len(want) && !bytes.Equal(f.Data, want[i]) {
			t.Errorf("frame %d: %x, not %x", i, f.Data, want[i])
		}
		i++
	}); n != len(want) {
		t.Errorf("%d frames of %d", n, len(want))
	}
	if err := out.Send(append(sendable("10.0.0.2", 2), make([]byte, 4000)...)); err == nil || !strings.Contains(err.Error(), "longer than it takes") {
		t.Errorf("a long frame: %v", err)
	}
	unprivileged(t, func() {
		if _, err := live.OpenSender(live.SendOptions{Interface: "left", To: to}); err == nil || !strings.Contains(err.Error(), "CAP_NET_RAW") {
			t.Errorf("without rights: %v", err)
		}
	})
	veth.IP(t, "link set left down")
	if err := out.Send(want[0]); err == nil || !strings.Contains(err.Error(), "bring it up") {
		t.Errorf("down: %v", err)
	}
	if _, err := live.OpenSender(live.SendOptions{Interface: "left", To: to}); err == nil || !strings.Contains(err.Error(), "bring it up") {
		t.Errorf("down: %v", err)
	}
	veth.IP(t, "link delete left")
	if err, gone := out.Send(want[0]), (*live.GoneError)(nil); !errors.As(err, &gone) {
		t.Errorf("gone: %v", err)
	}
	if _, err := live.OpenSender(live.SendOptions{Interface: "left", To: to}); err == nil || !strings.Contains(err.Error(), "ip link") {
		t.Errorf("gone: %v", err)
	}
	if _, err := live.OpenSender(live.SendOptions{Interface: "left"}); err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("no address: %v", err)
	}
}
