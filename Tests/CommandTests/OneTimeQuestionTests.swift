import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// Answers about one-time purchases, refunds after the end, and amounts.
@Suite(.enabled { await TestServer.isAvailable })
struct OneTimeQuestionTests {
    private struct AccessDocument: Decodable {
        struct OneTime: Decodable {
            let originalTransactionId: String
            let productId: String
            let purchaseDate: Int64
            let kind: String
            let familyShared: Bool
            let revocationDate: Int64?
            let positions: [Int64]
        }
        let access: Bool
        let until: Int64?
        let products: [String]
        let owned: [OneTime]
        let notJudged: [OneTime]
        let revoked: [OneTime]
    }

    private struct DiffDocument: Decodable {
        struct Statement: Decodable {
            let aspect: String
            let originalTransactionId: String?
            let text: String
            let positions: [Int64]
        }
        let lost: [Statement]
        let gained: [Statement]
    }

    private struct RefundDocument: Decodable {
        struct Refund: Decodable {
            let productId: String
            let refundedMilliunits: Int64?
            let currency: String?
            let positions: [Int64]
        }
        struct Answer: Decodable {
            let access: Bool
            let reason: String?
        }
        let entitled: Answer
        let refundsAfterEnd: [Refund]
    }

    @Test func `a non-consumable gives access by its product, a consumable is not judged`()
        async throws
    {
        try await withStory { command in
            func access(_ id: String, _ product: String, exit: Int32) async throws -> AccessDocument
            {
                try await command.json(
                    AccessDocument.self,
                    exit: exit,
                    "access",
                    id,
                    "--product",
                    product,
                    "--at",
                    "2026-06-01"
                )
            }
            let owned = try await access("2000", "pro.unlock", exit: 0)
            #expect(owned.access && owned.until == nil && owned.products == ["pro.unlock"])
            #expect(owned.owned.map(\.kind) == ["nonConsumable"] && owned.notJudged.isEmpty)
            let coins = try await access("3000", "coins", exit: 1)
            #expect(!coins.access && coins.owned.isEmpty)
            #expect(coins.notJudged.map(\.kind) == ["consumable"])
            let yes = try await command.expect(0, "access", "2000", "--at", "2026-06-01")
            #expect(yes.contains("access  yes") && yes.contains("owned"), "\(yes)")
            let no = try await command.expect(1, "access", "3000", "--at", "2026-06-01")
            #expect(no.contains("no: one-time purchase, not judged"), "\(no)")
            let why = try await command.expect(0, "explain", "2000", "--at", "2026-06-01")
            #expect(why.contains("owned: pro.unlock"), "\(why)")
            #expect(!why.contains("never bought"), "\(why)")
            let unjudged = try await command.expect(0, "explain", "3000", "--at", "2026-06-01")
            #expect(unjudged.contains("one-time purchase, not judged: coins"), "\(unjudged)")
        }
    }

    @Test func `a revoked one-time purchase is refunded, whatever its type`()
        async throws
    {
        try await withStory { command in
            for (id, product, kind) in [
                ("4000", "gems", "consumable"), ("5000", "season", "nonRenewing"),
                ("6000", "gone", "unknown"),
            ] {
                for asked in [["--product", product], []] {
                    let arguments = ["access", id] + asked + ["--at", "2026-06-01"]
                    let ending = try await command.run(arguments)
                    #expect(ending.code == 1)
                    #expect(ending.output.contains("access  no: refunded, revoked 2026-03-01"))
                    let json = try await command.run(arguments + ["--json"])
                    let document = try JSONDecoder().decode(
                        AccessDocument.self,
                        from: Data(json.output.utf8)
                    )
                    #expect(document.revoked.map(\.kind) == [kind] && document.notJudged.isEmpty)
                    #expect(document.revoked.first?.revocationDate == 1_772_323_200_000)
                }
                let why = try await command.expect(0, "explain", id, "--at", "2026-06-01")
                #expect(why.contains("refunded: \(product)") && !why.contains("not judged"))
                // Before that date only the app knew what the purchase gave.
                let before = try await command.run(["access", id, "--at", "2026-02-15"])
                #expect(before.output.contains("no: one-time purchase, not judged"))
            }
        }
    }

