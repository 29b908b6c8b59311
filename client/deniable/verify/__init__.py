"""Verification of a server's page for respondents: every byte that a browser would load is compared with the release.

`released.json` has the hashes. What this proves, and what it cannot: docs/why/trust.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.verify.check import Finding, Verdict, verify
    from deniable.verify.released import Released

__all__ = ["Finding", "Released", "Verdict", "verify"]


def __getattr__(name: str) -> Any:
    """Returns a public name when it is first used: an HTTP library comes with it, which the page's bundle does not need."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from deniable.verify import check, released

    return getattr(released if name == "Released" else check, name)
