import Foundation
import TestSupport
import Testing

/// App receipts that Apple signed, compared with an independent analysis.
@Suite(.enabled { await TestServer.isAvailable && RealData.isPresent })
struct RealReceiptTests {
    /// The analysis of a receipt in `facts.json`.
    struct Facts: Decodable, Equatable {
        var rows = 0
        var distinctPeriodsByWebOrderLineItemId = 0
        var nonSubscriptionRows = 0
        var distinctOriginalTransactionIds = 0
        var firstStart = ""
        var lastEnd = ""
        var overlappingPairs = 0
        var gaps = 0
        var productSwitches = 0
        var entitledSecondsUnion: Int64 = 0

        enum CodingKeys: String, CodingKey {
            case rows, gaps
            case distinctPeriodsByWebOrderLineItemId = "distinct_periods_by_webOrderLineItemId"
            case nonSubscriptionRows = "non_subscription_rows"
            case distinctOriginalTransactionIds = "distinct_original_transaction_ids"
            case firstStart = "first_start"
            case lastEnd = "last_end"
            case overlappingPairs = "overlapping_pairs"
            case productSwitches = "product_switches"
            case entitledSecondsUnion = "entitled_seconds_union"
        }
    }

    static let receipts: [String: Facts] = {
        do {
            let url = URL(fileURLWithPath: try RealData.path("facts.json"))
            return try JSONDecoder().decode([String: Facts].self, from: Data(contentsOf: url))
        } catch {
            return [:]
        }
    }()

    @Test func `receipts to test with are present`() {
        #expect(Self.receipts.count == 7)
    }

    @Test(arguments: receipts.keys.sorted())
    func `a receipt gives the periods, gaps, overlaps and switches of another analysis`(
        path: String
    ) async throws {
        try await withLedger { command, _ in
            let report = try await command.ingest(try RealData.path(path))
            #expect(report.payloads == 1)
            var facts = Facts()
            var periods: [PeriodsDocument.Row] = []
            for stream in try await command.json([StreamLine].self, "streams") {
                facts.distinctOriginalTransactionIds += 1
                facts.rows += Int(stream.events)
                periods += try await command.json(
                    PeriodsDocument.self,
                    "periods",
                    stream.originalTransactionId
                ).periods
            }
            facts.nonSubscriptionRows = facts.rows - periods.count
            facts.describe(periods)
            #expect(facts == Self.receipts[path])
            #expect(try await command.ingest(try RealData.path(path)).appended == 0)
        }
    }

    @Test func `a response and its own receipt agree`() async throws {
        try await withLedger { command, _ in
            let folder = "Omnimind-Ltd__app-store-server-sdk/"
            let receipt = try RealData.path(folder + "omnichess-receipt-38.b64")
            let response = try RealData.path(folder + "verify_receipt.json")
            let id = "1000000907469258"
            #expect(try await command.ingest(receipt).appended == 38)
            let alone = try await command.json(PeriodsDocument.self, "periods", id)
            #expect(alone.periods.count == 37)
            let more = try await command.ingest("--vouch", response)
            #expect(more.appended > 0, "the response contains the group, and the renewal info")
            let both = try await command.json(PeriodsDocument.self, "periods", id)
            #expect(both.active == alone.active)
            #expect(
                both.periods.map { [$0.purchaseDate, $0.expiresDate] }
                    == alone.periods.map { [$0.purchaseDate, $0.expiresDate] }
            )
            #expect(try await command.ingest(receipt).appended == 0)
            #expect(try await command.ingest(response).appended == 0)
        }
    }
}

extension RealReceiptTests.Facts {
    /// Fills in what follows from the periods alone, over all subscriptions of the receipt.
    fileprivate mutating func describe(_ unsorted: [PeriodsDocument.Row]) {
        let periods = unsorted.sorted {
            ($0.purchaseDate, $0.expiresDate) < ($1.purchaseDate, $1.expiresDate)
        }
        distinctPeriodsByWebOrderLineItemId = periods.count
        firstStart = RealReceiptTests.Facts.text(periods.first?.purchaseDate)
        lastEnd = RealReceiptTests.Facts.text(periods.map(\.expiresDate).max())
        var end: Int64?
        for (index, period) in periods.enumerated() {
            overlappingPairs += periods[(index + 1)...].count {
                $0.purchaseDate < period.expiresDate
            }
            let covered = max(end ?? period.purchaseDate, period.purchaseDate)
            if let end, period.purchaseDate > end { gaps += 1 }
            entitledSecondsUnion += max(0, period.expiresDate - covered) / 1000
            end = max(end ?? period.expiresDate, period.expiresDate)
        }
        productSwitches = zip(periods, periods.dropFirst()).count {
            $0.productId != $1.productId
        }
    }

    private static func text(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return "" }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.formatted(.iso8601)
    }
}
