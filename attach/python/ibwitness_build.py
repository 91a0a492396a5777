"""Builds the package (PEP 517, PEP 660) from what every Python has, so that it is installed without a network, setuptools and wheel."""

import base64
import hashlib
import io
import os
import tarfile
import zipfile

NAME, VERSION = "ibwitness", "1"
MODULES = ["ibwitness.py", "ibwitness_cocotb.py"]
INFO = "%s-%s.dist-info" % (NAME, VERSION)
METADATA = """Metadata-Version: 2.1
Name: %s
Version: %s
Summary: A protocol checker and scoreboard for InfiniBand and RoCE in a Python testbench
Requires-Python: >=3.7
""" % (NAME, VERSION)
WHEEL = """Wheel-Version: 1.0
Generator: ibwitness
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _wheel(folder, files):
    files = dict(files)
    files[INFO + "/METADATA"] = METADATA.encode()
    files[INFO + "/WHEEL"] = WHEEL.encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files[INFO + "/RECORD"] = (record + INFO + "/RECORD,,\n").encode()
    wheel = "%s-%s-py3-none-any.whl" % (NAME, VERSION)
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            z.writestr(name, data)
    return wheel


def _read(name):
    with open(name, "rb") as f:
        return f.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {name: _read(name) for name in MODULES})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {NAME + ".pth": (os.getcwd() + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    base = "%s-%s" % (NAME, VERSION)
    files = {name: _read(name) for name in MODULES + ["ibwitness_build.py", "pyproject.toml"]}
    files["PKG-INFO"] = METADATA.encode()
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as t:
        for name, data in files.items():
            entry = tarfile.TarInfo(base + "/" + name)
            entry.size = len(data)
            t.addfile(entry, io.BytesIO(data))
    return base + ".tar.gz"
