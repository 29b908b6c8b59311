"""The codebook for data archives is valid DDI-Codebook 2.5, and says of each variable what its coins do."""

from __future__ import annotations

import hashlib
import importlib
import io
from collections.abc import Callable
from typing import Any

import pytest

from deniable.bundle import Bundle

etree: Any = importlib.import_module("lxml.etree")
DDI = {"d": "ddi:codebook:2_5"}


CHILDREN = {
    "codeBook": "docDscr stdyDscr fileDscr dataDscr otherMat",
    "stdyDscr": "citation studyAuthorization stdyInfo studyDevelopment method dataAccs othrStdyMat notes",
    "citation": "titlStmt rspStmt prodStmt distStmt serStmt verStmt biblCit holdings notes",
    "titlStmt": "titl subTitl altTitl parTitl IDNo",
    "rspStmt": "AuthEnty othId",
    "distStmt": "distrbtr contact depositr depDate distDate",
    "stdyInfo": "studyBudget subject abstract sumDscr qualityStatement notes exPostEvaluation",
    "sumDscr": "timePrd collDate nation geogCover geogUnit geoBndBox boundPoly anlyUnit universe dataKind",
    "method": "dataColl notes anlyInfo stdyClas dataProcessing codingInstructions",
    "dataColl": "timeMeth dataCollector collectorTraining frequenc sampProc sampleFrame targetSampleSize deviat collMode resInstru "
    "instrumentDevelopment sources collSitu actMin ConOps weight cleanOps",
    "anlyInfo": "respRate EstSmpErr dataAppr",
    "dataAccs": "setAvail useStmt notes",
    "useStmt": "confDec specPerm restrctn contact citReq deposReq conditions disclaimer",
    "fileDscr": "fileTxt locMap notes",
    "fileTxt": "fileName fileCitation dataFingerprint fileCont fileStrc dimensns fileType format filePlac dataChck ProcStat dataMsng "
    "software verStmt",
    "dimensns": "caseQnty varQnty logRecL recPrCas recNumTot",
    "dataDscr": "varGrp nCubeGrp var nCube notes",
    "var": "location labl imputation security embargo respUnit anlysUnit qstn valrng invalrng undocCod universe TotlResp sumStat txt "
    "stdCatgry catgryGrp catgry codInstr verStmt concept derivation varFormat geoMap catLevel notes",
    "qstn": "preQTxt qstnLit postQTxt forward backward ivuInstr",
    "catgry": "catValu labl txt catStat mrow",
}
"""The order of the elements that an element may have, in DDI-Codebook 2.5."""


def misplaced(root: Any) -> list[str]:
    """Elements that DDI-Codebook does not have, or has in another place."""
    found = []
    for element in root.iter():
        order = CHILDREN.get(name_of(element), "").split()
        places = [order.index(name_of(child)) if name_of(child) in order else -1 for child in element]
        if -1 in places or places != sorted(places):
            found.append(f"{name_of(element)}: {' '.join(map(name_of, element))}")
    return found


def name_of(element: Any) -> str:
    assert element.tag.startswith("{ddi:codebook:2_5}"), element.tag
    return str(element.tag.removeprefix("{ddi:codebook:2_5}"))


@pytest.fixture(scope="module", params=["every", "asked", "coins", "wide"])
def bundle(request: pytest.FixtureRequest, make: Callable[[str], Any]) -> Bundle:
    """The bundles of `conftest.SURVEYS`."""
    made: Bundle = make(request.param).bundle
    return made


def written(bundle: Bundle, name: str) -> bytes:
    file = io.BytesIO()
    bundle.write(name, file)
    return file.getvalue()


def test_its_elements_are_in_their_places_and_it_has_every_column(bundle: Bundle) -> None:
    root = etree.fromstring(written(bundle, "codebook.xml"))
    assert misplaced(root) == []
    columns = bundle.counted.columns
    assert root.xpath("//d:var/@name", namespaces=DDI) == [column.name for column in columns]
    for column, variable in zip(columns, root.xpath("//d:var", namespaces=DDI), strict=True):
        values = [int(value.text) for value in variable.xpath("d:catgry/d:catValu", namespaces=DDI)]
        assert values == list(column.values)
        assert len(variable.xpath("d:notes[@type='mechanism']", namespaces=DDI)) == (column.field is not None)
        assert bool(variable.xpath("d:qstn/d:qstnLit", namespaces=DDI)) is (column.field is not None)


def test_its_checksum_is_that_of_the_rows(bundle: Bundle) -> None:
    root = etree.fromstring(written(bundle, "codebook.xml"))
    (checksum,) = root.xpath("//d:fileDscr/d:notes[@type='checksum']/text()", namespaces=DDI)
    rows = written(bundle, "rows.csv")
    assert checksum == f"SHA-256 {hashlib.sha256(rows).hexdigest()}, {len(rows)} bytes"
    assert root.xpath("//d:caseQnty/text()", namespaces=DDI) == [str(bundle.counted.n)]


def test_an_element_out_of_place_is_noticed(bundle: Bundle) -> None:
    """The control."""
    root = etree.fromstring(written(bundle, "codebook.xml"))
    variable = root.xpath("//d:var", namespaces=DDI)[0]
    variable.insert(0, variable[-1])
    assert len(misplaced(root)) == 1