    @Test func `questions about renewals report that a one-time purchase has none`() async throws {
        try await withStory { command in
            for at in [[], ["--at", "2026-06-01"]] {
                let state = try await command.run(["state", "2000"] + at)
                #expect(state.output.contains("pro.unlock (non-consumable), bought 2026-02-01"))
                #expect(state.output.contains("a one-time purchase, which has no renewal state"))
            }
            let periods = try await command.expect(0, "periods", "2000")
            #expect(periods.contains("a one-time purchase, which has no periods"), "\(periods)")
            #expect(!periods.contains("no access"))
            let history = try await command.expect(0, "history", "4000")
            #expect(history.contains("+ bought gems, − refunded at 2026-03-01"), "\(history)")
            let replay = try await command.expect(0, "replay", "2000")
            #expect(replay.contains("+ bought pro.unlock"), "\(replay)")
            let offers = try await command.expect(0, "eligibility", "2000")
            #expect(offers.contains("only subscriptions have offers"), "\(offers)")
        }
    }

    @Test func `a question about one subscription takes the only one of a customer`() async throws {
        try await withStory { command in
            for id in ["1000", "2000", "4000"] {
                try await command.expect(0, "customers", "link", "anna", id)
            }
            for question in ["state", "changes", "periods", "history", "refunds"] {
                let asked = try await command.run(question, "anna")
                #expect(asked.code == 0, "\(question): \(asked.errors)")
                #expect(asked.output.contains("1000 · Production"), "\(asked.output)")
                let isWhole = question == "refunds"
                #expect(asked.errors.contains("one-time purchases of the same") != isWhole)
            }
            let refunds = try await command.expect(0, "refunds", "anna")
            #expect(refunds.contains("with the customer's one-time purchases: 2000, 4000"))
            #expect(refunds.contains("pro.unlock") && refunds.contains("monthly"), "\(refunds)")
            #expect(refunds.contains("gems"), "\(refunds)")
            let alone = try await command.expect(0, "refunds", "1000")
            #expect(!alone.contains("gems"), "\(alone)")
            // A link is about what was named.
            let linked = try await command.run("customers", "link", "ben", "anna")
            #expect(linked.code == 64, "\(linked.output)")
            #expect(linked.errors.contains("1 subscription and 2 one-time purchases"))
        }
    }

    @Test func `an export counts one-time purchases apart from subscriptions`() async throws {
        try await withStory { command in
            try await command.expect(0, "customers", "link", "anna", "1000")
            try await command.expect(0, "customers", "link", "anna", "2000")
            let folder = try TestFolder()
            let place = folder.path(of: "person")
            let output = try await command.expect(0, "customers", "export", "anna", "--to", place)
            #expect(output.contains("1 subscription and 1 one-time purchase, "), "\(output)")
            let about = try String(contentsOfFile: "\(place)/README.txt", encoding: .utf8)
            #expect(about.contains("1 subscription and 1 one-time purchase."), "\(about)")
        }
    }

