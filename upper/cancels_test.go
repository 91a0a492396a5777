package upper

import "testing"

// TestCancels: a request to cancel a command that is open is known of that command, of the newest mostCancels, and whether it was answered where it has an answer; not that of one that has ended, or is not known. Of NVMe it is of
// another connection.
func TestCancels(t *testing.T) {
	k := &talk{TB: t}
	read := func(id uint64) *Command {
		k.send(0, smbdMessage(0, smb2ReadOf(id, id<<16, 0x4711, 65536)))
		return k.t.Find(0, id)
	}
	cancel := func(id uint64) { k.send(0, smbdMessage(0, smb2Message(smb2Cancel, id, 0, 0, 0, uint32(4)))) }
	c := read(7)
	if _, is := k.t.Cancelled(c); is {
		t.Error("nobody has cancelled it")
	}
	cancel(8)
	cancel(7)
	cancel(7)
	if got, is := k.t.Cancelled(c); !is || got.Frame != 3 || got.ID != 7 || got.Name != "SMB2 CANCEL" || got.Answered {
		t.Errorf("%v %+v", is, got)
	}
	k.send(1, smbdMessage(0, smb2Message(smb2Read, 7, smb2IsReply, 0xC0000120, 0, make([]byte, 9))))
	cancel(7)
	c = read(7)
	if got, is := k.t.Cancelled(c); is {
		t.Errorf("of the one before: %+v", got)
	}
	if len(k.t.Aborts()) > 0 {
		t.Errorf("%+v", k.t.Aborts())
	}
	for id := uint64(20); id < 20+mostCancels+1; id++ {
		read(id)
		cancel(id)
	}
	first, second := k.t.Find(0, 20), k.t.Find(0, 21)
	if _, is := k.t.Cancelled(first); is || len(k.t.cancelled) != mostCancels {
		t.Errorf("%d are kept", len(k.t.cancelled))
	}
	if _, is := k.t.Cancelled(second); !is {
		t.Error("the second is not")
	}
}

// TestCancelsISCSI: ABORT TASK is of the task that it refers to, and has an answer of its own; other functions are not.
func TestCancelsISCSI(t *testing.T) {
	k := &talk{TB: t}
	manage := func(function uint8, tag, of uint32) {
		k.send(0, iserMessage(0, 0, 0, 0, 0, uint8(taskManagement|0x40), finalBit|function, uint16(0), uint32(0), uint64(0), tag, of))
	}
	k.send(0, iserMessage(iserRead, 0, 0, 0x77, 0x7000, scsi(scsiRead, 0, 0x10, 0x28)...))
	k.send(1, scsiResponse(0x10, 0, 0))
	k.send(0, iserMessage(iserRead, 0, 0, 0x78, 0x8000, scsi(scsiRead, 0, 0x11, 0x28)...))
	c := k.t.Find(0, 0x11)
	manage(5, 0x12, 0x11) // LOGICAL UNIT RESET
	if _, is := k.t.Cancelled(c); is {
		t.Error("a reset of the unit")
	}
	manage(abortTask, 0x13, 0x11)
	if got, is := k.t.Cancelled(c); !is || got.Frame != 5 || got.Answered {
		t.Errorf("%v %+v", is, got)
	}
	k.send(1, iserMessage(0, 0, 0, 0, 0, uint8(taskManagement|isTarget), uint8(finalBit), uint16(0), uint32(0), uint64(0), uint32(0x13)))
	if got, _ := k.t.Cancelled(c); !got.Answered {
		t.Errorf("%+v", got)
	}
}

// TestCancelsNVMe: an Abort of an admin queue names the queue and the command; the same opcode of an I/O queue is another command.
func TestCancelsNVMe(t *testing.T) {
	abortOf := func(cid, queue, of uint16) []byte {
		return padded(append(padded(bytesOf(le, uint8(abort), uint8(psdtSGL), cid), sqeAborts), bytesOf(le, queue, of)...), sqeSize)
	}
	k := &talk{TB: t}
	k.send(0, nvmeConnect(1, 0))
	k.send(1, nvmeResponse(1, 0))
	k.send(0, abortOf(2, 3, 9))
	if got := k.t.Aborts(); len(got) != 1 || got[0].Queue != 3 || got[0].ID != 9 || got[0].Frame != 3 || got[0].Answered {
		t.Errorf("%+v", got)
	}
	k.send(1, nvmeResponse(2, 0))
	if got := k.t.Aborts(); len(got) != 1 || !got[0].Answered {
		t.Errorf("%+v", got)
	}
	k = &talk{TB: t}
	k.send(0, nvmeConnect(1, 1))
	k.send(1, nvmeResponse(1, 0))
	k.send(0, abortOf(2, 3, 9))
	if got := k.t.Aborts(); len(got) > 0 {
		t.Errorf("of an I/O queue: %+v", got)
	}
}
