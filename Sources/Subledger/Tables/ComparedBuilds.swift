package import EventLog
package import Events
package import Projections
package import Projector

/// The subject of a comparison: its kind, the knowledge, the position in the log, and the time.
///
/// A report is filed and read later, among others; the differences alone do not show any of this.
package struct ComparedBuilds {
    package let kind: Kind
    /// The schema in which the new tables are kept; nil if they are ready to be promoted or were
    /// dropped.
    package let keptIn: String?
    /// The sixteen bytes that identify the ledger.
    package let ledgerId: [UInt8]
    /// The instant of the report, on our clock.
    package let madeAt: Instant
    /// The positions of the log that both sides include: one, unless some live tables lag behind
    /// others.
    package let standings: [Standing]
    private let lanes: LaneCount
    /// The catalog that each side uses, by projection.
    package let catalogs: [String: Catalogs]

    /// The kind of comparison.
    package enum Kind: Equatable {
        /// Live tables against those of this program's folds, which are ready to be promoted.
        case diff
        /// Live tables against a rebuild of them.
        case check
        /// Live tables against those of another policy, in its canonical text.
        case policy(String)

        /// The machine-readable word: the option of `rebuild`.
        package var word: String {
            switch self {
            case .diff: "diff"
            case .check: "check"
            case .policy: "with"
            }
        }
    }

    /// Some tables, and the newest commit of each lane that both sides of them include.
    package struct Standing: Encodable {
        package let projections: [String]
        /// By lane; lanes without events are left out.
        package let heads: [VerificationReport.Head]
    }

    /// Versions of the catalog; 0 for none.
    package struct Catalogs {
        /// The version used by the live table; nil if there is none.
        package let old: Int?
        package let new: Int
    }

    /// Describes the subject of a comparison.
    ///
    /// - Parameters:
    ///   - comparison: The comparison.
    ///   - kind: Its kind.
    ///   - keptIn: The schema in which the new tables are kept, if they are.
    ///   - newCatalog: The newest version of the catalog in the new tables; nil for the live one.
    ///   - projector: Gives the live tables.
    ///   - log: The log that they are built from.
    ///   - madeAt: The instant of the report.
    /// - Throws: `ProjectorError`, `EventLogError`.
    package init(
        _ comparison: Projector.Comparison,
        _ kind: Kind,
        keptIn: String?,
        newCatalog: Int?,
        of projector: Projector,
        in log: EventLog,
        madeAt: Instant
    ) async throws {
        self.kind = kind
        self.keptIn = keptIn
        self.madeAt = madeAt
        ledgerId = log.identity.ledgerId
        lanes = log.identity.lanes
        standings = try await ComparedBuilds.standings(comparison.tables, in: log)
        // The table lists are read after the comparison; a table promoted in the meantime has
        // another version, and is not the one that was compared.
        let tables = try await projector.tables()
        var catalogs: [String: Catalogs] = [:]
        for compared in comparison.difference.tables {
            let new = comparison.tables.first { $0.name == compared.name }
            let live = tables.first {
                $0.state == .live && $0.name == compared.name && $0.version == compared.oldVersion
            }
            let built = tables.first { $0.schema == new?.schema && $0.name == new?.name }
            let old = live?.catalogVersion
            if let version = built?.catalogVersion ?? newCatalog ?? old {
                catalogs[compared.name] = Catalogs(old: old, new: version)
            }
        }
        self.catalogs = catalogs
    }

    // Tables at the same position are grouped, in the order of the comparison.
    private static func standings(
        _ tables: [Projector.Rebuilt],
        in log: EventLog
    ) async throws -> [Standing] {
        var groups: [(positions: [Int: Int64], names: [String])] = []
        for table in tables {
            if let index = groups.firstIndex(where: { $0.positions == table.positions }) {
                groups[index].names.append(table.name)
            } else {
                groups.append((table.positions, [table.name]))
            }
        }
        var standings: [Standing] = []
        for group in groups {
            var heads: [VerificationReport.Head] = []
            for lane in group.positions.keys.sorted() {
                let knownAt = KnownAt.offsets([lane: group.positions[lane] ?? 0])
                if let head = try await log.newestCommit(lane: lane, knownAt: knownAt) {
                    heads.append(VerificationReport.Head(head))
                }
            }
            standings.append(Standing(projections: group.names, heads: heads))
        }
        return standings
    }
}

