package eventlog

import (
	"fmt"
	"reflect"
	"strings"
)

// key is a field of a line.
type key uint8

const (
	kSeq key = iota
	kT
	kEv
	kRC
	kGID
	kClock
	kQPN
	kCQ
	kSendCQ
	kRecvCQ
	kSRQ
	kXRCD
	kPD
	kDepth
	kLimit
	kType
	kSigAll
	kMaxSendWR
	kMaxRecvWR
	kMaxSendSGE
	kMaxRecvSGE
	kMaxInline
	kAddr
	kLength
	kLKey
	kRKey
	kAccess
	kSolicited
	kWhat
	kWrote
	kState
	kTo
	kCurState
	kPKeyIndex
	kPKey
	kPort
	kQPAccess
	kQKey
	kPathMTU
	kDestQPN
	kDGID
	kRQPSN
	kSQPSN
	kMaxDestRd
	kMaxRd
	kMinRNRTimer
	kTimeout
	kRetryCnt
	kRNRRetry
	kHopLimit
	kTClass
	kSL
	kMigState
	kAltDGID
	kRateLimit
	kSQDNotify
	kWRID
	kOpcode
	kLAddr
	kSGE
	kRAddr
	kImm
	kInvKey
	kFlags
	kCRC
	kData
	kDQPN
	kCompAdd
	kSwap
	kAH
	kWindowOf
	kRegionOf
	kXRCSRQ
	kPlace
	kWhole
	kDeviceRd
	kDeviceDestRd
	kPKeys
	kPorts
	kStatus
	kStatusCode
	kHead
	kByteLen
	kGRH
	kSrcQP
	kSLID
	kPoll
	kEmptied
	kAfter
	kOrder
	kWindowType // "type" as a number
	numKeys
)

// keys are the names of the fields.
var keys = [...]string{
	kSeq: "seq", kT: "t", kEv: "ev", kRC: "rc", kGID: "gid", kClock: "clock", kQPN: "qpn", kCQ: "cq", kSendCQ: "send_cq", kRecvCQ: "recv_cq",
	kSRQ: "srq", kXRCD: "xrcd", kPD: "pd", kDepth: "depth", kLimit: "limit", kType: "type", kSigAll: "sq_sig_all", kMaxSendWR: "max_send_wr",
	kMaxRecvWR: "max_recv_wr", kMaxSendSGE: "max_send_sge", kMaxRecvSGE: "max_recv_sge", kMaxInline: "max_inline", kAddr: "addr", kLength: "length",
	kLKey: "lkey", kRKey: "rkey", kAccess: "access", kSolicited: "solicited_only", kWhat: "what", kWrote: "wrote", kState: "state", kTo: "to",
	kCurState: "cur_qp_state", kPKeyIndex: "pkey_index", kPKey: "pkey", kPort: "port_num", kQPAccess: "qp_access_flags", kQKey: "qkey",
	kPathMTU: "path_mtu", kDestQPN: "dest_qp_num", kDGID: "dgid", kRQPSN: "rq_psn", kSQPSN: "sq_psn", kMaxDestRd: "max_dest_rd_atomic",
	kMaxRd: "max_rd_atomic", kMinRNRTimer: "min_rnr_timer", kTimeout: "timeout", kRetryCnt: "retry_cnt", kRNRRetry: "rnr_retry", kHopLimit: "hop_limit",
	kTClass: "traffic_class", kSL: "sl", kMigState: "path_mig_state", kAltDGID: "alt_dgid", kRateLimit: "rate_limit", kSQDNotify: "en_sqd_async_notify",
	kWRID: "wr_id", kOpcode: "opcode", kLAddr: "laddr", kSGE: "sge", kRAddr: "raddr", kImm: "imm", kInvKey: "inv_rkey", kFlags: "flags", kCRC: "crc32", kData: "data",
	kDQPN: "dest_qpn", kCompAdd: "compare_add", kSwap: "swap", kAH: "ah", kWindowOf: "mw", kRegionOf: "mr", kXRCSRQ: "remote_srqn", kPlace: "placement",
	kWhole: "whole", kDeviceRd: "max_qp_init_rd_atom", kDeviceDestRd: "max_qp_rd_atom", kPKeys: "max_pkeys", kPorts: "phys_port_cnt", kStatus: "status",
	kStatusCode: "status_code", kHead: "head", kByteLen: "byte_len", kGRH: "grh", kSrcQP: "src_qp", kSLID: "slid", kPoll: "poll", kEmptied: "emptied", kAfter: "after", kOrder: "order",
}

