import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// What stored heads prove about each lane, whatever their number and order.
@Suite(.enabled { await TestServer.isAvailable })
struct KeptHeadsTests {
    private static let heads = 200

    /// A log of one lane whose commits from 150 on were rewritten, and one document for each
    /// commit.
    @Test(arguments: [false, true])
    func `the newest matching head and the lowest contradicted head decide`(
        isReversed: Bool
    )
        async throws
    {
        try await Variant.plain.withLog { log, _ in
            for day in 0..<Int64(Self.heads) {
                _ = try await log.append(verified(TestFacts.transaction(purchased: day)))
            }
            let marks = try await log.reading("read all commits") { session in
                try await session.query(
                    "SELECT \(CommitMark.columns) FROM ledger.commit c ORDER BY commit_no"
                ).map { try CommitMark(in: $0) }
            }
            let documents = marks.map { mark in
                let isOld = mark.commit.number < 150
                let head = VerificationReport.Head(
                    lane: 0,
                    offset: mark.offset,
                    commit: mark.commit.number,
                    digest: isOld ? mark.digest : .zero
                )
                return KeptHeads([head], source: "\(mark.commit.number)")
            }
            var options = VerificationOptions()
            options.kept = isReversed ? documents.reversed() : documents
            let report = try await log.verify(options)
            let evidence = try #require(report.evidence.first)
            #expect(report.evidence.count == 1 && report.mismatches.isEmpty)
            #expect(evidence.proven?.commit == 149 && evidence.provenBelow?.commit == 149)
            #expect(evidence.contradicted?.source == "150" && !evidence.isMissing)
            #expect(report.firstMismatch?.commit == 150)
        }
    }
}
