"""ibwitness in a Python testbench: a protocol checker and scoreboard for InfiniBand and RoCE.

    import ibwitness
    with ibwitness.Run({"taps": [{"name": "dut", "near": "10.0.0.1"}]}) as run:
        for finding in run.frame("dut", time_ps, data, way=ibwitness.OUT):
            print(finding)
        run.end(time_ps)

It is a ctypes layer over libibwitness.so and needs nothing else. The library is looked for where IBWITNESS_LIB says, beside this file, and where the system looks.
Each method that judges returns the findings of its call, as a list of Finding. docs/attach.md has more.
"""

import ctypes
import json
import os
from dataclasses import dataclass

__all__ = ["Run", "Finding", "Error", "IN", "OUT", "UNKNOWN", "version"]
__version__ = "1"

API = 1
UNKNOWN, IN, OUT = 0, 1, 2
_CHANGES = {1: "new", 2: "proven", 3: "doubted", 4: "withdrawn"}
_CLASSES = {1: "violation", 2: "unproven", 3: "event"}
_SEVERITIES = {1: "info", 2: "warning", 3: "error"}


class Error(Exception):
    """A call that was wrong. Its text says what to do."""


class _Finding(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("id", ctypes.c_uint32), ("change", ctypes.c_int32), ("cls", ctypes.c_int32), ("severity", ctypes.c_int32),
        ("waived", ctypes.c_int32), ("tap", ctypes.c_uint32), ("psn", ctypes.c_uint32), ("psn_known", ctypes.c_int32),
        ("accused_qpn", ctypes.c_uint32), ("accused_qpn_known", ctypes.c_int32), ("peer_qpn", ctypes.c_uint32), ("peer_qpn_known", ctypes.c_int32),
        ("frame", ctypes.c_uint64), ("time_ps", ctypes.c_uint64), ("seen_ps", ctypes.c_uint64),
    ] + [(name, ctypes.c_char_p) for name in ("rule", "name", "reference", "accused", "peer", "expected", "actual", "detail", "text", "comparison")]


@dataclass(frozen=True)
class Finding:
    """A finding, or what has become of one."""

    id: int  # the same in all changes of one finding
    change: str  # new, proven, doubted or withdrawn
    cls: str  # violation, unproven or event
    severity: str  # error, warning or info
    waived: bool
    tap: int
    frame: int  # 0: no frame shows it
    time_ps: int  # of the frame or the verbs event
    seen_ps: int  # of the call that found it
    psn: "int | None"
    accused_qpn: "int | None"
    peer_qpn: "int | None"
    rule: str
    name: str
    reference: str
    accused: str
    peer: str
    expected: str
    actual: str
    detail: str
    text: str  # all of it in one line
    comparison: "dict | None"  # the packet beside the expected one, field by field

    @property
    def is_error(self):
        """Whether it is a violation of severity error that is not waived, and still holds."""
        return self.cls == "violation" and self.severity == "error" and not self.waived and self.change != "withdrawn"

    def __str__(self):
        return self.text

    @classmethod
    def _of(cls, f):
        def text(name):
            return (getattr(f, name) or b"").decode("utf-8", "replace")

        comparison = text("comparison")
        return cls(
            f.id, _CHANGES.get(f.change, "new"), _CLASSES.get(f.cls, "event"), _SEVERITIES.get(f.severity, "info"), bool(f.waived), f.tap, f.frame, f.time_ps, f.seen_ps,
            f.psn if f.psn_known else None, f.accused_qpn if f.accused_qpn_known else None, f.peer_qpn if f.peer_qpn_known else None,
            *(text(name) for name in ("rule", "name", "reference", "accused", "peer", "expected", "actual", "detail", "text")),
            json.loads(comparison) if comparison else None,
        )


_PROTOTYPES = {
    "ibw_api": (ctypes.c_uint32, []),
    "ibw_version": (ctypes.c_char_p, []),
    "ibw_open": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    "ibw_add_tap": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "ibw_tap": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "ibw_hca": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "ibw_frame": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]),
    "ibw_link": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]),
    "ibw_event": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p]),
    "ibw_advance": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint64]),
    "ibw_lost": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64]),
    "ibw_reset": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64]),
    "ibw_next": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Finding)]),
    "ibw_outstanding": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "ibw_end": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint64]),
    "ibw_errors": (ctypes.c_int, [ctypes.c_void_p]),
    "ibw_report": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
    "ibw_covered": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64)]),
    "ibw_error": (ctypes.c_char_p, [ctypes.c_void_p]),
    "ibw_doubts": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "ibw_close": (ctypes.c_int, [ctypes.c_void_p]),
}
_library = None


def _load():
    global _library
    if _library is not None:
        return _library
    name, tried = "libibwitness.so", []
    for path in (os.environ.get("IBWITNESS_LIB"), os.path.join(os.path.dirname(os.path.abspath(__file__)), name), name):
        if not path:
            continue
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as wrong:
            tried.append(str(wrong))
    else:
        raise Error("ibwitness: the library cannot be loaded (%s): set IBWITNESS_LIB to where libibwitness.so is" % "; ".join(tried))
    for call, (result, arguments) in _PROTOTYPES.items():
        function = getattr(lib, call)
        function.restype, function.argtypes = result, arguments
    if lib.ibw_api() != API:
        raise Error("ibwitness: the library has version %d of its interface, and this module %d: install those of one release" % (lib.ibw_api(), API))
    _library = lib
    return lib


