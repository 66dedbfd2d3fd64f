package import EventLog
internal import Events
public import Projections

/// Subscriptions that need a person's attention, the worst first.
package struct AnomaliesDocument: LogReport, Hashable {
    /// The number of subscriptions read.
    package let streams: Int
    /// The number of anomalies of each kind.
    package let counts: [String: Int]
    /// The worst anomalies, up to the requested number.
    package let anomalies: [StreamAnomaly]
    /// How many subscriptions have events that cannot be read.
    package let unreadableStreams: Int
    /// The first of these.
    package let unreadable: [UnreadableStreams.Named]
}

extension Ledger {
    /// Subscriptions that need a person's attention, the worst first.
    ///
    /// Reads the log once, and the subscriptions that share an id a second time; memory does not
    /// grow with the log.
    ///
    /// - Parameters:
    ///   - limit: The most anomalies that are listed; all are counted.
    ///   - knownAt: How much of the log is used.
    ///   - limits: The thresholds of an anomaly.
    ///   - progress: Receives the number of subscriptions read so far.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`, `CatalogError`.
    package func anomalies(
        limit: Int = 100,
        knownAt: KnownAt = .latest,
        limits: AnomalyLimits = AnomalyLimits(),
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> AnomaliesDocument {
        let catalogs = try await catalogs(knownAt: knownAt)
        var found = try await foldAll(
            into: FindingTally<StreamAnomaly>(limit: limit),
            knownAt: knownAt
        ) { tally, history in
            guard history.unreadable.isEmpty else { return }
            tally.take(of: StreamAnomalies(Timeline(history), catalogs, limits: limits).found)
            progress(tally.streams)
        }
        try await found.state.take(sharedIds(knownAt: knownAt, limits: limits))
        found.state.trim()
        return AnomaliesDocument(
            streams: found.state.streams,
            counts: found.state.counts,
            anomalies: found.state.worst,
            unreadableStreams: found.unreadable.count,
            unreadable: found.unreadable.named
        )
    }
}

extension Ledger {
    // Shared ids, as known then: one that was shared only later is found and dropped again.
    private func sharedIds(
        knownAt: KnownAt,
        limits: AnomalyLimits
    ) async throws -> [StreamAnomaly] {
        var found: [StreamAnomaly] = []
        for shared in try await log.sharedTokens(min: limits.tokenAccountsMin) {
            let streams = try await sharers(shared, knownAt)
            let anomaly = SharedIDs.anomaly(ofToken: shared.id, streams, limits: limits)
            found += [anomaly].compactMap { $0 }
        }
        for shared in try await log.sharedTransactions() {
            let streams = try await sharers(shared, knownAt)
            let anomaly = SharedIDs.anomaly(
                ofTransaction: shared.id,
                lineItem: shared.lineItem,
                streams
            )
            found += [anomaly].compactMap { $0 }
        }
        return found
    }

    private func sharers(
        _ shared: EventLog.SharedID,
        _ knownAt: KnownAt
    ) async throws -> [CustomerStream] {
        let histories = try await log.histories(of: shared.streams, knownAt: knownAt)
            .filter { !$0.events.isEmpty }
        let receipts = try await log.receipts(of: histories)
        return zip(histories, receipts).map { CustomerStream($0, receipts: $1) }
    }
}

extension StreamAnomaly: ReportFinding {}

extension AnomaliesDocument {
    /// The answer as text.
    package var text: [Block] {
        let header = [
            "subscription", "environment", "anomaly", "times", "given back", "from", "to",
            "because of",
        ]
        let rows = anomalies.map { row in
            [
                row.originalTransactionId, row.environment.word,
                row.kind.rawValue + (row.sharedId.map { " \($0)" } ?? ""), "\(row.count)",
                Amount.text(row.givenMilliunits, row.currency).grouped, row.from.clock,
                row.to.clock,
                row.positions.marks,
            ]
        }
        return (rows.isEmpty ? [] : [.table(header, rows)])
            + [.line(StreamAnomaly.summary(counts, of: streams))]
    }
}
