"""Pages of a survey's API keys, for its owners. Keys for all surveys are made on the command line."""

from __future__ import annotations

from flask import g, render_template, request, url_for
from flask_wtf import FlaskForm
from wtforms import SelectMultipleField, StringField, SubmitField
from wtforms.validators import InputRequired, Length
from wtforms.widgets import CheckboxInput, ListWidget

from deniable_server.access import api_keys
from deniable_server.context import current_store
from deniable_server.identity.makers import key_makers
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.store.errors import ConflictError
from deniable_server.store.roles import Role
from deniable_server.web.audience import least

bp = routes("survey_keys", __name__)


class KeyForm(FlaskForm):
    """The name and the scopes of a new key."""

    name = StringField("Name of the key", [InputRequired("Enter a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    scopes = SelectMultipleField(
        "Scopes",
        [InputRequired("Choose at least one scope.")],
        choices=list(api_keys.OF_SURVEYS),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    submit = SubmitField("Make key")


@bp.get("/manage/keys")
def overview() -> Page:
    """Lists the keys of all surveys that the researcher owns."""
    store = current_store()
    owned = [survey for survey, role in store.roles.seen_by(g.user).items() if role == Role.OWNER]
    keys_of = {survey: [key for key in store.accounts.all_keys() if key.survey == survey] for survey in owned}
    return render_template("access/all_keys.html", keys_of=keys_of)


@bp.get("/manage/surveys/<survey_id>/keys")
@least(Role.OWNER)
def page(survey_id: str) -> Page:
    """Lists the keys of a survey."""
    return _page(survey_id, KeyForm())


@bp.post("/manage/surveys/<survey_id>/keys")
@least(Role.OWNER)
def make(survey_id: str) -> Page:
    """Makes a key and shows it, only once."""
    form = KeyForm()
    if form.validate():
        try:
            new_key = api_keys.make(current_store(), form.name.data, form.scopes.data, survey_id)
            return _page(survey_id, KeyForm(formdata=None), new_key)
        except ConflictError:
            form.name.errors = ["Another key has this name. Choose another one."]
        except ValueError as error:
            form.name.errors = [f"{str(error).capitalize()}."]
    return _page(survey_id, form), 422


@bp.post("/manage/surveys/<survey_id>/keys/revoke")
@least(Role.OWNER)
def revoke(survey_id: str) -> Page:
    """Revokes a key of this survey, if it exists."""
    name, back = request.form.get("name", ""), url_for(".page", survey_id=survey_id)
    check = confirmation(f"Revoke the key {name}?", "Programs that use it lose access at once. This cannot be undone.", "Revoke key", back)
    if check is not None:
        return check
    current_store().accounts.remove_key(name, survey_id)
    return done(f"The key {name} no longer works.", ".page", survey_id=survey_id)


def _page(survey_id: str, form: KeyForm, new_key: str = "") -> str:
    store = current_store()
    keys = [key for key in store.accounts.all_keys() if key.survey == survey_id]
    published = store.surveys.published(survey_id)
    context = {"published": published, "keys": keys, "scopes": api_keys.OF_SURVEYS, "makers": key_makers(store)}
    return render_template("access/keys.html", **context, new_key=new_key, form=form)