def version():
    """The version of the library."""
    return _load().ibw_version().decode()


def _text(value):
    if isinstance(value, (dict, list)):
        value = json.dumps(value)
    return value.encode() if isinstance(value, str) else bytes(value)


class Run:
    """One run: what a testbench has handed over, and what was found. Not to be used by two threads at once."""

    def __init__(self, config=None):
        """config is a dict or JSON text: see docs/attach.md."""
        self._lib = _load()
        err = ctypes.create_string_buffer(1024)
        self._run = self._lib.ibw_open(_text(config) if config is not None else None, err, len(err))
        if not self._run:
            raise Error(err.value.decode())
        self._finding = _Finding(size=ctypes.sizeof(_Finding))

    def _check(self, status):
        if status < 0:
            raise Error(self._lib.ibw_error(self._run).decode())
        return status

    def _found(self, status):
        if status < 0:
            self._check(status)
        found = []
        while self._lib.ibw_next(self._run, ctypes.byref(self._finding)) == 1:
            found.append(Finding._of(self._finding))
        return found

    def tap(self, name):
        """The number of a tap, by its name or number."""
        return name if isinstance(name, int) else self._check(self._lib.ibw_tap(self._run, _text(name)))

    def hca(self, name):
        """The number of an HCA, by its name or number."""
        return name if isinstance(name, int) else self._check(self._lib.ibw_hca(self._run, _text(name)))

    def add_tap(self, config):
        """Adds a tap while the run goes on, and returns its number."""
        return self._check(self._lib.ibw_add_tap(self._run, _text(config)))

    def frame(self, tap, time_ps, data, way=UNKNOWN, wire_len=0):
        """A frame that a tap saw, without preamble and frame check sequence, at the time of its end."""
        data = bytes(data)
        return self._found(self._lib.ibw_frame(self._run, self.tap(tap), way, time_ps, data, len(data), wire_len))

    def link(self, tap, time_ps, data, port=0, symbols=0, ebp=False):
        """What an InfiniBand link carries: symbols 0 is a data packet, 1 a link packet, 2 a port state."""
        data = bytes(data)
        return self._found(self._lib.ibw_link(self._run, self.tap(tap), port, symbols, int(ebp), time_ps, data, len(data)))

    def event(self, hca, time_ps, event):
        """A verbs event of an HCA: a dict or a line of docs/events.md."""
        return self._found(self._lib.ibw_event(self._run, self.hca(hca), time_ps, _text(event)))

    def advance(self, time_ps):
        """Says that nothing came until a time."""
        return self._found(self._lib.ibw_advance(self._run, time_ps))

    def lost(self, tap, frames):
        """Says that the monitor of a tap missed frames."""
        return self._found(self._lib.ibw_lost(self._run, self.tap(tap), frames))

    def reset(self, tap, time_ps):
        """Says that the device at a tap was reset."""
        return self._found(self._lib.ibw_reset(self._run, self.tap(tap), time_ps))

    def outstanding(self):
        """Requests without a response, and work requests without a completion, as a list of dicts."""
        n = self._check(self._lib.ibw_outstanding(self._run, None, 0))
        text = ctypes.create_string_buffer(4096 + 512 * n)
        self._check(self._lib.ibw_outstanding(self._run, text, len(text)))
        return json.loads(text.value.decode() or "[]")

    def end(self, time_ps):
        """Ends the run: judges what is still open, and writes the reports of the configuration."""
        return self._found(self._lib.ibw_end(self._run, time_ps))

    def doubts(self):
        """Signs, in a run that has ended, that it was not attached as was meant, as a list of texts."""
        text = ctypes.create_string_buffer(8192)
        self._check(self._lib.ibw_doubts(self._run, text, len(text)))
        return text.value.decode().splitlines()

    @property
    def errors(self):
        """How many errors the run has found."""
        return self._check(self._lib.ibw_errors(self._run))

    def report(self, format, path):
        """Writes a report of a run that has ended: text, json, junit, sarif, html, pcapng."""
        self._check(self._lib.ibw_report(self._run, _text(format), _text(os.fspath(path))))

    def covered(self, rule):
        """How often a rule was exercised, and violated."""
        exercised, violated = ctypes.c_uint64(), ctypes.c_uint64()
        self._check(self._lib.ibw_covered(self._run, _text(rule), ctypes.byref(exercised), ctypes.byref(violated)))
        return exercised.value, violated.value

    def close(self):
        """Closes the run. One that was not ended is ended first."""
        if self._run:
            status = self._lib.ibw_close(self._run)
            if status < 0:
                why = self._lib.ibw_error(None).decode()
                self._run = None
                raise Error(why)
            self._run = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
