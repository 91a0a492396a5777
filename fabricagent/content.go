package fabricagent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// signatures of what users give by mistake, and what to do about it.
var signatures = []struct{ magic, what, todo string }{
	{"\x7fELF", "an ELF program or core dump", ""},
	{"MZ", "a Windows program", ""},
	{"PK\x03\x04", "a zip archive", "unpack it and give the capture in it"},
	{"PK\x05\x06", "an empty zip archive", ""},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and give the capture in it"},
	{"Rar!", "a RAR archive", "unpack it and give the capture in it"},
	{"\xfd7zXZ\x00", "xz compressed data", "decompress it with xz -d"},
	{"BZh", "bzip2 compressed data", "decompress it with bzip2 -d"},
	{"\x04\x22\x4d\x18", "lz4 compressed data", "decompress it with lz4 -d"},
	{gzipMagic, "gzip data inside two more layers of compression", "decompress it"},
	{zstdMagic, "zstd data inside two more layers of compression", "decompress it"},
	{"snoop\x00\x00\x00", "a Solaris snoop capture", "convert it with editcap -F pcapng"},
	{"btsnoop\x00", "a Bluetooth capture", ""},
	{"GMBU", "a Microsoft Network Monitor capture", "convert it with editcap -F pcapng"},
	{"RTSS", "a Microsoft Network Monitor capture", "convert it with editcap -F pcapng"},
	{"TRSNIFF data    \x1a", "a Sniffer capture", "convert it with editcap -F pcapng"},
	{"%PDF", "a PDF document", ""},
	{"\x89PNG", "a PNG image", ""},
	{"SQLite format 3\x00", "an SQLite database", ""},
}

// lookalike says what bytes that are no capture look like, and what the user can do.
func lookalike(b []byte) (what, todo string) {
	for _, s := range signatures {
		if bytes.HasPrefix(b, []byte(s.magic)) {
			return s.what, s.todo
		}
	}
	if len(b) > 262 && string(b[257:262]) == "ustar" {
		return "a tar archive", "unpack it and give the capture in it"
	}
	if len(b) >= 4 {
		be, le := binary.BigEndian.Uint32(b), binary.LittleEndian.Uint32(b)
		for _, m := range [...]uint32{be, le} {
			if m>>16 == magicMicro>>16 {
				return fmt.Sprintf("a pcap of unknown magic 0x%08x", m), "convert it with editcap -F pcapng"
			}
		}
	}
	t := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	lower := bytes.ToLower(t[:min(len(t), 64)])
	switch {
	case !printable(b):
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")):
		return "an HTML page", "the download may need a login or another address"
	case bytes.HasPrefix(lower, []byte("<?xml")), bytes.HasPrefix(lower, []byte("<pdml")):
		return "XML", "a dissection cannot be read: give the capture that it was made from"
	case bytes.HasPrefix(lower, []byte("version https://git-lfs")):
		return "a Git LFS pointer", "fetch the file with git lfs pull"
	case bytes.HasPrefix(lower, []byte("{")), bytes.HasPrefix(lower, []byte("[")):
		return "JSON", "a dissection cannot be read: give the capture that it was made from"
	default:
		return "text", "if it is a hex dump, convert it with text2pcap"
	}
	if len(bytes.Trim(b, "\x00")) == 0 {
		return "nothing but zero bytes", "the copy or the disk has failed: copy the file again"
	}
	if len(b) < 4 {
		return "the first bytes of something", "copy the file again"
	}
	return fmt.Sprintf("unknown data, beginning with % x", b[:min(len(b), 8)]), ""
}

// printable reports whether b is text: UTF-8 with no control bytes. The end of b may cut a character.
func printable(b []byte) bool {
	for start := len(b); len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return len(b) < start && !utf8.FullRune(b)
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b {
			return false
		}
		b = b[n:]
	}
	return true
}

// notACapture is the error for an input that begins with these bytes.
func (in *input) notACapture(b []byte) error {
	what, todo := lookalike(b)
	if todo == "" {
		todo = "give a pcap, pcapng or ERF file"
	}
	return in.fail(NotACapture, 0, fmt.Errorf("not a capture, it looks like %s: %s", what, todo))
}
