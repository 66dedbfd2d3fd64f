import Foundation
import Postgres
import TestSupport
import Testing

/// `catalog` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct CatalogTests {
    private struct Line: Decodable {
        let version: Int
        let effectiveFrom: Int64
        let recordedAt: Int64
        let source: String
        let digest: String
        let subscriptions: Int
    }

    private struct Change: Decodable {
        let from: String
        let to: String
        let `class`: String
        let sameDuration: Bool
        let takesEffect: String
    }

    private struct Difference: Decodable {
        struct Changed: Decodable {
            let productId: String
            let fields: [Field]
        }
        struct Field: Decodable {
            let name: String
            let old: String?
            let new: String?
        }
        let from: Int?
        let to: Int
        let added: [String]
        let removed: [String]
        let changed: [Changed]
    }

    private struct Import: Decodable {
        struct Warning: Decodable {
            let code: String
        }
        let version: Int
        let added: Bool
        let dryRun: Bool
        let format: String
        let effectiveFrom: Int64
        let warnings: [Warning]
        let difference: Difference
        let changes: [Change]
    }

    private struct Shown: Decodable {
        struct Catalog: Decodable {
            struct Subscription: Decodable {
                let productId: String
                let level: Int
                let duration: String
            }
            let subscriptions: [Subscription]
        }
        let version: Int
        let catalog: Catalog
        let changes: [Change]
    }

    private static let plus = "example.subledger.lumen.plus.monthly"
    private static let pro = "example.subledger.lumen.pro.yearly"

    /// The simulator's file, and a copy with one level, one period and one product changed.
    private func files(_ folder: TestFolder) async throws -> (first: String, second: String) {
        let simulation = try await Simulation.shared
        let first = "\(simulation.payloads)/catalog.storekit"
        let text = try String(contentsOfFile: first, encoding: .utf8)
        let changed = text.replacing("lumen.credits.100", with: "lumen.credits.500")
            .replacing(
                "\"productID\":\"\(Self.plus)\",\"recurringSubscriptionPeriod\":\"P1M\"",
                with: "\"productID\":\"\(Self.plus)\",\"recurringSubscriptionPeriod\":\"P1W\""
            )
        return (first, try folder.write("plans.storekit", changed.utf8))
    }

    @Test func `a catalog is imported, and its versions are shown`() async throws {
        let folder = try TestFolder()
        let (first, second) = try await files(folder)
        try await withLedger { command, settings in
            let dry = try await command.json(Import.self, "catalog", "import", first, "--dry-run")
            #expect(dry.dryRun && dry.added && dry.version == 1)
            #expect(try await settings.number("SELECT count(*) FROM ledger.catalog") == 0)
            let imported = try await command.json(Import.self, "catalog", "import", first)
            #expect(imported.added && imported.version == 1 && imported.warnings.isEmpty)
            #expect(imported.format == "storekit 4.0" && imported.difference.from == nil)
            #expect(imported.difference.added.count == 21)
            try expectChanges(imported.changes)
            let again = try await command.json(Import.self, "catalog", "import", first)
            #expect(!again.added && again.version == 1 && again.difference.added.isEmpty)
            #expect(
                try await command.expect(0, "catalog", "import", first)
                    .contains("nothing was added")
            )
            let late = try await command.json(
                Import.self,
                "catalog",
                "import",
                second,
                "--effective-from",
                "2024-01-01"
            )
            #expect(late.version == 2 && late.effectiveFrom == 1_704_067_200_000)
            try await expectVersions(command, first, second)
            try await command.expectSoundLog(events: 2)
        }
    }

    private func expectChanges(_ changes: [Change]) throws {
        #expect(changes.count == 7 * 6 + 6 * 5 + 4 * 3)
        let up = try #require(changes.first { $0.from == Self.plus && $0.to == Self.pro })
        #expect(up.class == "upgrade" && up.takesEffect == "now" && !up.sameDuration)
        let down = try #require(changes.first { $0.from == Self.pro && $0.to == Self.plus })
        #expect(down.class == "downgrade" && down.takesEffect == "nextRenewal")
        let across = try #require(
            changes.first { $0.from == Self.plus && $0.to.hasSuffix("lumen.plus.yearly") }
        )
        #expect(across.class == "crossgrade" && across.takesEffect == "nextRenewal")
        let equal = try #require(
            changes.first { $0.from == Self.plus && $0.to.hasSuffix("students.monthly") }
        )
        #expect(equal.class == "crossgrade" && equal.takesEffect == "now")
    }

    private func expectVersions(_ command: Command, _ first: String, _ second: String) async throws
    {
        let lines = try await command.json([Line].self, "catalog", "list")
        #expect(lines.map(\.version) == [1, 2])
        #expect(lines.map(\.source) == [first, second])
        #expect(lines.map(\.subscriptions) == [17, 17])
        // Effective by the machine's clock, recorded by the server's.
        #expect(lines.first.map { abs($0.effectiveFrom - $0.recordedAt) <= 300_000 } == true)
        #expect(Set(lines.map(\.digest)).count == 2)
        let newest = try await command.json(Shown.self, "catalog", "show")
        #expect(newest.version == 2)
        let plus = try #require(
            newest.catalog.subscriptions.first { $0.productId == Self.plus }
        )
        #expect(plus.level == 2 && plus.duration == "P1W")
        let old = try await command.json(Shown.self, "catalog", "show", "--version", "1")
        #expect(old.version == 1 && old.changes.count == 84)
        let difference = try await command.json(Difference.self, "catalog", "diff")
        #expect(difference.from == 1 && difference.to == 2)
        #expect(difference.added == ["example.subledger.lumen.credits.500"])
        #expect(difference.removed == ["example.subledger.lumen.credits.100"])
        let changed = try #require(difference.changed.first)
        #expect(difference.changed.count == 1 && changed.productId == Self.plus)
        #expect(changed.fields.map(\.name) == ["duration"])
        #expect(changed.fields.first?.old == "P1M" && changed.fields.first?.new == "P1W")
        let back = try await command.json(Difference.self, "catalog", "diff", "2", "1")
        #expect(back.from == 2 && back.added == difference.removed)
        let text = try await command.expect(0, "catalog", "diff")
        #expect(text.contains("    duration: P1M → P1W\n"), "\(text)")
        let table = try await command.expect(0, "catalog", "show")
        #expect(table.contains("crossgrade ≠") && table.contains("effective from 2024-01-01"))
        #expect(try await command.expect(0, "catalog", "list").contains(second))
    }

    @Test func `warnings go to stderr, and stdin is accepted as a file`() async throws {
        let folder = try TestFolder()
        let local = try folder.write(
            "local.storekit",
            """
            {"subscriptionGroups":[{"id":"49A58F4B","subscriptions":[{"productID":"a",
            "groupNumber":1,"recurringSubscriptionPeriod":"P1M"}]}]}
            """.utf8
        )
        try await withLedger { command, _ in
            let ending = try await command.run("catalog", "import", "-", inputFile: local)
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(
                ending.errors.contains("warning  only Xcode knows the group 49A58F4B"),
                "\(ending.errors)"
            )
            #expect(ending.errors.contains("[local-group]"))
            #expect(ending.output.hasPrefix("version 1, "), "\(ending.output)")
            let json = try await command.json(Import.self, "catalog", "import", local)
            #expect(json.warnings.map(\.code) == ["local-group"] && !json.added)
        }
    }

    @Test func `an invalid import is reported before any connection is opened`() async throws {
        let folder = try TestFolder()
        let product = "{\"productID\":\"app.a\"}"
        let twice = try folder.write(
            "twice.storekit",
            "{\"products\":[\(product),\(product)]}".utf8
        )
        let other = try folder.write("other.json", "{\"hello\":1}".utf8)
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        let cases: [(path: String, code: Int32, words: [String])] = [
            (folder.path(of: "absent"), 66, ["absent"]), (folder.path, 66, ["cannot be read"]),
            (twice, 65, ["app.a", "products[0]", "products[1]", "[duplicate-product]"]),
            (other, 65, ["other.json", "expected a .storekit", "[not-a-catalog]"]),
        ]
        for (path, code, words) in cases {
            let ending = try await command.run("catalog", "import", path)
            #expect(ending.code == code && ending.output.isEmpty, "\(ending.errors)")
            for word in words { #expect(ending.errors.contains(word), "\(ending.errors)") }
        }
    }

    @Test func `a missing version exits with 4, and existing versions are listed`() async throws {
        let folder = try TestFolder()
        let (first, _) = try await files(folder)
        try await withLedger { command, _ in
            #expect(try await command.json([Line].self, "catalog", "list").isEmpty)
            for arguments in [["show"], ["diff"], ["diff", "1", "2"], ["show", "--version", "1"]] {
                let ending = try await command.run(["catalog"] + arguments)
                #expect(ending.code == 4 && ending.output.isEmpty, "\(arguments)")
                #expect(ending.errors.contains("catalog import"), "\(ending.errors)")
            }
            try await command.expect(0, "catalog", "import", first)
            let ending = try await command.run("catalog", "show", "--version", "7")
            #expect(ending.code == 4 && ending.errors.contains("from 1 to 1"))
            #expect(try await command.run("catalog", "diff").code == 4)
        }
    }

    @Test func `a bundle is shown with what it contains, and a change of that as a difference`()
        async throws
    {
        let folder = try TestFolder()
        func file(_ parts: String) throws -> String {
            try folder.write(
                "\(parts.count).storekit",
                """
                {"subscriptionGroups":[{"id":"21400010","subscriptions":[{"productID":"office",
                "type":"SubscriptionBundle","groupNumber":1,"recurringSubscriptionPeriod":"P1M",
                "bundledSubscriptions":[\(parts)]}]}]}
                """.utf8
            )
        }
        let (mail, drive) = (#"{"productID":"mail"}"#, #"{"productID":"drive"}"#)
        try await withLedger { command, _ in
            try await command.expect(0, "catalog", "import", try file(mail))
            try await command.expect(0, "catalog", "import", try file("\(mail),\(drive)"))
            let shown = try await command.expect(0, "catalog", "show")
            #expect(shown.contains(" Subscription Bundle  office: mail, drive\n"), "\(shown)")
            let difference = try await command.expect(0, "catalog", "diff")
            #expect(
                difference.contains("    bundledProductIds: mail → mail, drive\n"),
                "\(difference)"
            )
            let json = try await command.expect(0, "catalog", "show", "--json")
            #expect(json.contains(#""bundledProductIds":["mail","drive"]"#), "\(json)")
        }
    }

    @Test func `an unreadable version exits with 3 and is named`() async throws {
        for (body, digest, words) in [
            ("{}", "{}", ["version 1", "`subledger repair`", "[unreadable-version]"]),
            ("{}", "[]", ["version 1", "not what was imported", "[malformed-log]"]),
        ] {
            try await withLedger { command, settings in
                try await command.expect(0, "rebuild", "--quiet")
                try await settings.meddle(
                    """
                    ALTER TABLE ledger.catalog DROP CONSTRAINT catalog_digest_is_of_body;
                    INSERT INTO ledger.catalog
                    VALUES (0, 1, 0, now(), '', sha256('\(digest)'), '\(body)')
                    """
                )
                for reading in [
                    ["catalog", "list"], ["tables", "check"], ["rebuild"], ["follow", "--once"],
                ] {
                    let ending = try await command.run(reading)
                    #expect(ending.code == 3 && ending.output.isEmpty, "\(ending.errors)")
                    for word in words {
                        #expect(ending.errors.contains(word), "\(ending.errors)")
                    }
                }
            }
        }
    }

    @Test(.enabled(if: RealData.isPresent))
    func `files from real projects are imported one after the other`() async throws {
        try await withLedger { command, _ in
            let files = [
                ("apphud__ApphudSDK/storekit/StoreKit.storekit", 7),
                ("pointfreeco__isowords/storekit/StoreKit.storekit", 0),
                ("superwall__Superwall-iOS/storekit/Superwall_Advanced-Products.storekit", 2),
            ]
            for (index, file) in files.enumerated() {
                let path = try RealData.path(file.0)
                let imported = try await command.json(Import.self, "catalog", "import", path)
                #expect(imported.added && imported.version == index + 1)
            }
            let lines = try await command.json([Line].self, "catalog", "list")
            #expect(lines.map(\.subscriptions) == files.map(\.1))
        }
    }
}
