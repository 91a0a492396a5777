package upper

import (
	"fmt"
	"testing"
)

// TestClasses: commands are counted by procedure, opcode or command, and which were answered after one; not where there are more of these than are counted.
func TestClasses(t *testing.T) {
	for _, k := range []struct {
		protocol    string
		write, read func(id uint32) []byte
		done        func(id uint32, write bool) []byte
		names       [2]string
	}{
		{
			"NFS",
			func(id uint32) []byte { return rpcCallOf(id, programNFS, 3, 7, []segment{{0x11, 4096, 0x1000}}, nil) },
			func(id uint32) []byte { return rpcCallOf(id, programNFS, 3, 6, nil, []segment{{0x21, 4096, 0x2000}}) },
			func(id uint32, _ bool) []byte { return rpcReplyOf(id, 0, uint32(0)) },
			[2]string{"NFS version 3 WRITE", "NFS version 3 READ"},
		},
		{
			"SMB",
			func(id uint32) []byte { return smbdMessage(0, smb2WriteOf(uint64(id), 0x1000, 0x11, 4096)) },
			func(id uint32) []byte { return smbdMessage(0, smb2ReadOf(uint64(id), 0x2000, 0x21, 4096)) },
			func(id uint32, write bool) []byte {
				command := uint16(smb2Read)
				if write {
					command = smb2Write
				}
				return smbdMessage(0, smb2Message(command, uint64(id), smb2IsReply, 0, 0, uint64(0)))
			},
			[2]string{"SMB2 WRITE", "SMB2 READ"},
		},
		{
			"iSER",
			func(id uint32) []byte { return iserMessage(0x18, 0x11, 0x1000, 0, 0, scsi(0xA0, 0, id, 0x8A)...) },
			func(id uint32) []byte { return iserMessage(0x14, 0, 0, 0x21, 0x2000, scsi(0xC0, 0, id, 0x88)...) },
			func(id uint32, _ bool) []byte { return scsiResponse(id, 0, 0) },
			[2]string{"SCSI WRITE(16)", "SCSI READ(16)"},
		},
	} {
		c := &talk{TB: t}
		id := uint32(1)
		one := func(message func(uint32) []byte, answered bool) {
			c.send(0, message(id))
			if answered {
				c.send(1, k.done(id, false))
			}
			id++
		}
		one(k.write, false)
		c.send(1, k.done(1, true))
		for range 3 {
			one(k.write, false)
			one(k.read, true)
		}
		one(k.read, false)
		list := c.t.Classes()
		if len(list) != 2 {
			t.Fatalf("%s: %+v", k.protocol, list)
		}
		got := fmt.Sprint(c.t.Name(&list[0]), list[0].Open, list[0].Answered, " ", c.t.Name(&list[1]), list[1].Open, list[1].Answered)
		if want := fmt.Sprint(k.names[0], 3, 1, " ", k.names[1], 1, 3); got != want {
			t.Errorf("%s: %s, not %s", k.protocol, got, want)
		}
		if o := c.t.Oldest(); c.t.ClassOf(o) != 0 || c.t.OthersAfter(o) != 3 || c.t.EndedAfter(o) != 3 {
			t.Errorf("%s: %d of %d others", k.protocol, c.t.OthersAfter(o), c.t.EndedAfter(o))
		}
	}
	c := &talk{TB: t}
	for i := range uint32(mostClasses + 1) {
		if i == mostClasses && len(c.t.Classes()) != mostClasses {
			t.Errorf("%d classes", len(c.t.Classes()))
		}
		c.send(0, rpcCallOf(i+1, programNFS, 3, i+1, nil, nil))
	}
	if c.t.Classes() != nil {
		t.Error("there are more classes than are counted")
	}
}