    @Test func `diff across a refund gives the money, and explain the refund after the end`()
        async throws
    {
        try await withStory { command in
            let diff = try await command.expect(0, "diff", "1000", "--known", "6..7")
            #expect(!diff.contains("nothing changed"), "\(diff)")
            #expect(
                diff.contains("− money  monthly 2026-02-01 00:00:00 paid 600 JPY, kept 600 JPY")
            )
            #expect(diff.contains("kept 200 JPY"), "\(diff)")
            #expect(diff.contains("+ refund  refunded (type not stated) monthly"), "\(diff)")
            #expect(diff.contains("amount 400 JPY"), "\(diff)")
            let document = try await command.json(
                DiffDocument.self,
                "diff",
                "1000",
                "--known",
                "6..7"
            )
            #expect(Set(document.gained.map(\.aspect)).isSuperset(of: ["money", "refund"]))
            #expect(document.lost.map(\.aspect).contains("money"))
            let explained = try await command.json(
                RefundDocument.self,
                "explain",
                "1000",
                "--at",
                "2026-03-20"
            )
            #expect(explained.entitled.reason == "expired")
            let refund = try #require(explained.refundsAfterEnd.first)
            #expect(refund.refundedMilliunits == 399_996 && refund.currency == "JPY")
            let text = try await command.expect(0, "explain", "1000", "--at", "2026-02-20")
            #expect(text.contains("refunded after its end: monthly"), "\(text)")
            #expect(text.contains("400 JPY refunded"), "\(text)")
            #expect(try await command.expect(0, "refunds", "1000").contains("400 JPY"))
        }
    }

    // A month and its refund after the end, a non-consumable, a consumable.
    private func withStory(_ body: (Command) async throws -> Void) async throws {
        try await withLedger { command, settings in
            let log = try await EventLog.open(settings)
            var month = Content(format: .signedTransaction)
            month[.transactionId] = .text("t1")
            month[.productId] = .text("monthly")
            month[.price] = .integer(600_000)
            month[.currency] = .text("JPY")
            var refunded = month
            refunded[.revocationDate] = .instant(try #require(Instant("2026-03-10")))
            refunded[.revocationPercentage] = .integer(66_666)
            var unlock = Content(format: .signedTransaction)
            unlock[.transactionId] = .text("2000")
            unlock[.productId] = .text("pro.unlock")
            unlock[.type] = .text("Non-Consumable")
            var coins = unlock
            coins[.transactionId] = .text("3000")
            coins[.productId] = .text("coins")
            coins[.type] = .text("Consumable")
            func takenBack(_ id: String, _ product: String, _ type: String?) throws -> Content {
                var content = unlock
                content[.transactionId] = .text(id)
                content[.productId] = .text(product)
                content[.type] = type.map(FieldValue.text)
                content[.revocationDate] = .instant(try #require(Instant("2026-03-01")))
                return content
            }
            for (id, content, end, asOf) in [
                ("4000", try takenBack("4000", "gems", "Consumable"), nil, "2026-03-02"),
                (
                    "5000", try takenBack("5000", "season", "Non-Renewing Subscription"), nil,
                    "2026-03-02"
                ),
                ("6000", try takenBack("6000", "gone", nil), nil, "2026-03-02"),
                ("2000", unlock, nil, "2026-02-01"), ("3000", coins, nil, "2026-02-01"),
                ("1000", month, "2026-03-01", "2026-02-01"),
                ("1000", refunded, "2026-03-01", "2026-03-11"),
            ] as [(String, Content, String?, String)] {
                _ = try await log.append(try Self.fact(id, content, until: end, asOf: asOf))
            }
            await log.close()
            try await body(command)
        }
    }

    private static func fact(
        _ id: String,
        _ content: Content,
        until end: String?,
        asOf: String
    ) throws -> Verified<[Fact]> {
        let asOf = try #require(Instant(asOf))
        let fact = Fact(
            stream: StreamID(environment: .production, originalTransactionId: id),
            bundleId: "example.subledger",
            kind: .transaction,
            purchaseDate: Instant("2026-02-01"),
            expiresDate: try end.map { try #require(Instant($0)) },
            asOf: asOf,
            content: content
        )
        return Verified(
            [fact],
            evidence: Evidence(
                payload: Array("\(id) \(asOf)".utf8),
                kind: .signedTransaction,
                source: "test",
                verification: .signed(root: .zero),
                receivedAt: asOf
            )
        )
    }
}
