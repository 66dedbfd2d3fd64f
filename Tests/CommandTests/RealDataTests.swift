import Foundation
import TestSupport
import Testing

/// Payloads that Apple signed, and the negative ones beside them.
@Suite(.enabled { await TestServer.isAvailable && RealData.isPresent })
struct RealDataTests {
    private static let session =
        "session-foundation__session-pro-backend/lineage-2000001024993299"
    /// What the genuine payloads state: each fact is either appended or a duplicate.
    private static let facts = 20
    /// Of these, 17 are news in any order.
    ///
    /// Two repeat a transaction, and are news as well where they come before what they repeat. TEST,
    /// which lies in two files, is one fact in any order.
    private static let appendedRange = 17...19
    private static let mock = "apple__app-store-server-library-swift/mock_signed_data"

    @Test func `the folder of real payloads: what is genuine is in, the rest is told`()
        async throws
    {
        try await withLedger { command, settings in
            let folder = try RealData.path("")
            let output = try await command.expect(65, "ingest", "--json", folder)
            let names = try members(output)
            #expect(
                names.isSuperset(of: [
                    "payloads", "appended", "duplicates", "rejected", "streams", "rejections",
                ])
            )
            #expect(try members(output, "rejections") == ["path", "reason", "message"])
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
            #expect(report.payloads == 85)
            // Files are verified at once: which of two statements comes first is not said, and a
            // later one that comes first makes the earlier one news.
            #expect(Self.appendedRange.contains(report.appended))
            #expect(report.appended + report.duplicates == Self.facts)
            #expect(report.rejected == report.rejections.count)
            #expect(report.streams == 3)
            for refusal in report.rejections {
                #expect(refusal.path.hasPrefix(folder))
                #expect(!refusal.message.isEmpty)
            }
            try await command.expectSoundLog(events: Int64(report.appended))
            let streams = try await command.json([StreamLine].self, "streams")
            #expect(
                streams.map(\.originalTransactionId) == [
                    "1000000906235058", "2000000335310644", "2000001024993299",
                ]
            )
            #expect(
                try await settings.number("SELECT count(*) FROM ledger.event") == report.appended
            )
        }
    }

    @Test func `one lineage gives the periods that an independent decoder found`() async throws {
        try await withLedger { command, _ in
            let report = try await command.ingest(try RealData.path(Self.session))
            #expect(report.payloads == 5)
            #expect(report.streams == 1)
            let told = try await command.json(PeriodsDocument.self, "periods", "2000001024993299")
            let expected = try Self.expectedPeriods()
            #expect(expected.count == 3)
            #expect(told.environment == "Sandbox")
            #expect(told.periods.map { [$0.validFrom, $0.validTo] } == expected)
            #expect(told.periods.map { [$0.purchaseDate, $0.expiresDate] } == expected)
            #expect(told.active == expected)
            #expect(Set(told.periods.map(\.kind)) == ["paid"])
            #expect(Set(told.periods.map(\.endReason)) == ["expired"])
        }
    }

    /// Start and end of every transaction of the lineage in `expected.json`, each once, by start.
    private static func expectedPeriods() throws -> [[Int64]] {
        let url = URL(fileURLWithPath: try RealData.path("expected.json"))
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        var periods: Set<[Int64]> = []
        for (path, file) in all as? [String: [String: Any]] ?? [:] where path.hasPrefix(session) {
            for jws in file["jws"] as? [[String: Any]] ?? [] {
                let info = jws["signedTransactionInfo"] as? [String: Any]
                let transaction = try #require(info?["payload"] as? [String: Any])
                periods.insert([
                    try #require(transaction["purchaseDate"] as? Int64),
                    try #require(transaction["expiresDate"] as? Int64),
                ])
            }
        }
        return periods.sorted { $0[0] < $1[0] }
    }

    @Test(arguments: [
        (
            "alexalok__AppStoreServerNotificationsV2/v2-tampered-Sandbox_Resubscription.json",
            "signature-invalid"
        ),
        ("getmimo__app-store-server-library-dotnet/InvalidSignature_Fails.jws", "chain-untrusted"),
        ("getmimo__app-store-server-library-dotnet/Nox5cParameter_Fails.jws", "x5c-missing"),
        ("getmimo__app-store-server-library-dotnet/JWSIsMissingAPart_Fails.jws", "jws-malformed"),
        (mock + "/missingX5CHeaderClaim", "x5c-missing"),
        (mock + "/transactionInfo", "chain-untrusted"),
        (mock + "/legacyTransaction", "unsupported-format"),
        ("apple__app-store-server-library-swift/xcode/xcode-signed-transaction", "xcode-signed"),
        ("IdeasOnCanvas__AppReceiptValidator/not_a_receipt", "unsupported-format"),
        (
            "crashoverride777__swifty-receipt-validator/ReceiptResponseInvalidFormat.json",
            "json-malformed"
        ),
        (
            "aporat__store-receipt-validator/inAppPurchaseInvalidReceiptResponse.json",
            "unsupported-format"
        ),
        (
            "apple__app-store-server-library-swift/models/appTransactionInfoResponse.json",
            "app-transaction"
        ),
    ])
    func `a payload that proves nothing is refused with its reason`(
        path: String,
        reason: String
    ) async throws {
        try await withLedger { command, settings in
            let report = try await command.ingest(exit: 65, try RealData.path(path))
            #expect(report.rejections.map(\.reason) == [reason])
            #expect(report.appended == 0)
            #expect(
                try await settings.number(
                    "SELECT (SELECT count(*) FROM ledger.event) "
                        + "+ (SELECT count(*) FROM ledger.evidence) "
                        + "+ (SELECT count(*) FROM ledger.commit)"
                ) == 0
            )
        }
    }

    @Test func `payloads of another authority are in once its root is given`() async throws {
        try await withLedger { command, _ in
            let root = try RealData.path("certificates/apple-library-testCA-MOCK.der")
            for name in ["renewalInfo", "testNotification", "transactionInfo"] {
                let path = try RealData.path("\(Self.mock)/\(name)")
                #expect(try await command.ingest(exit: 65, path).appended == 0)
                #expect(
                    try await command.ingest("--root-certificate", root, path).appended == 1,
                    "\(name)"
                )
            }
            let other = try await command.ingest(
                exit: 65,
                "--root-certificate",
                root,
                "--assume-environment",
                "Sandbox",
                "--bundle-id",
                "com.example",
                try RealData.path("\(Self.mock)/wrongBundleId")
            )
            #expect(other.rejections.map(\.reason) == ["bundle-id-mismatch"])
            try await command.expectSoundLog(events: 3)
        }
    }

    @Test func `the same payloads again, reversed and by eight processes, add nothing`()
        async throws
    {
        try await withLedger { command, _ in
            let files = try Self.files()
            let first = try await command.ingest(exit: 65, try RealData.path(""))
            let digest = try await command.rebuiltDigest()
            let endings = try await withThrowingTaskGroup(of: Program.Ending.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await command.run(["ingest", "--json"] + files.reversed())
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for ending in endings {
                #expect(ending.code == 65, "\(ending.errors)")
                let report = try JSONDecoder().decode(
                    IngestDocument.self,
                    from: Data(ending.output.utf8)
                )
                #expect(report.appended == 0)
                #expect(report.duplicates == first.appended + first.duplicates)
            }
            #expect(try await command.rebuiltDigest() == digest)
            try await command.expectSoundLog(events: Int64(first.appended))
        }
    }

    @Test func `eight processes fill an empty ledger with each fact once`() async throws {
        try await withLedger { command, _ in
            let folder = try RealData.path("")
            let appended = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let ending = try await command.run("ingest", "--json", folder)
                        #expect(ending.code == 65, "\(ending.errors)")
                        return try JSONDecoder().decode(
                            IngestDocument.self,
                            from: Data(ending.output.utf8)
                        ).appended
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(Self.appendedRange.contains(appended))
            try await command.expectSoundLog(events: Int64(appended))
        }
    }

    private static func files() throws -> [String] {
        let folder = try RealData.path("")
        let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
        return names.sorted().map { folder + $0 }.filter { path in
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            return isThere && !isFolder.boolValue && !path.contains("/certificates/")
                && !path.hasSuffix(".md") && !path.hasSuffix(".storekit")
        }
    }
}
