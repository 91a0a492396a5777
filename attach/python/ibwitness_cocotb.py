"""ibwitness in cocotb: monitors that verify what they see, and fail the test at the simulation time of a violation.

    from ibwitness_cocotb import Checker, StreamMonitor

    checker = Checker({"taps": [{"name": "tx", "near": "10.0.0.1"}]})
    StreamMonitor(checker, "tx", dut.aclk, dut, prefix="m_axis_", way=ibwitness.OUT, reset_n=dut.aresetn).start()
    ...
    await checker.finish()   # the check at the end of the test

With stop=True, the default, the first error raises Violation in the task of the monitor, and cocotb fails the test there and then. Sinks of other libraries that give
whole frames call Checker.frame.
"""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

import ibwitness

__all__ = ["Checker", "StreamMonitor", "Violation"]


class Violation(AssertionError):
    """A rule was broken. finding says which, by whom, and what was expected."""

    def __init__(self, finding):
        super().__init__(finding.text)
        self.finding = finding


def _now():
    return int(round(float(get_sim_time("fs")) / 1000))


class Checker:
    """A run that the monitors and drivers of a test share."""

    def __init__(self, config=None, stop=True, log=None):
        self.run = ibwitness.Run(config)
        self.stop = stop
        self.findings = []
        self._log = log or getattr(cocotb, "log", None)
        self._ended = False

    def _take(self, found):
        for finding in found:
            self.findings.append(finding)
            if self._log is not None:
                level = "error" if finding.is_error else "warning" if finding.cls == "violation" and finding.severity == "warning" else "info"
                getattr(self._log, level)(finding.text)
        for finding in found:
            if self.stop and finding.is_error and finding.change in ("new", "proven"):
                raise Violation(finding)
        return found

    def frame(self, tap, data, way=ibwitness.UNKNOWN):
        """A whole frame that has just ended, as a sink gives it."""
        return self._take(self.run.frame(tap, _now(), data, way))

    def event(self, hca, event):
        """A verbs event that has just happened: a dict of docs/events.md."""
        return self._take(self.run.event(hca, _now(), event))

    def lost(self, tap, frames=1):
        """The monitor of a tap missed frames."""
        return self._take(self.run.lost(tap, frames))

    def reset(self, tap):
        """The device at a tap was reset."""
        return self._take(self.run.reset(tap, _now()))

    def start(self, every_us=1):
        """Has time told now and then, so that a device that falls silent is told."""

        async def tick():
            while not self._ended:
                await Timer(every_us, "us")
                if not self._ended:
                    self._take(self.run.advance(_now()))

        return cocotb.start_soon(tick())

    async def finish(self, outstanding=True):
        """The check at the end of a test: ends the run, and fails where there are errors or, with outstanding, work that waits for an answer."""
        await ReadOnly()
        waits = self.run.outstanding()
        self._ended = True
        self._take(self.run.end(_now()))
        errors = self.run.errors
        if self._log is not None:
            for doubt in self.run.doubts():
                self._log.warning(doubt)
        self.run.close()
        if errors:
            for finding in self.findings:
                if finding.is_error:
                    raise Violation(finding)
            raise AssertionError("%d errors" % errors)
        if outstanding and waits:
            raise AssertionError("outstanding at the end of the test: %s" % waits)


class StreamMonitor:
    """Watches an AXI4-Stream of Ethernet frames, of any width."""

    def __init__(self, checker, tap, clock, bus, prefix="", way=ibwitness.UNKNOWN, reset_n=None, reset=None):
        self.checker, self.tap, self.clock, self.way = checker, tap, clock, way
        self.reset_n, self.reset = reset_n, reset
        self.valid, self.ready = getattr(bus, prefix + "tvalid"), getattr(bus, prefix + "tready", None)
        self.data, self.last = getattr(bus, prefix + "tdata"), getattr(bus, prefix + "tlast")
        self.keep, self.user = getattr(bus, prefix + "tkeep", None), getattr(bus, prefix + "tuser", None)

    def start(self):
        """Starts to watch, and returns the task."""
        return cocotb.start_soon(self._watch())

    def _in_reset(self):
        if self.reset_n is not None:
            return str(self.reset_n.value) != "1"
        return self.reset is not None and str(self.reset.value) != "0"

    async def _watch(self):
        width, frame, bad, was = len(self.data) // 8, bytearray(), False, False
        while True:
            await RisingEdge(self.clock)
            if self._in_reset():
                if not was:
                    frame, bad = bytearray(), False
                    try:
                        self.checker.reset(self.tap)
                    except ibwitness.Error:
                        pass  # the tap is near nobody: there is no device to forget
                was = True
                continue
            was = False
            if str(self.valid.value) != "1" or self.ready is not None and str(self.ready.value) != "1":
                continue
            lanes = int(self.data.value).to_bytes(width, "little")
            keep = (1 << width) - 1 if self.keep is None else int(self.keep.value)
            frame += lanes if keep == (1 << width) - 1 else bytes(b for i, b in enumerate(lanes) if keep >> i & 1)
            bad = bad or self.user is not None and str(self.user.value).endswith("1")
            if str(self.last.value) == "1":
                if not bad:
                    self.checker.frame(self.tap, frame, self.way)
                frame, bad = bytearray(), False
