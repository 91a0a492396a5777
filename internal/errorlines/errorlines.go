// Package errorlines reads what programs and kernels print when RDMA fails: error lines of NCCL, UCX, libfabric, SPDK and dmesg, whose formats are those of public threads. It takes out
// of a line what names a connection or a status, by words that these have in common, and not by the whole format, which changes from release to release.
package errorlines

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"ibwitness/cq"
	"ibwitness/packet"
)

// Line is an error line.
type Line struct {
	Number int    // in its file, from 1 on
	Text   string // as it is, without control characters
	QPNs   []uint32
	Addrs  []packet.Addr
	Keys   []uint32 // R_Keys
	Status cq.Status
	Known  bool // Status is known
}

const (
	longest = 4096  // bytes of a line that are read
	most    = 10000 // lines that are kept
)

var (
	qpn     = regexp.MustCompile(`(?i)\b(?:[lr]?qpn?|qp_num|dest_qp(?:_num)?|queue ?pair)(?:\s*(?:number|num|no))?\s*[:=#]?\s*(0x[0-9a-f]{1,6}|\d{1,8})\b`)
	rkey    = regexp.MustCompile(`(?i)\br_?key\s*[:=]?\s*(0x[0-9a-f]{1,8})\b`)
	address = regexp.MustCompile(`(?i)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:\d{0,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})?|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	status  = regexp.MustCompile(`(?i)\b(?:wc[ _.]?status|status|got completion with error|completion error|syndrome)\s*[:=]?\s*\(?(\d{1,2})\b`)
)

// statuses are the texts of ibv_wc_status_str and of the drivers, in lower case.
var statuses = []struct {
	text string
	code int
}{
	{"transport retry count", 12},
	{"retry_exc_err", 12},
	{"rnr retry count", 13},
	{"receiver-not-ready", 13},
	{"rnr_retry_exc", 13},
	{"remote access error", 10},
	{"rem_access_err", 10},
	{"remote invalid request", 9},
	{"rem_inv_req_err", 9},
	{"remote operation error", 11},
	{"rem_op_err", 11},
	{"local protection error", 4},
	{"loc_prot_err", 4},
	{"local length error", 1},
	{"loc_len_err", 1},
	{"local qp operation error", 2},
	{"flushed error", 5},
	{"flush error", 5},
	{"wr_flush_err", 5},
	{"bad response error", 7},
	{"local access error", 8},
	{"remote aborted", 16},
	{"response timeout", 20},
}

// Read reads error lines. Lines that name neither a queue pair, an address nor a status are left out.
func Read(r io.Reader) (list []Line, left int, err error) {
	in := bufio.NewReaderSize(r, longest)
	for n := 1; ; n++ {
		text, err := readLine(in)
		if err == io.EOF {
			return list, left, nil
		}
		if err != nil {
			return list, left, fmt.Errorf("errorlines: line %d: %w", n, err)
		}
		if l := parse(text); l.QPNs != nil || l.Addrs != nil || l.Known {
			if len(list) == most {
				left++
				continue
			}
			l.Number = n
			list = append(list, l)
		}
	}
}

// readLine reads a line, of which what is longer than is read is dropped.
func readLine(in *bufio.Reader) (string, error) {
	b, more, err := in.ReadLine()
	if err != nil {
		return "", err
	}
	text := string(b)
	for more && err == nil {
		_, more, err = in.ReadLine()
	}
	return text, nil
}

func parse(text string) Line {
	l := Line{Text: strings.Map(printable, text)}
	for _, m := range qpn.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseUint(m[1], 0, 24); err == nil && n > 1 {
			l.QPNs = appendNew(l.QPNs, uint32(n))
		}
	}
	for _, m := range rkey.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseUint(m[1], 0, 32); err == nil {
			l.Keys = appendNew(l.Keys, uint32(n))
		}
	}
	for _, s := range address.FindAllString(text, -1) {
		if a, err := packet.ParseAddr(s); err == nil && !a.IsZero() {
			l.Addrs = appendNew(l.Addrs, a)
		}
	}
	lower := strings.ToLower(text)
	for _, s := range statuses {
		if strings.Contains(lower, s.text) {
			l.Status, l.Known = cq.Status(s.code), true
			return l
		}
	}
	if m := status.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && n < 22 {
			l.Status, l.Known = cq.Status(n), true
		}
	}
	return l
}

func appendNew[T comparable](list []T, x T) []T {
	for _, y := range list {
		if x == y {
			return list
		}
	}
	return append(list, x)
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}
