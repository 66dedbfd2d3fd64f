internal import EventLog
internal import Events
internal import Projections

extension Ledger {
    /// Closes a month: computes its reports with all that is known now, so that they can be computed
    /// again at any later time.
    ///
    /// Each report about one month has its default breakdown. Reports that follow customers from
    /// their first payment or purchase on begin with the first purchase and end with the month.
    ///
    /// - Parameters:
    ///   - question: The month, and what is included.
    ///   - write: Receives each file with its name, `CloseDocument` last.
    /// - Returns: The close.
    /// - Throws: `QuestionError` if the month is not over by Apple's newest signature, or an earlier
    ///   close does not fit; `EventLogError`, `ProjectorError`, `PostgresError`.
    package func closeMonth(
        _ question: CloseQuestion,
        write: (String, [UInt8]) throws -> Void
    ) async throws -> CloseDocument {
        guard let month = Month(question.month), question.month == month.text else {
            throw QuestionError(
                .unknownReport,
                "invalid month '\(question.month)'; expected a year and a month, such as 2026-10"
            )
        }
        let corrections = try corrections(question)
        let questions = question.reports(of: month)
        let entries = corrections.flatMap(\.reports)
        let knownAt = try await closingBound(
            usingRates: (questions.map(\.money) + entries.compactMap(\.money))
                .contains(where: \.usesRates)
        )
        var files: [CloseDocument.File] = []
        func put(_ name: String, _ content: [UInt8]) throws {
            try write(name, content)
            files.append(CloseDocument.File(name, content))
        }
        let reports = try await answers(questions, knownAt: knownAt) { report in
            try month.check(isOver: report.asOf)
            for (name, content) in try report.files() { try put(name, content) }
        }
        var close = try await document(question, knownAt, reports, corrections)
        for correction in corrections {
            let documents = try await changes(correction, of: close, until: knownAt)
            for (name, content) in try documents.files(correction) { try put(name, content) }
        }
        let checkpoint = SignedCheckpoint(try await log.checkpoint(), signedBy: nil)
        try put(CloseDocument.checkpointName, try CheckpointDocument(checkpoint).printedFile())
        close.files = files
        try write(CloseDocument.fileName, try close.file())
        return close
    }

    // The positions of the newest events or, if a catalog or rates that are used were imported after
    // them, the instant of the last import.
    private func closingBound(usingRates: Bool) async throws -> KnownAt {
        let heads = try await log.heads()
        let offsets = KnownAt.offsets(whole(heads.mapValues(\.offset)))
        var imports: [Instant] = []
        if try await catalogs(knownAt: offsets) != catalogs() {
            imports += try await catalogStore.versions().map(\.record.recordedAt)
        }
        if usingRates {
            let rates =
                try await log.rateSummaries().map(\.recordedAt)
                + log.proceedsRateSummaries().map(\.recordedAt)
            let bound = try await log.recordingBound(of: offsets) ?? .epoch
            imports += rates.filter { $0 > bound }
        }
        guard let imported = imports.max(),
            try await log.heads(knownAt: .time(imported)).mapValues(\.offset)
                == heads.mapValues(\.offset)
        else { return offsets }
        return .time(imported)
    }

    /// Computes reports with the same bound of knowledge, from one fold.
    func answers(
        _ questions: [ReportQuestion],
        knownAt: KnownAt,
        take: (ReportDocument) throws -> Void
    ) async throws -> [ReportDocument.Origin] {
        for question in questions { try question.check() }
        return try await readingAnalytics(
            "report close",
            of: questions.map(\.tablesSQL).joined(separator: "\n"),
            knownAt: knownAt
        ) { session, ground in
            var origins: [ReportDocument.Origin] = []
            var ground = ground
            for question in questions {
                var question = question
                question.knownAt = knownAt
                let run = ReportRun(
                    ledger: self,
                    question: question,
                    session: session,
                    ground: ground
                )
                ground.newestSignature = try await run.newestSignature()
                let report = try await run.answer().document
                try take(report)
                origins.append(ReportDocument.Origin(report, folds: ground.folds))
            }
            return origins
        }
    }

    /// What changed in the reports of an earlier month.
    func changes(
        _ correction: CloseDocument.Correction,
        of close: CloseDocument,
        until knownAt: KnownAt
    ) async throws -> [ReportChangesDocument] {
        let questions = close.questions(correction.reports)
        guard let since = KnownAt(correction.since), !questions.isEmpty else { return [] }
        return try await reportChanges(
            questions,
            since: since,
            until: knownAt,
            listing: close.namesCustomers ? ReportQuestion.changedCustomersMax : 0
        )
    }

