#!/usr/bin/env python3
"""Reads the history of a subscription from the tables alone, without any code of Subledger.

Usage: read_log.py ID [--environment WORD] [--database CONNINFO] [--payloads]
Without --database libpq's own PG* variables decide. Prints the JSON that `subledger history --json`
prints, without `effect` and `earlierRevocationDate`; --payloads adds what proves each event:
`payload`, or `payloadBase64` if the bytes are not UTF-8. Exit 4 if the id is unknown, 64 if it needs --environment, 3 if the log is
malformed. verify_chain.py imports the readers of this file. Both are schema/README.md in Python.
"""
import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import types
import zlib

FORMATS = range(1, 13)
# Their statements never carry a date: iOS 6 transactions and renewal info, version 1 notifications.
UNDATED = {6, 8, 9}
FIELDS = {
    1: "transactionId", 2: "webOrderLineItemId", 3: "productId",
    4: "subscriptionGroupIdentifier", 5: "type", 6: "inAppOwnershipType", 7: "transactionReason",
    8: "quantity", 9: "storefront", 10: "storefrontId", 11: "currency", 12: "price",
    13: "isUpgraded", 14: "offerType", 15: "offerIdentifier", 16: "offerDiscountType",
    17: "offerPeriod", 18: "revocationDate", 19: "revocationReason", 20: "revocationType",
    21: "revocationPercentage", 22: "appAccountToken", 23: "appTransactionId",
    24: "previousOriginalTransactionId", 25: "customerId", 26: "linkReason", 27: "linkedBy",
    28: "erasureReason", 29: "erasedBy",
    32: "autoRenewProductId", 33: "autoRenewStatus", 34: "expirationIntent",
    35: "isInBillingRetryPeriod", 36: "gracePeriodExpiresDate", 37: "priceIncreaseStatus",
    38: "renewalDate", 39: "renewalPrice", 40: "recentSubscriptionStartDate",
    41: "eligibleWinBackOfferIds", 42: "billingPlanType", 43: "renewalBillingPlanType",
    44: "commitmentInfo",
    48: "notificationType", 49: "subtype", 50: "notificationUUID", 51: "status",
    52: "consumptionRequestReason", 53: "catalogVersion", 54: "effectiveFrom", 55: "bodyDigest",
    56: "fileName", 57: "keptAside", 58: "erasureScope", 59: "erasedEvents",
    60: "erasedConfirmations", 61: "erasedEvidence", 63: "extra"}
NUMBERS = {8, 12, 14, 18, 19, 21, 33, 34, 36, 37, 38, 39, 40, 51, 53, 54, 57}
FLAGS = {13, 35}
TYPED = {"product_id": 3, "transaction_id": 1, "web_order_line_item_id": 2,
         "app_transaction_id": 23, "app_account_token": 22, "customer_id": 25}
# What was erased of a row whose salt has so many bytes.
ERASED = {16: None, 64: "payload", 80: "person", 96: "everything"}
TRUSTS = ["signed", "fetched", "shared-secret", "vouched"]
PAYLOAD_BYTES_MAX = 256 << 20
FRAME_DEPTH_MAX = 7


def require(condition, reason):
    if not condition:
        raise ValueError(reason)


# The database: psql processes, each of which runs one query at a time.

class Session:
    END = b"--- end of rows ---\n"
    # The database's own search path may lead to other functions and operators first.
    SETTINGS = (b"SET search_path = pg_catalog; SET bytea_output = hex; "
                b"SET standard_conforming_strings = on;\n")

    def __init__(self, conninfo=None):
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"] + ([conninfo] if conninfo else [])
        self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     env=os.environ | {"PGCLIENTENCODING": "UTF8"})
        self.psql.stdin.write(self.SETTINGS)

    def rows(self, columns, rest):
        """Streams rows; `columns` gives SQL and a reader for each name. Read all of them."""
        query = "SELECT " + ", ".join(sql for sql, _ in columns.values()) + " " + rest
        try:
            self.psql.stdin.write(f"COPY ({query}) TO STDOUT;\n\\echo '".encode()
                                  + self.END.rstrip(b"\n") + b"'\n")
            self.psql.stdin.flush()
        except BrokenPipeError:
            sys.exit(69)
        for line in self.psql.stdout:
            if line == self.END:
                return
            texts = line.decode().rstrip("\n").split("\t")
            yield types.SimpleNamespace(**{
                name: None if text == "\\N" else read(unescape(text))
                for (name, (_, read)), text in zip(columns.items(), texts)})
        sys.exit(69)

    def close(self):
        self.psql.kill()
        self.psql.wait()


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}


