package import EventLog

extension Ledger {
    /// The most lines of one list of rates: thirty years of thirty currencies.
    package static let rateLinesMax = 400_000

    /// Imports a list of exchange rates: all lines that are not refused, or none, with one import
    /// time.
    ///
    /// A refused line does not stop the others. Importing the same list again changes nothing; a
    /// different rate for a known day replaces it, and reports as known before still use the old
    /// one.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether lines are only checked and nothing is written.
    ///   - next: Returns the next lines; nil after the last. They are held in memory, at most
    ///     `rateLinesMax` of them.
    /// - Returns: The result.
    /// - Throws: `EventLogError`, or what `next` threw; then nothing was written.
    package func importRates(
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

    /// A summary of the imported exchange rates for each pair of currencies.
    ///
    /// - Throws: `EventLogError`.
    package func rateSummaries() async throws -> [CurrencyRateSummary] {
        try await log.rateSummaries()
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
