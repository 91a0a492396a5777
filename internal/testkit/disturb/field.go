package disturb

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ibwitness/mad"
)

// bitField is a number in a datagram.
type bitField struct {
	name      string
	off, bits int
}

func (f bitField) get(b []byte) uint64 {
	return mad.Field{Off: f.off, Bits: f.bits, N: 1}.Uint(b)
}

func (f bitField) put(b []byte, v uint64) {
	mad.Field{Off: f.off, Bits: f.bits, N: 1}.PutUint(b, v)
}

// kind is what tells which fields a datagram has.
type kind struct {
	class mad.Class
	attr  mad.Attribute
}

var (
	known   = map[kind][]bitField{}
	knownMu sync.Mutex
)

// fields returns the fields of a datagram: those of the headers first.
func fields(b []byte) []bitField {
	k := kind{mad.Class(b[1]), mad.Attribute(binary.BigEndian.Uint16(b[16:]))}
	knownMu.Lock()
	defer knownMu.Unlock()
	if known[k] == nil {
		known[k] = k.fields()
	}
	return known[k]
}

// Layouts of the headers, at the beginning of a datagram.
var (
	general = []bitField{
		{"base version", 0, 8},
		{"class", 8, 8},
		{"class version", 16, 8},
		{"method", 24, 8},
		{"status", 32, 16},
		{"TID", 64, 64},
		{"attribute", 128, 16},
		{"attribute", 128, 16},
		{"reserved", 144, 16},
		{"modifier", 160, 32},
	}
	directed = []bitField{{"hop pointer", 48, 8}, {"hop count", 56, 8}, {"M_Key", 192, 64}, {"DrSLID", 256, 16}, {"DrDLID", 272, 16}}
	multi    = []bitField{
		{"RMPP version", 192, 8},
		{"RMPP type", 200, 8},
		{"RMPP response time", 208, 5},
		{"RMPP flags", 213, 3},
		{"RMPP status", 216, 8},
		{"RMPP data 1", 224, 32},
		{"RMPP data 2", 256, 32},
		{"SM_Key", 288, 64},
		{"attribute offset", 352, 16},
		{"reserved of SA", 368, 16},
		{"component mask", 384, 64},
	}
)

// fields are those of a kind of datagram.
func (k kind) fields() (list []bitField) {
	list = append(list, general...)
	l, at := (*mad.Layout)(nil), 64
	switch k.class {
	case mad.ClassSubnetLID, mad.ClassSubnetDirected:
		list = append(list, directed...)
		if k.class == mad.ClassSubnetDirected {
			for i := range 4 {
				list = append(list, bitField{"initial path", (128 + i) * 8, 8}, bitField{"return path", (192 + i) * 8, 8})
			}
		}
		l = mad.SMPAttribute(k.attr)
	case mad.ClassSubnetAdmin:
		list, at = append(list, multi...), mad.SAHeaderSize
		if l = mad.SARecord(k.attr); l == nil {
			l = everyClass[k.attr]
		}
	case mad.ClassPerformance:
		l = map[mad.Attribute]*mad.Layout{mad.AttrPortCounters: mad.LayoutPortCounters, mad.AttrPortCountersExtended: mad.LayoutPortCountersExtended}[k.attr]
		if l == nil {
			l = everyClass[k.attr]
		}
	case mad.ClassCM:
		return append(list, connection[k.attr]...)
	}
	if l == nil {
		l = everyClass[k.attr]
	}
	if l == nil {
		return list
	}
	for _, f := range l.Fields {
		switch off := 8*at + f.Off; {
		case f.Bits > 64: // a GID
			list = append(list, bitField{f.Name + ".prefix", off, 64}, bitField{f.Name + ".GUID", off + 64, 64})
		default:
			for i := range min(f.N, 3) {
				list = append(list, bitField{f.Name, off + i*f.Bits, f.Bits})
			}
		}
	}
	return list
}

// everyClass are attributes that several classes have.
var everyClass = map[mad.Attribute]*mad.Layout{
	mad.AttrClassPortInfo: mad.LayoutClassPortInfo, mad.AttrNotice: mad.LayoutNotice, mad.AttrInformInfo: mad.LayoutInformInfo,
}

// connection are the fields of the messages of CM (table T8).
var connection = map[mad.Attribute][]bitField{
	mad.AttrREQ: slices.Concat(message("localCommID/32 rsv/32 serviceID/64 CAGUID/64 rsv/32 QKey/32 QPN/24 resources/8 EECN/24 depth/8 remoteEECN/24 "+
		"remoteTimeout/5 transport/2 flow/1 PSN/24 localTimeout/5 retries/3 PKey/16 MTU/4 RDC/1 RNR/3 maxRetries/4 SRQ/1 extended/3", 0),
		message(path, 52*8), message(path, 96*8), message("internet/8 rsv/8 port/16 word/64 word/64 word/64 word/64", 140*8)),
	mad.AttrMRA:     message("localCommID/32 remoteCommID/32 answered/2 rsv/6 timeout/5 rsv/3", 0),
	mad.AttrREJ:     message("localCommID/32 remoteCommID/32 answered/2 rsv/6 length/7 rsv/1 reason/16 information/64", 0),
	mad.AttrREP:     message("localCommID/32 remoteCommID/32 QKey/32 QPN/24 rsv/8 EECN/24 rsv/8 PSN/24 rsv/8 resources/8 depth/8 delay/5 failover/2 flow/1 RNR/3 SRQ/1 rsv/4 CAGUID/64", 0),
	mad.AttrRTU:     message("localCommID/32 remoteCommID/32", 0),
	mad.AttrDREQ:    message("localCommID/32 remoteCommID/32 QPN/24 rsv/8", 0),
	mad.AttrDREP:    message("localCommID/32 remoteCommID/32", 0),
	mad.AttrSIDRReq: message("requestID/32 PKey/16 rsv/16 serviceID/64 internet/8", 0),
	mad.AttrSIDRRep: message("requestID/32 status/8 length/8 rsv/16 QPN/24 rsv/8 serviceID/64 QKey/32", 0),
	mad.AttrLAP: message("localCommID/32 remoteCommID/32 rsv/32 QPN/24 timeout/5 rsv/3 rsv/32 LID/16 remoteLID/16 prefix/64 GUID/64 prefix/64 GUID/64 flow/20 rsv/4 TClass/8 "+
		"hops/8 rsv/2 rate/6 SL/4 local/1 rsv/3 ackTimeout/5 rsv/3", 0),
	mad.AttrAPR: message("localCommID/32 remoteCommID/32 length/8 status/8", 0),
}

const path = "LID/16 remoteLID/16 prefix/64 GUID/64 prefix/64 GUID/64 flow/20 rsv/6 rate/6 TClass/8 hops/8 SL/4 local/1 rsv/3 ackTimeout/5 rsv/3"

// message reads fields that follow each other, from a bit after the header on.
func message(text string, off int) (list []bitField) {
	off += 8 * mad.HeaderSize
	for word := range strings.FieldsSeq(text) {
		name, width, _ := strings.Cut(word, "/")
		bits, err := strconv.Atoi(width)
		if err != nil {
			panic("disturb: " + err.Error())
		}
		list = append(list, bitField{name, off, bits})
		off += bits
	}
	return list
}
