#!/usr/bin/env python3
"""Verifies a ledger's chain of digests without any code of Subledger: psql and hashlib.

Usage: verify_chain.py [CONNINFO] [--against FILE...]
Without CONNINFO libpq's own PG* variables decide. Each FILE holds a document of `subledger
checkpoint`, whose heads the log must have; its signature is verified by openssl.
Prints one JSON object like `subledger verify --json`; exit 0 if the log is whole, 3 if not, 65 if
a document is not what was signed.
This is schema/README.md in Python; read_log.py next to it reads the tables.
"""
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import uuid

sys.dont_write_bytecode = True  # No __pycache__ among the sources.

from read_log import (  # noqa: E402
    CONFIRMATION, ERASED, EVENT, EVIDENCE, FIELDS, TYPED, Session, content_entries, lane_of, microseconds,
    milliseconds, payload_of, read_dictionaries, read_segments, repetitions, require, sha256, unhex)

FORMAT = 2
KINDS = {"transaction", "renewal", "notification", "link", "catalog", "erasure", "erased"}
SCOPES = {"subscription": 96, "customer": 80, "link": 80, "payload": 64}
SILENT = {1, 26, 27, 57}  # A different value of these fields is not news.
CONFIRMATION_SPAN_MS = 60_000
SKEW_MS = 300_000  # By how much two clocks may differ.
COMMIT = {
    "number": ("commit_no", int), "first_offset": ("first_offset", int), "count": ("count", int),
    "first_evidence": ("first_evidence_no", int), "evidence": ("evidence", int),
    "confirmations": ("confirmations", int), "committed_us": microseconds("committed_at"),
    "format": ("format", int), "digest": ("digest", unhex)}


class Mismatch(Exception):
    def __init__(self, lane, commit, reason, offset=None):
        super().__init__(reason)
        self.where = {"lane": lane, "commit": commit, "offset": offset, "reason": reason}


# Canonical bytes.

def u32(number):
    return (number & 0xFFFFFFFF).to_bytes(4, "big")


