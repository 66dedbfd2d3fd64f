import AppStoreSimulator
import Catalog
import EventLog
import Events
import Projections
import Subledger
import TestSupport
import Testing

/// Entitlements of customers: the judgement of `access`, under the names of the app.
@Suite(.enabled { await TestServer.isAvailable })
struct EntitlementsTests {
    private static let bought: [ChargedFact] = [.purchase("2026-01-01", to: "2026-02-01")]
    private static let at = Instant(milliseconds: 1_768_003_200_000)  // 2026-01-10
    private static let pro = """
        {"entitlements":{"pro":{"products":["monthly"]},"other":{"products":["never.sold"]}}}
        """

    private static func define(
        _ json: String,
        in ledger: Ledger,
        from instant: Instant = .epoch
    ) async throws {
        _ = try await CatalogStore(log: ledger.log).add(
            try CatalogFile.read(Array(json.utf8)),
            effectiveFrom: instant,
            source: "test",
            recordedAt: .systemClock()
        )
    }

    private static func status(
        _ facts: [ChargedFact],
        of subject: SubjectID = "1000",
        at day: String = "2026-01-10"
    ) async throws -> EntitlementsDocument.Status {
        let instant = try #require(Instant(day))
        return try await ChargedFact.withLedger(facts) { ledger in
            try await define(pro, in: ledger)
            let document = try await ledger.entitlements(of: subject, at: instant)
            #expect(document.customer == subject.id && document.asOf == instant)
            #expect(Set(document.entitlements.keys) == ["pro", "other"])
            let other = try #require(document.entitlements["other"])
            #expect(!other.isActive && other.productId == nil && other.because.isEmpty)
            return try #require(document.entitlements["pro"])
        }
    }

    @Test func `a paid subscription grants it until its end, and renews as Apple states`()
        async throws
    {
        let unstated = try await Self.status(Self.bought)
        #expect(unstated.isActive && unstated.state == "active" && unstated.productId == "monthly")
        #expect(unstated.until == Instant("2026-02-01"))
        #expect(unstated.because == [Position(lane: .only, offset: 1)])
        let on = try await Self.status(Self.bought + [.turnedOn("2026-01-02")])
        #expect(on.willRenew == true)
        let off = try await Self.status(Self.bought + [.turnedOff("2026-01-02")])
        #expect(off.willRenew == false && off.isActive)
    }

    @Test func `without access the state says why`() async throws {
        let over = try await Self.status(Self.bought, at: "2026-03-01")
        #expect(!over.isActive && over.state == "expired" && over.willRenew == false)
        #expect(over.until == Instant("2026-02-01") && over.productId == "monthly")
        let refund = ChargedFact.purchase("2026-01-01", to: "2026-02-01", revoked: "2026-01-05")
        let refunded = try await Self.status(Self.bought + [refund])
        #expect(!refunded.isActive && refunded.state == "refunded")
        #expect(refunded.until == Instant("2026-01-05"))
        let early = try await Self.status(Self.bought, at: "2025-12-01")
        #expect(!early.isActive && early.state == "notYetBought" && early.until == nil)
        let stranger = try await Self.status(Self.bought, of: "anna")
        #expect(!stranger.isActive && stranger.state == "notKnownYet")
    }

