"""Access that a backup restores, and the repetition of later acts that removed it."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from urllib.parse import urlsplit

from deniable.errors import DeniableError
from deniable_server.config import copy_key, key_file
from deniable_server.store import open_store
from deniable_server.store.audit import BEGINNING, Act, AuditEntry
from deniable_server.store.errors import LastError
from deniable_server.store.moving.switch_over import forget_move
from deniable_server.store.protocol import Heading, Store
from deniable_server.store.roles import Role


def access_of(store: Store) -> Iterator[str]:
    """Yields a line for each access that a database grants: keys, accounts, codes, webhooks, and surveys with their states."""
    for key in store.accounts.all_keys():
        yield f"key\t{key.name}\t{','.join(key.scopes)}\t{key.survey or 'all surveys'}\tmade on {key.made_on}"
    roles = {survey_id: store.roles.members(survey_id) for survey_id in store.surveys.ids()}
    for person in store.people.all():
        kinds = ["operator" if person.operator else "researcher", *(["disabled"] if person.disabled else [])]
        kinds += [f"{members[person.name].word} of {survey}" for survey, members in roles.items() if person.name in members]
        kinds += ["second factor"] if store.factors.any(person.name) else []
        kinds += [f"logs in at {binding.identity.issuer}" for binding in store.identities.of(person.name)]
        yield f"account\t{person.name}\t{', '.join(kinds)}"
    yield from _teams(store)
    for heading in store.surveys.headings():
        yield f"survey\t{heading.id}\t{', '.join(_states(store, heading))}"
        if heading.access == "invited":
            total, spent = store.invitations.count(heading.id)
            yield f"codes\t{heading.id}\t{total - spent:,} of {total:,} can be used"
    for webhook, _ in store.webhooks.all():
        yield f"webhook\t{webhook.id}\t{webhook.survey}\t{','.join(webhook.events)}\t{urlsplit(webhook.url).hostname}"


def _teams(store: Store) -> Iterator[str]:
    """Yields a line for each team: its members, and its roles in surveys."""
    roles = {survey_id: store.teams.roles(survey_id) for survey_id in store.surveys.ids()}
    for team in store.teams.all():
        members = [f"{user} {'manages' if manager else 'is in'} it" for user, manager in team.members.items()]
        of_team = [f"{granted[team.name].word} of {survey}" for survey, granted in roles.items() if team.name in granted]
        yield f"team\t{team.name}\t{', '.join([*members, *of_team])}"


def _states(store: Store, heading: Heading) -> list[str]:
    settings = store.life.settings(heading.id)
    state = heading.state
    days = {
        "closes on": settings.close_on,
        "closes with": settings.close_at,
        "opens at": settings.opens_at,
        "closes at": settings.closes_at,
        "records are deleted on": settings.delete_on,
    }
    return [state, *(f"{words} {value}" for words, value in days.items() if value is not None)]


def log_in(path: Path) -> list[AuditEntry]:
    """Parses a log that `audit show --json` printed, the newest entry last.

    Raises:
        ValueError: A line is not an entry, or does not follow the one before it.
        OSError: The file cannot be read.
    """
    return _chained(path.read_text(encoding="utf-8").splitlines())


@dataclass(frozen=True)
class Later:
    """Known acts after a backup.

    Attributes:
        entries: Entries of the audit log.
        withdrawn: The ids of withdrawn records.
        spent: Surveys, and hashes of used codes.
        tokens: Surveys, and the keyed hashes of used tokens.
        sealed: Whether there may be more of these, which could not be decrypted.
    """

    entries: Sequence[AuditEntry] = ()
    withdrawn: Sequence[bytes] = ()
    spent: Sequence[tuple[str, bytes]] = ()
    tokens: Sequence[tuple[str, bytes]] = ()
    sealed: bool = False

    @classmethod
    def of(cls, path: Path) -> Later:
        """Reads the database that is replaced. Without its key beside it, the codes of waiting records remain unknown.

        Raises:
            ValueError: The file cannot be read, or its log is broken.
            UnavailableError: The key beside it is another one.
            OSError: There is no disk space for a copy, from which the codes are read.
        """
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as old:
                texts = [text for (text,) in old.execute("SELECT entry FROM audit ORDER BY number")]
                withdrawn = [bytes(id_) for (id_,) in old.execute("SELECT id FROM withdrawn ORDER BY id")]
                sealed = not key_file(path).exists()
                tokens = [(survey, bytes(tag)) for survey, tag in old.execute("SELECT survey, tag FROM spent_tokens ORDER BY tag")]
                rows = old.execute("SELECT survey, hash FROM invitations WHERE spent = 1").fetchall()
                spent = [(survey, bytes(code)) for survey, code in rows] if sealed else _used_codes(old, path)
        except sqlite3.Error as error:
            raise ValueError(f"{path} must be the database that is replaced, and readable ({error})") from None
        return cls(_chained(texts), withdrawn, spent, tokens, sealed)


@dataclass
class Outcome:
    """The results of repeating later acts, a line each."""

    applied: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def apply(store: Store, later: Later) -> Outcome:
    """Repeats the later acts that remove access, in order. Lists those that cannot be repeated.

    Raises:
        ValueError: The log does not continue the backup's last entry.
    """
    outcome = Outcome()
    for entry in _after(store, later.entries):
        did, act = entry.did, _ACTS.get(entry.did.act)
        line = "\t".join((did.at, did.act, did.on, did.detail)).rstrip()
        try:
            done = act is not None and act(store, did) is not False
        except (DeniableError, ValueError) as error:
            outcome.left.append(f"{line}\t({error})")
            continue
        if done:
            outcome.applied.append(line)
        elif did.act not in _NEEDS_NO_REPEAT:
            outcome.left.append(line)
    withdrawn, spent = store.submissions.withdraw_all(later.withdrawn), store.invitations.spend(later.spent)
    tokens = store.invitations.spend_tokens(later.tokens)
    for count, words in ((withdrawn, "withdrawn record"), (spent, "spent code"), (tokens, "used token")):
        outcome.applied += [f"{count:,} {words}{'' if count == 1 else 's'}"] if count else []
    if later.sealed:
        outcome.left.append("spent codes of records that waited to be counted\t(the old database's key is not beside it)")
    return outcome


def _used_codes(old: sqlite3.Connection, path: Path) -> list[tuple[str, bytes]]:
    """Returns the used codes, read from a copy, since opening a file may migrate it."""
    with tempfile.TemporaryDirectory(prefix="deniable-restore-", dir=path.absolute().parent) as folder:
        twin = Path(folder) / "old.db"
        with closing(sqlite3.connect(twin)) as copy:
            old.backup(copy)
        copy_key(key_file(path), key_file(twin))
        forget_move(twin)
        with closing(open_store(twin)) as store:
            return store.invitations.used()


def _after(store: Store, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
    """Returns the entries after the backup's last one."""
    if not entries:
        return []
    newest = store.audit.entries(most=1)
    head, count = (newest[0].hash, newest[0].number) if newest else (BEGINNING, 0)
    later = [entry for entry in entries if entry.number > count]
    if not any(entry.hash == head for entry in entries) and not (later and later[0].previous == head):
        raise ValueError(f"the log must continue the backup's last entry, {count}; it is another server's, or begins too late")
    return later


