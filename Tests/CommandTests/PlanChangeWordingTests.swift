import Foundation
import TestSupport
import Testing

/// A change to a product of the same level, as described by `periods`, `eligibility` and `report
/// anomalies`.
@Suite(.enabled { await TestServer.isAvailable })
struct PlanChangeWordingTests {
    /// Two products with the same level and duration, as Xcode stores them.
    private static let catalog = """
        {"identifier":"A","subscriptionGroups":[{"id":"20","name":"plans","subscriptions":[
        {"productID":"plan","groupNumber":1,"recurringSubscriptionPeriod":"P1M",
        "subscriptionGroupID":"20","type":"RecurringSubscription","displayPrice":"9.99",
        "familyShareable":false,"internalID":"1","referenceName":"plan"},
        {"productID":"other","groupNumber":1,"recurringSubscriptionPeriod":"P1M",
        "subscriptionGroupID":"20","type":"RecurringSubscription","displayPrice":"9.99",
        "familyShareable":false,"internalID":"2","referenceName":"other"}]}]}
        """

    private static func row(
        _ id: String,
        _ product: String,
        _ dates: (from: String, to: String),
        _ more: String = ""
    ) -> String {
        """
        {"quantity":"1","product_id":"\(product)","transaction_id":"\(id)",\
        "original_transaction_id":"1","subscription_group_identifier":"20",\
        "purchase_date":"\(dates.from) 00:00:00 Etc/GMT",\
        "expires_date":"\(dates.to) 00:00:00 Etc/GMT"\(more)}
        """
    }

    /// A month of one product, changed to the other one after ten days.
    private static func withChange(
        catalog: Bool,
        _ body: (Command, TestFolder) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        try await CommandTests.withLedger { command, _ in
            if catalog {
                let file = try folder.write("catalog.storekit", Data(Self.catalog.utf8))
                try await command.expect(
                    0,
                    "catalog",
                    "import",
                    file,
                    "--effective-from",
                    "2015-01-01"
                )
            }
            let upgraded =
                ",\"is_upgraded\":\"true\",\"cancellation_date\":"
                + "\"2015-06-19 00:00:00 Etc/GMT\""
            let response = """
                {"status":0,"environment":"Production","receipt":{\
                "receipt_type":"Production","bundle_id":"com.x",\
                "receipt_creation_date_ms":"1500000000000",\
                "request_date_ms":"1500000000000","in_app":[]},"latest_receipt_info":[\
                \(row("1", "plan", ("2015-06-09", "2015-07-09"), upgraded)),\
                \(row("2", "other", ("2015-06-19", "2015-07-19")))]}
                """
            let path = try folder.write("response.json", Data(response.utf8))
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            try await body(command, folder)
        }
    }

    @Test func `a period that a crossgrade ended says so if the catalog knows it`() async throws {
        try await Self.withChange(catalog: true) { command, _ in
            let known = try await command.expect(0, "periods", "1")
            #expect(known.contains("crossgraded"), "\(known)")
        }
        try await Self.withChange(catalog: false) { command, _ in
            let unknown = try await command.expect(0, "periods", "1")
            #expect(!unknown.contains("crossgraded"), "\(unknown)")
            #expect(unknown.contains("upgraded"), "\(unknown)")
        }
    }

    @Test func `eligibility by product answers for its group`() async throws {
        try await Self.withChange(catalog: true) { command, _ in
            let told = try await command.expect(
                0,
                "eligibility",
                "1",
                "--product",
                "plan",
                "--product",
                "other"
            )
            #expect(told.contains("plan is of group 20"), "\(told)")
            #expect(told.contains("other is of group 20"), "\(told)")
            let unseen = try await command.expect(
                0,
                "eligibility",
                "nobody",
                "--product",
                "plan"
            )
            #expect(unseen.contains("eligible, nothing bought"), "\(unseen)")
            #expect(unseen.contains("neverSubscribed"), "\(unseen)")
            let wrong = try await command.run("eligibility", "1", "--product", "plam")
            #expect(wrong.code == 4 && wrong.errors.contains("plam"), "\(wrong.errors)")
        }
    }

    @Test func `an option sets how many changes are a refund loop`() async throws {
        try await Self.withChange(catalog: true) { command, _ in
            let usual = try await command.expect(0, "report", "anomalies")
            #expect(usual.contains("1 stream: 0 refund_loop"), "\(usual)")
            let strict = try await command.expect(0, "report", "anomalies", "--loop-changes", "1")
            #expect(strict.contains("1 stream: 1 refund_loop"), "\(strict)")
            let wrong = try await command.run("report", "anomalies", "--loop-changes", "0")
            #expect(wrong.code == 64, "\(wrong.errors)")
            #expect(
                wrong.errors.contains("--loop-changes is 0; expected 1 to 100000"),
                "\(wrong.errors)"
            )
        }
    }
}