    // Each earlier month once, since the newest close that has it.
    private func corrections(
        _ question: CloseQuestion
    ) throws(QuestionError) -> [CloseDocument.Correction] {
        var newest: [String: CloseDocument.Correction] = [:]
        for close in question.earlier.sorted(by: { $0.month < $1.month }) {
            try QuestionError.refuse(
                unless: close.ledgerId == UUIDText.text(log.identity.ledgerId),
                "the close of \(close.month) is of another ledger, \(close.ledgerId)"
            )
            try QuestionError.refuse(
                unless: close.environment == question.environment,
                "the close of \(close.month) is of \(close.environment.word), not of "
                    + question.environment.word
            )
            try QuestionError.refuse(
                unless: close.month < question.month,
                "the close of \(close.month) is not of a month before \(question.month)"
            )
            for (month, reports) in close.months {
                newest[month] = CloseDocument.Correction(
                    month: month,
                    since: close.knownAt,
                    reports: reports
                )
            }
        }
        return newest.values.sorted { $0.month < $1.month }
    }

    private func document(
        _ question: CloseQuestion,
        _ knownAt: KnownAt,
        _ reports: [ReportDocument.Origin],
        _ corrections: [CloseDocument.Correction]
    ) async throws -> CloseDocument {
        let heads = try await log.heads(knownAt: knownAt).sorted { $0.key < $1.key }
        return CloseDocument(
            type: CloseDocument.type,
            format: CloseDocument.currentFormat,
            program: Ledger.version,
            ledgerId: UUIDText.text(log.identity.ledgerId),
            month: question.month,
            environment: question.environment,
            namesCustomers: question.namesCustomers,
            knownAt: log.text(knownAt),
            heads: heads.map { VerificationReport.Head(lane: $0.key, $0.value) },
            catalogVersion: reports.first?.catalogVersion ?? 0,
            folds: reports.first?.folds ?? [:],
            erasures: reports.first?.erasures ?? 0,
            reports: reports.map(\.entry),
            corrections: corrections,
            files: []
        )
    }
}

extension ReportDocument {
    /// What a report was computed from.
    struct Origin {
        let entry: CloseDocument.Entry
        let catalogVersion: Int
        let folds: [String: Int]
        let erasures: Int64

        /// That of a report, with the folds of all reports that were computed together.
        init(_ report: ReportDocument, folds: [String: Int]) {
            entry = report.entry
            catalogVersion = report.catalogVersion
            self.folds = folds
            erasures = report.erasures
        }
    }
}

extension VerificationReport.Head {
    init(lane: Int, _ head: EventLog.Head) {
        self.init(lane: lane, offset: head.offset, commit: head.commit, digest: head.digest)
    }
}

extension CloseQuestion {
    // The reports of a month.
    fileprivate func reports(of month: Month) -> [ReportQuestion] {
        let plain = Report.all.filter { namesCustomers || !$0.namesCustomers }.map { report in
            var question = ReportQuestion(report)
            question.from = report.followsCustomers ? nil : month.start
            question.to = month.lastDay
            question.environment = environment
            question.limit = ReportQuestion.limitMax
            return question
        }
        return plain
            + plain.compactMap { question in
                money.accepted(by: question.report).map { accepted in
                    var question = question
                    question.money = accepted
                    return question
                }
            }
    }
}

extension Report {
    // Whether it follows customers from their first payment or purchase on, so that those of one
    // month alone would show little.
    fileprivate var followsCustomers: Bool {
        isOfCohortMonths || ["ltv", "initial-conversion"].contains(name)
            || keys.contains { $0.name == "month_number" }
    }
}

extension Month {
    // The start of its last day.
    fileprivate var lastDay: Instant? {
        adding(1).start.map { Instant(milliseconds: $0.milliseconds - Instant.dayLength) }
    }

    // Refuses a month that is not over by Apple's newest signature.
    fileprivate func check(isOver asOf: Instant) throws(QuestionError) {
        try QuestionError.refuse(
            unless: adding(1).start.map { $0 <= asOf } ?? false,
            "\(text) is not over: Apple's newest signature is of \(asOf.clock) UTC; close a month "
                + "when something of the next one has arrived"
        )
    }
}

extension ReportDocument {
    /// Its files in a close.
    func files() throws -> [(String, [UInt8])] {
        [
            ("\(entry.fileName).csv", Array(csv.utf8)),
            ("\(entry.fileName).json", try printedFile()),
        ]
    }

    fileprivate var entry: CloseDocument.Entry {
        CloseDocument.Entry(
            name: name,
            version: version,
            by: by,
            from: from,
            to: to,
            money: money
        )
    }
}

extension [ReportChangesDocument] {
    /// The files of corrections, those of converted reports apart; none without reports.
    func files(_ correction: CloseDocument.Correction) throws -> [(String, [UInt8])] {
        try [filter { $0.money == nil }, filter { $0.money != nil }].flatMap { reports in
            guard let first = reports.first else { return [(String, [UInt8])]() }
            let name = correction.fileName + (first.money?.fileSuffix ?? "")
            let document = CorrectionsDocument(month: correction.month, reports: reports)
            return [
                ("\(name).csv", [UInt8](reports.csv.utf8)),
                ("\(name).json", try document.printedFile()),
            ]
        }
    }
}