// record is what a line says. There is nothing in it that points anywhere but the lists at its end, so that a line costs the collector nothing.
type record struct {
	given [2]uint64       // fields, by key
	value [numKeys]uint64 // of a number; of a string, its place among the words; of "head" and "data", from where to where they are in the text
	sge   []segment
	text  []byte
	words []*word // strings that lines have had

	decoded [2][]byte // what the digits of "head" and "data" are, where that is known
	room    []byte    // for those of further lines
}

func (r *record) has(k key) bool { return r.given[k>>6]>>(k&63)&1 != 0 }

// put sets a field.
func (r *record) put(k key, v uint64) {
	r.given[k>>6] |= 1 << (k & 63)
	r.value[k] = v
}

// u64 is the value of a field, 0 where it is not given; so are the others.
func (r *record) u64(k key) uint64 {
	if !r.has(k) {
		return 0
	}
	return r.value[k]
}

func (r *record) u32(k key) uint32 { return uint32(r.u64(k)) }
func (r *record) u16(k key) uint16 { return uint16(r.u64(k)) }
func (r *record) u8(k key) uint8   { return uint8(r.u64(k)) }
func (r *record) i64(k key) int64  { return int64(r.u64(k)) }
func (r *record) int(k key) int    { return int(r.u64(k)) }

// word is a string, noWord where it is not given.
func (r *record) word(k key) *word {
	if !r.has(k) {
		return noWord
	}
	return r.words[r.value[k]]
}

var noWord = &word{}

func (r *record) str(k key) string { return r.word(k).text }

// digits is the text of a field that has another one in each line, "head" or "data".
func (r *record) digits(k key) []byte {
	at := r.u64(k)
	return r.text[at>>32 : at&(1<<32-1)]
}

// limits reports whether the line of a device says what it can do.
func (r *record) limits() bool {
	return r.has(kDeviceRd) || r.has(kDeviceDestRd) || r.has(kPKeys) || r.has(kPorts)
}

// typeName is "type" as it is in the line.
func (r *record) typeName() string {
	if r.has(kWindowType) {
		return fmt.Sprint(r.u64(kWindowType))
	}
	return r.str(kType)
}

// fill takes over what encoding/json has read.
func (s *scanner) fill(l *line) {
	s.begin(nil)
	r := &s.record
	var text []byte
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		k, f := keyOf[tag(v.Type().Field(i))], v.Field(i)
		switch x := f.Interface().(type) {
		case string:
			r.put(k, s.intern(x))
		case []segment:
			r.sge = append(r.sge, x...)
		case *string:
			switch {
			case x == nil:
			case k == kHead || k == kData:
				from := len(text)
				text = append(text, *x...)
				r.put(k, uint64(from)<<32|uint64(len(text)))
			default:
				r.put(k, s.intern(*x))
			}
		case float64: // "type", which may be anything
			r.put(kType, 0)
			r.put(kWindowType, uint64(int64(x)))
		default:
			switch {
			case f.IsNil():
			case k == kType:
				r.put(k, s.intern(fmt.Sprint(x)))
			case f.Elem().CanInt():
				r.put(k, uint64(f.Elem().Int()))
			default:
				r.put(k, f.Elem().Uint())
			}
		}
	}
	if text != nil {
		r.text = text
	}
}

var keyOf = func() map[string]key {
	m := map[string]key{}
	for k, name := range keys {
		m[name] = key(k)
	}
	return m
}()

// tag is the name of a field of line.
func tag(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
