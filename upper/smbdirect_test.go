package upper

import "testing"

// smbdMessage is a data transfer message.
func smbdMessage(remaining uint32, data []byte) []byte {
	return append(bytesOf(le, uint16(255), uint16(1), uint32(0), remaining, uint32(24), uint32(len(data)), uint32(0)), data...)
}

// smb2Message is an SMB2 message with a body, which others follow where next is not 0.
func smb2Message(command uint16, id uint64, flags, status, next uint32, body ...any) []byte {
	b := padded(bytesOf(le, uint32(smb2Plain), uint16(64), uint16(1), status, command, uint16(1), flags, next, id), 64)
	return append(b, bytesOf(le, body...)...)
}

// smb2ReadOf is a READ whose data is to be written into memory.
func smb2ReadOf(id, addr uint64, token, length uint32) []byte {
	return smb2Message(smb2Read, id, 0, 0, 0, uint16(49), uint16(0), length, uint64(0), make([]byte, 16), uint32(0), uint32(1), uint32(0), uint16(64+48), uint16(16), addr, token, length)
}

func smb2WriteOf(id, addr uint64, token, length uint32) []byte {
	return smb2Message(smb2Write, id, 0, 0, 0, uint16(49), uint16(0), uint32(0), uint64(0), make([]byte, 16), uint32(2), length, uint16(64+48), uint16(16), uint32(0), addr, token, length)
}

func TestSMBDirect(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, bytesOf(le, uint16(0x0100), uint16(0x0100), uint16(0), uint16(255), uint32(1364), uint32(8192), uint32(1048576)))
	k.send(1, bytesOf(le, uint16(0x0100), uint16(0x0100), uint16(0x0100), uint16(0), uint16(255), uint16(255), uint32(0), uint32(8388608), uint32(1364), uint32(8192), uint32(1048576)))
	k.is("SMB Direct", Counts{})
	k.send(0, smbdMessage(0, smb2Message(0, 0, 0, 0, 0, make([]byte, 36))))
	k.send(1, smbdMessage(0, smb2Message(0, 0, smb2IsReply, 0, 0, make([]byte, 64))))
	k.send(0, smbdMessage(0, nil)) // only credits
	k.send(0, smbdMessage(0, smb2ReadOf(7, 0xFFFF000000, 0x4711, 65536)))
	k.oldest("SMB2 READ, message id 7")
	k.owns(0xFFFF000000, 0x4711, 65536, "SMB2 READ, message id 7")
	k.send(0, smbdMessage(0, smb2WriteOf(8, 0xFFFF800000, 0x4811, 4096)))
	k.owns(0xFFFF800010, 0x4811, 16, "SMB2 WRITE, message id 8")
	k.send(1, smbdMessage(0, smb2Message(smb2Read, 7, smb2IsReply, statusPended, 0, make([]byte, 9))))
	k.oldest("SMB2 READ, message id 7")
	k.send(1, smbdMessage(0, smb2Message(smb2Read, 7, smb2IsReply, 0xC0000011, 0, make([]byte, 9))))
	k.failed("SMB2 READ, message id 7", "STATUS_END_OF_FILE")
	k.send(1, smbdMessage(0, smb2Message(smb2Write, 8, smb2IsReply, 0xC0FFEE00, 0, make([]byte, 17))))
	k.failed("SMB2 WRITE, message id 8", "NTSTATUS 0xc0ffee00")
	k.is("SMB Direct", Counts{Begun: 3, Ended: 3, Failed: 2})
	// Two in one message, one of which waits for a change; then one that takes two SENDs, the second of which is no message.
	k.send(0, smbdMessage(0, append(padded(smb2Message(5, 9, 0, 0, 128), 128), smb2Message(smb2ChangeNotify, 10, 0, 0, 0, make([]byte, 32))...)))
	k.is("SMB Direct", Counts{Begun: 5, Ended: 3, Failed: 2, Open: 1})
	k.oldest("SMB2 CREATE, message id 9")
	k.send(0, smbdMessage(200, smb2Message(smb2Write, 11, 0, 0, 0, make([]byte, 48))))
	k.send(0, smbdMessage(0, padded(smb2ReadOf(12, 1, 2, 3), 200)))
	k.is("SMB Direct", Counts{Begun: 6, Ended: 3, Failed: 2, Open: 2})
	k.send(0, smbdMessage(0, smb2Message(smb2Cancel, 9, 0, 0, 0, uint32(4))))
	k.send(1, smbdMessage(0, smb2Message(18, unsolicited, smb2IsReply, 0, 0, make([]byte, 24)))) // an oplock break
	k.is("SMB Direct", Counts{Begun: 6, Ended: 3, Failed: 2, Open: 2})
}

