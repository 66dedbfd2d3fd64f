import Events
import Projections
import Testing

/// The list of projections, their tables and their digests.
@Suite struct ProjectionTests {
    @Test func `every projection's table has its columns in the order of its rows`() throws {
        let text = try TimelineText("@03-20 purchase monthly 03-20..04-20 woli=1")
        let timeline = MemoryLedger([text.facts]).timeline(of: TimelineText.stream)
        for projection in allProjections {
            let ddl = projection.tableSQL
            #expect(ddl.contains("CREATE TABLE {{schema}}.\(projection.name) ("))
            // Columns are the lines of the table's body that hold a type and NOT NULL or NULL.
            let body = ddl.split(separator: "(", maxSplits: 1)[1].split(separator: ";")[0]
            let columns = body.split(separator: "\n").filter { $0.hasSuffix("NULL,") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
            #expect(columns == projection.columns)
            for column in projection.columns {
                #expect(
                    ddl.contains("COMMENT ON COLUMN {{schema}}.\(projection.name).\(column) IS")
                )
            }
            for row in projection.rows(of: timeline) {
                #expect(row.values.count == projection.columns.count)
            }
        }
        #expect(Set(allProjections.map(\.name)).count == allProjections.count)
    }

    @Test func `indexes are apart from the table`() {
        for projection in allProjections {
            #expect(!projection.tableSQL.contains("CREATE INDEX"))
            #expect(projection.indexSQL.contains("ON {{schema}}.\(projection.name)"))
        }
    }

    @Test func `a row is written column by column`() throws {
        let text = try TimelineText(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-25 purchase monthly 03-20..04-20 woli=1 revoked=03-22
            """
        )
        let timeline = MemoryLedger([text.facts]).timeline(of: TimelineText.stream)
        let projection = try #require(allProjections.first { $0.name == "active_periods" })
        let (start, end) = (Int64(1_773_964_800_000), Int64(1_776_643_200_000))
        #expect(
            projection.rows(of: timeline).map(\.values) == [
                [
                    .int32(0), .text("Production"), .text("1000"), .int32(1), .text("monthly"),
                    .integer(start), .integer(end), .integer(start),
                    .integer(start + 2 * 86_400_000), .text("paid"), .text("refunded"),
                    .integers([2]),
                ]
            ]
        )
    }

    @Test func `canonical bytes of a row never change`() throws {
        let row = ActivePeriod(
            stream: StreamID(environment: .sandbox, originalTransactionId: "12"),
            productId: "p",
            purchaseDate: Instant(milliseconds: 1000),
            expiresDate: Instant(milliseconds: 4000),
            validFrom: Instant(milliseconds: 1000),
            validTo: Instant(milliseconds: 3001),
            kind: .paid,
            endReason: .refunded,
            positions: [Position(lane: 0, offset: 9)]
        )
        #expect(
            hexadecimal(row.canonicalBytes)
                == "00000007" + "53616e64626f78" + "00000002" + "3132" + "00000001" + "70"
                + "00000000000003e8" + "0000000000000fa0" + "00000000000003e8" + "0000000000000bb9"
                + "00000004" + "70616964" + "00000008" + "726566756e646564"
        )
    }

    @Test func `the digest covers every row once and no position`() throws {
        let facts = try TimelineText(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 purchase monthly 04-20..05-20 woli=2
            """
        ).facts
        let digests = [facts, facts.reversed()].map { digest(MemoryLedger([$0])) }
        #expect(digests[0] == digests[1])
        #expect(digest(MemoryLedger([[facts[0]]])) != digests[0])
        // SHA-256 over each row after its byte count: can be computed in any language.
        var writer = ByteWriter()
        for row in MemoryLedger([facts]).rowBytes { writer.prefixed(row) }
        #expect(digests[0] == Digest.of(writer.bytes))
    }

    @Test func `a history without events has no rows and no horizon`() {
        let history = StreamHistory(stream: TimelineText.stream, events: [], confirmations: [])
        let timeline = Timeline(history)
        #expect(timeline.horizon == nil)
        #expect(ActivePeriods(timeline).rows.isEmpty)
        #expect(ActivePeriods(timeline).active.isEmpty)
    }

    @Test func `a confirmation of an event beyond the bound is passed over`() throws {
        let facts = try TimelineText("@03-20 purchase monthly 03-20..04-20 woli=1").facts
        var history = MemoryLedger([facts]).history(of: TimelineText.stream)
        history.confirmations = [
            Confirmation(
                position: Position(lane: 0, offset: 2),
                asOf: try TimelineText.instant("05-01"),
                fields: [],
                transactionId: "t"
            )
        ]
        #expect(Timeline(history).horizon == (try TimelineText.instant("03-20")))
    }

    private func digest(_ ledger: MemoryLedger) -> Digest {
        var digest = ProjectionDigest()
        for stream in ledger.streams {
            for projection in allProjections {
                digest.add(projection.rows(of: ledger.timeline(of: stream)), of: stream)
            }
        }
        return digest.digest
    }
}
