import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres

/// A log of synthetic subscriptions for measurements, written without the ledger's own appends.
///
/// Events have the fields of Apple's signed payloads. They are in order of time, so a stream's
/// events are as far apart as in a real log. Digests and commits are valid; the single payload
/// behind them proves nothing, so `verify --signatures` would fail.
struct RebuildBenchLog {
    /// The approximate number of events in the log.
    let events: Int

    /// The most events of a stream, and their mean; lengths are exponentially distributed.
    static let streamEventsMax = 400
    static let streamEventsMean = 25

    /// Events of one commit and of one COPY: fewer in a short log, so its last twentieth, with
    /// which `follow` is measured, has whole commits.
    private var commitEvents: Int { min(10_000, max(1, events / 40)) }

    /// A renewal consists of a transaction, a renewal snapshot and a notification.
    private static let eventsPerRenewal = 3

    /// Weeks over which subscriptions begin.
    private static let weeks = 150

    /// 2021-01-01.
    private static let epoch: Int64 = 1_609_459_200_000
    static let week: Int64 = 604_800_000

    /// The remaining events of one subscription.
    private struct Stream {
        let number: Int
        var renewal = 0
        let renewals: Int

        /// Long lives are weekly and short ones monthly, so both span plausible times.
        var weeks: Int { renewals > 36 ? 1 : 4 }
    }

    /// Writes the log; returns its number of events.
    func write(to settings: ConnectionSettings, seed: UInt64 = 1) async throws -> Int {
        let log = try await EventLog.open(settings)
        let identity = log.identity
        await log.close()
        let session = try await PostgresSession.connect(settings)
        var writer = BenchLogWriter(identity: identity)
        var random = SeededGenerator(seed: seed)

        var due: [[Stream]] = []
        var planned = 0
        var number = 0
        while planned < events {
            let mean = Double(Self.streamEventsMean - 2)
            let length = min(Self.streamEventsMax, 1 + Int(-mean * Self.logarithm(&random)))
            let renewals = max(1, length / Self.eventsPerRenewal)
            planned += renewals * Self.eventsPerRenewal
            let start = Int(random.next() % UInt64(Self.weeks))
            while due.count <= start { due.append([]) }
            due[start].append(Stream(number: number, renewals: renewals))
            number += 1
        }

        var week = 0
        while week < due.count {
            for var stream in due[week] {
                writer.add(
                    stream.number,
                    renewal: stream.renewal,
                    at: Self.instant(week),
                    weeks: stream.weeks
                )
                stream.renewal += 1
                if stream.renewal < stream.renewals {
                    let next = week + stream.weeks
                    while due.count <= next { due.append([]) }
                    due[next].append(stream)
                }
                if writer.pending >= commitEvents { try await writer.commit(session) }
            }
            due[week] = []
            week += 1
        }

        try await writer.commit(session)
        try await session.execute("VACUUM (FREEZE, ANALYZE) ledger.event")
        await session.close()
        return writer.written
    }

    private static func instant(_ week: Int) -> Int64 { epoch + Int64(week) * Self.week }

    // The natural logarithm of a number between 0 and 1.
    private static func logarithm(_ random: inout SeededGenerator) -> Double {
        log((Double(random.next() >> 11) + 1) / Double(1 << 53))
    }
}
