package fabricagent

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ibwitness/packet"
)

// captures is the folder of real captures, which is not part of the repository.
func captures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "captures")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no captures at %s: set IBWITNESS_CAPTURES", dir)
	}
	return dir
}

// census counts the outcomes of a capture's frames.
func census(t *testing.T, paths ...string) (frames, rdma int, s Source) {
	t.Helper()
	s, err := Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	all, err := readAll(t, s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		var p packet.Packet
		switch o := Decode(&all[i], &p); o {
		case RDMA:
			rdma++
			if p.Flaws&^packet.FlawDiscard != 0 || p.Has&packet.HasBTH == 0 {
				t.Errorf("%s frame %d: flaws %#x", paths[0], all[i].Number, p.Flaws)
			}
		case NotRDMA:
		default:
			t.Errorf("%s frame %d: %v", paths[0], all[i].Number, o)
		}
	}
	return len(all), rdma, s
}

func TestTestdata(t *testing.T) {
	for name, want := range map[string][2]int{
		"cm_mckey_multicast.pcap":           {16, 10},
		"cm_mckey_multicast.pcapng":         {16, 10},
		"cm_mckey_multicast.kuznetzov.pcap": {16, 10},
		"rc_send_all_sizes.pcap":            {42, 40},
	} {
		frames, rdma, _ := census(t, filepath.Join("testdata", name))
		if frames != want[0] || rdma != want[1] {
			t.Errorf("%s: %d frames, %d RDMA, want %v", name, frames, rdma, want)
		}
	}
}

// TestSoftRoCECaptures compares every file with the counts of the index, which another decoder made.
func TestSoftRoCECaptures(t *testing.T) {
	dir := captures(t)
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile("(?m)^- `([^`]+\\.pcap)`: \\d+ B, (\\d+) frames \\((\\d+) not RoCEv2")
	found := line.FindAllStringSubmatch(string(index), -1)
	if len(found) < 50 {
		t.Fatalf("%d files in the index", len(found))
	}
	for _, m := range found {
		path := filepath.Join(dir, "rxe", m[1])
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is in the index but not in the folder", m[1])
			continue
		}
		want, _ := strconv.Atoi(m[2])
		other, _ := strconv.Atoi(m[3])
		frames, rdma, _ := census(t, path)
		if frames != want || rdma != want-other {
			t.Errorf("%s: %d frames, %d RDMA, want %d and %d", m[1], frames, rdma, want, want-other)
		}
	}
}

func TestPublicCaptures(t *testing.T) {
	dir := filepath.Join(captures(t), "public")
	for name, want := range map[string][2]int{
		"linlinw5__pingpong_rc":                    {31, 20},
		"linlinw5__pingpong_uc":                    {21, 10},
		"linlinw5__pingpong_ud":                    {21, 10},
		"linlinw5__rdma_atomic_bw":                 {48, 10},
		"linlinw5__rdma_cm":                        {96, 96},
		"linlinw5__rdma_read_bw":                   {60, 20},
		"linlinw5__rdma_read_lat":                  {38, 10},
		"linlinw5__rdma_send_bw":                   {50, 20},
		"linlinw5__rdma_write_bw":                  {60, 20},
		"linlinw5__rdma_write_lat":                 {45, 20},
		"linlinw5__rping":                          {65, 65},
		"lkml-nfsrdma-2021-02-18__sniffer":         {116, 116},
		"wireshark-wiki__infiniband":               {43, 43},
		"scapy-hexcap__cx4lx-cnp_rocev1-write-ack": {3, 3},
		"pcapplusplus-hex__rxe-read-request":       {1, 1},
	} {
		path := filepath.Join(dir, name+".pcap")
		if _, err := os.Stat(path); err != nil {
			t.Logf("skipped: %v", err)
			continue
		}
		frames, rdma, s := census(t, path)
		if frames != want[0] || rdma != want[1] {
			t.Errorf("%s: %d frames, %d RDMA, want %v", name, frames, rdma, want)
		}
		link := s.Taps()[0].Link
		if native := strings.Contains(name, "sniffer") || strings.Contains(name, "wiki"); native != (link == LinkInfiniBand) {
			t.Errorf("%s: %v", name, link)
		}
	}
}

// TestRingCaptures merges one run seen from three nodes: 184 RDMA packets at each.
func TestRingCaptures(t *testing.T) {
	dir := filepath.Join(captures(t), "public")
	var paths []string
	for _, n := range []string{"0", "1", "2"} {
		paths = append(paths, filepath.Join(dir, "linlinw5__ring2_node"+n+".pcap"))
	}
	if _, err := os.Stat(paths[0]); err != nil {
		t.Skipf("no captures of the ring here (%v): set IBWITNESS_CAPTURES to the folder of captures", err)
	}
	_, rdma, s := census(t, paths...)
	if rdma != 3*184 || len(s.Taps()) != 3 {
		t.Errorf("%d RDMA packets at %d taps", rdma, len(s.Taps()))
	}
}