    @Test func `who never bought, or was erased, has none and is not known`() async throws {
        try await ChargedFact.withLedger(Self.bought) { ledger in
            try await Self.define(Self.pro, in: ledger)
            let stranger = try await ledger.entitlements(of: "anna", at: Self.at)
            #expect(!stranger.isKnown && stranger.entitlements.count == 2)
            let stream = StreamID(environment: .production, originalTransactionId: "1000")
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .subscription)],
                reason: ErasureReason("ticket", by: "support"),
                withSiblings: true
            )
            let erased = try await ledger.entitlements(of: "1000", at: Self.at)
            #expect(!erased.isKnown && erased.entitlements["pro"]?.state == "erased")
            #expect(erased.entitlements["pro"]?.isActive == false)
        }
        try await ChargedFact.withLedger([]) { ledger in
            let empty = try await ledger.entitlements(of: "anna", at: Self.at)
            #expect(!empty.isKnown && empty.entitlements.isEmpty)
        }
    }

    @Test func `the catalog in force at the instant, and known then, decides`() async throws {
        try await ChargedFact.withLedger(Self.bought) { ledger in
            let before = try await ledger.entitlements(of: "1000", at: Self.at)
            #expect(before.isKnown && before.entitlements.isEmpty, "no catalog defines any")
            let heads = try await ledger.log.heads().mapValues(\.offset)
            try await Self.define(Self.pro, in: ledger)
            let later = try #require(Instant("2026-01-20"))
            let plus = #"{"entitlements":{"plus":{"products":["monthly"]}}}"#
            try await Self.define(plus, in: ledger, from: later)

            let first = try await ledger.entitlements(of: "1000", at: Self.at)
            #expect(first.entitlements["pro"]?.isActive == true && first.entitlements.count == 2)
            let second = try await ledger.entitlements(of: "1000", at: later)
            #expect(Array(second.entitlements.keys) == ["plus"])
            let known = try await ledger.entitlements(
                of: "1000",
                at: Self.at,
                knownAt: .offsets(heads)
            )
            #expect(known.entitlements.isEmpty)
        }
    }

    @Test func `a sandbox purchase grants one in production only by a policy`() async throws {
        let tested = Self.bought.map { $0.elsewhere(.sandbox) }
        try await ChargedFact.withLedger(tested) { ledger in
            try await Self.define(Self.pro, in: ledger)
            let none = try await ledger.entitlements(of: "1000", at: Self.at)
            #expect(none.entitlements["pro"]?.isActive == false && none.sandboxRule == nil)
            let policy = try SandboxPolicy(customers: ["1000"])
            let one = try await ledger.entitlements(of: "1000", at: Self.at, sandbox: policy)
            #expect(one.entitlements["pro"]?.isActive == true && one.environment == .production)
            #expect(one.sandboxRule?.customer == "1000")
        }
    }

    @Test func `the tag changes only if an entitlement does`() async throws {
        try await ChargedFact.withLedger(Self.bought) { ledger in
            try await Self.define(Self.pro, in: ledger)
            func tag(_ day: String) async throws -> String {
                let instant = try #require(Instant(day))
                return try await ledger.entitlements(of: "1000", at: instant).contentTag()
            }
            let active = try await tag("2026-01-10")
            #expect(try await tag("2026-01-20") == active)
            #expect(try await tag("2026-02-01") != active)
        }
    }

    /// What gives access by `access`, which throws for a product that is not sold.
    private static func hasAccess(
        _ subject: SubjectID,
        _ scope: AccessScope,
        at instant: Instant,
        _ knownAt: KnownAt,
        in ledger: Ledger
    ) async throws -> Bool {
        do {
            return try await ledger.access(of: subject, at: instant, to: scope, knownAt: knownAt)
                .access
        } catch let error as QuestionError where error.code == .unknownProduct {
            return false
        }
    }

    @Test func `an entitlement is active exactly if access is, for every simulated customer`()
        async throws
    {
        let grants = [
            "lumen": EntitlementGrants(products: ["never.sold"], groups: ["21400001"]),
            "fonts": EntitlementGrants(products: [SimulatedCatalog.nonConsumable]),
            "mixed": EntitlementGrants(
                products: [SimulatedCatalog.nonRenewing, SimulatedCatalog.atlas[0].id],
                groups: ["21400003"]
            ),
        ]
        let json = grants.map { name, grants in
            "\"\(name)\":{\"products\":\(grants.products),\"groups\":\(grants.groups)}"
        }.joined(separator: ",")
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            try await Self.define(
                String(decoding: SimulatedCatalog.storekit, as: UTF8.self),
                in: ledger
            )
            try await Self.define("{\"entitlements\":{\(json)}}", in: ledger)
            try await ledger.ingest(Array(FilledLedger.simulator.sampleHistory(count: 25)))
            let half = try await ledger.log.heads().mapValues { $0.offset / 2 }
            var (active, inactive) = (0, 0)
            for stream in try await ledger.allStreams() {
                let id = stream.originalTransactionId
                let subject = SubjectID(id, in: stream.environment)
                let rows = try await ledger.periods(of: stream).rows
                let instants = rows.prefix(3).flatMap { [$0.validFrom, $0.validTo] } + [Self.at]
                for (index, instant) in instants.enumerated() {
                    let knownAt = index % 3 == 1 ? KnownAt.offsets(half) : .latest
                    let document = try await ledger.entitlements(
                        of: subject,
                        at: instant,
                        knownAt: knownAt
                    )
                    for (name, grants) in grants {
                        var access = false
                        for scope in grants.scopes where !access {
                            access = try await Self.hasAccess(
                                subject,
                                scope,
                                at: instant,
                                knownAt,
                                in: ledger
                            )
                        }
                        let status = document.entitlements[name]
                        #expect(status?.isActive == access, "\(name) of \(id) at \(instant)")
                        if access { active += 1 } else { inactive += 1 }
                    }
                }
            }
            #expect(active > 50 && inactive > 50, "\(active) and \(inactive)")
            await ledger.close()
        }
    }
}
