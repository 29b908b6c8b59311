"""One survey of a server, for one respondent after the other: perturb, send, or both."""

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
from deniable.wire.public import Public
from deniable.wire.submission import Submission


@dataclass(frozen=True)
class Receipt:
    """One respondent's submission, acknowledged: `submission` is its id in hexadecimal, `epsilon` what it gave away at most.

    code: what `withdraw` takes to erase it, for the respondent to write down. It is kept nowhere else. pinned: whether the caller or
    the link named the digest; if not, the server could have shown this client another survey than others.
    """

    submission: str
    survey: str
    digest: str
    epsilon: float
    code: str = field(repr=False)
    pinned: bool


@dataclass(frozen=True)
class Unsent:
    """One respondent's perturbed answers, in the outbox and not sent: the only ones of these answers. code: as in `Receipt`."""

    submission: Submission
    code: str = field(repr=False)


@dataclass(frozen=True)
class Session:
    """A survey whose definition was fetched and checked. group, invitation: of submissions that name no other, as the link had them.

    pinned: as in `Receipt`. `SurveyClient.survey` makes it.
    """

    definition: Survey
    delivery: Delivery
    ledger: Ledger | None
    person_cap: float
    group: str | None = None
    invitation: str | None = field(default=None, repr=False)
    pinned: bool = False

    @seals("answers", perturb_one)
    def perturb(self, answers: Mapping[str, Answer], *, person: str | int | None = None) -> Unsent:
        """Randomizes one respondent's answers, and keeps what came out in the outbox, without sending it.

        `send` sends it, now or later, and so does `SurveyClient.resend`. Raises as `SurveyClient.submit` does.
        """
        unsent = self.keep(seal_of(answers), self.public(), person)
        self.delivery.outbox.release([unsent.submission.id])  # any process may send it
        return unsent

    @redacts()
    def send(self, unsent: Unsent) -> Receipt:
        """Sends what `perturb` gave, the same bytes each time: it is counted once.

        Raises ValueError for anything else, which may be answers; RejectedError, DeliveryError.
        """
        if not isinstance(unsent, Unsent):
            raise ValueError(f"unsent must be what `perturb` gave, got {type(unsent).__name__}; answers are for `submit`")
        self.delivery.send(self.definition.id, unsent.submission)
        survey = self.definition
        return Receipt(unsent.submission.id.hex(), survey.id, survey.digest, survey.epsilon, unsent.code, self.pinned)

    @seals("answers", perturb_one)
    def submit(self, answers: Mapping[str, Answer], *, person: str | int | None = None) -> Receipt:
        """Randomizes and sends one respondent's answers, as `SurveyClient.submit` does."""
        unsent = self.keep(seal_of(answers), self.public(), person)
        return self.send(unsent)

    @redacts()
    def public(self, group: str | None = None, invitation: str | None = None) -> Public:
        """What is named here, else what the link had."""
        return Public(self.group if group is None else group, None, self.invitation if invitation is None else invitation)

    @redacts("person")
    def keep(self, perturbed: Sealed[tuple[Submission, str]], public: Public, person: str | int | None) -> Unsent:
        """Charges the person, tosses the coins under the seal, and puts what came out into the outbox, owned by this process."""
        self.delivery.refuse_closed()  # before a coin is tossed
        check_named("person", person is not None, self.ledger)
        check_person(person)
        charged = self.ledger.hashed(person) if self.ledger else None
        del person
        submission, code = perturbed(self.definition, public)
        del perturbed  # from here on no frame of this call has them
        if self.ledger and charged:
            charge_one(self.ledger, charged, Use(self.definition.digest, self.definition.epsilon), self.person_cap)
        self.delivery.outbox.add(self.delivery.url, self.definition.id, submission)
        return Unsent(submission, code)


def check_named(what: str, named: bool, ledger: Ledger | None) -> None:
    """Raises ValueError if a person is named without a ledger, or the other way round."""
    if ledger and not named:
        raise ValueError(f"{what} must be given: this client keeps a ledger of what each person gives away")
    if named and not ledger:
        raise ValueError(f"{what} needs a ledger: SurveyClient(ledger=True), or the path of one")
