"""An export of each database has its tally, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.api.test_reports import PARTS, TOWNS, records, send

from deniable.exported import Export, writing
from deniable_server.operate import cli_export
from deniable_server.store.protocol import Store, estimated


def test_many_pieces_have_the_tally_of_the_store(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PIECE_BYTES", 1)
    store.surveys.publish(TOWNS)
    for part, n in zip(PARTS, (300, 40, 70_000, 7), strict=True):
        send(store, records(n), part)
    export = cli_export.export(store, "towns", tmp_path / "out")
    assert [piece.n for piece in export.pieces] == [300, 40, 65_536, 4_464, 7]
    expected, found = store.submissions.tally("towns", estimated(TOWNS)), Export.open(export.folder).tally()
    assert (found.n, found.to_bytes()) == (expected.n, expected.to_bytes())
