import Foundation
import TestSupport
import Testing

/// Payloads that Apple signed, and the invalid ones next to them.
@Suite(.enabled { await TestServer.isAvailable && RealData.isPresent })
struct RealDataTests {
    private static let session =
        "session-foundation__session-pro-backend/lineage-2000001024993299"
    private static let mock = "apple__app-store-server-library-swift/mock_signed_data"

    @Test
    func `of the folder of real payloads the genuine ones are recorded, the rest is reported`()
        async throws
    {
        try await withLedger { command, settings in
            let folder = try RealData.path("")
            let output = try await command.expect(65, "ingest", "--json", "--vouch", folder)
            #expect(
                try members(output) == [
                    "payloads", "appended", "duplicates", "erased", "erasedBy", "unchanged",
                    "rejected",
                    "streams", "skipped", "leftOut", "positions", "rejections", "notices",
                    "leftOutByReason", "rejectedByReason", "bodiesNotKept",
                ]
            )
            #expect(try members(output, "rejections") == ["path", "reason", "message"])
            #expect(try members(output, "notices") == ["path", "notice", "message", "leftOut"])
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
            let reasons = Dictionary(
                uniqueKeysWithValues: report.rejections.map {
                    (String($0.path.dropFirst(folder.count)), $0.reason)
                }
            )
            #expect(reasons == RealRefusals.reasons)
            #expect(report.rejections.allSatisfy { !$0.message.isEmpty })
            #expect(report.rejected == report.rejections.count)
            #expect(report.payloads == 102)
            #expect(report.appended + report.duplicates == 419)
            #expect(report.streams == 49)
            try await command.expectSoundLog(events: Int64(report.appended))
            #expect(
                try await settings.number("SELECT count(*) FROM ledger.event") == report.appended
            )
            let again = try await command.ingest(exit: 65, "--vouch", folder)
            #expect(again.appended == 0)
            #expect(again.duplicates == 419)
            try await command.expectSoundLog(events: Int64(report.appended))
        }
    }

    @Test func `without a voucher only signed data is recorded, and the rest is reported`()
        async throws
    {
        try await withLedger { command, settings in
            let folder = try RealData.path("")
            let report = try await command.ingest(exit: 65, folder)
            #expect(report.appended + report.duplicates == 288)
            #expect(report.streams == 39)
            let more = report.rejections.filter { $0.reason == "unproven" }
            // Without a voucher, the environment of what is not signed does not matter.
            let always = RealRefusals.reasons.values.count {
                $0 != "environment-unknown" && $0 != "environment-not-accepted"
            }
            #expect(report.rejected == always + more.count)
            #expect(more.count == 34)
            let trusts = try await settings.number(
                "SELECT count(*) FROM ledger.evidence WHERE verification <> 'signed'"
            )
            #expect(trusts == 0)
            // A body made for one app around the receipt of another: the receipt's rows are
            // recorded.
            let contradicted = report.notices.filter { $0.notice == "receipt-contradicted" }
            #expect(contradicted.count == 2)
            #expect(contradicted.allSatisfy { $0.leftOut == 3 })
            #expect(
                try await settings.number(
                    "SELECT count(*) FROM ledger.event WHERE bundle_id = 'com.swiftyreceiptvalidator'"
                ) == 0
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
        (mock + "/legacyTransaction", "ios6-receipt"),
        ("apple__app-store-server-library-swift/xcode/xcode-signed-transaction", "xcode-signed"),
        ("IdeasOnCanvas__AppReceiptValidator/not_a_receipt", "unsupported-format"),
        (
            "crashoverride777__swifty-receipt-validator/ReceiptResponseInvalidFormat.json",
            "json-malformed"
        ),
        (
            "aporat__store-receipt-validator/inAppPurchaseInvalidReceiptResponse.json",
            "receipt-status-retry"
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

    @Test func `payloads of another authority are recorded once its root is given`() async throws {
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
            #expect(try await command.ingest(exit: 65, folder).appended == 0)
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
