package sa

import (
	"testing"

	"ibwitness/mad"
)

const testKey = 7

// ported makes subnet administration of two ports, LIDs 1 and 2, that share two P_Keys; port 2 is in a third partition, too.
func ported(t *testing.T, c Config) *Agent {
	t.Helper()
	c.Key = testKey
	c.Ports = []Port{{GUID: 0x11, LID: 1, PKeys: []uint16{0xFFFF, 0x8001}}, {GUID: 0x22, LID: 2, PKeys: []uint16{0x7FFF, 0x8001, 0x8002}}}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// request is a request for records, with a ComponentMask and an SM_Key; change fills its record. The status is 0xFFFF where no answer comes.
func request(t *testing.T, a *Agent, method mad.Method, attribute mad.Attribute, mask, key uint64, change func(put func(name string, v uint64), copies func(name string, b []byte))) (status uint16, out []byte) {
	t.Helper()
	l := mad.SARecord(attribute)
	data := make([]byte, l.Size)
	if change != nil {
		change(func(name string, v uint64) { l.Field(name).PutUint(data, v) }, func(name string, b []byte) { copy(l.Field(name).Bytes(data), b) })
	}
	b := message(t, method, attribute, mad.RMPP{}, data)
	if err := (&mad.SA{SMKey: key, ComponentMask: mask}).Encode(b); err != nil {
		t.Fatal(err)
	}
	list := a.Receive(0, peer, b)
	if len(list) == 0 {
		return 0xFFFF, nil
	}
	return uint16(list[0].MAD[4])<<8 | uint16(list[0].MAD[5]), list[0].MAD
}

// TestKey: a wrong SM_Key is not answered, and that of answers is 0; a standby answers nobody.
func TestKey(t *testing.T) {
	records := map[mad.Attribute][][]byte{mad.AttrNodeRecord: {make([]byte, mad.LayoutNodeRecord.Size)}}
	for key, want := range map[uint64]uint16{0: 0, testKey: 0, 8: 0xFFFF} {
		status, out := request(t, ported(t, Config{Records: records}), mad.Get, mad.AttrNodeRecord, 0, key, nil)
		var s mad.SA
		if status != want || out != nil && (s.Decode(out) != nil || s.SMKey != 0) {
			t.Errorf("key %d: status %#x, SM_Key %d", key, status, s.SMKey)
		}
		if status, _ := request(t, ported(t, Config{Records: records, Standby: true}), mad.Get, mad.AttrNodeRecord, 0, key, nil); status != 0xFFFF {
			t.Errorf("a standby answers key %d", key)
		}
	}
}

// TestTrusted: the M_Key of a port and its P_Keys are for trusted requesters.
func TestTrusted(t *testing.T) {
	info := make([]byte, mad.LayoutPortInfoRecord.Size)
	info[11] = 5 // of the M_Key
	a := ported(t, Config{Records: map[mad.Attribute][][]byte{mad.AttrPortInfoRecord: {info}, mad.AttrPKeyTableRecord: {make([]byte, mad.LayoutPKeyTableRecord.Size)}}})
	for key, want := range map[uint64]uint8{0: 0, testKey: 5} {
		status, out := request(t, a, mad.Get, mad.AttrPortInfoRecord, 0, key, nil)
		if status != 0 || out[mad.SAHeaderSize+11] != want {
			t.Errorf("key %d: status %#x", key, status)
		}
		if status, _ := request(t, a, mad.Get, mad.AttrPKeyTableRecord, 0, key, nil); (status == 0) != (key != 0) {
			t.Errorf("P_Keys, key %d: status %#x", key, status)
		}
	}
}

// TestPaths: there is a path for each P_Key by which two ports may talk (limited members do not), and no more of them than NumbPath.
func TestPaths(t *testing.T) {
	a := ported(t, Config{})
	for _, c := range []struct {
		mask, numb, key uint64
		want            int
	}{{0, 0, 0, 8}, {maskNumbPath, 1, 0, 4}, {maskPathPKey, 0, 0x8002, 1}, {maskPathPKey, 0, 0x7FFF, 3}, {maskPathPKey, 0, 0x8003, 0}} {
		want := make([]byte, mad.LayoutPathRecord.Size)
		mad.LayoutPathRecord.Field("numbPath").PutUint(want, c.numb)
		mad.LayoutPathRecord.Field("PKey").PutUint(want, c.key)
		if got := a.paths(c.mask, want); len(got) != c.want {
			t.Errorf("%+v: %d paths", c, len(got))
		}
	}
}

// TestService: a ServiceRecord is found until it is deleted.
func TestService(t *testing.T) {
	a := ported(t, Config{})
	for i, c := range []struct {
		method mad.Method
		mask   uint64
		want   uint16
	}{
		{mad.Set, 1, statusInvalid},
		{mad.Get, 1, statusNone},
		{mad.Set, maskService, 0},
		{mad.Set, maskService, 0}, // it replaces the first
		{mad.Get, 1, 0},
		{mad.Delete, maskService, 0},
		{mad.Delete, maskService, statusNone},
		{mad.Get, 1, statusNone},
	} {
		status, _ := request(t, a, c.method, mad.AttrServiceRecord, c.mask, 0, func(put func(string, uint64), _ func(string, []byte)) { put("serviceID", 9) })
		if status != c.want {
			t.Errorf("step %d, %v: status %#x, want %#x", i, c.method, status, c.want)
		}
	}
}

// TestGroup: a group is created by who gives all that this takes, joined by its components, and left by the states of the member.
func TestGroup(t *testing.T) {
	a := ported(t, Config{})
	const members = maskMGID | maskPortGID | maskJoinState
	for i, c := range []struct {
		method mad.Method
		mask   uint64
		state  uint64
		qkey   uint64
		want   uint16
	}{
		{mad.Set, members, 1, 0, statusMissing},
		{mad.Set, members | maskCreate, 2, 5, statusInvalid}, // no full member
		{mad.Set, members | maskCreate, 1, 5, 0},
		{mad.Set, members | maskCreate, 2, 6, statusInvalid},
		{mad.Set, members, 0, 0, statusInvalid},
		{mad.Set, members, 2, 0, 0},
		{mad.Get, maskMGID, 0, 0, 0},
		{mad.Delete, members, 4, 0, statusInvalid},
		{mad.Delete, members, 1, 0, 0},
		{mad.Delete, members, 3, 0, statusInvalid},
		{mad.Delete, members, 2, 0, 0},
		{mad.Get, maskMGID, 0, 0, statusNone},
		{mad.Delete, members, 2, 0, statusInvalid},
	} {
		status, out := request(t, a, c.method, mad.AttrMCMemberRecord, c.mask, 0, func(put func(string, uint64), copies func(string, []byte)) {
			copies("MGID", []byte{0xFF, 0x15, 0x47, 0x11})
			copies("portGID", a.gid(1))
			put("QKey", c.qkey)
			put("joinState", c.state)
		})
		if status != c.want {
			t.Errorf("step %d, %v: status %#x, want %#x", i, c.method, status, c.want)
		}
		if mlid := mad.LayoutMCMemberRecord.Field("MLID"); status == 0 && c.method == mad.Set && mlid.Uint(out[mad.SAHeaderSize:]) != firstMLID {
			t.Errorf("step %d: MLID %#x", i, mlid.Uint(out[mad.SAHeaderSize:]))
		}
	}
	for mgid, want := range map[[4]byte]bool{{0xFF, 0x12, 0x40, 0x1B}: true, {0xFE, 0x12}: false, {0xFF, 0x32}: false, {0xFF, 0x12, 0xA0, 0x1B}: false, {0xFF, 0x15, 0xA0, 0x1B}: true} {
		if legalMGID(append(mgid[:], make([]byte, 12)...)) != want {
			t.Errorf("%x", mgid)
		}
	}
}
