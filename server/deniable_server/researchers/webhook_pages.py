"""Webhooks of one survey: its owners make and remove them, on a page under Settings."""

from __future__ import annotations

from flask import render_template, request, url_for
from flask_wtf import FlaskForm
from wtforms import SelectMultipleField, StringField, SubmitField
from wtforms.validators import InputRequired, ValidationError
from wtforms.widgets import CheckboxInput, ListWidget

from deniable_server.api import webhooks
from deniable_server.context import current_store
from deniable_server.identity.makers import webhook_makers
from deniable_server.pages.one_time_forms import repeated
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.store.errors import ConflictError
from deniable_server.store.roles import Role
from deniable_server.store.webhooks import EVENTS
from deniable_server.web.audience import least

bp = routes("webhooks", __name__)


class WebhookForm(FlaskForm):  # type: ignore[misc]
    """The address of a new webhook, and what it is told."""

    url = StringField("Address", [InputRequired("Give the address.")], render_kw={"autocomplete": "off", "inputmode": "url"})
    events = SelectMultipleField(
        "What is it told?",
        [InputRequired("Say what it is told.")],
        choices=list(EVENTS),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    submit = SubmitField("Make the webhook")

    def validate_url(self, field: StringField) -> None:
        """Refuses an address that no message is sent to."""
        field.data = field.data.strip(" ")
        try:
            webhooks.check_url(field.data)
        except ValueError as error:
            raise ValidationError(str(error).replace("url", "The address", 1) + ".") from None


@bp.get("/manage/surveys/<survey_id>/webhooks")
@least(Role.OWNER)
def page(survey_id: str) -> Page:
    return _page(survey_id, WebhookForm())


@bp.post("/manage/surveys/<survey_id>/webhooks")
@least(Role.OWNER)
def make(survey_id: str) -> Page:
    """Makes a webhook, and shows its secret: this once."""
    form = WebhookForm()
    if form.validate():
        if again := repeated("This webhook was made already", url_for(".page", survey_id=survey_id)):
            return again
        try:
            _, secret = webhooks.make(current_store(), survey_id, form.url.data, form.events.data)
            return _page(survey_id, WebhookForm(formdata=None), secret)
        except ConflictError as error:
            rule = str(error)
            form.url.errors = [f"{rule[:1].upper()}{rule[1:]}."]
    return _page(survey_id, form), 422


@bp.post("/manage/surveys/<survey_id>/webhooks/remove")
@least(Role.OWNER)
def remove(survey_id: str) -> Page:
    """Removes a webhook of this survey; the same if there is none."""
    back = url_for(".page", survey_id=survey_id)
    asked = confirmation("Remove the webhook?", "Its address gets no more messages, and its secret is deleted.", "Remove the webhook", back)
    if asked is not None:
        return asked
    current_store().webhooks.remove(survey_id, request.form.get("id", ""))
    return done("The webhook is removed.", ".page", survey_id=survey_id)


def _page(survey_id: str, form: WebhookForm, made: str = "") -> str:
    store = current_store()
    published, made_before = store.surveys.published(survey_id), store.webhooks.of_survey(survey_id)
    shown = {"published": published, "webhooks": made_before, "events": EVENTS, "makers": webhook_makers(store)}
    return render_template("researchers/webhooks.html", **shown, made=made, form=form)
