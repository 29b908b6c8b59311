"""Verification of a server's page for respondents: compares every byte that a browser would load with the release.

`released.json` has the hashes. docs/why/trust.md explains what this proves, and what it cannot prove.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.verify.check import Finding, Verdict, verify
    from deniable.verify.released import Released

__all__ = ["Finding", "Released", "Verdict", "verify"]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used; it needs an HTTP library, which page_bundle does not."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from deniable.verify import check, released

    return getattr(released if name == "Released" else check, name)
