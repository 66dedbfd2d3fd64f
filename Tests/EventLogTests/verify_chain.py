#!/usr/bin/env python3
"""Verifies a ledger's chain of digests with nothing of Subledger's: psql, hashlib, README.md.

Usage: verify_chain.py [CONNINFO]     (libpq's own PG* variables where CONNINFO is left out)
Prints one JSON object like `subledger verify --json`; exit 0 where the log is whole, 3 where not.
"""
import base64
import hashlib
import json
import struct
import subprocess
import sys

TYPED = {3: "product_id", 1: "transaction_id", 22: "app_account_token",
         48: "notification_type", 49: "subtype", 25: "customer_id"}
SILENT = {1, 26, 27}  # tags that are no news: transactionId, linkReason, linkedBy


class Mismatch(Exception):
    def __init__(self, lane, commit, reason, offset=None):
        super().__init__(reason)
        self.where = {"lane": lane, "commit": commit, "offset": offset, "reason": reason}


class Database:
    """One psql, asked one query after the other."""
    END = b"--- end of rows ---\n"

    def __init__(self, conninfo):
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"] + ([conninfo] if conninfo else [])
        self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def rows(self, query):
        """Streams the rows of a query; every column is text, \\x-hex or \\N. Read them all."""
        self.psql.stdin.write(f"COPY ({query}) TO STDOUT;\n\\echo '".encode()
                              + self.END.rstrip(b"\n") + b"'\n")
        self.psql.stdin.flush()
        for line in self.psql.stdout:
            if line == self.END:
                return
            yield [unescape(column) for column in line.decode().rstrip("\n").split("\t")]
        sys.exit(69)


