"""The versions and the machine that a result was computed with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from grandag.version import __version__

__all__ = ["environment"]

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas", "networkx", "gadjid")


def environment() -> dict[str, str]:
    """Versions of the library, of Python and of the packages that compute, and the machine, as text by name."""
    return {
        "grandag": __version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }


def _processor() -> str:
    """The processor's name: Linux has it in a file, others in Python's `platform`."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