def _chained(texts: Iterable[str]) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    for number, text in enumerate((text for text in texts if text.strip()), 1):
        try:
            entries.append(AuditEntry.of(text))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(f"entry {number} of the log must be a line that `audit show --json` printed") from None
        if len(entries) > 1 and entries[-1].previous != entries[-2].hash:
            raise ValueError(f"entry {number} of the log must follow the one before it: the log was changed")
    return entries


def _give(store: Store, did: Act) -> None:
    user, _, word = did.detail.rpartition(" is ")
    store.roles.grant(did.on, user, Role.of(word))


def _give_team(store: Store, did: Act) -> None:
    team, _, word = did.detail.rpartition(" is ")
    store.teams.grant(did.on, team, Role.of(word))


def _member(did: Act) -> tuple[str, bool]:
    """Returns the account that joined a team, and whether it manages the team."""
    user, _, word = did.detail.rpartition(" is ")
    return user, word == "manager"


def _take_draft(store: Store, did: Act) -> bool:
    """Removes the role of an account or a team in a draft: the log does not say which of the two had it."""
    name = did.detail.rpartition(" has ")[0]
    return any([store.draft_roles.revoke(did.on, name), store.draft_roles.revoke_team(did.on, name)])


def _disconnect(store: Store, did: Act) -> bool:
    """Removes a binding, even the last one: an account without any other way to log in is disabled."""
    try:
        return store.identities.unbind(did.on, did.detail)
    except LastError:
        store.people.set_disabled(did.on, True)
        return True


def _new_password(store: Store, did: Act) -> bool:
    """Disables the old password, which may have been changed because it leaked: `user password` sets a new one."""
    from deniable_server.identity.passwords import set_password

    if store.people.person(did.on) is None:
        return False
    set_password(store.accounts, did.on, token_urlsafe(32))
    return True


_ACTS: dict[str, Callable[[Store, Act], object]] = {
    "key.revoke": lambda store, did: store.accounts.remove_key(did.on),
    "account.remove": lambda store, did: store.accounts.remove_user(did.on),
    "account.disable": lambda store, did: store.people.set_disabled(did.on, True),
    "account.enable": lambda store, did: store.people.set_disabled(did.on, False),
    "account.operator": lambda store, did: store.people.set_operator(did.on, True),
    "account.researcher": lambda store, did: store.people.set_operator(did.on, False),
    "account.password": _new_password,
    "role.give": _give,
    "role.take": lambda store, did: store.roles.revoke(did.on, did.detail.rpartition(" has ")[0]),
    "account.bind": lambda store, did: False,  # the log has no subject: the person connects the account again
    "account.unbind": _disconnect,
    "team.make": lambda store, did: store.teams.create(did.on),
    "team.remove": lambda store, did: store.teams.remove(did.on),
    "team.join": lambda store, did: store.teams.join(did.on, *_member(did)),
    "team.leave": lambda store, did: store.teams.leave(did.on, did.detail.removesuffix(" has left")),
    "team-role.give": _give_team,
    "team-role.take": lambda store, did: store.teams.revoke(did.on, did.detail.rpartition(" has ")[0]),
    "draft-role.take": lambda store, did: _take_draft(store, did),
    "survey.close": lambda store, did: store.surveys.set_open(did.on, False),
    "survey.reopen": lambda store, did: store.surveys.set_open(did.on, True),
    "survey.pause": lambda store, did: store.surveys.pause(did.on, True),
    "survey.go-on": lambda store, did: store.surveys.pause(did.on, False),
    "survey.delete": lambda store, did: store.life.erase(did.on, did.at[:10]),
    "webhook.remove": lambda store, did: store.webhooks.remove(did.on, did.detail),
}
_NEEDS_NO_REPEAT = frozenset(
    {"account.log-in", "account.log-out-everywhere", "link.make", "link.take-back", "server.restore", "server.move"}
)
