package sa

import (
	"slices"

	"ibwitness/mad"
)

// Bits of ComponentMask of a PathRecord.
const (
	maskNumbPath = 1 << 12
	maskPathPKey = 1 << 13
)

// paths are the paths between ports that have the components of a request which its mask names: one for each P_Key that both ends have.
func (a *Agent) paths(mask uint64, want []byte) (found [][]byte) {
	l, except := mad.LayoutPathRecord, []string{"numbPath", "PKey"}
	if a.faults[pathSourceOther] {
		except = append(except, "SGID")
	}
	most := int(l.Field("numbPath").Uint(want))
	if mask&maskNumbPath == 0 || a.faults[numbPathIgnored] {
		most = 1 << 7
	}
	if a.faults[pathRefused] {
		return nil
	}
	for i := range a.config.Ports {
		for k := range a.config.Ports {
			if a.faults[pathsLost] && i != k {
				continue
			}
			n, keys := 0, a.config.Ports[i].shared(&a.config.Ports[k])
			if a.faults[pathPKeyIgnored] {
				slices.Reverse(keys)
			}
			for _, key := range keys {
				r := a.path(&a.config.Ports[i], &a.config.Ports[k], key)
				other := mask&maskPathPKey != 0 && (l.Field("PKey").Uint(want)^uint64(key))&0x7FFF != 0
				if n < most && agrees(mad.AttrPathRecord, mask, want, r, except...) && (!other || a.faults[pathPKeyIgnored]) {
					found = append(found, r)
					n++
				}
			}
		}
	}
	return found
}

// shared are the P_Keys by which two ports can talk to each other: one of both is a full member (section 10.9.3).
func (p *Port) shared(o *Port) (list []uint16) {
	for _, key := range p.PKeys {
		if slices.ContainsFunc(o.PKeys, func(k uint16) bool { return (k^key)&0x7FFF == 0 && (k|key)&0x8000 != 0 }) {
			list = append(list, key)
		}
	}
	return list
}

// path is the path from one port to another: reversible, of SL 0, MTU 2048 and 10 Gbit/s.
func (a *Agent) path(from, to *Port, key uint16) []byte {
	l, r := mad.LayoutPathRecord, make([]byte, mad.LayoutPathRecord.Size)
	copy(l.Field("DGID").Bytes(r), to.gid())
	copy(l.Field("SGID").Bytes(r), from.gid())
	for name, v := range map[string]uint64{
		"DLID": uint64(to.LID), "SLID": uint64(from.LID), "reversible": 1, "PKey": uint64(key), "MTUSelector": 2, "MTU": 4, "rateSelector": 2, "rate": 3,
		"packetLifeTimeSelector": 2, "packetLifeTime": 18,
	} {
		l.Field(name).PutUint(r, v)
	}
	if a.faults[pathLIDsSwapped] {
		l.Field("DLID").PutUint(r, uint64(from.LID))
		l.Field("SLID").PutUint(r, uint64(to.LID))
	}
	if a.faults[pathChanges] {
		a.turns++
		l.Field("SL").PutUint(r, a.turns&15)
	}
	if a.faults[pathMTUReserved] {
		l.Field("MTU").PutUint(r, 0)
	}
	return r
}
