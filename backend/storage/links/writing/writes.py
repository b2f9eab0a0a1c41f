"""Creates, changes and archives links: the one way in which the service writes them.

Any number of operations share a transaction. They are carried out one after the other, in memory, on a
working set of stored links. The result is written with one command for all new links and one for all changed
ones, and the feed notes each change. A rejected operation writes nothing, and does not stop the others.
Unique indexes decide whether a path, an external id or an idempotency key is taken: if one refuses a write,
everything is read and carried out again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from backend.domain.errors import InvalidField, RequestError
from backend.domain.feed.facts import Fact
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.policy import DestinationPolicy, refuse_destinations
from backend.domain.links.duplicates import copy_link
from backend.domain.links.input import Changes, NewLink, apply_changes
from backend.domain.links.links import Link
from backend.domain.links.operations import (
    ArchiveLink,
    ChangeLink,
    CreateLink,
    DomainNotConfigured,
    Done,
    ExternalIdTaken,
    LinkChangedMeanwhile,
    LinkGone,
    LinkRequest,
    LinkResult,
    PathTaken,
    UpsertLink,
)
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.audit.acting import Acting, acting
from backend.storage.audit.facts import note_facts
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    StorageError,
    in_transaction,
    is_duplicate,
)
from backend.storage.links import links
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.feed_facts import (
    audit_of_change,
    audit_of_creation,
    changed_fact,
    created_fact,
)
from backend.storage.links.writing import idempotency
from backend.storage.links.writing.idempotency import KeyUsed
from backend.storage.links.writing.loops import DomainPath, alike_among, may_loop, refuse_loop, refuse_varying
from backend.storage.links.writing.random_names import random_ids, random_paths
from backend.storage.links.writing.working_set import WorkingSet, read_working_set, target_hosts
from backend.storage.outbox import entries

# Another write may take a path between its look-up and its use. More than once would hardly be chance.
_MOST_ATTEMPTS = 10
# Operations between two moments in which other requests are served.
_OPERATIONS_PER_TURN = 25
_REJECTIONS = (RequestError, DomainNotConfigured, PathTaken, ExternalIdTaken, LinkGone, LinkChangedMeanwhile)


@dataclass(frozen=True, slots=True)
class Submission:
    """Operations that were sent together.

    `key` is the id of their idempotency record. `record` is called with the outcomes, perhaps more than once
    before they are stored, and returns its fields; None if there is nothing to remember. If a record with
    that id exists, each outcome is the error KeyUsed. `who` sent them, in whose name the
    audit log has what is done.
    """

    requests: Sequence[LinkRequest]
    key: str | None = None
    record: Callable[[Sequence[LinkResult]], Awaitable[Document | None]] | None = None
    who: Acting = field(default_factory=acting)


async def store_link(database: Database, request: LinkRequest, policies: DestinationPolicies) -> Link:
    """Carry out one operation. Returns the link as it is now, or raises the error of its rejection.

    Then nothing of the transaction is stored, nor what its guard has noted.
    """
    ((outcome,),) = await write_links(database, [Submission([request])], policies, check=_require_link)
    return outcome.require_link()


def _require_link(outcomes: Sequence[Sequence[LinkResult]]) -> None:
    outcomes[0][0].require_link()


async def write_links(
    database: Database,
    submissions: Sequence[Submission],
    policies: DestinationPolicies,
    owners: DomainOwners | None = None,
    check: Callable[[Sequence[Sequence[LinkResult]]], None] = lambda _: None,
) -> list[list[LinkResult]]:
    """Carry out these operations in order. Returns an outcome for each, once they are stored.

    `policies` says where links may lead. `owners` finds the domains' owners, by default in the database.
    `check` gets the outcomes before they are stored; what it raises ends the transaction.
    """
    owners = owners or DomainOwners(database)
    for attempt in range(_MOST_ATTEMPTS):
        run = _Run(database, submissions, policies, owners, looks_up_generated=bool(attempt))

        async def work(session: ClientSession, run: _Run = run) -> None:
            await run.carry_out(session)
            check(run.outcomes)

        try:
            await in_transaction(database, work)
        except StorageError as error:
            if not is_duplicate(error):
                raise
        else:
            return run.outcomes
    raise RuntimeError("links were in the way of one another again and again")


class _Run:
    """One attempt to carry out all operations.

    Without `looks_up_generated`, generated paths are assumed to be free, which is nearly always true.
    """

    def __init__(
        self,
        database: Database,
        submissions: Sequence[Submission],
        policies: DestinationPolicies,
        owners: DomainOwners,
        *,
        looks_up_generated: bool,
    ) -> None:
        self._database = database
        self._submissions = submissions
        self._policies = policies
        self._owners = owners
        self._looks_up_generated = looks_up_generated
        self.outcomes: list[list[LinkResult]] = []
        self._working_set = WorkingSet()
        self._policy_of: Mapping[OrgId, DestinationPolicy] = {}
        self._stored: dict[LinkId, Link] = {}
        self._paths: list[str] = []
        self._ids: Iterator[LinkId] = iter(())
        self._records: list[Document] = []
        self._facts: defaultdict[OrgId, list[Fact]] = defaultdict(list)
        self._audit: defaultdict[OrgId, list[Fact]] = defaultdict(list)
        self._who = acting()

    async def carry_out(self, session: ClientSession) -> None:
        """Read, decide and write in this transaction. The transaction may be repeated after a conflict."""
        self.outcomes, self._records = [], []
        self._facts, self._audit = defaultdict(list), defaultdict(list)
        requests = [request for submission in self._submissions for request in submission.requests]
        self._paths = random_paths(sum(map(_wants_path, requests)))
        self._ids = random_ids(len(requests))
        self._policy_of = await self._policies.of(request.org_id for request in requests)
        used = await self._used_keys(session)
        self._working_set = await read_working_set(
            self._database,
            session,
            requests,
            self._owners,
            generated_paths=self._paths if self._looks_up_generated else (),
        )
        self._stored = dict(self._working_set.links)
        done = 0
        for submission in self._submissions:
            if submission.key in used:
                self.outcomes.append([_rejected(KeyUsed(submission.key))] * len(submission.requests))
                continue
            outcomes = []
            self._who = submission.who
            for request in submission.requests:
                outcomes.append(await self._carry_out(session, request))
                done += 1
                if done % _OPERATIONS_PER_TURN == 0:
                    await asyncio.sleep(0)
            self.outcomes.append(outcomes)
            if record := await self._record_of(submission, outcomes):
                used.add(submission.key)
                self._records.append(record)
        await self._write(session)

    async def _used_keys(self, session: ClientSession) -> set[str | None]:
        keys = [submission.key for submission in self._submissions if submission.key]
        return {*await idempotency.find_used(self._database, session, keys)} if keys else set()

    async def _record_of(self, submission: Submission, outcomes: Sequence[LinkResult]) -> Document | None:
        fields = await submission.record(outcomes) if submission.record else None
        return {"_id": submission.key, **fields} if submission.key and fields else None

    async def _carry_out(self, session: ClientSession, request: LinkRequest) -> LinkResult:
        try:
            match request.operation:
                case CreateLink() as create:
                    return await self._create(session, request, create)
                case UpsertLink(new):
                    return await self._upsert(session, request, new)
                case ChangeLink(link_id, changes, not_archived) as change:
                    link = self._link(link_id, request)
                    if not_archived and link.is_archived:
                        raise LinkGone(link_id)
                    if not change.is_seen(link):
                        raise LinkChangedMeanwhile(link_id)
                    return await self._change(session, link, changes, request)
                case ArchiveLink(link_id):
                    return await self._archive(session, link_id, request)
        except _REJECTIONS as error:
            return _rejected(error)

    def _link(self, link_id: LinkId, request: LinkRequest) -> Link:
        """The organization's link with this id. Raises LinkGone if there is none, or none within reach."""
        link = self._working_set.find(link_id, request.org_id)
        if link is None or not request.reaches(link):
            raise LinkGone(link_id)
        return link

    async def _create(self, session: ClientSession, request: LinkRequest, create: CreateLink) -> LinkResult:
        if create.link_id and (existing := self._working_set.find(create.link_id, request.org_id)):
            return LinkResult(Done.UNCHANGED, existing)
        new = create.new
        if request.reach:
            request.reach.check_new(new.domain)
        domain = self._working_set.owners.get(new.domain)
        if domain is None or domain.org_id != request.org_id:
            raise DomainNotConfigured(new.domain)
        fields = self._working_set.tags_and_templates.fields_of(request.org_id, new.fields, request.reach)
        if domain.forwards_path and not create.copy_of and "forwards_path" not in fields:
            fields = {**fields, "forwards_path": True}
        if fields is not new.fields:
            new = replace(new, fields=fields)
        link = self._new_link(request, create, new)
        if request.reach:
            link = replace(link, tag_ids=request.reach.new_tags(link.tag_ids))
        refuse_destinations(link, None, self._policy_of[link.org_id])
        if new.selected_path:
            await self._refuse_loop(session, link)
        else:
            refuse_varying(link, self._working_set.owners)
        if (link.domain, link.path) in self._working_set.places:
            raise PathTaken(link.path)
        self._refuse_taken_external_id(link)
        self._working_set.add(link)
        self._facts[link.org_id].append(created_fact(link, request.now))
        self._audit[link.org_id].append(audit_of_creation(link, request.now, self._who))
        return LinkResult(Done.CREATED, link)

    def _new_link(self, request: LinkRequest, create: CreateLink, new: NewLink) -> Link:
        path = new.selected_path or self._free_path(new.domain)
        link_id = create.link_id or next(self._ids)
        by, now = request.created_by, request.now
        if create.copy_of:
            source = self._link(create.copy_of, request)
            return copy_link(source, new, path, link_id=link_id, created_by=by, now=now)
        link = new.to_link(path, link_id=link_id, org_id=request.org_id, created_by=by, now=now)
        return create.as_it_was(link) if create.as_it_was else link

    async def _upsert(self, session: ClientSession, request: LinkRequest, new: NewLink) -> LinkResult:
        link = self._working_set.find_external(request.org_id, new.fields["external_id"])
        if link is None or link.external_id != new.fields["external_id"]:
            return await self._create(session, request, CreateLink(new))
        if not request.reaches(link):
            raise ExternalIdTaken(link.external_id)
        for name, requested, stored in (
            ("domain", new.domain, link.domain),
            ("selected_path", new.selected_path or link.path, link.path),
        ):
            if requested != stored:
                raise InvalidField(name, f"can't be changed: the link of this external_id has {stored}")
        return await self._change(session, link, new.fields | {"is_archived": False}, request)

    async def _change(
        self, session: ClientSession, link: Link, changes: Changes, request: LinkRequest
    ) -> LinkResult:
        changes = self._working_set.tags_and_templates.changes_of(
            link.org_id, link.tag_ids, changes, request.reach
        )
        changed = self._with_taken(apply_changes(link, changes, request.now), changes)
        if not request.reaches(changed):
            raise InvalidField("tags", "must keep one to which the key is limited")
        refuse_destinations(changed, link, self._policy_of[link.org_id])
        if may_loop(changes):
            await self._refuse_loop(session, changed)
        if changed is link:
            return LinkResult(Done.UNCHANGED, link)
        self._refuse_taken_external_id(changed)
        self._working_set.add(changed)
        self._facts[link.org_id].append(changed_fact(link, changed, request.now))
        self._audit[link.org_id].append(audit_of_change(link, changed, request.now, self._who))
        return LinkResult(Done.UPDATED, changed)

    def _with_taken(self, link: Link, changes: Changes) -> Link:
        """The link, used up if more clicks were taken than its new limit allows."""
        if "max_clicks" not in changes:
            return link
        limits = link.limits.with_taken(self._working_set.taken.get(link.id, 0))
        return link if limits is link.limits else replace(link, limits=limits)

    async def _archive(self, session: ClientSession, link_id: LinkId, request: LinkRequest) -> LinkResult:
        link = self._link(link_id, request)
        if link.is_archived:
            return LinkResult(Done.UNCHANGED, link)
        changed = await self._change(session, link, {"is_archived": True}, request)
        return replace(changed, done=Done.ARCHIVED)

    def _refuse_taken_external_id(self, link: Link) -> None:
        if link.external_id is not None:
            owner = self._working_set.external_ids.get((link.org_id, link.external_id))
            if owner not in {None, link.id}:
                raise ExternalIdTaken(link.external_id)

    async def _refuse_loop(self, session: ClientSession, link: Link) -> None:
        """Raise InvalidField if the link would lead visitors back to its own short URL."""
        if self._working_set.owners.keys().isdisjoint(target_hosts(link)):
            return
        refuse_varying(link, self._working_set.owners)

        async def resolve(places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
            here = {place: link_id for place in places if (link_id := self._working_set.places.get(place))}
            found = await links.resolve_links(self._database, places - here.keys(), session)
            return found | {place: self._working_set.links[link_id] for place, link_id in here.items()}

        await refuse_loop(self._database, link, resolve, self._alike)

    def _alike(self, places: Set[DomainPath]) -> Iterable[Link]:
        """The links of this batch and of the stored ones beside them, whose paths have the same letters."""
        known, ids = self._working_set.links, self._working_set.places
        return alike_among({place: known[link_id] for place, link_id in ids.items()}, places)

    def _free_path(self, domain: str) -> str:
        path = self._paths.pop()
        while (domain, path) in self._working_set.places:
            (path,) = random_paths(1)
        return path

    async def _write(self, session: ClientSession) -> None:
        current, stored = self._working_set.links, self._stored
        updates = [
            links.update(stored[link_id], link)
            for link_id, link in current.items()
            if link_id in stored and link is not stored[link_id]
        ]
        new_documents = [
            links.to_document(link) for link_id, link in current.items() if link_id not in stored
        ]
        if self._records:
            await self._database[idempotency.NAME].insert_many(self._records, session=session)
        if updates:
            await self._database[links.NAME].bulk_write(updates, session=session)
        if new_documents:
            await self._database[links.NAME].insert_many(new_documents, session=session)
        await entries.note(self._database, session, self._facts)
        await note_facts(self._database, session, self._audit)


def _wants_path(request: LinkRequest) -> bool:
    match request.operation:
        case CreateLink(new) | UpsertLink(new):
            return new.selected_path is None
    return False


def _rejected(error: Exception) -> LinkResult:
    return LinkResult(Done.REJECTED, error=error)
