"""Webhook page of a survey, for its owners."""

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


class WebhookForm(FlaskForm):
    """The address and the events of a new webhook."""

    url = StringField("Address", [InputRequired("Enter the address.")], render_kw={"autocomplete": "off", "inputmode": "url"})
    events = SelectMultipleField(
        "Events",
        [InputRequired("Choose at least one event.")],
        choices=list(EVENTS),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    submit = SubmitField("Make webhook")

    def validate_url(self, field: StringField) -> None:
        """Refuses an address that webhooks cannot use."""
        field.data = field.data.strip(" ")
        try:
            webhooks.check_url(field.data)
        except ValueError as error:
            raise ValidationError(str(error).replace("url", "The address", 1) + ".") from None


@bp.get("/manage/surveys/<survey_id>/webhooks")
@least(Role.OWNER)
def page(survey_id: str) -> Page:
    """Lists the webhooks of a survey."""
    return _page(survey_id, WebhookForm())


@bp.post("/manage/surveys/<survey_id>/webhooks")
@least(Role.OWNER)
def make(survey_id: str) -> Page:
    """Makes a webhook and shows its secret, only once."""
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
    """Removes a webhook of this survey, if it exists."""
    back = url_for(".page", survey_id=survey_id)
    question = confirmation("Remove the webhook?", "Its address gets no more messages. Its secret is deleted.", "Remove the webhook", back)
    if question is not None:
        return question
    current_store().webhooks.remove(survey_id, request.form.get("id", ""))
    return done("The webhook is removed.", ".page", survey_id=survey_id)


def _page(survey_id: str, form: WebhookForm, secret: str = "") -> str:
    store = current_store()
    published, current = store.surveys.published(survey_id), store.webhooks.of_survey(survey_id)
    context = {"published": published, "webhooks": current, "events": EVENTS, "makers": webhook_makers(store)}
    return render_template("researchers/webhooks.html", **context, secret=secret, form=form)
