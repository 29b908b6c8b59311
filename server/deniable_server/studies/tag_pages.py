"""Pages of tags: the tags of one survey or draft, and all tags of a researcher, which can be renamed and removed."""

from __future__ import annotations

from collections import Counter

from flask import abort, g, render_template, request, url_for

from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import title_in
from deniable_server.drafts.own_drafts import all_own, may_edit, own
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.store.roles import Role
from deniable_server.studies.forms import RenameTagForm, TagsForm
from deniable_server.web.audience import least

bp = routes("tags", __name__)


@bp.get("/manage/surveys/<survey_id>/tags")
@least(Role.VIEWER)
def of_survey(survey_id: str) -> Page:
    """Shows the tags of a survey."""
    return _survey_page(survey_id, TagsForm(formdata=None, tags=", ".join(_of_survey(survey_id))))


@bp.post("/manage/surveys/<survey_id>/tags")
@least(Role.EDITOR)
def tag_survey(survey_id: str) -> Page:
    """Replaces the tags of a survey."""
    form = TagsForm()
    if not form.validate():
        return _survey_page(survey_id, form), 422
    current_store().tags.set_survey(survey_id, form.value)
    return done("The tags are saved.", ".of_survey", survey_id=survey_id)


@bp.get("/manage/drafts/<draft_id>/tags")
def of_draft(draft_id: str) -> Page:
    """Shows the tags of a draft."""
    own(draft_id, Role.VIEWER)
    tags = current_store().tags.of_drafts([draft_id]).get(draft_id, ())
    return _draft_page(draft_id, TagsForm(formdata=None, tags=", ".join(tags)))


@bp.post("/manage/drafts/<draft_id>/tags")
def tag_draft(draft_id: str) -> Page:
    """Replaces the tags of a draft."""
    own(draft_id, Role.EDITOR)
    form = TagsForm()
    if not form.validate():
        return _draft_page(draft_id, form), 422
    current_store().tags.set_draft(draft_id, form.value)
    return done("The tags are saved.", ".of_draft", draft_id=draft_id)


@bp.get("/manage/tags")
def page() -> Page:
    """Lists all tags of the researcher's surveys and drafts."""
    return _all_tags(RenameTagForm(formdata=None))


@bp.post("/manage/tags")
def change() -> Page:
    """Renames or removes a tag on the surveys that the researcher may edit, and on the researcher's drafts."""
    form, tag, act = RenameTagForm(), request.form.get("tag", ""), request.form.get("do")
    if act not in ("rename", "remove"):
        abort(400, "do must be rename or remove")
    if act == "rename":
        if not form.validate():
            return _all_tags(form), 422
        count = current_store().tags.replace(tag, form.value, *_editable())
        return done(f"The tag is renamed on {_number(count)}.", ".page")
    check = confirmation(f"Remove the tag {tag}?", "The surveys and drafts stay.", "Remove tag", url_for(".page"))
    if check is not None:
        return check
    count = current_store().tags.replace(tag, "", *_editable())
    return done(f"The tag is removed from {_number(count)}.", ".page")


def _editable() -> tuple[list[str], list[str]]:
    """Returns the surveys and drafts whose tags the current researcher may change."""
    roles = current_store().roles.seen_by(g.user)
    return [survey for survey, role in roles.items() if role >= Role.EDITOR], [
        draft.draft.id for draft in all_own() if draft.role >= Role.EDITOR
    ]


def _of_survey(survey_id: str) -> tuple[str, ...]:
    return tuple(current_store().tags.of_surveys([survey_id]).get(survey_id, ()))


def _survey_page(survey_id: str, form: TagsForm) -> str:
    published, tags = current_store().surveys.published(survey_id), _of_survey(survey_id)
    return render_template("studies/survey_tags.html", published=published, tags=tags, form=form)


def _draft_page(draft_id: str, form: TagsForm) -> str:
    draft = own(draft_id, Role.VIEWER)
    tags = current_store().tags.of_drafts([draft_id]).get(draft_id, ())
    context = {"title": title_in(draft.text), "tags": tags, "may_edit": may_edit(draft)}
    return render_template("studies/draft_tags.html", draft=draft, form=form, **context)


def _all_tags(form: RenameTagForm) -> str:
    tags = current_store().tags
    surveys = tags.of_surveys(current_store().roles.seen_by(g.user))
    drafts = tags.of_drafts([draft.draft.id for draft in all_own()])
    counts = Counter(tag for every in (surveys, drafts) for own_tags in every.values() for tag in own_tags)
    rows = sorted(counts.items(), key=lambda row: (row[0].casefold(), row[0]))
    return render_template("studies/tags.html", rows=rows, rename=form, form=ActionForm())


def _number(count: int) -> str:
    return f"{count:,} {'survey or draft' if count == 1 else 'surveys and drafts'}"
