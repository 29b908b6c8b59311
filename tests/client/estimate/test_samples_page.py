"""Every example of docs/reference/samples.md does what the page says, and its sample in a file is one."""

from __future__ import annotations

import re
from pathlib import Path

from tests.client.estimate.test_joint_page import run

from deniable.estimate import Sample

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "samples.md"


def test_every_example_of_the_page_prints_what_the_page_says() -> None:
    result = run(PAGE.read_text(encoding="utf-8"))
    assert result.attempted >= 15
    assert result.failed == 0


def test_the_file_of_the_page_is_a_sample() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    sample = Sample.from_text(text)
    assert (sample.clusters, sample.strata, sample.population) == ("group", "region", {"north": 40, "south": 25})
    assert set(sample.attributes["region"].values()) == {"north", "south"}
