package conform

import (
	"ibwitness/mad"
)

// Bits of ComponentMask of a ServiceRecord, and what the tester registers.
const (
	maskServiceID   = 1 << 0
	maskServiceGID  = 1 << 1
	maskServicePKey = 1 << 2
	maskLease       = 1 << 4
	maskServiceName = 1 << 6
	maskServiceData = (1<<28 - 1) << 7 // each of ServiceData8, 16 and 32
	testerService   = 0x1000_0000_0000_4711
	serviceLease    = 3600 // seconds
)

var service = &Test{
	ID: "C15_0_1_012_15", Title: "ServiceRecord: added, found, deleted",
	Abstract: "A ServiceRecord that is set is found as it was set; one that is deleted is not found any more.",
	Covers:   []Statement{{"C15-0.1.12", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Set ServiceRecord of the tester's GID with a ServiceP_Key, a lease of one hour, a name and data of each width.",
		"Get ServiceRecord of that ServiceID.",
		"Delete the ServiceRecord by ServiceID, ServiceGID and ServiceP_Key.",
		"Get ServiceRecord of that ServiceID.",
	},
	Assertions: []Assertion{
		{"ours#01", "The Set is answered with status 0 and the record."},
		{"ours#02", "The Get is answered with status 0 and the record as it was set."},
		{"ours#03", "The Delete is answered with status 0 and the record."},
		{"ours#04", "The Get after it is answered with status 0x0300."},
	},
	Decisions: []Decision{
		{"numbers of the assertions", "what each of #15.01 to #15.16 of the published class says is in no public source: the assertions are ours"},
		{"the data of the record", "compared but for ServiceData64, of which libumad2sim spoils the end on its way to a real subnet manager"},
	},
	run: func(r *run) {
		m := r.manages()
		r.at(3)
		own, _ := m.ends()
		l := mad.LayoutServiceRecord
		q := inquiry{
			method: mad.Set, a: mad.AttrServiceRecord, mask: maskServiceID | maskServiceGID | maskServicePKey | maskLease | maskServiceName | maskServiceData,
			values: map[string]uint64{"serviceID": testerService, "servicePKey": 0xFFFF, "serviceLease": serviceLease},
			gids:   map[string][]byte{"serviceGID": own, "serviceName": []byte("ibwitness conformance test"), "serviceData8": {1, 2, 3}, "serviceData16": {4, 5}, "serviceData32": {6, 7, 8, 9}},
		}
		want := q.data()
		same := func(id string, got *administered) {
			if got != nil {
				r.equals(id, l, want, got.data[:l.Size], []string{"rsv", "serviceKey", "serviceLease", "serviceData64"}, "the record that was set", got.p)
			}
		}
		same("ours#01", r.inquires("ours#01", q, 0))
		r.at(4)
		get := inquiry{method: mad.Get, a: mad.AttrServiceRecord, mask: maskServiceID, values: map[string]uint64{"serviceID": testerService}}
		same("ours#02", r.inquires("ours#02", get, 0))
		r.at(5)
		q.method, q.mask = mad.Delete, maskServiceID|maskServiceGID|maskServicePKey
		same("ours#03", r.inquires("ours#03", q, 0))
		r.at(6)
		r.inquires("ours#04", get, statusNoRecords)
	},
}