extension ComparedBuilds: Encodable {
    private enum Member: CodingKey { case kind, policy, schema, ledgerId, madeAt, upTo }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(kind.word, forKey: .kind)
        try members.encodeIfPresent(policy, forKey: .policy)
        try members.encodeIfPresent(keptIn, forKey: .schema)
        try members.encode(ledger, forKey: .ledgerId)
        try members.encode(madeAt, forKey: .madeAt)
        try members.encode(standings, forKey: .upTo)
    }
}

extension ComparedBuilds {
    /// The ledger's id as PostgreSQL writes it.
    package var ledger: String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(ledgerId[$0]) }
            .joined(separator: "-")
    }

    /// The kind of comparison as text.
    package var title: String {
        switch kind {
        case .diff: "tables diff: the live tables (old) and what this program builds (new)"
        case .check: "tables check: the live tables (old) and a rebuild of them (new)"
        case .policy:
            "rebuild --with: the live tables (old) and the tables under another policy (new)"
        }
    }

    /// The policy that was compared; nil if there was none.
    package var policy: String? {
        guard case .policy(let text) = kind else { return nil }
        return text
    }

    /// The positions of the log that both sides include, one line for each position; each names at
    /// most `lanesMax` lanes.
    package var positions: [String] {
        standings.map { standing in
            let heads = standing.heads.prefix(ComparedBuilds.lanesMax).map { mark in
                Position(lane: lanes[mark.lane], offset: mark.offset).mark
                    + " (commit \(mark.commit), "
                    + "\(mark.digest.hex.prefix(ComparedBuilds.digestDigits))…)"
            }
            let rest = standing.heads.count - heads.count
            let words =
                (heads.isEmpty ? "before the first event" : heads.joined(separator: ", "))
                + (rest > 0 ? " and \(rest) more lanes; --json names them" : "")
            return standings.count == 1
                ? words : "\(standing.projections.joined(separator: ", ")): \(words)"
        }
    }

    /// The most lanes that a line names.
    private static let lanesMax = 8

    /// The number of digits shown of a digest: enough to find the commit again, not to prove it.
    private static let digestDigits = 12

    /// The versions of the folds, grouped by change: `0 → 1 (active_periods)`.
    package static func folds(_ tables: [ComparedTable]) -> String {
        grouped(tables.map { ($0.name, DifferenceWording.versions($0)) })
    }

    /// The versions of the catalog, grouped the same way; 0 means none.
    package func catalogWords(_ tables: [ComparedTable]) -> String {
        ComparedBuilds.grouped(
            tables.compactMap { table in
                catalogs[table.name].map { versions in
                    let old = versions.old ?? versions.new
                    let words = (old == versions.new ? [old] : [old, versions.new])
                        .map { $0 == 0 ? "none" : "\($0)" }
                    return (table.name, words.joined(separator: " → "))
                }
            }
        )
    }

    /// Whether the two sides of a table use different versions of the catalog.
    package var changesCatalog: Bool {
        catalogs.values.contains { $0.old != nil && $0.old != $0.new }
    }

    // No names are needed if all have the same word.
    private static func grouped(_ words: [(name: String, word: String)]) -> String {
        var groups: [(word: String, names: [String])] = []
        for (name, word) in words {
            if let index = groups.firstIndex(where: { $0.word == word }) {
                groups[index].names.append(name)
            } else {
                groups.append((word, [name]))
            }
        }
        guard groups.count > 1 else { return groups.first?.word ?? "" }
        return groups.map { "\($0.word) (\($0.names.joined(separator: ", ")))" }
            .joined(separator: "; ")
    }
}
