package import EventLog

extension Ledger {
    /// The most rates of one list: thirty years of thirty currencies.
    package static let rateLinesMax = 400_000

    /// Imports a list of exchange rates, or of rates of commission and tax: all lines that are not
    /// refused, or none, with one import time.
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
    package func importRates<Rate: ImportedRate>(
        isDryRun: Bool = false,
        next: () async throws -> [Result<RateLine<Rate>, RefusedLine>]?
    ) async throws -> RateImportDocument<Rate> {
        var document = RateImportDocument<Rate>(isDryRun: isDryRun)
        var first: [Rate.Key: RateLine<Rate>] = [:]
        var number = 0
        while let found = try await next() {
            for result in found {
                // A line can have a rate for each day of a month.
                if result.number() != number { document.lines += 1 }
                number = result.number()
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

        let lines = first.values.sorted {
            ($0.number, $0.rate.key.day) < ($1.number, $1.rate.key.day)
        }
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

    /// A summary of the imported rates of commission and tax for each storefront.
    ///
    /// - Throws: `EventLogError`.
    package func proceedsRateSummaries() async throws -> [ProceedsRateSummary] {
        try await log.proceedsRateSummaries()
    }
}

extension Result {
    // The number of the line, from 1.
    fileprivate func number<Rate>() -> Int where Success == RateLine<Rate>, Failure == RefusedLine {
        switch self {
        case .success(let line): line.number
        case .failure(let refusal): refusal.line
        }
    }
}

extension RateLine {
    fileprivate func contradicts(_ earlier: RateLine) -> RefusedLine {
        RefusedLine(
            line: number,
            reason: "contradiction",
            message: "line \(earlier.number) gives another rate of \(rate.key.words) for "
                + "\(rate.key.day): \(Rate.words(earlier.rate.value))"
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
