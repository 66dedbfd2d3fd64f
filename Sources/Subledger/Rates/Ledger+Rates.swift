internal import EventLog

extension Ledger {
    /// Most lines of one list of rates: thirty years of thirty currencies.
    public static let rateLinesMax = 400_000

    /// Takes in a list of exchange rates: all that are not refused, or none, with one time of import.
    ///
    /// A line that is refused does not stop the others. The same list again changes nothing; another
    /// rate of a known day takes its place, and reports as known before still use the old one.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether lines are judged and nothing is written.
    ///   - next: Gives the next lines; nil after the last. They are held in memory, at most
    ///     `rateLinesMax` of them.
    /// - Returns: What became of them.
    /// - Throws: `EventLogError`, or what `next` threw; then nothing was written.
    public func importRates(
        isDryRun: Bool = false,
        next: () async throws -> [Result<RateLine, RefusedLine>]?
    ) async throws -> RateImportDocument {
        var document = RateImportDocument(isDryRun: isDryRun)
        var first: [CurrencyRate.Key: RateLine] = [:]
        while let found = try await next() {
            for result in found {
                document.lines += 1
                switch result {
                case .failure(let refusal): document.refuse(refusal)
                case .success(let line):
                    guard let earlier = first[line.rate.key] else {
                        guard first.count < Ledger.rateLinesMax else {
                            document.refuse(line.isTooMany)
                            continue
                        }
                        first[line.rate.key] = line
                        continue
                    }
                    if earlier.rate == line.rate {
                        document.known += 1
                    } else {
                        document.refuse(line.contradicts(earlier))
                    }
                }
            }
        }
        let lines = first.values.sorted { $0.number < $1.number }
        let outcomes = try await log.addRates(lines.map(\.rate), isDryRun: isDryRun)
        for (line, outcome) in zip(lines, outcomes) { document.count(outcome, of: line) }
        document.rejections.sort { $0.line < $1.line }
        return document
    }

    /// What exchange rates the operator imported: a summary for each pair of currencies.
    ///
    /// - Throws: `EventLogError`.
    public func rateSummaries() async throws -> [RateSummaryDocument] {
        try await log.rateSummaries().map(RateSummaryDocument.init)
    }
}

extension RateLine {
    fileprivate func contradicts(_ earlier: RateLine) -> RefusedLine {
        let key = rate.key
        return RefusedLine(
            line: number,
            reason: "contradiction",
            message: "line \(earlier.number) gives another rate of \(key.pair.currency) to "
                + "\(key.pair.baseCurrency) for \(key.day): \(earlier.rate.rate.text)"
        )
    }

    fileprivate var isTooMany: RefusedLine {
        RefusedLine(
            line: number,
            reason: "too-many-lines",
            message: "the list has more than \(Ledger.rateLinesMax) rates; import the rest as a "
                + "second list"
        )
    }
}
