"""Survey session: one survey of a server, for one respondent after the other; answers are perturbed, sent, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from deniable.delivery.account import charge_one
from deniable.delivery.sender import Delivery
from deniable.device.perturb import perturb_one
from deniable.device.sealed import Sealed
from deniable.privacy.ledger import Ledger, Use
from deniable.sdk.arguments import check_person, redacts, seal_of, seals
from deniable.survey import Survey
from deniable.survey.types.base import Answer
from deniable.wire import access_codes
from deniable.wire.public import Public
from deniable.wire.submission import Submission
from deniable.wire.tokens import Token


@dataclass(frozen=True)
class Receipt:
    """Acknowledgement of one respondent's submission.

    Attributes:
        submission: The submission's id in hexadecimal.
        survey: The id of the survey.
        digest: The digest of its definition.
        epsilon: The privacy loss of the submission, at most.
        code: The code for `withdraw`, which erases it, for the respondent to write down. It is stored nowhere else.
        pinned: Whether the caller or the link named the digest; if not, the server could have shown this client another survey than others.
    """

    submission: str
    survey: str
    digest: str
    epsilon: float
    code: str = field(repr=False)
    pinned: bool


@dataclass(frozen=True)
class UnsentSubmission:
    """One respondent's perturbed answers, in the outbox and not sent yet. `code` is the withdrawal code, as in `Receipt`."""

    submission: Submission
    code: str = field(repr=False)


@dataclass(frozen=True)
class SurveySession:
    """A survey whose definition was fetched and checked; `SurveyClient.survey` creates it.

    Attributes:
        definition: The survey.
        delivery: Sends submissions.
        ledger: Each person's total privacy loss, if the client keeps it.
        person_cap: The cap on that total.
        group: The default group, from the link.
        invitation: The default invitation, from the link.
        pinned: As in `Receipt`.
    """

    definition: Survey
    delivery: Delivery
    ledger: Ledger | None
    person_cap: float
    group: str | None = None
    invitation: str | None = field(default=None, repr=False)
    pinned: bool = False

    @seals("answers", perturb_one)
    def perturb(self, answers: Mapping[str, Answer], *, person: str | int | None = None) -> UnsentSubmission:
        """Randomizes one respondent's answers and stores the result in the outbox, without sending it.

        `send` sends it, now or later, and so does `SurveyClient.resend`. Raises as `SurveyClient.submit` does.
        """
        unsent = self.keep(seal_of(answers), self.public(), person)
        self.delivery.outbox.release([unsent.submission.id])  # any process may send it
        return unsent

    @redacts()
    def send(self, unsent: UnsentSubmission) -> Receipt:
        """Sends a result of `perturb`, the same bytes each time: it is counted once.

        Raises:
            ValueError: It is anything else, which may be answers.
            RejectedError: The server rejected it.
            DeliveryError: The server could not be reached.
        """
        if not isinstance(unsent, UnsentSubmission):
            raise ValueError(f"unsent must be a result of `perturb`, got {type(unsent).__name__}; answers are for `submit`")
        self.delivery.send(self.definition.id, unsent.submission)
        survey = self.definition
        return Receipt(unsent.submission.id.hex(), survey.id, survey.digest, survey.epsilon, unsent.code, self.pinned)

    @seals("answers", perturb_one)
    def submit(self, answers: Mapping[str, Answer], *, person: str | int | None = None) -> Receipt:
        """Randomizes and sends one respondent's answers, as `SurveyClient.submit` does."""
        self.exchange()
        unsent = self.keep(seal_of(answers), self.public(), person)
        return self.send(unsent)

    @redacts()
    def exchange(self, public: Public | None = None) -> None:
        """Exchanges the invitation code for a token now, which the outbox keeps until a record is sent with it.

        The server then knows that the owner of the code takes part. It cannot join the code to the record, except by time and address: let
        time pass before you submit. Does nothing in a survey without invitations, and nothing the second time.

        Raises:
            RefusedError: The server's signature is not by the survey's key.
            RejectedError: The code is not one of the survey's, or was used before.
            DeliveryError: The server could not be reached.
        """
        self.delivery.refuse_closed()
        public = self.public() if public is None else public
        if public.invitation is not None and not public.problems(self.definition):
            self._token(access_codes.read(public.invitation))

    def _token(self, code: bytes) -> Token | None:
        self.delivery.tokens.prepare(self.definition, code)
        return self.delivery.tokens.token(self.definition.id, code)

    @redacts()
    def public(self, group: str | None = None, invitation: str | None = None) -> Public:
        """Returns the group and the invitation of a submission, by default the link's."""
        return Public(self.group if group is None else group, None, self.invitation if invitation is None else invitation)

    @redacts("person")
    def keep(self, perturbed: Sealed[tuple[Submission, str]], public: Public, person: str | int | None) -> UnsentSubmission:
        """Charges the person, tosses the coins under the seal, and adds the result to the outbox, owned by this process."""
        self.delivery.refuse_closed()  # before a coin is tossed
        check_named("person", person is not None, self.ledger)
        check_person(person)
        charged = self.ledger.hashed(person) if self.ledger else None
        del person
        submission, code = perturbed(self.definition, public)
        del perturbed  # no frame of this call has them after this
        if self.ledger and charged:
            charge_one(self.ledger, charged, Use(self.definition.digest, self.definition.epsilon), self.person_cap)
        if submission.invitation is not None:
            self.delivery.tokens.prepare(self.definition, submission.invitation)
        self.delivery.outbox.add(self.delivery.url, self.definition.id, submission)
        return UnsentSubmission(submission, code)


def check_named(what: str, named: bool, ledger: Ledger | None) -> None:
    """Checks that a person is named if, and only if, there is a ledger. Raises ValueError."""
    if ledger and not named:
        raise ValueError(f"{what} must be named: this client keeps a ledger of each person's privacy loss")
    if named and not ledger:
        raise ValueError(f"{what} needs a ledger: SurveyClient(ledger=True), or the path of one")
