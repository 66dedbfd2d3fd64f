import Events
import Projections
import TestSupport
import Testing

/// The list of projections, their tables and their digests.
@Suite struct ProjectionTests {
    @Test func `every projection's table has the same column order as its rows`() throws {
        let text = try TimelineText("@03-20 purchase monthly 03-20..04-20 woli=1")
        let history = MemoryLedger([text.facts]).history(of: TimelineText.stream)
        let timeline = Timeline(
            RecordedHistory(stream: history.stream, events: history.events, repetitions: [])
        )
        for projection in allProjections + projectionsOnRequest {
            let ddl = projection.tableSQL
            #expect(ddl.contains("CREATE TABLE {{schema}}.\(projection.name) ("))
            // A column is a line of the table's body with a type and NOT NULL or NULL.
            let body = ddl.split(separator: "(", maxSplits: 1)[1].split(separator: ";")[0]
            let columns = body.split(separator: "\n").filter { $0.hasSuffix("NULL,") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
            let all = ProjectionRow.streamColumns + projection.columns + ["positions"]
            #expect(columns == all)
            for column in all {
                #expect(
                    projection.commentSQL
                        .contains("COMMENT ON COLUMN {{schema}}.\(projection.name).\(column) IS")
                )
            }
            for row in projection.acceptedRows(of: timeline) {
                #expect(row.values.count == projection.columns.count)
            }
        }
        let names = (allProjections + projectionsOnRequest).map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func `a column has the type of its value, and is NOT NULL unless that is optional`()
        throws
    {
        let periods = try #require(allProjections.first { $0.name == "active_periods" })
        for column in [
            "product_identifier text COLLATE \"C\" NOT NULL", "purchase_date_ms bigint NOT NULL",
            "valid_from timestamptz NOT NULL", "expiration_reason text COLLATE \"C\" NULL",
            "advanced_commerce_skus text[] COLLATE \"C\" NOT NULL", "seat_quantity bigint NULL",
        ] { #expect(periods.tableSQL.contains("\n    \(column),\n"), "\(column)") }
        let changes = try #require(allProjections.first { $0.name == "plan_changes" })
        for column in ["catalog_version integer NULL", "is_undated boolean NOT NULL"] {
            #expect(changes.tableSQL.contains("\n    \(column),\n"), "\(column)")
        }
    }

    @Test func `indexes are separate from the table`() {
        for projection in allProjections + projectionsOnRequest {
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
            projection.acceptedRows(of: timeline).map(\.values) == [
                [
                    .text("monthly"), .integer(start), .integer(end),
                    .timestamp(Instant(milliseconds: start)),
                    .timestamp(Instant(milliseconds: start + 2 * 86_400_000)), .text("paid"),
                    .text("refunded"),
                    .null, .null, .null, .null, .null, .null, .texts([]), .null, .null,
                ]
            ]
        )
    }

    @Test func `canonical bytes of a row never change`() throws {
        let row = ProjectionRow(
            values: [
                .null, .integer(1000), .int32(-2), .boolean(true), .text("é"),
                .timestamp(Instant(milliseconds: 3001)), .integers([1, 2]), .texts(["a", ""]),
            ],
            positions: [Position(lane: .only, offset: 9)]
        )
        #expect(
            hexadecimal(row.canonicalBytes)
                == "00000008" + "00" + "0100000000000003e8" + "02fffffffffffffffe" + "0301"
                + "0400000002c3a9" + "050000000000000bb9"
                + "060000000200000000000000010000000000000002" + "0700000002000000016100000000"
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
        // SHA-256 over the stream and its rows, which any language can compute.
        var writer = ByteWriter()
        writer.prefixed("Production")
        writer.prefixed("1000")
        let timeline = MemoryLedger([facts]).timeline(of: TimelineText.stream)
        let projection = try #require(allProjections.first { $0.name == "active_periods" })
        let rows = projection.acceptedRows(of: timeline)
        for row in rows { writer.raw(row.canonicalBytes) }
        var periods = ProjectionDigest()
        periods.add(rows, of: TimelineText.stream)
        #expect(periods.digest == Digest.of(writer.bytes))
    }

    @Test func `a history without events has no rows and no horizon`() {
        let history = StreamHistory(stream: TimelineText.stream, events: [], confirmations: [])
        let timeline = Timeline(history)
        #expect(timeline.horizon == nil)
        #expect(ActivePeriods(timeline).rows.isEmpty)
        #expect(ActivePeriods(timeline).active.isEmpty)
    }

    @Test func `a confirmation of an event beyond the bound is ignored`() throws {
        let facts = try TimelineText("@03-20 purchase monthly 03-20..04-20 woli=1").facts
        var history = MemoryLedger([facts]).history(of: TimelineText.stream)
        history.confirmations = [
            Confirmation(
                position: Position(lane: .only, offset: 2),
                asOf: try TimelineText.instant("05-01"),
                fields: [],
                transactionId: "t",
                evidence: 2
            )
        ]
        #expect(Timeline(history).horizon == (try TimelineText.instant("03-20")))
    }

    private func digest(_ ledger: MemoryLedger) -> Digest {
        var digest = ProjectionDigest()
        for stream in ledger.streams {
            for projection in allProjections {
                let timeline = ledger.timeline(of: stream)
                digest.add(projection.acceptedRows(of: timeline), of: stream)
            }
        }
        return digest.digest
    }
}
