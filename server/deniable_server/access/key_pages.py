"""Keys of one survey, for programs: its owners make and revoke them. A key of all surveys is for whoever runs the server to make."""

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


class KeyForm(FlaskForm):  # type: ignore[misc]
    """The name of a new key, and what it is for."""

    name = StringField("What to call it", [InputRequired("Give the key a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    scopes = SelectMultipleField(
        "What is it for?",
        [InputRequired("Say what the key is for.")],
        choices=list(api_keys.OF_SURVEYS),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    submit = SubmitField("Make the key")


@bp.get("/manage/keys")
def overview() -> Page:
    """The keys of all surveys that one owns, and the way to each."""
    store = current_store()
    owned = [survey for survey, role in store.roles.seen_by(g.user).items() if role == Role.OWNER]
    keys_of = {survey: [key for key in store.accounts.all_keys() if key.survey == survey] for survey in owned}
    return render_template("access/all_keys.html", keys_of=keys_of)


@bp.get("/manage/surveys/<survey_id>/keys")
@least(Role.OWNER)
def page(survey_id: str) -> Page:
    return _page(survey_id, KeyForm())


@bp.post("/manage/surveys/<survey_id>/keys")
@least(Role.OWNER)
def make(survey_id: str) -> Page:
    """Makes a key, and shows it: this once."""
    form = KeyForm()
    if form.validate():
        try:
            made = api_keys.make(current_store(), form.name.data, form.scopes.data, survey_id)
            return _page(survey_id, KeyForm(formdata=None), made)
        except ConflictError:
            form.name.errors = ["Another key of this server has this name: choose another one."]
        except ValueError as error:
            form.name.errors = [f"{str(error).capitalize()}."]
    return _page(survey_id, form), 422


@bp.post("/manage/surveys/<survey_id>/keys/revoke")
@least(Role.OWNER)
def revoke(survey_id: str) -> Page:
    """Revokes a key that is for this survey alone; the same if there is none."""
    name, back = request.form.get("name", ""), url_for(".page", survey_id=survey_id)
    asked = confirmation(
        f"Revoke the key {name}?", "Programs that use it are refused at once. This cannot be undone.", "Revoke the key", back
    )
    if asked is not None:
        return asked
    current_store().accounts.remove_key(name, survey_id)
    return done(f"The key {name} no longer works.", ".page", survey_id=survey_id)


def _page(survey_id: str, form: KeyForm, made: str = "") -> str:
    store = current_store()
    found = [key for key in store.accounts.all_keys() if key.survey == survey_id]
    published = store.surveys.published(survey_id)
    shown = {"published": published, "keys": found, "scopes": api_keys.OF_SURVEYS, "makers": key_makers(store)}
    return render_template("access/keys.html", **shown, made=made, form=form)
