import Events

/// Facts and payloads built directly, as a verifier would return them.
enum TestFacts {
    static let day: Int64 = 86_400_000
    static let start: Int64 = 1_780_000_000_000

    /// A day on Apple's clock.
    static func instant(day number: Int64) -> Instant {
        Instant(milliseconds: start + number * day)
    }

    /// A signed transaction of a monthly period that starts on that day.
    static func transaction(
        _ id: String = "1000",
        product: String = "monthly",
        price: Int64 = 990,
        purchased: Int64 = 0,
        asOf: Int64 = 0,
        transactionId: String? = nil,
        revoked: Int64? = nil,
        environment: StoreEnvironment = .production
    ) -> Fact {
        var content = Content(format: .signedTransaction)
        content[.transactionId] = .text(transactionId ?? "t\(id)-\(purchased)")
        content[.productId] = .text(product)
        content[.price] = .integer(price)
        content[.appAccountToken] = .text("token of \(id)")
        content[.revocationDate] = revoked.map { .instant(instant(day: $0)) }
        return Fact(
            stream: StreamID(environment: environment, originalTransactionId: id),
            bundleId: "example.subledger",
            kind: .transaction,
            purchaseDate: instant(day: purchased),
            expiresDate: instant(day: purchased + 30),
            asOf: instant(day: asOf),
            content: content
        )
    }

    /// A signed transaction for that many seats, of a period that starts on day 0.
    static func seats(_ quantity: Int64, _ id: String, item: String, asOf: Int64) -> Fact {
        let fact = transaction(asOf: asOf, transactionId: id)
        var content = fact.content
        content[.webOrderLineItemId] = .text(item)
        content[.quantity] = .integer(quantity)
        content[.extra] = .text(
            #"{"additionalTransactionReason":"SEAT_ADDITION","multiSeatInfo":{}}"#
        )
        return Fact(
            stream: fact.stream,
            bundleId: fact.bundleId,
            kind: fact.kind,
            purchaseDate: fact.purchaseDate,
            expiresDate: fact.expiresDate,
            asOf: fact.asOf,
            content: content
        )
    }

    /// A notification about a stream.
    static func notification(_ id: String = "1000", uuid: String, asOf: Int64 = 0) -> Fact {
        var content = Content(format: .signedNotification)
        content[.notificationType] = .text("DID_RENEW")
        content[.subtype] = .text("BILLING_RECOVERY")
        content[.notificationUUID] = .text(uuid)
        return Fact(
            stream: StreamID(environment: .production, originalTransactionId: id),
            bundleId: "example.subledger",
            kind: .notification,
            purchaseDate: nil,
            expiresDate: nil,
            asOf: instant(day: asOf),
            content: content
        )
    }
}

/// Facts as if proven by a payload; by a payload of their own if none is given.
func verified(
    _ facts: [Fact],
    payload: [UInt8]? = nil,
    source: String = "test",
    trust: Verification.Trust = .signed,
    receivedAt: Instant = TestClock.noon,
    kind: PayloadKind = .signedTransaction
) -> Verified<[Fact]> {
    let bytes = facts.flatMap { fact in
        Array("\(fact.stream) \(fact.kind) \(fact.purchaseDate) \(fact.asOf) ".utf8)
            + fact.content.canonicalBytes
    }
    return Verified(
        facts,
        evidence: Evidence(
            payload: payload ?? bytes,
            kind: kind,
            source: source,
            verification: Verification(trust: trust, root: trust == .signed ? .zero : nil),
            receivedAt: receivedAt
        )
    )
}

/// The same for one fact.
func verified(_ fact: Fact) -> Verified<[Fact]> { verified([fact]) }

extension Fact {
    /// The same fact about a period that ends on another day.
    func ending(on day: Int64) -> Fact {
        with(expiresDate: TestFacts.instant(day: day), asOf: asOf)
    }

    /// The same fact, stated on another day.
    func stated(on day: Int64) -> Fact {
        with(expiresDate: expiresDate, asOf: TestFacts.instant(day: day))
    }

    private func with(expiresDate: Instant, asOf: Instant) -> Fact {
        Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}
