#!/usr/bin/env python3
"""Prints the purchases that Apple has taken back, from the lines of `subledger feed` on stdin.

One line each: environment, original transaction id, purchase date and product, separated by tabs,
sorted. A reader of the feed needs nothing but these rules: what a line states about a purchase holds
from its as-of until a later one, and a confirmation states the named fields of its event again.
"""

import json
import sys

# Formats in which a missing revocation date says that there is none.
FORMATS = {"signedTransaction", "receiptTransaction", "responseTransaction", "singleTransaction"}


def main():
    events, latest = {}, {}
    for line in sys.stdin:
        stated = json.loads(line)
        event = stated
        if stated["kind"] == "confirmation":
            event = events[stated["confirms"]]
            if "revocationDate" not in stated["fields"]:
                continue
        else:
            events[stated["position"]] = event
        if event["kind"] != "transaction" or event["format"] not in FORMATS:
            continue
        purchase = (event["environment"], event["originalTransactionId"], event["purchaseDate"],
                    event["productId"])
        if purchase not in latest or latest[purchase][0] <= stated["asOf"]:
            latest[purchase] = (stated["asOf"], "revocationDate" in event)
    for purchase in sorted(purchase for purchase, (_, is_revoked) in latest.items() if is_revoked):
        print(*purchase, sep="\t")


if __name__ == "__main__":
    main()
