package import EventLog
package import Events

/// How much of the input was refused, already known, or restored.
package struct IngestQualityDocument: Codable, Hashable, Sendable {
    /// One line for each source.
    package let sources: [Line]
    /// The sum of all sources.
    package let total: Line
    /// The counts of each channel in the log, including channels without runs: notifications that
    /// `serve` received, answers that `poll` fetched.
    package let channels: [IngestQuality.Channel]
    /// Additional transaction ids of purchases, by the kind of payload that brought them; over the
    /// whole log.
    package let aliases: [Aliases]

    /// The runs of one source.
    package struct Line: Codable, Hashable, Sendable {
        /// The source; nil for all.
        package let source: String?
        /// Runs that completed.
        package let runs: Int64
        /// Payloads read, including refused ones.
        package let payloads: Int64
        /// Payloads refused.
        package let rejected: Int64
        /// The same by reason.
        package let rejectedByReason: [String: Int64]
        /// Facts that were verified.
        package let facts: Int64
        /// Facts that were appended as events.
        package let appended: Int64
        /// Facts that were already known.
        package let duplicates: Int64
        /// Their share of the facts, in percent; nil if there are no facts.
        package let duplicatePercent: Double?
        /// Facts with a new transaction id for a known purchase.
        package let restored: Int64
        /// Their share of the facts, in percent; nil if there are no facts.
        package let restoredPercent: Double?
        /// The most streams that one run was about: runs overlap, so a sum over runs would be
        /// meaningless.
        package let streamsOfOneRunMax: Int64
    }

    /// The transaction ids that payloads of one kind brought.
    package struct Aliases: Codable, Hashable, Sendable {
        /// The kind of payload.
        package let evidenceKind: String
        /// Purchases with a transaction id.
        package let purchases: Int64
        /// Additional ids of these purchases.
        package let aliases: Int64
        /// Their share of the purchases, in percent; nil if there are no purchases.
        package let aliasPercent: Double?
    }
}

extension Ledger {
    /// How much of the input was refused, already known, or restored.
    ///
    /// - Parameters:
    ///   - source: Only this channel; nil for all.
    ///   - instant: Only runs that ended, and payloads that arrived, at this instant or later; nil
    ///     for all.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`.
    package func ingestQuality(
        source: String? = nil,
        since instant: Instant? = nil
    ) async throws(EventLogError) -> IngestQualityDocument {
        let quality = try await log.ingestQuality(source: source, since: instant)
        return IngestQualityDocument(
            sources: quality.sources.map { IngestQualityDocument.Line($0, source: $0.source) },
            total: IngestQualityDocument.Line(quality.total, source: nil),
            channels: quality.channels,
            aliases: quality.aliases.map { line in
                IngestQualityDocument.Aliases(
                    evidenceKind: line.evidenceKind,
                    purchases: line.purchases,
                    aliases: line.aliases,
                    aliasPercent: percent(line.aliases, of: line.purchases)
                )
            }
        )
    }
}

extension IngestQualityDocument.Line {
    fileprivate init(_ line: IngestQuality.Line, source: String?) {
        let counts = line.counts
        self.source = source
        runs = line.runs
        payloads = counts.payloads
        rejected = counts.rejected
        rejectedByReason = counts.rejectedByReason
        facts = counts.facts
        appended = counts.appended
        duplicates = counts.duplicates
        duplicatePercent = percent(counts.duplicates, of: counts.facts)
        restored = counts.restored
        restoredPercent = percent(counts.restored, of: counts.facts)
        streamsOfOneRunMax = counts.streams
    }
}

// With two decimals; undefined if the whole is zero.
private func percent(_ part: Int64, of whole: Int64) -> Double? {
    whole == 0 ? nil : (Double(part) * 10_000 / Double(whole)).rounded() / 100
}

extension IngestQualityDocument {
    /// The answer as text.
    package var text: [Block] {
        let header = [
            "source", "runs", "payloads", "refused", "facts", "known already", "share",
            "restored ids", "share", "streams of one run, at most",
        ]
        let reasons = total.rejectedByReason.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var text =
            [.table(header, (sources + [total]).map(\.cells))]
            + reasons.map { Block.line("refused \($0.value) × \($0.key)") }
        if !channels.isEmpty {
            let rows = channels.map { line in
                [line.source] + [line.payloads, line.events, line.rejected].map { "\($0)".grouped }
            }
            text += [
                .gap, .table(["in the log, by channel", "payloads", "events", "refused"], rows),
            ]
        }
        guard !aliases.isEmpty else { return text }
        let rows = aliases.map { line in
            [
                line.evidenceKind, "\(line.purchases)".grouped, "\(line.aliases)".grouped,
                share(line.aliasPercent),
            ]
        }
        return text + [
            .gap, .table(["in the log, from", "purchases", "further ids", "share"], rows),
        ]
    }
}

extension IngestQualityDocument.Line {
    fileprivate var cells: [String] {
        [
            source ?? "all", "\(runs)".grouped, "\(payloads)".grouped, "\(rejected)".grouped,
            "\(facts)".grouped, "\(duplicates)".grouped, share(duplicatePercent),
            "\(restored)".grouped, share(restoredPercent), "\(streamsOfOneRunMax)".grouped,
        ]
    }
}

private func share(_ percent: Double?) -> String {
    percent.map { Int64(($0 * 100).rounded()).decimals + " %" } ?? "–"
}
