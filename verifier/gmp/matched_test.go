package gmp

import (
	"slices"
	"testing"

	"ibwitness/mad"
)

// TestMatched: the bit of a component in the mask is its place in the record, reserved components counted (15.2.5).
func TestMatched(t *testing.T) {
	layouts := map[mad.Attribute]*mad.Layout{
		mad.AttrNodeRecord: mad.LayoutNodeRecord, mad.AttrPortInfoRecord: mad.LayoutPortInfoRecord, mad.AttrSLtoVLRecord: mad.LayoutSLtoVLRecord,
		mad.AttrSMInfoRecord: mad.LayoutSMInfoRecord, mad.AttrSwitchInfoRecord: mad.LayoutSwitchInfoRecord, mad.AttrLFTRecord: mad.LayoutLFTRecord,
		mad.AttrLinkRecord: mad.LayoutLinkRecord, mad.AttrGUIDInfoRecord: mad.LayoutGUIDInfoRecord, mad.AttrServiceRecord: mad.LayoutServiceRecord,
		mad.AttrPKeyTableRecord: mad.LayoutPKeyTableRecord, mad.AttrVLArbRecord: mad.LayoutVLArbRecord,
	}
	for a, list := range matched {
		l := layouts[a]
		if l == nil {
			t.Fatalf("no layout of %v", a)
		}
		for _, c := range list {
			if at := slices.IndexFunc(l.Fields, func(f mad.Field) bool { return f.Name == c.field.Name }); at != int(c.bit) {
				t.Errorf("%s: component %s has bit %d, and is number %d of the record", l.Name, c.field.Name, c.bit, at)
			}
		}
	}
}

// TestRates: the rates by their codes (PathRecord, table 15-18 and its extensions).
func TestRates(t *testing.T) {
	rates := map[uint64]int{
		2: 2500, 3: 10000, 4: 30000, 5: 5000, 6: 20000, 7: 40000, 8: 60000, 9: 80000, 10: 120000, 11: 14000, 12: 56000, 13: 112000, 14: 168000, 15: 25000, 16: 100000, 17: 200000,
		18: 300000, 19: 28000, 20: 50000, 21: 400000, 22: 600000, 23: 800000, 24: 1200000,
	}
	for code := range uint64(64) {
		if got := mbps(code); got != rates[code] {
			t.Errorf("code %d: %d Mbit/s, want %d", code, got, rates[code])
		}
	}
}
