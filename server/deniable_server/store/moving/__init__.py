"""Move of a database between SQLite and PostgreSQL, while servers use it."""

from __future__ import annotations

from deniable_server.store.moving.switch_over import Moved, forget_move, move, undo

__all__ = ["Moved", "forget_move", "move", "undo"]
