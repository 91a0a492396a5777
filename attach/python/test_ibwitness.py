"""Tests of ibwitness.py: IBWITNESS_LIB=libibwitness.so python3 -m unittest."""

import json
import os
import struct
import tempfile
import unittest

import ibwitness

CAPTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/captures/rnr_retry_exceeded.pcap")


def frames(name):
    """The frames of a pcap: time in ns, length on the wire, data."""
    with open(name, "rb") as f:
        data = f.read()
    fraction = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[struct.unpack_from("<I", data)[0]]
    link, at = struct.unpack_from("<I", data, 20)[0], 24
    while at + 16 <= len(data):
        seconds, part, size, wire = struct.unpack_from("<IIII", data, at)
        yield link, seconds * 10**9 + part * fraction, wire, data[at + 16 : at + 16 + size]
        at += 16 + size


class Library(unittest.TestCase):
    def test_capture(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            link = next(frames(CAPTURE))[0]
            with ibwitness.Run({"taps": [{"name": "port", "link": link}], "reports": {"json": report}}) as run:
                found, begin = [], None
                for _, t, wire, data in frames(CAPTURE):
                    begin = begin or t
                    found += run.frame("port", (t - begin) * 1000, data, wire_len=wire)
                found += run.end((t - begin) * 1000)
                errors = run.errors
            errs = [f for f in found if f.is_error]
            self.assertEqual(len(errs), errors)
            with open(report) as f:
                lines = [json.loads(line) for line in f]
            summary = lines[-1]
            self.assertEqual(summary["violations"], errors)
            for f in errs:
                self.assertTrue(f.rule and f.accused and f.expected and f.reference, f)
                self.assertLessEqual(f.time_ps, f.seen_ps)

    def test_errors(self):
        with self.assertRaisesRegex(ibwitness.Error, "docs/attach.md"):
            ibwitness.Run({"tap": []})
        run = ibwitness.Run()
        with self.assertRaisesRegex(ibwitness.Error, "no tap 7"):
            run.frame(7, 0, b"")
        run.advance(2000)
        with self.assertRaisesRegex(ibwitness.Error, "time goes back"):
            run.advance(1000)
        with self.assertRaisesRegex(ibwitness.Error, "no rule"):
            run.covered("X")
        self.assertEqual(run.outstanding(), [])
        self.assertEqual(run.covered("BTH-002"), (0, 0))
        run.close()
        with self.assertRaisesRegex(ibwitness.Error, "null|closed"):
            run.frame(0, 0, b"")

    def test_events(self):
        with ibwitness.Run({"hcas": [{"name": "dut", "gid": "10.0.0.1"}]}) as run:
            run.event("dut", 1000, {"ev": "create_qp", "qpn": 17, "type": "rc"})
            with self.assertRaisesRegex(ibwitness.Error, "unknown event"):
                run.event("dut", 1000, {"ev": "fly"})


if __name__ == "__main__":
    unittest.main()
