import Foundation
import TestSupport
import Testing

/// A mistaken question or statement is reported as a mistake, never answered about something else.
@Suite(.enabled { await TestServer.isAvailable })
struct MistakenQuestionTests {
    private static let two = [
        ImportedSubscriptionTests.row("1000", "2015-06-09", "2015-07-09"),
        ImportedSubscriptionTests.row("2000", "2015-06-10", "2015-08-10"),
    ]

    @Test func `a name that is also the id of another customer's subscription is refused`()
        async throws
    {
        try await ImportedSubscriptionTests.withLedger(Self.two) { command, folder in
            let refused = try await command.run("customers", "link", "2000", "1000")
            #expect(refused.code == 65)
            #expect(
                refused.errors.contains(
                    "2000 is also the id of the subscription 2000, which is"
                ),
                "\(refused.errors)"
            )
            let list = try folder.write("list.csv", Array("2000,1000\nanna,1000\n".utf8))
            let first = try await command.run("customers", "import", list)
            #expect(first.code == 65 && first.errors.contains("[name-is-id]"), "\(first.errors)")
            #expect(first.output.contains("1 link appended"), "\(first.output)")
            // A customer's own subscription id may be the customer's name.
            try await command.expect(0, "customers", "link", "2000", "2000")
            try await command.expect(0, "access", "2000", "--at", "2015-07-20")
        }
    }

    @Test func `if the name came first, a question by it is refused and another id is answered`()
        async throws
    {
        try await ImportedSubscriptionTests.withLedger([Self.two[0]]) { command, folder in
            try await command.expect(0, "customers", "link", "2000", "1000")
            try await command.expect(0, "access", "2000", "--at", "2015-06-20")
            let late = ImportedSubscriptionTests.response(of: Self.two[1], 7)
            let path = try folder.write("late.json", Array(late.utf8))
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            for question in ["access", "explain", "eligibility"] {
                let ending = try await command.run(question, "2000")
                #expect(ending.code == 64, "\(question): \(ending.output)")
                #expect(
                    ending.errors.contains(
                        "2000 is both the name of the customer who is linked to 1000 and an id of "
                            + "the subscription 2000, which is not linked to them; use another id"
                    ),
                    "\(question): \(ending.errors)"
                )
            }
            try await command.expect(1, "access", "1000", "--at", "2015-07-20")
            let periods = try await command.run("periods", "2000")
            #expect(periods.code == 0 && periods.errors.isEmpty, "\(periods.errors)")
        }
    }

    @Test func `a name that is another id of another customer's subscription is refused`()
        async throws
    {
        let rows = [
            ImportedSubscriptionTests.row("1000", "2015-06-09", "2015-07-09"),
            ImportedSubscriptionTests.row(
                "2000",
                "2015-06-10",
                "2099-08-10",
                ",\"web_order_line_item_id\":\"777\""
            ),
        ]
        try await ImportedSubscriptionTests.withLedger(rows) { command, folder in
            for name in ["777", "2000"] {
                let refused = try await command.run("customers", "link", name, "1000")
                #expect(refused.code == 65, "\(name): \(refused.output)")
                let list = try folder.write("list.csv", Array("\(name),1000\n".utf8))
                let imported = try await command.run("customers", "import", list)
                #expect(imported.errors.contains("[name-is-id]"), "\(name): \(imported.errors)")
            }
            let both = try folder.write("both.csv", Array("2000,1000\nbob,2000\n".utf8))
            let mixed = try await command.run("customers", "import", both)
            #expect(mixed.errors.contains("line 1: ") && mixed.output.contains("1 link appended"))
        }
    }

    // Apps use a customer's own UUID as the token and as the customer's name.
    @Test(arguments: [true, false])
    func `a name that is a token means both the linked and the token's subscriptions`(
        tokenFirst: Bool
    ) async throws {
        let token = "7e3fb204-2fd2-4f2c-9a5e-00000000000b"
        let withToken = ImportedSubscriptionTests.row(
            "2000",
            "2015-06-10",
            "2016-08-10",
            ",\"app_account_token\":\"\(token)\""
        )
        let link = ["customers", "link", token.uppercased(), "1000", "--at", "2015-06-09"]
        try await ImportedSubscriptionTests.withLedger([Self.two[0]]) { command, folder in
            if !tokenFirst { try await command.expect(0, link) }
            let late = ImportedSubscriptionTests.response(of: withToken, 9)
            let path = try folder.write("late.json", Array(late.utf8))
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            if tokenFirst { try await command.expect(0, link) }
            for name in [token, token.uppercased(), "1000", "2000"] {
                for date in ["2015-06-09T12:00:00Z", "2016-01-01"] {
                    try await command.expect(0, "access", name, "--at", date)
                }
                let shown = try await command.expect(0, "customers", "show", name)
                #expect(shown.contains("1000") && shown.contains("2000"), "\(name): \(shown)")
            }
            let unlink = ["customers", "unlink", token.uppercased(), "1000"]
            try await command.expect(0, unlink + ["--at", "2015-06-09T13:00:00Z"])
            try await command.expect(0, "access", token, "--at", "2016-01-01")
            try await command.expect(1, "access", "1000", "--at", "2016-01-01")
        }
    }

    @Test func `a subscription not yet known as theirs was not served to them`() async throws {
        let row = ImportedSubscriptionTests.row("1000", "2015-06-09", "2099-07-09")
        try await ImportedSubscriptionTests.withLedger([row]) { command, _ in
            let then = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            try await command.expect(0, "customers", "link", "alice", "1000", "--at", "2015-06-09")
            let at = ["--at", then]
            let access = try await command.run(["access", "alice", "--known-at", then] + at)
            #expect(access.code == 4, "\(access.output)")
            let explained = try await command.expect(0, ["explain", "alice"] + at)
            #expect(explained.contains("SERVED    no"), "\(explained)")
            #expect(
                explained.contains(
                    "The ledger did not know at the time that 1000 belongs to alice"
                ),
                "\(explained)"
            )
            #expect(!explained.contains("was right"), "\(explained)")
            // By its own id it was known.
            let own = try await command.expect(0, ["explain", "1000"] + at)
            #expect(own.contains("SERVED    yes"), "\(own)")
        }
    }

    @Test func `an unreadable name is refused`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            for (name, words) in [
                (" ", "blank"), ("anna ", "white space"), ("an\u{200B}na", "U+200B"),
                ("\u{202E}anna", "U+202E"),
            ] {
                let ending = try await command.run("customers", "link", name, "1000")
                #expect(ending.code == 65 && ending.errors.contains(words), "\(ending.errors)")
            }
            try await command.expect(0, "customers", "link", "anna-\u{200D}é", "1000")
        }
    }

    @Test func `link arguments in the wrong order are reported`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            let ending = try await command.run("customers", "link", "1000", "anna")
            #expect(ending.code == 4)
            #expect(
                ending.errors.contains("one has the id 1000: name the customer first, then the id"),
                "\(ending.errors)"
            )
        }
    }

    @Test func `a subscription that no link assigns is not attributed to one`() async throws {
        let token = ",\"app_account_token\":\"7e3fb204-2fd2-4f2c-9a5e-000000000001\""
        let row = ImportedSubscriptionTests.row("1000", "2015-06-09", "2015-07-09", token)
        try await ImportedSubscriptionTests.withLedger([row]) { command, _ in
            try await command.expect(0, "customers", "link", "anna", "1000", "--at", "2030-01-01")
            let access = try await command.expect(0, "access", "anna", "--at", "2015-06-20")
            #expect(
                access.contains(
                    "1000 counts because its Apple account belongs to customer anna, by a link that "
                        + "is valid at another time"
                ),
                "\(access)"
            )
            #expect(!access.contains("a link assigns it"), "\(access)")
        }
    }

    @Test func `an earlier link is suggested only where it is possible`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            try await command.expect(0, "customers", "link", "bob", "1000", "--at", "2016-01-01")
            let transfer = ["customers", "link", "alice", "1000", "--at", "2017-01-01"]
            try await command.expect(0, transfer + ["--transfer"])
            try await command.expect(
                0,
                "customers",
                "unlink",
                "alice",
                "1000",
                "--at",
                "2018-01-01"
            )
            let answer = try await command.expect(1, "access", "bob", "--at", "2015-06-20")
            #expect(
                answer.contains("1000: not linked to bob before 2016-01-01 00:00:00; an earlier")
            )
            #expect(!answer.contains("subledger customers link"), "\(answer)")
            let early = try await command.run(
                "customers",
                "link",
                "bob",
                "1000",
                "--at",
                "2015-06-20"
            )
            #expect(early.code == 65)
            #expect(
                early.errors.contains(
                    "1000 belonged to customer alice since 2017-01-01T00:00:00Z until "
                        + "2018-01-01T00:00:00Z"
                ),
                "\(early.errors)"
            )
        }
    }

    @Test func `an impossible address for the service is an error in the settings`()
        async throws
    {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            let ending = try await command.run("serve", "--host", "192.0.2.1", "--port", "0")
            #expect(ending.code == 78, "\(ending.errors)")
            #expect(
                ending.errors.contains(
                    "192.0.2.1, port 0 is not an address of this machine; name one"
                ),
                "\(ending.errors)"
            )
        }
    }

    @Test func `a report shows how far its tables are behind the log`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            folder in
            try await command.expect(0, "rebuild", "--quiet")
            let fresh = try await command.run("report", "active")
            #expect(fresh.code == 0 && !fresh.errors.contains("behind the log"), "\(fresh.errors)")
            let more = ImportedSubscriptionTests.response(of: Self.two[1], 8)
            let path = try folder.write("more.json", Array(more.utf8))
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            let late = try await command.run("report", "active")
            #expect(
                late.errors.contains(
                    "the tables of this report are 1 event behind the log: `subledger "
                        + "follow --once` brings them up to date"
                )
            )
            let exported = try await command.run("export", "--out", folder.path(of: "export"))
            #expect(exported.errors.contains("this export are 1 event behind the log"))
            let rebuilt = try await command.run("rebuild", "transactions_history")
            #expect(rebuilt.errors.contains("live tables are up to 1 event behind the log"))
        }
    }

    @Test func `alias names of time zones are known`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            for (zone, instant) in [
                ("Asia/Kolkata", "2015-06-19 18:30:00"), ("US/Pacific", "2015-06-20 07:00:00"),
                ("Etc/UTC", "2015-06-20 00:00:00"), ("europe/berlin", "2015-06-19 22:00:00"),
            ] {
                let ending = try await command.run(
                    "access",
                    "1000",
                    "--at",
                    "2015-06-20",
                    "--tz",
                    zone
                )
                #expect(ending.code == 0, "\(zone): \(ending.errors)")
                #expect(ending.errors.contains("is \(instant) UTC"), "\(ending.errors)")
            }
            let wrong = try await command.run("access", "1000", "--tz", "Nowhere/Town")
            #expect(wrong.code == 64, "\(wrong.output)")
        }
    }

    @Test func `a repeated statement names the instant of the first one`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            try await command.expect(0, "customers", "link", "anna", "1000")
            let unlink = ["customers", "unlink", "anna", "1000"]
            try await command.expect(0, unlink + ["--at", "2016-01-01"])
            let again = try await command.expect(0, unlink)
            #expect(
                again.contains("unlinked from anna as of 2016-01-01 00:00:00 UTC: known already"),
                "\(again)"
            )
        }
    }

    @Test func `a dry run judges a line after those before it, and a future link is reported`()
        async throws
    {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            folder in
            let list = try folder.write("list.csv", Array("anna,1000\nben,1000\nanna,1000\n".utf8))
            for more in [["--dry-run"], []] {
                let ending = try await command.run(["customers", "import", list] + more)
                #expect(ending.code == 65, "\(more)")
                #expect(ending.errors.contains("line 2: "), "\(ending.errors)")
                #expect(
                    ending.output.contains("3 lines: 1 link ")
                        && ending.output.contains(", 1 known already, 1 line refused"),
                    "\(ending.output)"
                )
            }
            try await command.expect(0, "customers", "unlink", "anna", "1000")
            try await command.expect(
                0,
                "customers",
                "link",
                "ben",
                "1000",
                "--at",
                "2099-01-01"
            )
            let early = try await command.run("customers", "link", "cleo", "1000")
            #expect(early.code == 65)
            #expect(
                early.errors.contains("use an --at after 2099-01-01T00:00:00Z, with --transfer"),
                "\(early.errors)"
            )
        }
    }

    @Test func `a product or group in no catalog is reported, not answered with no access`()
        async throws
    {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            folder in
            let at = ["--at", "2015-06-20"]
            // Without a catalog the existing products are unknown.
            try await command.expect(1, ["access", "1000", "--product", "pro"] + at)
            let catalog = try folder.write("Products.storekit", Array(Self.catalog.utf8))
            try await command.expect(0, "catalog", "import", catalog)
            try await command.expect(1, ["access", "1000", "--product", "pro"] + at)
            try await command.expect(0, ["access", "1000", "--product", "plan"] + at)
            for question in ["access", "explain"] {
                let ending = try await command.run([question, "1000", "--product", "prro"] + at)
                #expect(ending.code == 4, "\(ending.output)")
                #expect(
                    ending.errors.contains(
                        "prro is in no version of the catalog, and the customer never bought it; "
                            + "known products: plan, pro"
                    ),
                    "\(ending.errors)"
                )
            }
            for group in ["Club", "club", "21500000"] {
                try await command.expect(1, ["access", "1000", "--group", group] + at)
                let offers = try await command.expect(0, "eligibility", "new", "--group", group)
                #expect(offers.contains("21500000"), "\(offers)")
            }
            let ending = try await command.run(["access", "1000", "--group", "clubb"] + at)
            #expect(ending.code == 4, "\(ending.output)")
            #expect(ending.errors.contains("no subscription group clubb"), "\(ending.errors)")
        }
    }

    // A product in a group that the customer's purchases do not name.
    private static let catalog = """
        {"version":{"major":4,"minor":0},"products":[],"subscriptionGroups":[{"id":"21500000",\
        "name":"Club","subscriptions":[{"productID":"pro","groupNumber":1,"displayPrice":"4.99",\
        "recurringSubscriptionPeriod":"P1M","type":"RecurringSubscription","internalID":"1",\
        "localizations":[]}]}]}
        """
}
