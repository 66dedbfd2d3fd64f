import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Tamper evidence: what `verify` finds, and that an independent program finds the same.
@Suite(.enabled { await TestServer.isAvailable })
struct VerifyTests {
    @Test(arguments: Variant.all)
    func `an unchanged log verifies, and Python computes the same heads`(
        variant: Variant
    ) async throws {
        let tampered = TamperedLog(variant: variant)
        try await tampered.withCopy { settings in
            let report = try await verify(settings)
            #expect(report.firstMismatch == nil)
            #expect(report.events == (variant.lanes == .one ? 8 : 9))
            #expect(report.commits == (variant.lanes == .one ? 6 : 7))
            let python = try await PythonVerifier.verify(settings)
            #expect(python.ok)
            #expect(python.events == report.events)
            #expect(python.commits == report.commits)
            let heads = python.heads.map { [$0.lane, Int($0.offset), Int($0.commit)] }
            #expect(heads == report.heads.map { [$0.lane, Int($0.offset), Int($0.commit)] })
            #expect(python.heads.map(\.digest) == report.heads.map(\.digest.hex))
        }
    }

    // A group ends with the payload that exceeds it, so the third begins the second group.
    @Test func `payloads that are too large for one group are all read`() async throws {
        let variant = Variant.plain
        try await variant.withLog { log, settings in
            let payloads = variant.ids(inLane: 0, count: 3).map { id in
                let payload = [UInt8](id.utf8) + [UInt8](repeating: 0x20, count: 5 << 20)
                return verified([TestFacts.transaction(id)], payload: payload)
            }
            #expect(2 * (5 << 20) > EvidenceVault.groupBytesMax)
            _ = try await log.append(payloads)
            #expect(try await log.verify().isOK)
            let last = "(SELECT max(evidence_no) FROM ledger.evidence WHERE lane = 0)"
            try await settings.meddle(
                "UPDATE ledger.evidence SET body = '\\x010001' "
                    + "WHERE lane = 0 AND evidence_no = \(last)"
            )
            #expect(try await !log.verify().isOK)
        }
    }

