import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Links in the log: events like any other (promises 1 to 6), found by their customer.
@Suite(.enabled { await TestServer.isAvailable })
struct CustomerLinkTests {
    @Test(arguments: Variant.all)
    func `the same link adds nothing; a link to another customer and back adds two`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let anna = try await append(TestFacts.link("anna", asOf: 1), to: log)
            #expect(anna.isNew)
            #expect(try await append(TestFacts.link("anna", asOf: 1), to: log) == .known(anna))
            // A different author of the same link is not news.
            let again = TestFacts.link("anna", by: "another", asOf: 1)
            #expect(try await append(again, to: log) == .known(anna))
            // The same link with a later as-of is a confirmation, not an event.
            let later = try await append(TestFacts.link("anna", asOf: 3), to: log)
            #expect(later == .duplicate(anna.position, isConfirmation: true))
            #expect(try await Inspector.count("confirmation", settings) == 1)
            #expect(try await append(TestFacts.link("ben", asOf: 5), to: log).isNew)
            #expect(try await append(TestFacts.link("anna", asOf: 6), to: log).isNew)
            let unlink = try await append(TestFacts.link(nil, asOf: 7), to: log)
            #expect(unlink.isNew)
            #expect(try await append(TestFacts.link(nil, asOf: 7), to: log) == .known(unlink))
            // The present state was not yet known at that earlier as-of.
            #expect(try await append(TestFacts.link(nil, asOf: 4), to: log).isNew)
            #expect(try await Inspector.count("event", settings) == 5)
            try await expectSound(log, settings)
            let python = try await PythonVerifier.verify(settings)
            #expect(python.ok && python.events == 5)
        }
    }

    @Test(arguments: Variant.extremes)
    func `many links in one append keep their customers`(variant: Variant) async throws {
        // A few rows are inserted as a list of values, more as arrays, many by COPY.
        for count in [3, 50, 300] {
            try await variant.withLog { log, settings in
                let facts = (0..<count).map { TestFacts.link("customer \($0)", asOf: Int64($0)) }
                _ = try await log.append(verified(facts))
                let named = try await Inspector.inspect(settings) { inspector in
                    try await inspector.number(
                        """
                        SELECT count(*) FROM ledger.event WHERE customer_id =
                            ledger.content_fields(content) ->> 'customerId' AND kind = 'link'
                        """
                    )
                }
                #expect(named == Int64(count))
                try await expectSound(log, settings)
            }
        }
    }

    @Test(arguments: Variant.extremes)
    func `both verifiers find a changed customer id`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await append(TestFacts.transaction(), to: log)
            let link = try await append(TestFacts.link("anna", asOf: 1), to: log)
            for change in ["customer_id = 'ben'", "customer_id = NULL"] {
                try await Inspector.inspect(settings) { inspector in
                    try await inspector.session.execute(
                        """
                        \(Tampering.begin)
                        UPDATE ledger.event SET \(change) WHERE kind = 'link'
                        """
                    )
                }
                let found = try await log.verify().firstMismatch
                #expect(found?.offset == link.position.offset, "\(change)")
                let python = try await PythonVerifier.verify(settings)
                #expect(python.firstMismatch?.commit == found?.commit, "\(change)")
            }
        }
    }

    @Test(arguments: Variant.extremes)
    func `the database refuses invalid links and any change to a link`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await append(TestFacts.link("anna"), to: log)
            for (sql, state) in [
                ("UPDATE ledger.event SET customer_id = 'ben'", "LG001"),
                ("DELETE FROM ledger.event WHERE kind = 'link'", "LG001"),
                (inserted(kind: "transaction"), "23514"), (inserted(kind: "whim"), "23514"),
            ] {
                let error = await #expect(throws: PostgresError.self) {
                    try await Inspector.inspect(settings) { try await $0.session.execute(sql) }
                }
                #expect(error?.sqlState == state, "\(sql)")
            }
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `subscriptions are found by customer, token and every transaction id`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            let facts = [
                TestFacts.transaction("1", transactionId: "t1"),
                TestFacts.transaction("1", asOf: 2, transactionId: "alias"),
                TestFacts.transaction("2", environment: .sandbox),
                TestFacts.link("anna", "1"), TestFacts.link("anna", "2", in: .sandbox),
                TestFacts.link("ben", "1", asOf: 3), TestFacts.link("e\u{301}", "3"),
            ]
            for fact in facts { _ = try await append(fact, to: log) }
            let first = StreamID(environment: .production, originalTransactionId: "1")
            let second = StreamID(environment: .sandbox, originalTransactionId: "2")
            #expect(try await log.streams(with: [.customer("anna")]) == [first, second])
            #expect(try await log.streams(with: [.customer("ben")]) == [first])
            #expect(try await log.streams(with: [.customer("\u{E9}")]).isEmpty, "compared by bytes")
            #expect(
                try await log.streams(with: [
                    .appAccountToken("token of 1"), .appAccountToken("token of 2"),
                ])
                    == [first, second]
            )
            #expect(try await log.streams(with: []).isEmpty)
            #expect(try await log.streams(with: [.transactionId("t1")]) == [first])
            #expect(try await log.streams(with: [.transactionId("alias")]) == [first])
            #expect(
                try await log.streams(with: [.transactionId(""), .transactionId("nothing")]).isEmpty
            )
            let customers = try await log.customers(limit: 10)
            #expect(customers.map(\.customerId) == ["anna", "ben", "e\u{301}"])
            #expect(customers.map(\.streams) == [2, 1, 1])
            let rest = try await log.customers(after: "anna", limit: 1)
            #expect(rest.map(\.customerId) == ["ben"])
            #expect(
                Set(try await log.streams(claimedBy: .anybody, limit: 10)).count == 3
            )
            #expect(try await log.streams(claimedBy: .severalCustomers, limit: 10) == [first])
        }
    }

    @Test(arguments: Variant.extremes)
    func `claimed subscriptions are returned in pages, each once`(variant: Variant) async throws {
        try await variant.withLog { log, _ in
            let ids = (0..<25).map { "\($0)" }
            for id in ids { _ = try await append(TestFacts.link("anna", id), to: log) }
            var found: [StreamID] = []
            while true {
                let page = try await log.streams(
                    claimedBy: .anybody,
                    after: found.last,
                    limit: 4
                )
                found += page
                if page.count < 4 { break }
            }
            #expect(found.count == 25)
            #expect(Set(found.map(\.originalTransactionId)) == Set(ids))
        }
    }

    @Test func `a customer id with too many subscriptions is refused with the limit`()
        async throws
    {
        try await Variant.plain.withLog { log, _ in
            let count = EventLog.customerStreamsMax
            let facts = (0..<count).map { TestFacts.link("everybody", "\($0)") }
            _ = try await log.append(verified(facts))
            #expect(try await log.streams(with: [.customer("everybody")]).count == count)
            _ = try await append(TestFacts.link("everybody", "one more"), to: log)
            let error = await #expect(throws: EventLogError.self) {
                try await log.streams(with: [.customer("everybody")])
            }
            #expect(error?.code == .tooManyStreams)
            #expect(error?.message.contains("\(count)") == true)
            let together = await #expect(throws: EventLogError.self) {
                try await log.streams(with: [.appAccountToken("x"), .customer("everybody")])
            }
            #expect(together?.message == error?.message)
        }
    }

    private func append(_ fact: Fact, to log: EventLog) async throws -> AppendOutcome {
        let outcomes = try await log.append(verified(fact))
        return try #require(outcomes.first)
    }

    // A row that only another program would write.
    private func inserted(kind: String) -> String {
        """
        INSERT INTO ledger.event (lane, lane_offset, recorded_at, as_of_ms, purchase_date_ms,
            expires_date_ms, environment, original_transaction_id, kind, bundle_id, customer_id,
            is_imported, is_late, fact_key, evidence_no, salt, content)
        SELECT lane, 1000, recorded_at, as_of_ms, purchase_date_ms, expires_date_ms, environment,
            original_transaction_id, '\(kind)', bundle_id, customer_id, is_imported, is_late,
            gen_random_uuid(), evidence_no, salt, content
        FROM ledger.event WHERE kind = 'link'
        """
    }
}

extension AppendOutcome {
    fileprivate static func known(_ outcome: AppendOutcome) -> AppendOutcome {
        .duplicate(outcome.position)
    }
}

extension TestFacts {
    /// The operator's statement that a stream belongs to a customer, or to none.
    static func link(
        _ customer: String?,
        _ id: String = "1000",
        by: String = "test",
        asOf: Int64 = 0,
        in environment: StoreEnvironment = .production
    ) -> Fact {
        var content = Content(format: .customerLink)
        content[.customerId] = customer.map(FieldValue.text)
        content[.linkedBy] = .text(by)
        return Fact(
            stream: StreamID(environment: environment, originalTransactionId: id),
            bundleId: "",
            kind: .link,
            purchaseDate: nil,
            expiresDate: nil,
            asOf: instant(day: asOf),
            content: content
        )
    }
}
