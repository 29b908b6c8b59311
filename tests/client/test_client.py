"""SurveyClient against a real HTTP server that fails on demand."""

from __future__ import annotations

import json

from deniable.client import SurveyClient
from deniable.submission import Submission


def test_one_respondent_is_randomized_sent_and_acknowledged(server, study, outbox):
    with SurveyClient(server.url, outbox=outbox) as client:
        receipt = client.submit("study", {"smokes": True, "party": "Red"})
    assert receipt.digest == study.digest
    assert receipt.epsilon == study.epsilon
    [post] = server.posts
    submission = Submission.from_json(post.body)
    assert submission.id.hex() == receipt.submission
    assert submission.count == 1


def test_rows_come_as_mappings_a_csv_file_or_json_lines_or_a_frame(server, outbox, tmp_path):
    import pandas as pd

    rows = [{"smokes": "yes", "party": "Red", "other": 7}, {"smokes": "no", "party": "1", "other": 8}] * 5
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with SurveyClient(server.url, outbox=outbox) as client:
        for source in (rows, iter(rows), frame, tmp_path / "a.csv", tmp_path / "a.jsonl"):
            before = server.counted
            report = client.submit_many("study", source, batch=4)
            assert (report.accepted, report.submissions, report.rejected) == (10, 3, ())
            assert server.counted - before == 10
