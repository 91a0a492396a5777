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
