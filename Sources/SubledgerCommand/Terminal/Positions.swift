import ArgumentParser
import EventLog
import Events

/// How positions are written and read: `offset` where the ledger has one lane, else `lane:offset`
/// (DESIGN §1).
extension Position {
    /// The position as `--known-at`, `--to` and `--wait-for` take it.
    func text(lanes: LaneCount) -> String {
        lanes == .one ? "\(offset)" : "\(lane):\(offset)"
    }

    /// The same for the cited events of a table.
    func mark(lanes: LaneCount) -> String { "#" + text(lanes: lanes) }
}

extension [Position] {
    /// The cited events for tables.
    func marks(lanes: LaneCount, separator: String = " ") -> String {
        map { $0.mark(lanes: lanes) }.joined(separator: separator)
    }
}

/// An offset in each of some lanes.
struct PositionVector {
    /// By lane.
    let offsets: [Int: Int64]

    init(_ offsets: [Int: Int64]) {
        self.offsets = offsets
    }

    /// The offsets as `--known-at`, `--to` and `--wait-for` take them, by ascending lane.
    func text(lanes: LaneCount) -> String {
        offsets.sorted { $0.key < $1.key }
            .map { Position(lane: $0.key, offset: $0.value).text(lanes: lanes) }
            .joined(separator: ",")
    }

    /// The same as JSON: a member a lane, named by its number.
    var document: [String: Int64] {
        Dictionary(uniqueKeysWithValues: offsets.map { ("\($0.key)", $0.value) })
    }

    /// Refuses what this ledger does not have.
    ///
    /// - Parameters:
    ///   - option: The option that names the offsets, for the message.
    ///   - takesInstant: Whether it could name an instant instead.
    ///   - needed: Lanes that have to be named; nil for all.
    ///   - reason: Why they have to be, after a comma.
    ///   - log: The ledger's log.
    /// - Throws: `ValidationError` for a lane that is not there, an offset beyond its end, a lane
    ///   that has to be named and is not; `EventLogError`.
    func check(
        _ option: String,
        takesInstant: Bool = true,
        naming needed: [Int]? = nil,
        because reason: String = "",
        in log: EventLog
    ) async throws {
        let lanes = log.identity.lanes
        let heads = try await log.heads()
        for (lane, offset) in offsets.sorted(by: { $0.key < $1.key }) {
            guard (0..<lanes.value).contains(lane) else {
                throw ValidationError(
                    "\(option) names lane \(lane), which is not there: this ledger has "
                        + (lanes == .one
                            ? "one, and a position of it is just its offset"
                            : "the lanes 0 to \(lanes.value - 1)")
                )
            }
            let head = heads[lane]?.offset ?? 0
            guard (0...head).contains(offset) else {
                throw ValidationError(
                    "\(option) names offset \(offset), but "
                        + (lanes == .one ? "the log" : "lane \(lane)") + " ends at \(head)"
                        + (takesInstant ? "; an instant is written 2026-03-03T09:00:00Z" : "")
                )
            }
        }
        for lane in needed ?? Array(0..<lanes.value) where offsets[lane] == nil {
            throw ValidationError(
                "\(option) names no offset of lane \(lane)\(reason): "
                    + (needed == nil ? "name all \(lanes.value)" : "write \(lane):OFFSET")
                    + ", or an instant"
            )
        }
    }
}

extension KnownAt {
    /// The bound as `--known-at` takes it.
    func text(lanes: LaneCount) -> String {
        if case .offsets(let offsets) = self { return PositionVector(offsets).text(lanes: lanes) }
        return description
    }
}

extension Clock {
    /// Refuses positions that this ledger does not have, for a question that may touch every lane;
    /// an instant is always had.
    static func check(
        _ knownAt: KnownAt,
        _ option: String = "--known-at",
        in log: EventLog
    ) async throws {
        guard case .offsets(let offsets) = knownAt else { return }
        try await PositionVector(offsets).check(
            option,
            because: ", and subscriptions may lie in any",
            in: log
        )
    }
}

/// What `--wait-for` names: some events of the log, and nothing of the lanes that it leaves out.
struct AwaitedPositions {
    /// The offsets by lane.
    let vector: PositionVector
    // Written without its lane, which only a ledger of one lane takes.
    private let isBare: Bool

    /// Reads an offset, or `lane:offset` pairs separated by commas; refuses all else.
    init(_ text: String) throws {
        guard case .offsets(let offsets)? = KnownAt(text) else {
            throw ValidationError(
                "'\(text.prefix(80))' is no position; expected what `ingest` and `feed` print: an "
                    + "offset (1391877), or lane:offset pairs (0:17,1:4) where there are several "
                    + "lanes"
            )
        }
        vector = PositionVector(offsets)
        isBare = !text.contains(":")
    }

    /// Refuses what this ledger does not have.
    func check(in log: EventLog) async throws {
        let lanes = log.identity.lanes
        guard !isBare || lanes == .one else {
            throw ValidationError(
                "--wait-for names an offset without its lane, and this ledger has "
                    + "\(lanes.value) lanes: write LANE:OFFSET"
            )
        }
        try await vector.check("--wait-for", takesInstant: false, naming: [], in: log)
    }
}
