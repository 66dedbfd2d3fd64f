import Events
import Projections
import TestSupport
import Testing

/// Claims as text: one fact per line, as in `TimelineText` but with the stream's id in front.
///
/// `1000 @AS-OF link CUSTOMER [by=]`, `1000 @AS-OF unlink [by=]`, `1000 @AS-OF buys PRODUCT FROM
/// [token=] [id=] [woli=] [app=] [previous=] [once] [family] [receipt] [bundle=] [group=] [type=]
/// [intro]`, `1000 @AS-OF renews [token=] [app=]`. Days are `MM-DD` of 2026; a period lasts thirty
/// days. Receipt lines with the same as-of belong to one receipt. An id may include an environment:
/// `1000/Sandbox`.
enum ClaimText {
    static func facts(_ text: String) throws -> [Fact] {
        try text.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count >= 3 && words[1].hasPrefix("@"), "not a fact: \(line)")
            return try fact(words)
        }
    }

    /// A stream by its id, with its environment if it is not production.
    static func stream(_ text: String) -> StreamID {
        let parts = text.split(separator: "/").map(String.init)
        return StreamID(
            environment: parts.count == 2 ? StoreEnvironment(parts[1]) : .production,
            originalTransactionId: parts[0]
        )
    }

    private static func fact(_ words: [String]) throws -> Fact {
        var kind = Kind.transaction
        var content = Content(format: .signedTransaction)
        var (start, end): (Instant?, Instant?)
        var options = words.dropFirst(3)
        func next() throws -> String {
            let word = options.popFirst()
            return try #require(word, "too short: \(words)")
        }
        switch words[2] {
        case "link":
            (kind, content) = (.link, Content(format: .customerLink))
            content[.customerId] = .text(try next())
        case "unlink": (kind, content) = (.link, Content(format: .customerLink))
        case "renews": (kind, content) = (.renewal, Content(format: .signedRenewalInfo))
        default:
            try #require(words[2] == "buys", "unknown word: \(words[2])")
            if words.contains("receipt") { content = Content(format: .receiptTransaction) }
            content[.productId] = .text(try next())
            start = try TimelineText.instant(try next())
            end = start.map { Instant(milliseconds: $0.milliseconds + 30 * 86_400_000) }
        }
        var bundleId = ""
        for option in options {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            if option == "once" { end = nil }
            if option == "intro" { content[.offerType] = .integer(1) }
            if parts[0] == "bundle" { bundleId = parts[1] }
            guard let field = fields[parts[0]] else { continue }
            content[field] = .text(parts.count == 2 ? parts[1] : "FAMILY_SHARED")
        }
        return Fact(
            stream: stream(words[0]),
            bundleId: bundleId,
            kind: kind,
            purchaseDate: start,
            expiresDate: end,
            asOf: try TimelineText.instant(words[1].dropFirst()),
            content: content
        )
    }

    private static let fields: [String: Field] = [
        "token": .appAccountToken, "id": .transactionId, "woli": .webOrderLineItemId,
        "previous": .previousOriginalTransactionId, "by": .linkedBy, "family": .inAppOwnershipType,
        "app": .appTransactionId, "group": .subscriptionGroupIdentifier, "type": .type,
    ]
}

/// Who owned a stream when and who claimed it, without anything that depends on arrival.
func describe(_ claims: StreamClaims) -> [String] {
    func text(_ instant: Instant?) -> String { instant.map(TimelineText.text) ?? "" }
    let owners = claims.owners.map { ownership in
        let owner =
            switch ownership.owner {
            case .customer(let name)?: name
            case .appAccountToken(let token)?: "token \(token)"
            case nil: "nobody"
            }
        return "\(text(ownership.from))..\(text(ownership.to)) \(owner)"
    }
    let contested = claims.contested.map {
        "\(text($0.from))..\(text($0.to)) \($0.customer) contests \($0.contests ?? "")"
    }
    return owners + contested
}

/// How streams are joined into customers, without anything that depends on arrival.
func describe(_ customer: Customer) -> [String] {
    [
        "customer \(customer.customerId ?? "none")", "tokens \(customer.tokens)",
        "streams \(customer.streams.map(\.stream.originalTransactionId))",
        "related \(customer.related.map(\.stream.originalTransactionId))",
        "ambiguous \(customer.ambiguous.map { [$0.stream.originalTransactionId] + $0.customerIds })",
    ]
}

extension MemoryLedger {
    func customer(_ name: String, in environment: StoreEnvironment = .production) -> Customer {
        Customer(
            name,
            in: environment,
            among: customerStreams
        )
    }

    func claims(of id: String = "1000") -> StreamClaims {
        StreamClaims(timeline(of: ClaimText.stream(id)))
    }
}