// TestSMBCredits: how many messages each end may still send is known from the negotiation on, whichever end it is called; not before, nor where a message was missed.
func TestSMBCredits(t *testing.T) {
	data := func(granted uint16) []byte {
		return bytesOf(le, uint16(255), granted, uint32(0), uint32(0), uint32(0), uint32(0))
	}
	begin := func(granted uint16) *talk {
		k := &talk{TB: t}
		k.send(0, bytesOf(le, uint16(0x0100), uint16(0x0100), uint16(0), uint16(255), uint32(1364), uint32(8192), uint32(1048576)))
		k.send(1, bytesOf(le, uint16(0x0100), uint16(0x0100), uint16(0x0100), uint16(0), uint16(255), granted, uint32(0), uint32(8388608), uint32(1364), uint32(8192), uint32(1048576)))
		return k
	}
	k := begin(9)
	k.send(0, data(3))
	k.send(1, data(0))
	k.send(1, data(2))
	c, known := k.t.Credits()
	if !known || c.Left != [2]int{10, 1} || c.Granted != [2]Grant{{2, 5000, 5}, {3, 3000, 3}} || c.Used != [2]Grant{{1, 3000, 3}, {1, 5000, 5}} {
		t.Errorf("%v, %+v", known, c)
	}
	k.t.Turn()
	if turned, _ := k.t.Credits(); turned.Left != [2]int{1, 10} || turned.Granted[0] != c.Granted[1] || turned.Used[1] != c.Used[0] {
		t.Errorf("%+v", turned)
	}
	k = begin(9)
	k.send(1, data(1))
	if c, known := k.t.Credits(); !known || c.Known(1) || !c.Known(0) || c.Left[0] != 10 {
		t.Errorf("the server sends one too many: %v, %+v", known, c)
	}
	for name, of := range map[string]func() *talk{
		"no negotiation": func() *talk {
			k := &talk{TB: t}
			k.send(0, smbdMessage(0, smb2Message(0, 0, 0, 0, 0, make([]byte, 36))))
			return k
		},
		"another message": func() *talk { k := begin(9); k.send(0, make([]byte, 40)); return k },
		"forgotten":       func() *talk { k := begin(9); k.t.Forget(); return k },
		"cut": func() *talk {
			k := begin(9)
			k.take(&Message{Head: make([]byte, 20), Length: 90})
			return k
		},
	} {
		if c, known := of().t.Credits(); known {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, known := NewTracker(nvme{}, true).Credits(); known {
		t.Error("of NVMe")
	}
}

// TestSMBEncrypted: of messages that are encrypted nothing is known but that they are SMB.
func TestSMBEncrypted(t *testing.T) {
	k := &talk{TB: t}
	for range 2 {
		k.send(0, smbdMessage(0, padded(bytesOf(le, uint32(smb2Encrypted)), 200)))
	}
	k.is("SMB Direct", Counts{})
}

func FuzzSMB(f *testing.F) {
	fuzz(f, smb{}, smbdMessage(0, smb2ReadOf(7, 1<<32, 0x4711, 65536)), smbdMessage(100, smb2WriteOf(8, 1<<33, 0x4711, 65536)), smbdMessage(0, smb2Message(8, 7, smb2IsReply, 0xC0000011, 0)))
}
