"""Compares each form in a folder with its import, and prints the figures."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from tests.kit.form_comparison import compare, limesurvey, qualtrics

from deniable.errors import SurveyError
from deniable.forms import read_form
from deniable.survey import Survey

COMPARISONS = {".xlsx": compare.compare, ".lss": limesurvey.compare, ".qsf": qualtrics.compare}


def main(folder: Path) -> int:
    counts: Counter[str] = Counter()
    for path in sorted(path for path in folder.iterdir() if path.suffix in COMPARISONS):
        counts["files"] += 1
        try:
            imported = read_form(path)
        except SurveyError as error:
            counts["refused"] += 1
            print(f"{path.name}: {str(error)[:120]}")
            continue
        counts["forms"] += 1
        for key, count in zip(("conditions", "kept whole", "kept in part"), imported.conditions, strict=True):
            counts[key] += count
        numbers = [mending for mending in imported.mendings if mending.decision == "numbers"]
        counts["numbers without ends"] += len(numbers)
        counts["with a proposal"] += sum(bool(isinstance(m.proposal, dict) and m.proposal["low"] and m.proposal["high"]) for m in numbers)
        if not imported.document["questions"]:
            counts["nothing to ask"] += 1
            continue
        counts["questions"] += len(imported.document["questions"])
        try:
            Survey.from_dict(imported.document)
            counts["imported"] += 1
        except SurveyError as error:
            counts["need corrections"] += 1
            print(f"{path.name}: {str(error)[:200]}")
        try:
            differences = COMPARISONS[path.suffix](path, imported)
        except OSError:  # a workbook that openpyxl alone cannot open
            counts["not compared"] += 1
            continue
        counts["compared"] += 1
        counts["differences that no report names"] += len(differences)
        for difference in differences:
            print(f"{path.name}: {difference[:300]}")
    for name, count in counts.items():
        print(f"{count:6} {name}")
    return 1 if counts["differences that no report names"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
