import Events
import Subledger
import TestSupport
import Testing

/// A customer whom only the sandbox knows is answered about production: no.
@Suite(.enabled { await TestServer.isAvailable })
struct ElsewhereTests {
    private static let tested: [ChargedFact] = [
        .purchase("2026-01-01", to: "2026-02-01").elsewhere(.sandbox)
    ]
    private static let at = Instant(milliseconds: 1_768_003_200_000)  // 2026-01-10

    @Test func `access in production is denied, with what the sandbox has`() async throws {
        for environment in [nil, StoreEnvironment.production] {
            let answer = try await ChargedFact.withLedger(Self.tested) { ledger in
                try await ledger.access(of: SubjectID("1000", in: environment), at: Self.at)
            }
            #expect(!answer.access && answer.environment == .production && !answer.isKnown)
            #expect(answer.until == nil && answer.products.isEmpty)
            #expect(answer.elsewhere?.environment == .sandbox)
            #expect(answer.elsewhere?.access == true)
            #expect(answer.elsewhere?.until == Instant("2026-02-01"))
            #expect(answer.elsewhere?.products == ["monthly"])
            let text = AccessQuestion.text(answer, QuestionInput("1000", now: Self.at))
            let lines = text.map { "\($0)" }.joined(separator: "\n")
            #expect(lines.contains("access  no: nothing was bought in production"), "\(lines)")
            #expect(
                lines.contains(
                    "in the sandbox  access, until 2026-02-01 00:00:00, by monthly; purchases there "
                        + "do not count in production"
                ),
                "\(lines)"
            )
        }
    }

    @Test func `after the end of the test purchase there is no access either`() async throws {
        let answer = try await ChargedFact.withLedger(Self.tested) { ledger in
            try await ledger.access(of: "1000", at: try #require(Instant("2026-03-01")))
        }
        #expect(!answer.access && answer.elsewhere?.access == false)
    }

    @Test func `the explanation begins with production`() async throws {
        let start =
            "No access in production: nothing was bought there, and purchases in the sandbox do not "
            + "count. Access in the sandbox on 10 January 2026: monthly was paid for from 1 January "
            + "2026 to 1 February 2026."
        let cases: [(StoreEnvironment?, Bool)] = [(nil, true), (.sandbox, false)]
        for (environment, isTold) in cases {
            let answer = try await ChargedFact.withLedger(Self.tested) { ledger in
                try await ledger.explain(SubjectID("1000", in: environment), at: Self.at)
            }
            #expect(answer.environment == .sandbox)
            #expect(answer.summary.hasPrefix(start) == isTold, "\(answer.summary)")
            #expect(answer.summary.contains("Access in the sandbox on 10 January 2026"))
        }
    }

    @Test func `charges of the sandbox are not charges in production`() async throws {
        let answer = try await ChargedFact.withLedger(Self.tested) { ledger in
            try await ledger.charges(of: "1000", now: Self.at)
        }
        #expect(answer.environment == .sandbox)
        #expect(
            answer.summary
                == "No charge in production is known. These are test purchases in the sandbox: no "
                + "money was charged, and the amounts are list prices. One charge, on 1 January 2026 "
                + "for monthly: 9.99 USD. Dates are in UTC."
        )
    }

    @Test func `who asks about production itself is never answered about the sandbox`()
        async throws
    {
        let subject = SubjectID("1000", in: .production)
        try await ChargedFact.withLedger(Self.tested) { ledger in
            let questions: [() async throws -> Void] = [
                { _ = try await ledger.explain(subject, at: Self.at) },
                { _ = try await ledger.charges(of: subject, now: Self.at) },
            ]
            for question in questions {
                let error = await #expect(throws: QuestionError.self) { try await question() }
                #expect(error?.code == .otherEnvironment)
            }
        }
    }

    @Test func `a tester is a new customer for the offers of production`() async throws {
        let answer = try await ChargedFact.withLedger(Self.tested) { ledger in
            try await ledger.eligibility(of: "1000", at: Self.at)
        }
        #expect(!answer.isKnown && answer.environment == .production)
    }

    @Test func `a customer whom production knows, too, is answered about production alone`()
        async throws
    {
        let both = Self.tested + [.purchase("2025-01-01", to: "2025-02-01")]
        let (access, charges) = try await ChargedFact.withLedger(both) { ledger in
            (
                try await ledger.access(of: "1000", at: Self.at),
                try await ledger.charges(of: "1000", now: Self.at)
            )
        }
        #expect(!access.access && access.elsewhere == nil)
        #expect(charges.environment == .production && charges.charges.count == 1)
    }

    @Test func `an unknown id, or another environment that was asked about, stays an error`()
        async throws
    {
        let cases: [(SubjectID, QuestionError.Code)] = [
            ("4711", .unknownId), (SubjectID("1000", in: .xcode), .otherEnvironment),
        ]
        for (subject, code) in cases {
            try await ChargedFact.withLedger(Self.tested) { ledger in
                let questions: [() async throws -> Void] = [
                    {
                        let answer = try await ledger.access(of: subject, at: Self.at)
                        #expect(!answer.access && !answer.isKnown)
                        try await ledger.checkKnown(answer, of: subject)
                    },
                    { _ = try await ledger.explain(subject, at: Self.at) },
                    { _ = try await ledger.charges(of: subject, now: Self.at) },
                ]
                for question in questions {
                    let error = await #expect(throws: QuestionError.self) { try await question() }
                    #expect(error?.code == code)
                }
            }
        }
    }
}