    /// One database per variant, repaired after each case: a database per case would take minutes.
    ///
    /// The Python verifier starts for each case, so the plain tables are left to acceptance, and
    /// every sixth case here.
    @Test(arguments: Acceptance.isRunning ? Variant.localExtremes : [Variant.localExtremes[1]])
    func `for any change, both verifiers name the first commit that does not match`(
        variant: Variant
    ) async throws {
        let tampered = TamperedLog(variant: variant)
        try await tampered.withCopy { settings in
            try await tampered.keepACopy(settings)
            for (number, mutation) in Mutation.all.enumerated() {
                try await mutation.apply(to: tampered, settings)
                let found = try await verify(settings).firstMismatch
                #expect(
                    found?.lane == tampered.lane,
                    "\(mutation.name): \(String(describing: found))"
                )
                #expect(
                    found?.commit == mutation.commit,
                    "\(mutation.name): \(String(describing: found))"
                )
                try await expectSameInRanges(settings, as: found, mutation.name)
                if Acceptance.isRunning || number.isMultiple(of: 6) {
                    let python = try await PythonVerifier.verify(settings)
                    let place = python.firstMismatch
                    #expect(!python.ok, "\(mutation.name)")
                    #expect(
                        place?.lane == tampered.lane && place?.commit == mutation.commit,
                        "\(mutation.name): \(String(describing: place))"
                    )
                }
                try await tampered.mend(settings)
            }
            let mended = try await verify(settings)
            #expect(mended.isOK, "\(String(describing: mended.firstMismatch))")
        }
    }

    @Test func `lanes beyond the configured number are still verified`() async throws {
        let tampered = TamperedLog(variant: Variant.fourLanes)
        try await tampered.withCopy { settings in
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    """
                    \(Tampering.begin)
                    UPDATE ledger.ledger_config SET lanes = 1
                    """
                )
            }
            let found = try await verify(settings).firstMismatch
            #expect(found?.lane == tampered.lane)
            let python = try await PythonVerifier.verify(settings)
            #expect(python.firstMismatch?.lane == tampered.lane)
        }
    }

    @Test(arguments: Variant.extremes)
    func `stored heads reveal a tail that was removed`(
        variant: Variant
    ) async throws {
        let tampered = TamperedLog(variant: variant)
        try await tampered.withCopy { settings in
            let kept = try await verify(settings).heads
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    """
                    \(Tampering.begin)
                    DELETE FROM ledger.commit WHERE lane = \(tampered.lane) AND commit_no = 6;
                    DELETE FROM ledger.event WHERE lane = \(tampered.lane) AND lane_offset = 8;
                    DELETE FROM ledger.evidence WHERE lane = \(tampered.lane) AND commit_no = 6
                    """
                )
            }
            let alone = try await verify(settings)
            #expect(alone.isOK, "the log alone cannot show it")
            let found = try await verify(settings, kept: kept).firstMismatch
            #expect(found?.lane == tampered.lane)
            #expect(found?.commit == 6)
        }
    }

    @Test(arguments: Variant.extremes)
    func `stored heads match the log that grew, and no other`(
        variant: Variant
    ) async throws {
        let tampered = TamperedLog(variant: variant)
        let kept = try await tampered.withCopy { settings in
            let kept = try await verify(settings).heads
            let log = try await EventLog.open(settings, .test())
            _ = try await log.append(verified(TestFacts.transaction(tampered.ids[2])))
            var options = VerificationOptions()
            options.kept = [KeptHeads(kept, source: "kept")]
            let grown = try await log.verify(options)
            #expect(grown.isOK)
            await log.close()
            return kept
        }
        // The same facts in another ledger: as many commits, other digests.
        let other = TamperedLog(
            variant: variant.lanes == .one ? Variant.divided : Variant.fourLanes
        )
        try await other.withCopy { settings in
            let found = try await verify(settings, kept: kept).firstMismatch
            #expect(found?.lane == tampered.lane)
            #expect(found?.commit == 6)
        }
        // A ledger without the stored lane.
        let lonely = VerificationReport.Head(lane: 900, offset: 1, commit: 1, digest: .zero)
        let found = try await other.withCopy { settings in
            try await verify(settings, kept: [lonely]).firstMismatch
        }
        #expect(found?.lane == 900)
    }

    @Test(arguments: Variant.extremes)
    func `verifying during appends never finds a mismatch`(variant: Variant) async throws {
        try await variant.withLog { log, _ in
            async let appended = streamIn(log)
            var reports: [VerificationReport] = []
            repeat {
                reports.append(try await log.verify())
            } while reports.count < 10_000
                && reports.last.map { $0.isOK && $0.events < 300 } ?? false
            let mismatches = reports.compactMap(\.firstMismatch)
            #expect(mismatches.isEmpty, "\(mismatches)")
            #expect(reports.count > 1)
            _ = try await appended
        }
    }

    private func streamIn(_ log: EventLog) async throws {
        for round in Int64(0)..<50 {
            let payloads = (0..<6).map { number in
                // Every second fact is repeated, so that confirmations arrive as well.
                verified(
                    (0...(number % 2)).map { asOf in
                        TestFacts.transaction("\(number)", purchased: round, asOf: asOf)
                    }
                )
            }
            _ = try await appendAll(payloads, to: [log])
        }
    }

    /// In ranges of one commit: the same first mismatch, and the same report for any number of
    /// jobs.
    private func expectSameInRanges(
        _ settings: ConnectionSettings,
        as found: VerificationReport.Mismatch?,
        _ name: String
    ) async throws {
        var options = EventLog.Options.test()
        options.readersMax = 4
        let log = try await EventLog.open(settings, options)
        var ranges = VerificationOptions()
        ranges.rangeRowsMax = 1
        let many = try await log.verify(ranges)
        ranges.jobs = 1
        let one = try await log.verify(ranges)
        await log.close()
        #expect(many.firstMismatch?.lane == found?.lane, "\(name)")
        #expect(many.firstMismatch?.commit == found?.commit, "\(name)")
        #expect(many.mismatches == one.mismatches, "\(name)")
        #expect(many.heads == one.heads, "\(name)")
        #expect(many.events == one.events && many.commits == one.commits, "\(name)")
    }

    private func verify(
        _ settings: ConnectionSettings,
        kept: [VerificationReport.Head] = []
    ) async throws -> VerificationReport {
        let log = try await EventLog.open(settings, .test())
        var options = VerificationOptions()
        if !kept.isEmpty { options.kept = [KeptHeads(kept, source: "kept")] }
        let report = try await log.verify(options)
        await log.close()
        return report
    }
}
