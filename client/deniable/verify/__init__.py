"""Is a server's page for respondents the one that was released? Every byte that a browser would load is compared.

`released.json` has the hashes. What this proves, and what it cannot: docs/why/trust.md.
"""

from deniable.verify.check import Finding, Verdict, verify
from deniable.verify.released import Released

__all__ = ["Finding", "Released", "Verdict", "verify"]
