package upper

import (
	"encoding/binary"
	"testing"
)

// connectData is the data of a Connect.
func connectData(subsystem, host string) []byte {
	b := make([]byte, 1024)
	copy(b[connectSubNQN:], subsystem)
	copy(b[connectHostNQN:], host)
	return b
}

// TestConnectFails: a Connect that fails is known with the NQNs that its data has, in the capsule or as the response to a READ; of one that does what it should nothing is kept.
func TestConnectFails(t *testing.T) {
	const want = "subsystem nqn.2024-01.lab:disk, host nqn.2024-01.lab:a"
	data := connectData("nqn.2024-01.lab:disk", "nqn.2024-01.lab:a")
	inCapsule := nvmeConnect(0, 0)
	copy(inCapsule[sqeSize:], data)
	keyed := nvmeCommand(fabrics, 0, 1, 0x1000, 0x22, 1024)
	for _, c := range []struct {
		name           string
		capsule, read  []byte
		status         uint16
		failed, sought string
	}{
		{"in the capsule", inCapsule, nil, 0x4184, "Connect Invalid Host", want},
		{"read", keyed, data, 0x4182, "Connect Invalid Parameters", want},
		{"read, of a small path MTU", keyed, data[:512], 0x181, "Controller Busy", "subsystem nqn.2024-01.lab:disk"},
		{"read, no NQN", keyed, connectData("disk", "a"), 0x184, "Connect Invalid Host", ""},
		{"it did what it should", keyed, data, 0, "", ""},
	} {
		k := &talk{TB: t}
		k.send(0, c.capsule)
		if c.read != nil {
			k.t.ReadData(0, c.read)
		}
		k.send(1, nvmeResponse(0, c.status))
		failed := ""
		for _, f := range k.t.Failures() {
			if failed += k.t.Status(&f.First); !f.Opens || f.Count != 1 {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if got := k.t.Sought(); failed != c.failed || got != c.sought {
			t.Errorf("%s: %q, of %q; want %q, of %q", c.name, failed, got, c.failed, c.sought)
		}
	}
}

// TestTrouble: failures that mean trouble are kept by class and status, and those that are usual are not.
func TestTrouble(t *testing.T) {
	k := &talk{TB: t}
	for cid := range uint16(40) {
		status := uint16(0)
		switch {
		case cid%8 == 3:
			status = 0x281 // Unrecovered Read Error
		case cid == 21:
			status = 0x002 // Invalid Field in Command
		}
		k.send(0, nvmeRead(cid, 1, 0x1000, 0x1234, 4096))
		k.send(1, nvmeResponse(cid, status))
	}
	if f := k.t.Failures(); len(f) != 1 || f[0].Count != 5 || f[0].First.ID != 3 || f[0].Opens || f[0].Lost {
		t.Errorf("%+v", f)
	}
	for status, is := range map[uint32][2]bool{2: {}, 17: {}, 10008: {}, 5: {true, false}, 28: {true, false}, 10052: {true, true}, 10022: {true, true}, 10068: {}} {
		c, d := &Command{Status: statusNFS | status}, &rpcDecoder{}
		if got := [2]bool{d.Trouble(c), d.Lost(c)}; got != is {
			t.Errorf("NFS status %d: %v, want %v", status, got, is)
		}
	}
	for status, is := range map[uint32]bool{0xC0000034: false, 0xC0000022: false, 0xC00000C9: true, 0xC0000203: true, 0xC000007F: true} {
		if got := (&smbDecoder{}).Trouble(&Command{Status: status}); got != is {
			t.Errorf("NTSTATUS 0x%x: %v", status, got)
		}
	}
	for _, c := range []struct {
		code, status uint32
		is           bool
	}{{scsiCommand | 0x28<<8, 2, true}, {scsiCommand | 0x1A<<8, 2, false}, {scsiCommand | 0x1A<<8, 8, true}, {loginRequest, 0x202, true}, {loginRequest, 0x101, false}, {0x02, 0x100, false}} {
		if got := (&iserDecoder{}).Trouble(&Command{Code: c.code, Status: c.status}); got != c.is {
			t.Errorf("iSCSI 0x%x, status 0x%x: %v", c.code, c.status, got)
		}
	}
}

// TestLoginFails: the status of a login counts whether it was to go on or not.
func TestLoginFails(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, iserMessage(0, 0, 0, 0, 0, uint8(loginRequest|0x40), uint8(0x87), uint16(0), uint32(0), uint64(1), uint32(0)))
	answer := iserMessage(0, 0, 0, 0, 0, uint8(loginRequest|isTarget), uint8(0), uint16(0), uint32(0), uint64(1), uint32(0))
	binary.BigEndian.PutUint16(answer[iserHeaderSize+36:], 0x0202)
	k.send(1, answer)
	f := k.t.Failures()
	if len(f) != 1 || !f[0].Opens || k.t.Status(&f[0].First) != "Authorization failure (login status class 2, detail 2)" {
		t.Errorf("%+v", f)
	}
}