def i64(number):
    return (number & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big")


def lp(data):
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + data


def is_of_person(tag):
    return tag in (22, 63) or 25 <= tag <= 31 or tag >= 192


def parts(content, entries):
    """What was bought, and what identifies a person."""
    person = b"".join(whole for tag, _, whole in entries if is_of_person(tag))
    return content[:2] + b"".join(w for tag, _, w in entries if not is_of_person(tag)), person


def fact_key(event, entries):
    fields = {tag: value for tag, value, _ in entries}
    name = b""
    if event.kind == "erased":
        return bytes(8) + i64(event.offset)
    if event.kind == "transaction":
        name = fields.get(3, b"")
    elif event.kind == "notification":
        name = fields.get(50, fields.get(48, b""))
    elif event.kind == "catalog" and 53 in fields:
        name = str(int.from_bytes(fields[53], "big", signed=True)).encode()
    subject = (lp(event.environment) + lp(event.kind) + i64(event.purchase) + i64(event.expires)
               + lp(name))
    if len(event.salt) == 80:
        return sha256(subject)[:6] + bytes(2) + i64(event.offset)
    said = event.content[:2] + b"".join(w for tag, _, w in entries if tag not in SILENT)
    return sha256(subject)[:6] + sha256(said + i64(event.as_of))[:10]


def ranges(text):
    """The ranges that `3,7-9` names, each with both of its ends."""
    found = []
    for piece in text.split(",") if text else []:
        low, _, high = piece.partition("-")
        found.append((int(low), int(high or low)))
    return found


def row_digest(salt, purchase, person, records):
    require(len(salt) in ERASED, "its salt does not have 16 bytes")
    if len(salt) == 16:
        derived = hashlib.sha384(lp("subledger/salt") + salt).digest()
        salts = [derived[:16], derived[16:32], derived[32:]]
    else:
        # What was erased left its commitment, 32 bytes, in the place of its salt.
        sizes = [32 if len(salt) == 96 else 16, 16 if len(salt) == 64 else 32, 32]
        ends = [0, sizes[0], sizes[0] + sizes[1], len(salt)]
        salts = [salt[a:b] for a, b in zip(ends, ends[1:])]
    commitments = [own if len(own) == 32 else sha256(own + part)
                   for own, part in zip(salts, (purchase, person, b"".join(records)))]
    return sha256(lp("subledger/row") + b"".join(commitments))


def event_digest(lane, event, entries, record):
    purchase, person = parts(event.content, entries)
    return row_digest(event.salt, (
        lp("subledger/event") + u32(lane) + i64(event.offset) + i64(milliseconds(event.recorded_us))
        + i64(event.as_of) + i64(event.purchase) + i64(event.expires) + i64(event.evidence)
        + bytes([event.is_imported | event.is_late << 1]) + lp(event.store or "")
        + lp(event.environment) + lp(event.id) + lp(event.kind) + lp(event.bundle_id)
        + lp(purchase)), person, [record])


def confirmation_digest(lane, row, records):
    ids = row.transaction_ids or []
    return row_digest(row.salt, (
        lp("subledger/confirmation") + u32(lane) + i64(row.as_of) + i64(row.evidence)
        + lp(row.environment) + lp(row.id) + lp(row.repetitions) + u32(len(ids)) + b"".join(lp(i) for i in ids)),
        b"", records)


def evidence_record(row):
    return sha256(
        lp("subledger/evidence") + row.digest + i64(milliseconds(row.received_us)) + lp(row.kind)
        + lp(row.source) + lp(row.arrival) + lp(row.verification) + lp(row.root or b"")
        + lp(row.context or ""))


# The chain.

# Checkpoints.

def checkpoint_bytes(document):
    heads = document["heads"]
    return (lp("subledger/checkpoint") + uuid.UUID(document["ledgerId"]).bytes
            + u32(document["formatVersion"]) + u32(document["lanes"]) + i64(document["takenAt"])
            + u32(len(heads)) + b"".join(
                u32(head["lane"]) + i64(head["commit"]) + i64(head["offset"])
                + i64(head["evidence"]) + bytes.fromhex(head["digest"]) for head in heads))


def is_signed_well(document):
    """Whether the signature, if there is one, is of the document's canonical bytes."""
    signature = document["signature"]
    if signature is None:
        return True
    with tempfile.TemporaryDirectory() as folder:
        parts = {"body": checkpoint_bytes(document),
                 "key": base64.b64decode(signature["publicKey"]),
                 "signature": base64.b64decode(signature["value"])}
        for name, content in parts.items():
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
        return subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", f"{folder}/key", "-keyform", "DER",
             "-signature", f"{folder}/signature", f"{folder}/body"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def read_checkpoints(paths):
    """The heads to be found again, as [lane, commit, digest, path], and the ledgers they are of."""
    heads, ledgers = [], []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document.get("type") != "subledger-checkpoint" or not is_signed_well(document):
            print(f"{path} was edited, forged, or is no checkpoint", file=sys.stderr)
            sys.exit(65)
        ledgers.append((uuid.UUID(document["ledgerId"]).bytes, path))
        heads += [(head["lane"], head["commit"], bytes.fromhex(head["digest"]), path)
                  for head in document["heads"]]
    return heads, ledgers


def compare(ledger, heads, ledgers):
    for identifier, path in ledgers:
        if identifier != ledger.id:
            raise Mismatch(0, 1, f"{path} is a checkpoint of another ledger")
    for lane, commit, digest, path in sorted(heads):
        rows = ledger.look_up({"digest": ("digest", unhex)},
                              f"FROM ledger.commit WHERE lane = {lane} AND commit_no = {commit}")
        if [row.digest for row in rows] != [digest]:
            raise Mismatch(lane, commit, f"{path} records it with another digest, or it is missing")


class Stream:
    """Rows in ascending order, with a look at the next one."""
    def __init__(self, rows):
        self.rows, self.next = rows, next(rows, None)

    def take(self, key, value):
        """The next row if it has that value; rows with lower ones are passed over."""
        while self.next is not None and getattr(self.next, key) < value:
            self.next = next(self.rows, None)
        if self.next is None or getattr(self.next, key) != value:
            return None
        row, self.next = self.next, next(self.rows, None)
        return row

    def drain(self):
        for _ in self.rows:
            pass


class Ledger:
    TABLES = ("commit", "event", "evidence", "confirmation")

    def __init__(self, conninfo):
        self.sessions = {name: Session(conninfo) for name in self.TABLES + ("look-up",)}
        columns = {"id": ("replace(ledger_id::text, '-', '')", bytes.fromhex),
                   "lanes": ("lanes", int), "format": ("format_version", int)}
        [config] = self.look_up(columns, "FROM ledger.ledger_config")
        self.id, self.lanes, self.format = config.id, config.lanes, config.format
        self.dictionaries = read_dictionaries(self.sessions["look-up"])

    def look_up(self, columns, rest):
        return list(self.sessions["look-up"].rows(columns, rest))

    def number(self, sql):
        """The one number that a query gives, or None."""
        return self.look_up({"number": (sql, int)}, "")[0].number

    def stream(self, table, columns, lane, key, bound=""):
        return Stream(self.sessions[table].rows(
            columns, f"FROM ledger.{table} WHERE lane = {lane} AND {key} >= 1 {bound}"
                     f" ORDER BY {key}"))

    def close(self):
        for session in self.sessions.values():
            session.close()


class Lane:
    def __init__(self, ledger, lane):
        self.ledger, self.lane = ledger, lane
        self.previous = sha256(lp("subledger/genesis") + ledger.id + u32(ledger.format)
                               + u32(ledger.lanes) + u32(lane))
        self.commits = self.events = self.payloads = 0
        self.gone_events, self.gone_confirmations, self.gone_evidence = {}, set(), {}
        self.erasures = []
        self.committed_us = -2 ** 63

    def verify(self):
        # What others commit while this runs comes after the head; this does not read it.
        head = self.ledger.number(
            f"(SELECT max(commit_no) FROM ledger.commit WHERE lane = {self.lane})") or 0
        self.segments = read_segments(self.ledger.sessions["look-up"], self.lane,
                                      self.ledger.dictionaries)
        bound = f"AND commit_no <= {head}"
        self.streams = [
            self.ledger.stream("commit", COMMIT, self.lane, "commit_no", bound),
            self.ledger.stream("event", EVENT, self.lane, "lane_offset"),
            self.ledger.stream("evidence", EVIDENCE, self.lane, "evidence_no"),
            self.ledger.stream("confirmation", CONFIRMATION, self.lane, "commit_no", bound)]
        while self.commits < head:
            commit = self.streams[0].take("number", self.commits + 1)
            if commit is None:
                raise Mismatch(self.lane, self.commits + 1, "the commit is missing")
            self.verify_commit(commit)
        for stream in self.streams:
            stream.drain()
        try:
            self.verify_erasures(head)
        except ValueError as error:
            raise Mismatch(self.lane, head, str(error)) from error
        self.verify_nothing_else(head)

    def checking(self, commit, check, *arguments, offset=None):
        try:
            return check(commit, *arguments)
        except ValueError as error:
            raise Mismatch(self.lane, commit.number, str(error), offset) from error

    def verify_commit(self, commit):
        committed = self.checking(commit, self.order)
        records, cited = self.checking(commit, self.records), set()
        digest = hashlib.sha256(
            lp("subledger/commit") + self.previous + u32(commit.format) + u32(self.lane)
            + i64(commit.number) + i64(commit.first_offset) + u32(commit.count)
            + i64(commit.first_evidence) + u32(commit.evidence) + u32(commit.confirmations)
            + i64(committed))
        for offset in range(commit.first_offset, commit.first_offset + commit.count):
            event = self.streams[1].take("offset", offset)
            digest.update(self.checking(commit, self.event, event, records, offset=offset))
            cited.add(event.evidence)
        rows = self.checking(commit, self.confirmations)
        cited.update(number for number, (record, _) in records.items() if record is None)
        for row, repeated in rows:
            numbers = sorted({one.evidence for one in repeated})
            cited.update(numbers)
            digest.update(self.checking(commit, self.confirmation, row, numbers, records))

        def agree(commit):
            require(digest.digest() == commit.digest and len(rows) == commit.confirmations,
                    "its digest differs from that of its rows")
            require(cited == set(records), "its rows do not cite all of its payloads")
        self.checking(commit, agree)
        self.previous, self.committed_us = commit.digest, commit.committed_us
        self.commits, self.events = commit.number, self.events + commit.count
        self.payloads += commit.evidence

    def order(self, commit):
        require(commit.format == FORMAT, f"it has format {commit.format}, known is {FORMAT}")
        require(min(commit.count, commit.evidence, commit.confirmations) >= 0,
                "it counts fewer rows than none")
        require((commit.first_offset, commit.first_evidence)
                == (self.events + 1, self.payloads + 1),
                "it does not start where the commit before it ends")
        require(commit.committed_us >= self.committed_us, "its time is before the last commit's")
        return milliseconds(commit.committed_us)

    def records(self, commit):
        """Digest of each evidence record and arrival, by number."""
        found = {}
        for number in range(commit.first_evidence, commit.first_evidence + commit.evidence):
            row = self.streams[2].take("number", number)
            require(row is not None, f"evidence {number} is missing")
            require(row.commit == commit.number, f"evidence {number} is of another commit")
            require(row.context != "", f"evidence {number} has an empty context")
            if row.digest is None:
                require(row.body is None and row.context is None and row.byte_count == 0,
                        f"evidence {number} was erased in part")
                self.gone_evidence[number] = commit.number
                found[number] = None, row.arrival
                continue
            try:
                payload_of(row, self.segments)
                found[number] = evidence_record(row), row.arrival
            except ValueError as error:
                raise ValueError(f"evidence {number}: {error}") from error
        return found

    def event(self, commit, event, records):
        require(event is not None, "the event is missing")
        require(event.kind in KINDS, f"its kind is {event.kind}")
        entries = content_entries(event.content)
        fields = {tag: value for tag, value, _ in entries}
        require((event.kind == "erased") == (len(event.salt) == 96), "it is erased in part")
        require(event.kind != "erased" or (len(event.content) == 2 and not event.bundle_id
                and event.store is None and event.purchase == event.expires == event.as_of == 0),
                "something stands in the place of what was erased")
        require(len(event.salt) < 80 or not any(is_of_person(tag) for tag in fields),
                "something stands in the place of what was erased")
        require(event.recorded_us == commit.committed_us,
                "recorded_at differs from the commit's time")
        require(event.purchase % 1000 == 0 and event.expires % 1000 == 0,
                "its key is not in whole seconds")
        require(lane_of(event.id, self.ledger.lanes) == self.lane, "it is in the wrong lane")
        require(event.store != "", "its store is empty text")
        for column, tag in TYPED.items():
            stored, held = getattr(event, column), fields.get(tag)
            if column == "product_id" and event.kind != "transaction":
                held = None
            require(held == (stored if stored is None else stored.encode()),
                    f"{column} differs from its content")
        # This version does not know whether later versions hold a tag of theirs to be news.
        if all(tag in FIELDS for tag in fields):
            require(event.fact_key == fact_key(event, entries), "fact_key differs from its content")
        if event.kind == "catalog":
            self.require_catalog(event, fields)
        require(event.evidence in records, f"evidence {event.evidence} is not of this commit")
        record, arrival = records[event.evidence]
        require(event.is_imported == (arrival == "import"), "is_imported differs from its evidence")
        require((record is None) == (len(event.salt) != 16),
                f"evidence {event.evidence} was erased and the event was not, or the reverse")
        if len(event.salt) != 16:
            self.gone_events[event.offset] = event.environment, event.id, len(event.salt)
        if event.kind == "erasure":
            self.erasures.append((event, fields))
        return event_digest(self.lane, event, entries, record or b"")

    def require_catalog(self, event, fields):
        columns = {"effective_from": ("effective_from_ms", int), "source": ("source", str),
                   "recorded_us": microseconds("recorded_at"), "digest": ("digest", unhex),
                   "body": ("body", str)}
        version = int.from_bytes(fields.get(53, b""), "big", signed=True)
        rows = self.ledger.look_up(
            columns, f"FROM ledger.catalog WHERE lane = {self.lane} AND version = {version}")
        require(len(rows) == 1, f"version {version} of the catalog is missing")
        digest = sha256(rows[0].body.encode())
        require(digest == rows[0].digest and digest.hex().encode() == fields.get(55)
                and i64(rows[0].effective_from) == fields.get(54)
                and rows[0].source.encode() == fields.get(56, b"")
                and rows[0].recorded_us == event.recorded_us,
                f"version {version} of the catalog differs from its event")

    def confirmations(self, commit):
        """The rows of a commit in the order of its digest, each with its repetitions."""
        rows = []
        while row := self.streams[3].take("commit", commit.number):
            rows.append((row, repetitions(row)))
        rows.sort(key=lambda pair: (pair[0].environment.encode(), pair[0].id.encode(),
                                    pair[0].as_of))
        offsets = {one.offset for _, repeated in rows for one in repeated}
        streams = {}
        if offsets:
            columns = {"offset": EVENT["offset"], "environment": EVENT["environment"],
                       "id": EVENT["id"]}
            listed = ", ".join(str(offset) for offset in sorted(offsets))
            for event in self.ledger.look_up(
                    columns, f"FROM ledger.event WHERE lane = {self.lane}"
                             f" AND lane_offset IN ({listed})"):
                streams[event.offset] = event.environment, event.id
        for row, repeated in rows:
            for one in repeated:
                require(one.offset < commit.first_offset + commit.count
                        and streams.get(one.offset) == (row.environment, row.id),
                        f"a confirmation is not of the stream of event {one.offset}")
        return rows

    def confirmation(self, commit, row, numbers, records):
        require(lane_of(row.id, self.ledger.lanes) == self.lane,
                "a confirmation is in the wrong lane")
        require(row.known_from == commit.first_offset and row.recorded_us == commit.committed_us,
                "a confirmation has other dates than its commit")
        require(all(0 <= one.as_of - row.as_of <= CONFIRMATION_SPAN_MS
                    for one in repetitions(row)), "a confirmation spans more than a minute")
        require(all(number in records for number in numbers),
                "a confirmation cites a payload of another commit")
        for number in numbers:
            require((records[number][0] is None) == (len(row.salt) != 16),
                    f"evidence {number} was erased and a confirmation was not, or the reverse")
        if len(row.salt) != 16:
            self.gone_confirmations.add((commit.number, row.environment, row.id))
        return confirmation_digest(self.lane, row, [records[n][0] or b"" for n in numbers])

    def verify_erasures(self, head):
        """What is missing must have been erased, and what was erased must be missing."""
        taken_events, taken_confirmations, taken_evidence = {}, set(), set()
        for erasure, fields in self.erasures:
            words = {tag: fields.get(tag, b"").decode() for tag in (58, 59, 60, 61)}
            require(words[58] in SCOPES, f"event {erasure.offset} is an erasure of unknown scope")
            require(words[59] or words[60], f"erasure {erasure.offset} removed nothing")
            require(erasure.as_of <= milliseconds(erasure.recorded_us) + SKEW_MS,
                    f"erasure {erasure.offset} is dated after its commit")
            require(self.left_by(erasure, words[58]) is None,
                    f"erasure {erasure.offset} left out an event or a confirmation that was there")
            for low, high in ranges(words[59]):
                require(high < erasure.offset, f"erasure {erasure.offset} takes what came later")
                for offset in range(low, high + 1):
                    place = erasure.environment, erasure.id
                    require(self.gone_events.get(offset, ())[:2] == place
                            and self.gone_events[offset][2] >= SCOPES[words[58]],
                            f"event {offset} was erased by {erasure.offset} and is still there")
                    taken_events.setdefault(offset, set()).add(SCOPES[words[58]])
            for low, high in ranges(words[60]):
                taken_confirmations.update((number, erasure.environment, erasure.id)
                                           for number in range(low, high + 1))
            for low, high in ranges(words[61]):
                taken_evidence.update(range(low, high + 1))
        for offset, (_, _, size) in self.gone_events.items():
            require(size in taken_events.get(offset, ()),
                    f"content of event {offset} is missing, and no erasure took it")
        require(self.gone_confirmations == taken_confirmations,
                "confirmations are missing without an erasure, or erased and still there")
        require(set(self.gone_evidence) == taken_evidence,
                "payloads are missing without an erasure, or erased and still there")

    def left_by(self, erasure, scope):
        """The first offset of what an erasure should have blanked."""
        if scope not in ("subscription", "customer"):
            return None
        place = ["'" + word.replace("'", "''") + "'" for word in (erasure.environment, erasure.id)]
        stream = (f"t.lane = {self.lane} AND t.environment = {place[0]}"
                  f" AND t.original_transaction_id = {place[1]}")
        columns = {"offset": ("t.lane_offset", int), "kind": ("t.kind", str),
                   "content": ("t.content", unhex),
                   "kept": ("(v.byte_count > 0)::int", int)}
        for event in self.ledger.look_up(columns, (
                "FROM ledger.event t LEFT JOIN ledger.evidence v USING (lane, evidence_no)"
                f" WHERE {stream} AND t.kind <> 'erasure' AND t.lane_offset < {erasure.offset}"
                f" AND octet_length(t.salt) < {SCOPES[scope]} ORDER BY t.lane_offset")):
            if scope == "subscription":
                return event.offset
            # Which customer a link named is no longer known.
            named = any(is_of_person(tag) for tag, _, _ in content_entries(event.content))
            if event.kind != "link" and (event.kept or named):
                return event.offset
        if scope == "customer":
            return None
        return self.ledger.number(
            f"(SELECT min(t.known_from_offset) FROM ledger.confirmation t WHERE {stream}"
            f" AND t.known_from_offset <= {erasure.offset} AND octet_length(t.salt) < 96)")

    def verify_nothing_else(self, head):
        """Rows that no commit accounts for; one statement, so that it sees one state."""
        newest = (f"SELECT {{}} FROM ledger.commit WHERE lane = {self.lane}"
                  " ORDER BY commit_no DESC LIMIT 1")
        beyond = (f"(SELECT min({{0}}) FROM ledger.{{1}} WHERE lane = {self.lane} AND"
                  " ({0} < 1 OR {0} > coalesce(({2}), 0)))")
        columns = {
            "event": (beyond.format("lane_offset", "event",
                                    newest.format("first_offset + (count - 1)")), int),
            "confirmation": (
                "(SELECT min(c.commit_no) FROM (SELECT commit_no, count(*) AS stored"
                f" FROM ledger.confirmation WHERE lane = {self.lane} GROUP BY commit_no) c"
                f" LEFT JOIN ledger.commit k ON k.lane = {self.lane} AND k.commit_no = c.commit_no"
                " WHERE k.confirmations IS DISTINCT FROM c.stored)", int),
            "commit": (f"(SELECT min(commit_no) FROM ledger.commit WHERE lane = {self.lane}"
                       " AND commit_no < 1)", int),
            "evidence": (beyond.format("evidence_no", "evidence",
                                       newest.format("first_evidence_no + (evidence - 1)")), int),
            "versions": ("(SELECT json_agg(version) FROM ledger.catalog"
                         f" WHERE lane = {self.lane})", json.loads),
            "contents": ("(SELECT json_agg(encode(content, 'hex')) FROM ledger.event"
                         f" WHERE lane = {self.lane} AND environment = ''"
                         " AND original_transaction_id = 'catalog' AND kind = 'catalog')",
                         json.loads)}
        [extra] = self.ledger.look_up(columns, "")
        if extra.event is not None:
            raise Mismatch(self.lane, head + 1, "the event belongs to no commit", extra.event)
        if extra.confirmation is not None:
            raise Mismatch(self.lane, extra.confirmation, "it does not count all confirmations")
        if extra.commit is not None:
            raise Mismatch(self.lane, extra.commit, "commits are numbered from 1")
        if extra.evidence is not None:
            raise Mismatch(self.lane, head, f"evidence {extra.evidence} belongs to no commit")
        contents = [content_entries(bytes.fromhex(text)) for text in extra.contents or []]
        known = {value for entries in contents for tag, value, _ in entries if tag == 53}
        for version in sorted(extra.versions or []):
            if i64(version) not in known:
                raise Mismatch(self.lane, head, f"catalog version {version} is in no event")


def verify_lanes(ledger):
    """Rows in lanes that the ledger does not have, and lanes without their row."""
    lowest = " UNION ALL ".join(
        f"SELECT min(lane) AS lane FROM ledger.{table} WHERE lane < 0 OR lane >= {ledger.lanes}"
        for table in ledger.TABLES + ("catalog",))
    other = ledger.number(f"(SELECT min(lane) FROM ({lowest}) t)")
    if other is not None:
        raise Mismatch(other, 1, f"this ledger has {ledger.lanes} lanes, from 0")
    if ledger.number("(SELECT count(*) FROM ledger.lane)") != ledger.lanes:
        raise Mismatch(0, 1, "ledger.lane must have one row for each lane")


def main():
    arguments = sys.argv[1:]
    place = arguments.index("--against") if "--against" in arguments else len(arguments)
    heads, ledgers = read_checkpoints(arguments[place + 1:])
    ledger = Ledger(arguments[0] if place > 0 else None)
    report = {"ok": True, "events": 0, "commits": 0, "heads": [], "firstMismatch": None}
    try:
        for number in range(ledger.lanes):
            lane = Lane(ledger, number)
            try:
                lane.verify()
            finally:
                report["events"] += lane.events
                report["commits"] += lane.commits
            if lane.commits:
                report["heads"].append({"lane": number, "offset": lane.events,
                                        "commit": lane.commits, "digest": lane.previous.hex()})
        verify_lanes(ledger)
        compare(ledger, heads, ledgers)
    except Mismatch as mismatch:
        report.update(ok=False, firstMismatch=mismatch.where)
    ledger.close()
    print(json.dumps(report))
    return 0 if report["ok"] else 3


if __name__ == "__main__":
    sys.exit(main())