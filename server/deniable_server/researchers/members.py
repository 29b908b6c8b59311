"""Members of a survey and their roles, for its owners."""

from __future__ import annotations

from flask import render_template, url_for

from deniable_server.context import current_store
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.researchers.forms import MemberForm
from deniable_server.store.errors import LastError, UnknownAccountError
from deniable_server.store.roles import Role
from deniable_server.web.audience import least

bp = routes("members", __name__)
_WITH_ARTICLE = {"viewer": "a viewer", "analyst": "an analyst", "editor": "an editor", "owner": "an owner"}


@bp.get("/manage/surveys/<survey_id>/members")
@least(Role.OWNER)
def page(survey_id: str) -> Page:
    """Lists the members of a survey."""
    return _page(survey_id, MemberForm())


@bp.post("/manage/surveys/<survey_id>/members")
@least(Role.OWNER)
def change(survey_id: str) -> Page:
    """Sets or removes a person's role."""
    form, roles = MemberForm(), current_store().roles
    if form.validate():
        try:
            if form.role.data != "none":
                roles.grant(survey_id, form.user.data, Role.of(form.role.data))
                return done(f"{form.user.data} is {_WITH_ARTICLE[form.role.data]} now.", ".page", survey_id=survey_id)
            question = f"Remove {form.user.data} from this survey?"
            check = confirmation(
                question, "They no longer see the survey. You can give them a role again.", "Remove", url_for(".page", survey_id=survey_id)
            )
            if check is not None:
                return check
            roles.revoke(survey_id, form.user.data)
            return done(f"{form.user.data} no longer has a role in this survey.", ".page", survey_id=survey_id)
        except UnknownAccountError:
            form.user.errors = ["There is no account with this name."]
        except LastError as error:
            form.role.errors = [f"{str(error).capitalize()}."]
    return _page(survey_id, form), 422


def _page(survey_id: str, form: MemberForm) -> str:
    store = current_store()
    context = {"published": store.surveys.published(survey_id), "members": store.roles.members(survey_id)}
    return render_template("researchers/members.html", **context, form=form)