def unescape(text):
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def unhex(text):
    return bytes.fromhex(text[2:])


def is_true(text):
    return text == "t"


def arrival_word(text):
    return "import" if is_true(text) else "live"


def microseconds(column):
    """Microseconds show a fraction of a millisecond; an infinite time shows as one."""
    epoch = f"(extract(epoch FROM {column}) * 1000000)::bigint"
    return f"CASE WHEN isfinite({column}) THEN {epoch} ELSE 1 END", int


def milliseconds(microseconds_since_1970):
    number, fraction = divmod(microseconds_since_1970, 1000)
    require(fraction == 0, "a time has a fraction of a millisecond")
    return number


EVENT = {
    "offset": ("lane_offset", int), "recorded_us": microseconds("recorded_at"),
    "as_of": ("as_of_ms", int), "purchase": ("purchase_date_ms", int),
    "expires": ("expires_date_ms", int), "evidence": ("evidence_no", int),
    "is_imported": ("is_imported", is_true), "is_late": ("is_late", is_true),
    "fact_key": ("replace(fact_key::text, '-', '')", bytes.fromhex), "store": ("store", str),
    "environment": ("environment", str), "id": ("original_transaction_id", str),
    "kind": ("kind", str), "bundle_id": ("bundle_id", str), "salt": ("salt", unhex),
    "content": ("content", unhex)} | {column: (column, str) for column in TYPED}
CONFIRMATION = {
    "commit": ("commit_no", int), "known_from": ("known_from_offset", int),
    "recorded_us": microseconds("recorded_at"), "as_of": ("as_of_ms", int),
    "evidence": ("evidence_no", int), "environment": ("environment", str),
    "id": ("original_transaction_id", str), "salt": ("salt", unhex),
    "repetitions": ("repetitions", unhex),
    "transaction_ids": ("to_json(transaction_ids)", json.loads)}
EVIDENCE = {
    "number": ("evidence_no", int), "byte_count": ("byte_count", int), "commit": ("commit_no", int),
    "received_us": microseconds("received_at"), "digest": ("digest", unhex), "kind": ("kind", str),
    "source": ("source", str), "arrival": ("is_imported", arrival_word),
    "verification": ("verification", str), 
    "root": ("(SELECT r.digest FROM ledger.root_certificate r"
             " WHERE r.lane = evidence.lane AND r.root_key = evidence.root_key)", unhex),
    "context": ("context", str), "body": ("body", unhex)}


# Canonical bytes.

def sha256(data):
    return hashlib.sha256(data).digest()


def leb128(data, at):
    """An unsigned number in its shortest form, and the index after it."""
    number = shift = 0
    while True:
        require(at < len(data) and shift < 256, "a number does not end")
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            require(byte > 0 or shift == 0, "a number is not in its shortest form")
            return number, at
        shift += 7


def zigzag(number):
    return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


def lane_of(identifier, lanes):
    return int.from_bytes(sha256(identifier.encode())[:4], "big") % lanes


def content_entries(content):
    """Tag, value and whole bytes of each field."""
    require(content[:1] == b"\x01" and len(content) > 1 and content[1] in FORMATS,
            "its content has an unknown version or format")
    at, last, entries = 2, -1, []
    while at < len(content):
        tag, (size, start) = content[at], leb128(content, at + 1)
        value = content[start:start + size]
        require(len(value) == size and tag > last, "its content is not a list of ascending fields")
        if tag in NUMBERS or tag in FLAGS:
            fits = size == 8 if tag in NUMBERS else value in (b"\x00", b"\x01")
            require(fits, f"field {tag} of its content does not have the field's type")
        elif tag in FIELDS:
            value.decode()
        entries.append((tag, value, content[at:start + size]))
        at, last = start + size, tag
    return entries


