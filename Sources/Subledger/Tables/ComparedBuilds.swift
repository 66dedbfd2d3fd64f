package import EventLog
package import Events
package import Projections
package import Projector

/// What a comparison was of: which one, of what knowledge, as of where in the log, made when.
///
/// A report is filed and read later, beside others: nothing in it says this by itself.
package struct ComparedBuilds {
    package let kind: Kind
    /// The schema in which the new tables are kept; nil where they wait or were dropped.
    package let keptIn: String?
    /// Sixteen bytes that tell the ledger from every other one.
    package let ledgerId: [UInt8]
    /// The instant of the report, on our clock.
    package let madeAt: Instant
    /// Up to where both sides hold the log: one, unless some live tables were left behind others.
    package let standings: [Standing]
    /// The catalog that each side knows, by projection.
    package let catalogs: [String: Catalogs]

    /// Which comparison.
    package enum Kind: Equatable {
        /// Live tables against those of the folds of this program, which wait to be promoted.
        case diff
        /// Live tables against a rebuild of them.
        case check
        /// Live tables against those of another policy, in its canonical words.
        case policy(String)

        /// Its machine word: the option of `rebuild`.
        package var word: String {
            switch self {
            case .diff: "diff"
            case .check: "check"
            case .policy: "with"
            }
        }
    }

    /// Some tables, and the newest commit of each lane that both sides of them hold.
    package struct Standing {
        package let projections: [String]
        /// By lane; lanes without an event are left out.
        package let heads: [CommitMark]
    }

    /// Versions of the catalog; 0 for none.
    package struct Catalogs {
        /// That of the live table; nil where there is none.
        package let old: Int?
        package let new: Int
    }

    /// What a comparison was of.
    ///
    /// - Parameters:
    ///   - comparison: What was found.
    ///   - kind: Which comparison it was.
    ///   - keptIn: The schema in which the new tables are kept, if they are.
    ///   - newCatalog: The newest version of the catalog that the new tables know; nil where
    ///     they know that of the live ones.
    ///   - projector: Knows the live tables.
    ///   - log: What they are made of.
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
        standings = try await ComparedBuilds.standings(comparison.tables, in: log)
        // The lists of tables are read after the comparison: one that somebody promoted meanwhile
        // has another version, and is not the one that was compared.
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

    // Tables of one position stand together, in the order in which they are compared.
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
            var heads: [CommitMark] = []
            for lane in group.positions.keys.sorted() {
                let knownAt = KnownAt.offsets([lane: group.positions[lane] ?? 0])
                if let head = try await log.newestCommit(lane: lane, knownAt: knownAt) {
                    heads.append(head)
                }
            }
            standings.append(Standing(projections: group.names, heads: heads))
        }
        return standings
    }
}

extension ComparedBuilds {
    /// The ledger's id as PostgreSQL writes it.
    package var ledger: String {
        let digits = "0123456789abcdef".map(String.init)
        return ledgerId.enumerated().map { index, byte in
            ([4, 6, 8, 10].contains(index) ? "-" : "") + digits[Int(byte >> 4)]
                + digits[Int(byte & 15)]
        }.joined()
    }

    /// Which comparison, for people.
    package var title: String {
        switch kind {
        case .diff: "tables diff: the live tables (old) and what this program builds (new)"
        case .check: "tables check: the live tables (old) and a rebuild of them (new)"
        case .policy:
            "rebuild --with: the live tables (old) and the tables under another policy (new)"
        }
    }

    /// The policy that was judged; nil where none was.
    package var policy: String? {
        guard case .policy(let text) = kind else { return nil }
        return text
    }

    /// Up to where both sides hold the log, one line for each position.
    ///
    /// - Parameter lanes: How many lanes the ledger has.
    /// - Returns: The lines; `lanesMax` lanes at most are named in each.
    package func positions(lanes: LaneCount) -> [String] {
        standings.map { standing in
            let heads = standing.heads.prefix(ComparedBuilds.lanesMax).map { mark in
                (lanes == .one ? "#\(mark.offset)" : "#\(mark.commit.lane):\(mark.offset)")
                    + " (commit \(mark.commit.number), "
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

    /// Most lanes that are named for people.
    private static let lanesMax = 8

    /// Digits of a digest for people: enough to find the commit again, not to prove it.
    private static let digestDigits = 12

    /// The versions of the folds, those of one change together: `0 → 1 (active_periods)`.
    package static func folds(_ tables: [ComparedTable]) -> String {
        grouped(tables.map { ($0.name, DifferenceWording.versions($0)) })
    }

    /// The versions of the catalog likewise; 0 is none.
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

    /// Whether the two sides of a table know different versions of the catalog.
    package var changesCatalog: Bool {
        catalogs.values.contains { $0.old != nil && $0.old != $0.new }
    }

    // Where all have one, no names are needed.
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