def unescape(text):
    if text == "\\N":
        return None
    out, escaped = [], False
    for character in text:
        if escaped:
            out.append({"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
                       .get(character, character))
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            out.append(character)
    return "".join(out)


def unhex(text):
    return bytes.fromhex(text[2:])


def sha256(data):
    return hashlib.sha256(data).digest()


def prefixed(data):
    data = data.encode() if isinstance(data, str) else data
    return struct.pack(">I", len(data)) + data


def leb128(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def content_fields(content):
    if content[0] != 1:
        raise ValueError("unknown version of content")
    at, fields = 2, {}
    while at < len(content):
        tag = content[at]
        size, at = leb128(content, at + 1)
        if at + size > len(content):
            raise ValueError("a field is longer than the content")
        fields[tag] = content[at:at + size]
        at += size
    return fields


def encode_leb128(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def content_digest(content, fields):
    body = content[:2]
    for tag, value in fields.items():
        if tag not in SILENT:
            body += bytes([tag]) + encode_leb128(len(value)) + value
    return sha256(body)[:16]


def unpack(body, segments, used):
    """The payload; the digests of the segments it refers to are appended to used."""
    if body[0] != 1:
        raise ValueError("unknown version of packing")
    return unpack_parts(body[1:], segments, used)


def unpack_parts(parts, segments, used):
    out, at = bytearray(), 0
    while at < len(parts):
        tag = parts[at]
        if tag == 3:
            used.append(parts[at + 1:at + 33])
            out += unpack(segments[used[-1]], segments, used)
            at += 33
            continue
        size, at = leb128(parts, at + 1)
        inner = parts[at:at + size]
        at += size
        if tag == 0:
            out += inner
        elif tag == 1:
            out += base64.urlsafe_b64encode(unpack_parts(inner, segments, used)).rstrip(b"=")
        elif tag == 2:
            out += base64.b64encode(unpack_parts(inner, segments, used))
        else:
            raise ValueError("unknown part")
    return bytes(out)


def lane_of(identifier, lanes):
    return int.from_bytes(sha256(identifier.encode())[:4], "big") & (lanes - 1)


# Microseconds, so that a fraction of a millisecond is seen.
US = "(extract(epoch FROM {0}) * 1000000)::bigint"


def milliseconds(text):
    number, fraction = divmod(int(text), 1000)
    if fraction:
        raise ValueError("a time has a fraction of a millisecond")
    return number


class Lane:
    def __init__(self, database, ledger_id, lanes, version, lane):
        self.database, self.lanes, self.lane = database, lanes, lane
        self.previous = sha256(prefixed("subledger/genesis/1") + ledger_id
                               + struct.pack(">III", version, lanes, lane))
        self.commits = self.events = 0

    def records(self):
        """Digest of each evidence record, after putting the payload together again."""
        segments = {unhex(digest): unhex(body) for digest, body in self.database.rows(
            f"SELECT digest, body FROM ledger.evidence_segment WHERE lane = {self.lane}")}
        records = {}
        evidence = self.database.rows(
            f"SELECT digest, {US.format('received_at')}, kind, source, verification,"
            " root_digest, body, byte_count, header_digest"
            f" FROM ledger.evidence WHERE lane = {self.lane}")
        for digest, received, kind, source, verification, root, body, size, header in evidence:
            digest, used = unhex(digest), []
            try:
                payload = unpack(unhex(body), segments, used)
                header = header and unhex(header)
                whole = (sha256(payload), len(payload), header) == (
                    digest, int(size), used[0] if used else None)
                records[digest] = whole and sha256(
                    prefixed("subledger/evidence/1") + digest
                    + struct.pack(">q", milliseconds(received))
                    + prefixed(kind) + prefixed(source) + prefixed(verification)
                    + (unhex(root) if root else b""))
            except (ValueError, KeyError, IndexError):
                records[digest] = False
        return records

    def confirmations(self):
        """By commit; None stands for one that is not filed under its event's stream and commit."""
        found = {}
        for commit, fits, offset, as_of, fields, alias in self.database.rows(
                "SELECT c.commit_no, coalesce(k.first_offset = c.known_from_offset"
                " AND e.environment = c.environment"
                " AND e.original_transaction_id = c.original_transaction_id, false),"
                " c.lane_offset, c.as_of_ms, c.fields, c.transaction_id"
                " FROM ledger.confirmation c LEFT JOIN ledger.event e USING (lane, lane_offset)"
                " LEFT JOIN ledger.commit k ON k.lane = c.lane AND k.commit_no = c.commit_no"
                f" WHERE c.lane = {self.lane}"):
            entry = (int(offset), int(as_of), int(fields) % 2 ** 64, alias.encode())
            found.setdefault(int(commit), []).append(entry if fits == "t" else None)
        return found

    def commit_rows(self):
        return list(self.database.rows(
            "SELECT commit_no, first_offset, count, confirmations,"
            f" {US.format('committed_at')}, digest FROM ledger.commit"
            f" WHERE lane = {self.lane} ORDER BY commit_no"))

    def stored_events(self):
        return self.database.rows(
            f"SELECT lane_offset, {US.format('recorded_at')}, as_of_ms, purchase_date_ms,"
            " expires_date_ms, environment, original_transaction_id, kind, bundle_id,"
            " evidence_digest, content_digest, content, product_id, transaction_id,"
            " app_account_token, notification_type, subtype, customer_id"
            f" FROM ledger.event WHERE lane = {self.lane} ORDER BY lane_offset")

    def event_digest(self, row, commit, committed, records):
        offset, as_of, purchase, expires = (int(value) for value in row[:1] + row[2:5])
        environment, identifier, kind, bundle = row[5:9]
        evidence, digest, content = (unhex(value) for value in row[9:12])

        def fail(reason):
            raise Mismatch(self.lane, commit, reason, offset)
        try:
            recorded, fields = milliseconds(row[1]), content_fields(content)
        except (ValueError, IndexError) as error:
            fail(f"it is malformed: {error}")
        if recorded != committed:
            fail("recorded_at differs from the commit's time")
        if lane_of(identifier, self.lanes) != self.lane:
            fail("it is in the wrong lane")
        if content_digest(content, fields) != digest:
            fail("content_digest differs")
        for (tag, _), column in zip(TYPED.items(), row[12:]):
            stored = None if column is None else column.encode()
            if fields.get(tag) != stored:
                fail(f"{TYPED[tag]} differs from content")
        if not records.get(evidence):
            fail("its evidence is missing or damaged")
        return sha256(
            prefixed("subledger/event/1")
            + struct.pack(">Iqqqqq", self.lane, offset, recorded, as_of, purchase, expires)
            + prefixed(environment) + prefixed(identifier) + prefixed(kind) + prefixed(bundle)
            + prefixed(content) + records[evidence])

    def verify(self):
        records, confirmations, commits = self.records(), self.confirmations(), self.commit_rows()
        events = self.stored_events()
        next_offset, last_time = 1, -2 ** 63
        for row in commits:
            number, first, count, confirmed = (int(value) for value in row[:4])
            try:
                committed = milliseconds(row[4])
            except ValueError as error:
                raise Mismatch(self.lane, self.commits + 1, str(error)) from error
            if number != self.commits + 1 or first != next_offset or committed < last_time:
                raise Mismatch(self.lane, self.commits + 1, "the commit is missing or out of order")
            digest = hashlib.sha256(
                prefixed("subledger/commit/1") + self.previous
                + struct.pack(">IqqIIq", self.lane, number, first, count, confirmed, committed))
            for offset in range(first, first + count):
                event = next(events, None)
                if event is None or int(event[0]) != offset:
                    raise Mismatch(self.lane, number, "the event is missing", offset)
                digest.update(self.event_digest(event, number, committed, records))
            brought = confirmations.pop(number, [])
            if None in brought:
                raise Mismatch(self.lane, number, "a confirmation does not fit its event")
            brought.sort()
            for offset, as_of, fields, alias in brought:
                digest.update(sha256(
                    prefixed("subledger/confirmation/1")
                    + struct.pack(">IqqQ", self.lane, offset, as_of, fields) + prefixed(alias)))
            if len(brought) != confirmed or digest.digest() != unhex(row[5]):
                raise Mismatch(self.lane, number, "the digest differs")
            self.previous, last_time = digest.digest(), committed
            self.commits, self.events, next_offset = number, self.events + count, first + count
        extra = next(events, None)
        if extra is not None:
            raise Mismatch(
                self.lane, self.commits + 1, "the event belongs to no commit", int(extra[0]))
        if confirmations:
            raise Mismatch(self.lane, min(confirmations), "a confirmation belongs to no commit")


def main():
    database = Database(sys.argv[1] if len(sys.argv) > 1 else None)
    report = {"ok": True, "events": 0, "commits": 0, "heads": [], "firstMismatch": None}
    [(ledger_id, lanes, version)] = database.rows(
        "SELECT replace(ledger_id::text, '-', ''), lanes, format_version"
        " FROM ledger.ledger_config")
    for number in range(int(lanes)):
        lane = Lane(database, bytes.fromhex(ledger_id), int(lanes), int(version), number)
        try:
            lane.verify()
        except Mismatch as mismatch:
            report.update(ok=False, firstMismatch=mismatch.where)
        report["events"] += lane.events
        report["commits"] += lane.commits
        if not report["ok"]:
            break
        if lane.commits:
            report["heads"].append({"lane": number, "offset": lane.events,
                                    "commit": lane.commits, "digest": lane.previous.hex()})
    if report["ok"]:
        tables = " UNION ALL ".join(
            f"SELECT min(lane) AS lane FROM ledger.{table} WHERE lane NOT BETWEEN 0 AND"
            f" {int(lanes) - 1}" for table in ("event", "commit", "confirmation"))
        for (other,) in database.rows(f"SELECT min(lane) FROM ({tables}) t"):
            if other is not None:
                report.update(ok=False, firstMismatch=Mismatch(
                    int(other), 1, "the ledger does not count this lane").where)
    print(json.dumps(report))
    return 0 if report["ok"] else 3


if __name__ == "__main__":
    sys.exit(main())
