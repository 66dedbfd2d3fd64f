package import EventLog
internal import Events

/// A close compared with what the ledger and the program give now.
package struct CloseVerification: Codable, Hashable, Sendable {
    /// The month.
    package let month: String
    /// Whether every file is the one that was written, and is computed again byte for byte.
    package var ok: Bool {
        isOfThisLedger && changedHeads.isEmpty && files.allSatisfy { $0.state == .same }
    }
    /// Whether the close is of this ledger; if not, nothing else was compared.
    package let isOfThisLedger: Bool
    /// The recorded commits that the log does not have any more.
    package let changedHeads: [VerificationReport.Head]
    /// The files.
    package let files: [File]

    /// A file of a close.
    package struct File: Codable, Hashable, Sendable {
        /// Its name in the folder.
        package let path: String
        /// The result.
        package let state: State
        /// Why, if it is known.
        package let reasons: [String]
    }

    /// The result for a file.
    package enum State: String, Codable, Sendable {
        /// It is the one that was written, and is computed again byte for byte.
        case same
        /// It is not in the folder.
        case missing
        /// It is not the one that was written.
        case edited
        /// It is the one that was written, but other bytes are computed now.
        case differs
    }

    private enum CodingKeys: String, CodingKey {
        case month, ok, isOfThisLedger, changedHeads, files
    }

    init(
        _ close: CloseDocument,
        isOfThisLedger: Bool,
        changedHeads: [VerificationReport.Head] = [],
        files: [File] = []
    ) {
        month = close.month
        self.isOfThisLedger = isOfThisLedger
        self.changedHeads = changedHeads
        self.files = files
    }

    /// Decodes JSON.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        month = try container.decode(String.self, forKey: .month)
        isOfThisLedger = try container.decode(Bool.self, forKey: .isOfThisLedger)
        changedHeads = try container.decode(
            [VerificationReport.Head].self,
            forKey: .changedHeads
        )
        files = try container.decode([File].self, forKey: .files)
    }

    /// Encodes JSON, with `ok`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(month, forKey: .month)
        try container.encode(ok, forKey: .ok)
        try container.encode(isOfThisLedger, forKey: .isOfThisLedger)
        try container.encode(changedHeads, forKey: .changedHeads)
        try container.encode(files, forKey: .files)
    }
}

extension Ledger {
    /// Computes the files of a close again, and compares them byte for byte.
    ///
    /// - Parameters:
    ///   - close: The close.
    ///   - read: The bytes of a file in its folder; nil if it is missing.
    /// - Returns: The result for each file, and for the recorded commits.
    /// - Throws: `EventLogError`, `ProjectorError`, `PostgresError`; what `read` throws.
    package func verifyClose(
        _ close: CloseDocument,
        read: (String) throws -> [UInt8]?
    ) async throws -> CloseVerification {
        guard close.ledgerId == UUIDText.text(log.identity.ledgerId),
            let knownAt = KnownAt(close.knownAt)
        else { return CloseVerification(close, isOfThisLedger: false) }
        let heads = try await log.heads(knownAt: knownAt)
        let changed = close.heads.filter { head in
            heads[head.lane].map { VerificationReport.Head(lane: head.lane, $0) } != head
        }
        let recomputed = try await recomputed(close, knownAt)
        let listed = Set(close.files.map(\.path))
        let names = recomputed.digests.keys + [CloseDocument.checkpointName]
        let files =
            try close.files.map { file in
                try result(file, of: close, recomputed, try read(file.path))
            }
            + names.filter { !listed.contains($0) }.sorted().map { name in
                CloseVerification.File(
                    path: name,
                    state: .missing,
                    reasons: ["\(CloseDocument.fileName) does not list it: it was edited"]
                )
            }
        return CloseVerification(
            close,
            isOfThisLedger: true,
            changedHeads: changed,
            files: files
        )
    }

    /// What is computed now in place of the files of a close.
    private struct Recomputed {
        /// The SHA-256 of each file, by its name.
        var digests: [String: String] = [:]
        var erasures: Int64 = 0
    }

    private func recomputed(
        _ close: CloseDocument,
        _ knownAt: KnownAt
    ) async throws -> Recomputed {
        var recomputed = Recomputed()
        let questions = close.questions(close.reports)
        if !questions.isEmpty {
            let origins = try await answers(questions, knownAt: knownAt) { report in
                for (name, content) in try report.files() {
                    recomputed.digests[name] = CloseDocument.File(name, content).sha256
                }
            }
            recomputed.erasures = origins.first?.erasures ?? 0
        }
        for correction in close.corrections {
            let documents = try await changes(correction, of: close, until: knownAt)
            for (name, content) in try documents.files(correction) {
                recomputed.digests[name] = CloseDocument.File(name, content).sha256
            }
        }
        return recomputed
    }

    private func result(
        _ file: CloseDocument.File,
        of close: CloseDocument,
        _ recomputed: Recomputed,
        _ content: [UInt8]?
    ) throws -> CloseVerification.File {
        let isRepeated =
            file.path == CloseDocument.checkpointName
            || recomputed.digests[file.path] == file.sha256
        let state: CloseVerification.State =
            if let content {
                if CloseDocument.File(file.path, content) != file {
                    .edited
                } else {
                    isRepeated ? .same : .differs
                }
            } else {
                .missing
            }
        return CloseVerification.File(
            path: file.path,
            state: state,
            reasons: isRepeated ? [] : reasons(file.path, close, recomputed)
        )
    }

    // Why other bytes are computed now.
    private func reasons(
        _ path: String,
        _ close: CloseDocument,
        _ recomputed: Recomputed
    ) -> [String] {
        let name = String(path.prefix { $0 != "." })
        let entries =
            close.reports.filter { $0.fileName == name }
            + close.corrections.filter { name.hasPrefix($0.fileName) }.flatMap(\.reports)
        var reasons: [String] = []
        var projections: Set<String> = []
        for entry in entries {
            guard let report = Report.named(entry.name) else {
                reasons.append("this program has no report \(entry.name)")
                continue
            }
            projections.formUnion(ReportQuestion(report).projections)
            if report.version != entry.version {
                reasons.append(
                    "definition \(entry.version) of \(entry.name) then, \(report.version) now"
                )
            }
        }
        for (fold, version) in projector.folds.sorted(by: { $0.key < $1.key })
        where projections.contains(fold) {
            guard let then = close.folds[fold], then != version else { continue }
            reasons.append("fold \(fold) \(then) then, \(version) now")
        }
        let erasures = recomputed.erasures - close.erasures
        if erasures > 0 { reasons.append("\(counted(erasures, "erasure")) since") }
        if reasons.isEmpty, close.program != Ledger.version {
            reasons.append("written by version \(close.program), this is \(Ledger.version)")
        }
        return reasons
    }
}
