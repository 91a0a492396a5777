"""replay.sv in cocotb: plays what frames/main.go has written, replay.txt, at two AXI4-Stream ports that monitors watch."""

import json

import cocotb
import ibwitness
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from cocotb.utils import get_sim_time
from ibwitness_cocotb import Checker, StreamMonitor

PREFIXES = {1: "s_axis_", 2: "m_axis_"}


async def send(dut, prefix, data):
    """One frame. What drives the ports changes between the edges that monitors look at."""
    for at in range(0, len(data), 8):
        part = data[at : at + 8]
        getattr(dut, prefix + "tdata").value = int.from_bytes(part, "little")
        getattr(dut, prefix + "tkeep").value = (1 << len(part)) - 1
        getattr(dut, prefix + "tvalid").value = 1
        getattr(dut, prefix + "tlast").value = int(at + 8 >= len(data))
        await FallingEdge(dut.aclk)
    getattr(dut, prefix + "tvalid").value = 0


async def play(dut, checker):
    begin = get_sim_time("ns")
    cocotb.start_soon(Clock(dut.aclk, 2, "ns").start())
    dut.aresetn.value = 0
    for prefix in PREFIXES.values():
        for name in ("tdata", "tkeep", "tvalid", "tlast"):
            getattr(dut, prefix + name).value = 0
    checker.start()
    StreamMonitor(checker, "dut.rx", dut.aclk, dut, prefix="s_axis_", way=ibwitness.IN, reset_n=dut.aresetn).start()
    StreamMonitor(checker, "dut.tx", dut.aclk, dut, prefix="m_axis_", way=ibwitness.OUT, reset_n=dut.aresetn).start()
    await Timer(10, "ns")
    dut.aresetn.value = 1
    await FallingEdge(dut.aclk)
    with open("replay.txt") as played:
        for line in played:
            at, kind, rest = line.split(maxsplit=2)
            while get_sim_time("ns") - begin < int(at) + 20:
                await FallingEdge(dut.aclk)
            if kind == "0":
                checker.event("dut", json.loads(rest))
            else:
                await send(dut, PREFIXES[int(kind)], bytes.fromhex(rest.split(maxsplit=1)[1]))
    await Timer(10, "ns")


@cocotb.test()
async def stops(dut):
    """Fails at the time of the first error."""
    with open("ibw.json") as config:
        checker = Checker(json.load(config))
    await play(dut, checker)
    await checker.finish()


@cocotb.test()
async def gathers(dut):
    """Tells all errors, and fails in the end."""
    with open("ibw.json") as config:
        checker = Checker(json.load(config), stop=False)
    await play(dut, checker)
    await checker.finish()