def repetitions(row):
    """What a row of confirmations repeats: evidence number, offset, as-of, fields, alias."""
    if len(row.salt) == 96 and not row.repetitions:
        return []
    ids = row.transaction_ids or []
    require(row.transaction_ids is None or (ids and all(isinstance(i, str) for i in ids)),
            "transaction_ids of a confirmation is not a list of texts")
    numbers, at = [], 0
    while at < len(row.repetitions):
        number, at = leb128(row.repetitions, at)
        numbers.append(number)
    try:
        masks, rest = numbers[1:1 + numbers[0]], iter(numbers[1 + numbers[0]:])
        require(len(masks) == numbers[0], "a confirmation lacks a set of fields")
        evidence, offset, as_of, found = row.evidence, 0, row.as_of, []
        for step in rest:
            evidence, offset = evidence + step, offset + zigzag(next(rest))
            as_of, mask = as_of + zigzag(next(rest)), next(rest)
            alias = ids[next(rest)] if mask % 2 else ""
            found.append(types.SimpleNamespace(evidence=evidence, offset=offset, as_of=as_of,
                                               fields=masks[mask // 2], alias=alias))
    except (IndexError, StopIteration):
        raise ValueError("a confirmation does not have the form that is written") from None
    require(found, "a confirmation repeats nothing")
    return found


# Packed payloads.

MARK = re.compile(rb"[~#^<&|@`]")


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Segments:
    """The texts of a lane's segments; each is unpacked once."""
    def __init__(self, bodies, dictionaries):
        self.bodies, self.dictionaries, self.texts = bodies, dictionaries, {}

    def text(self, key):
        if key not in self.texts:
            require(key in self.bodies, "a segment of the payload is missing")
            empty = Segments({}, self.dictionaries)
            self.texts[key] = Unpacker(self.bodies[key], PAYLOAD_BYTES_MAX, empty).payload()
        return self.texts[key]


class Unpacker:
    """Puts one payload of at most `limit` bytes together; raises ValueError where it cannot."""
    def __init__(self, body, limit, segments):
        require(body, "the packed payload is empty")
        self.limit, self.segments = limit, segments
        count, at = leb128(body, 1)
        self.keys = [body[at + 16 * n:at + 16 * n + 16] for n in range(min(count, len(body)))]
        size, at = leb128(body, at + 16 * count)
        self.randoms, self.random_at = body[at:at + size], 0
        size, at = leb128(body, at + size)
        text = self.inflated(body[at:], body[0]) if body[0] else body[at:]
        self.frame, self.values = text[:size], text[size:]
        require(len(self.frame) == size, "the frame of the payload is cut off")
        self.at = self.value_at = self.segment = 0

    def inflated(self, data, number):
        require(number in self.segments.dictionaries, f"there is no dictionary {number}")
        inflater = zlib.decompressobj(wbits=-15, zdict=self.segments.dictionaries[number])
        try:
            text = inflater.decompress(data, 3 * self.limit + 65)
        except zlib.error as error:
            raise ValueError(f"the payload cannot be inflated: {error}") from error
        require(inflater.eof and not inflater.unused_data and len(text) <= 3 * self.limit + 64,
                "the deflated payload is cut off or too long")
        return text

    def payload(self):
        out = self.expanded(0)
        require(self.value_at == len(self.values) and self.random_at == len(self.randoms),
                "the packed payload holds more than its frame uses")
        return out

    def expanded(self, depth):
        """What the frame stands for, up to its end or the end mark of this depth."""
        require(depth <= FRAME_DEPTH_MAX, "the payload nests too deep")
        out = bytearray()
        while True:
            mark = MARK.search(self.frame, self.at)
            end = mark.start() if mark else len(self.frame)
            out += self.frame[self.at:end]
            self.at = end + 1 if mark else end
            is_end = not mark or mark.group() == b"|"
            if not is_end:
                out += self.expansion(mark.group(), depth)
            require(len(out) <= self.limit, "the payload is longer than byte_count")
            if is_end:
                require((depth == 0) == (mark is None), "a nested frame does not end")
                return bytes(out)

    def expansion(self, mark, depth):
        if mark == b"~":
            start, end = self.value_at, self.values.find(b"\n", self.value_at)
            require(end >= 0, "a value is missing")
            self.value_at = end + 1
            return self.values[start:end]
        if mark == b"#":
            digits = self.random(16).hex()
            ends = (0, 8, 12, 16, 20, 32)
            return "-".join(digits[a:b] for a, b in zip(ends, ends[1:])).encode()
        if mark == b"^":
            require(self.segment < len(self.keys), "a segment is not listed")
            text = self.segments.text(self.keys[self.segment])
            text += b"." + base64url(self.expanded(depth + 1)) + b"."
            return text + base64url(self.random(64))
        if mark == b"<":
            return base64url(self.expanded(depth + 1))
        if mark == b"&":
            return base64.b64encode(self.expanded(depth + 1))
        number, self.at = leb128(self.frame, self.at)
        if mark == b"@":
            self.segment = number
            return b""
        require(number <= len(self.frame) - self.at, "bytes of the payload are missing")
        self.at += number
        return self.frame[self.at - number:self.at]

    def random(self, count):
        self.random_at += count
        require(self.random_at <= len(self.randoms), "random bytes are missing")
        return self.randoms[self.random_at - count:self.random_at]


def payload_of(row, segments):
    """The exact bytes that arrived, compared with the row's digest and length; None if not kept."""
    if row.body is None:
        require(row.byte_count == 0 and (row.digest is None or row.digest[:16] == bytes(16)),
                "the payload is missing, although its digest shows that it was stored; this script "
                "does not read the files of `subledger evidence move`")
        return None
    require(0 <= row.byte_count <= PAYLOAD_BYTES_MAX, f"byte_count is {row.byte_count}")
    payload = Unpacker(row.body, row.byte_count, segments).payload()
    require(sha256(payload) == row.digest, "the payload has another SHA-256")
    require(len(payload) == row.byte_count, "the payload has another length than byte_count")
    return payload


def read_dictionaries(session):
    columns = {"version": ("version", int), "body": ("body", unhex)}
    return {row.version: row.body
            for row in session.rows(columns, "FROM ledger.evidence_dictionary")}


def read_segments(session, lane, dictionaries):
    columns = {"key": ("segment_key", unhex), "body": ("body", unhex)}
    rows = session.rows(columns, f"FROM ledger.evidence_segment WHERE lane = {lane}")
    return Segments({row.key: row.body for row in rows}, dictionaries)


# The history of a subscription.

class UnknownStream(Exception):
    def __init__(self, exit_code, message):
        super().__init__(message)
        self.exit_code = exit_code


def sql_text(text):
    return f"convert_from('\\x{text.encode().hex()}'::bytea, 'UTF8')"


def field_value(tag, value):
    if tag not in FIELDS:
        return value.hex()
    if tag in NUMBERS:
        return int.from_bytes(value, "big", signed=True)
    return value == b"\x01" if tag in FLAGS else value.decode()


class History:
    def __init__(self, session, identifier, environment=None):
        self.session, self.id = session, identifier
        [config] = session.rows({"lanes": ("lanes", int)}, "FROM ledger.ledger_config")
        self.lanes, self.lane = config.lanes, lane_of(identifier, config.lanes)
        self.environment = self.chosen_environment(environment)

    def of_stream(self):
        return (f"WHERE lane = {self.lane} AND environment = {sql_text(self.environment)}"
                f" AND original_transaction_id = {sql_text(self.id)}")

    def chosen_environment(self, wanted):
        rows = self.session.rows(
            {"word": ("environment", str)},
            f"FROM ledger.event WHERE lane = {self.lane}"
            f" AND original_transaction_id = {sql_text(self.id)} GROUP BY 1 ORDER BY 1")
        words = [row.word for row in rows]
        if wanted is None and len(words) > 1:
            raise UnknownStream(64, f"{self.id} is known in {', '.join(words)}: add --environment")
        if not words or wanted not in (None, *words):
            raise UnknownStream(4, f"{self.id} is not known" + (f" in {wanted}" if wanted else ""))
        return wanted or words[0]

    def document(self, with_payloads=False):
        events = list(self.session.rows(
            EVENT, f"FROM ledger.event {self.of_stream()} ORDER BY lane_offset"))
        repeated = [one for row in self.session.rows(
            CONFIRMATION, f"FROM ledger.confirmation {self.of_stream()}"
                          " ORDER BY as_of_ms, commit_no") for one in repetitions(row)]
        evidence = self.evidence({one.evidence for one in events + repeated}, with_payloads)
        by_offset = {}
        for one in repeated:
            by_offset.setdefault(one.offset, []).append(one)
        lines = [self.line(event, by_offset.get(event.offset, []), evidence) for event in events]
        return {"originalTransactionId": self.id, "environment": self.environment, "events": lines}

    def evidence(self, numbers, with_payloads):
        """The payloads with these numbers, by number."""
        columns = {name: column for name, column in EVIDENCE.items()
                   if with_payloads or name != "body"}
        listed = ", ".join(str(number) for number in sorted(numbers))
        rows = {row.number: row for row in self.session.rows(
            columns, f"FROM ledger.evidence WHERE lane = {self.lane}"
                     f" AND evidence_no = ANY (ARRAY[{listed}]::bigint[])")}
        if with_payloads:
            segments = read_segments(self.session, self.lane, read_dictionaries(self.session))
            for row in rows.values():
                row.payload = payload_of(row, segments)
        return rows

    def line(self, event, repeated, evidence):
        fields = {tag: value for tag, value, _ in content_entries(event.content)}
        effective = event.as_of
        if event.kind == "catalog" and 54 in fields:
            effective = field_value(54, fields[54])
        if event.kind == "transaction" and event.purchase != 0:
            effective = field_value(18, fields[18]) if 18 in fields else event.purchase
        own = evidence.get(event.evidence)
        line = {
            "position": event.offset if self.lanes == 1 else f"{self.lane}:{event.offset}",
            "recordedAt": milliseconds(event.recorded_us),
            "asOf": None if event.kind == "erased" else event.as_of,
            "asOfIsLowerBound": event.content[1] in UNDATED
            or bool(own) and own.kind == "status-update-notification" and event.content[1] != 4,
            "kind": event.kind, "erased": ERASED.get(len(event.salt)), "bundleId": event.bundle_id,
            "purchaseDate": event.purchase or None, "expiresDate": event.expires or None,
            "fields": {FIELDS.get(tag, f"tag{tag}"): field_value(tag, value)
                       for tag, value in fields.items()},
            "evidence": own and own.digest and own.digest.hex(), "evidenceKind": own and own.kind,
            "source": own and own.source, "arrival": own and own.arrival,
            "trust": own and own.verification, "confirmations": len(repeated),
            "confirmedBy": confirmed_by(repeated, evidence),
            "effective": None if event.kind == "erased" else effective}
        payload = getattr(own, "payload", None)
        if payload is not None:
            try:
                line["payload"] = payload.decode()
            except UnicodeDecodeError:
                line["payloadBase64"] = base64.b64encode(payload).decode()
        return {name: value for name, value in line.items() if value is not None}


def confirmed_by(repeated, evidence):
    """The confirmations by payloads of each trust, the strongest first."""
    found = []
    for trust in TRUSTS:
        times = [one.as_of for one in repeated
                 if one.evidence in evidence and evidence[one.evidence].verification == trust]
        if times:
            found.append({"trust": trust, "count": len(times), "firstAsOf": min(times),
                          "lastAsOf": max(times)})
    return found


def main():
    parser = argparse.ArgumentParser(description="Prints the history of a subscription as JSON.")
    parser.add_argument("id", help="Apple's originalTransactionId")
    parser.add_argument("--environment", help="needed if the id is known in several")
    parser.add_argument("--database", help="a libpq connection string; default: PG* variables")
    parser.add_argument("--payloads", action="store_true", help="add what proves each event")
    options = parser.parse_args()
    session = Session(options.database)
    try:
        document = History(session, options.id, options.environment).document(options.payloads)
    except UnknownStream as error:
        print(f"read_log.py: {error}", file=sys.stderr)
        return error.exit_code
    except ValueError as error:
        print(f"read_log.py: the log is malformed: {error}; run verify_chain.py", file=sys.stderr)
        return 3
    finally:
        session.close()
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.buffer.write(text.encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
