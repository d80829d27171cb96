"""What a process may take of a processor and of memory, kept by the system itself."""

from typing import Any

_FILES_AND_CODE = 1 << 29  # address space that is taken before any work begins


def bound(seconds: float | None, memory: int | None) -> None:
    """Limits of this process in seconds and bytes, also when the one that started it is gone."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    if seconds is not None:
        _set(resource, resource.RLIMIT_CPU, int(seconds) + 1)
    if memory is not None:
        _set(resource, resource.RLIMIT_AS, memory + _FILES_AND_CODE)


def _set(resource: Any, which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, hard))
