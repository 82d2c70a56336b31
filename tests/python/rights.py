"""Says whether this user and this kernel permit the programs that walk Python's frames."""
import os

CAP_PERFMON, CAP_BPF = 38, 39


def may_walk():
    with open("/proc/self/status", encoding="ascii") as status:
        effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    return bool(effective >> CAP_PERFMON & effective >> CAP_BPF & 1) and os.path.exists("/sys/kernel/btf/vmlinux")
