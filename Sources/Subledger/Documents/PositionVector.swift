package import EventLog
package import Events

extension Position {
    /// The position as tables cite it.
    package var mark: String { "#\(self)" }
}

extension [Position] {
    /// The cited events for tables.
    package var marks: String { map(\.mark).joined(separator: " ") }
}

extension EventLog {
    /// A bound of knowledge as questions accept it.
    package func text(_ knownAt: KnownAt) -> String {
        if case .offsets(let offsets) = knownAt { return identity.lanes.text(offsets) }
        return knownAt.description
    }
}

/// An offset in each of several lanes.
package struct PositionVector: Sendable {
    /// By lane.
    package let offsets: [Int: Int64]

    package init(_ offsets: [Int: Int64]) {
        self.offsets = offsets
    }

    /// As JSON: one member per lane, named by its number.
    package var document: [String: Int64] {
        Dictionary(uniqueKeysWithValues: offsets.map { ("\($0.key)", $0.value) })
    }

    /// Refuses positions that do not exist in this ledger.
    ///
    /// - Parameters:
    ///   - parameter: The parameter with the offsets, for the message.
    ///   - takesInstant: Whether it also accepts an instant.
    ///   - needed: Lanes that have to be named; nil for all.
    ///   - reason: Why they have to be, after a comma.
    ///   - log: The ledger's log.
    /// - Throws: `QuestionError` for a lane that does not exist, an offset beyond its end, or a
    ///   missing lane that has to be named; `EventLogError`.
    package func check(
        _ parameter: String,
        takesInstant: Bool = true,
        naming needed: [Int]? = nil,
        because reason: String = "",
        in log: EventLog
    ) async throws {
        let lanes = log.identity.lanes
        let heads = try await log.heads()

        for (lane, offset) in offsets.sorted(by: { $0.key < $1.key }) {
            guard (0..<lanes.value).contains(lane) else {
                throw QuestionError(
                    .unknownPosition,
                    "\(parameter) names lane \(lane), which does not exist: this ledger has "
                        + (lanes == .one
                            ? "one lane, where a position is just its offset, as \(offset)"
                            : "the lanes 0 to \(lanes.value - 1)")
                )
            }
            let head = heads[lane]?.offset ?? 0
            guard (0...head).contains(offset) else {
                throw QuestionError(
                    .unknownPosition,
                    "\(parameter) names offset \(offset), but "
                        + (lanes == .one ? "the log" : "lane \(lane)") + " ends at \(head)"
                        + (takesInstant ? "; an instant is written 2026-03-03T09:00:00Z" : "")
                )
            }
        }

        for lane in needed ?? Array(0..<lanes.value) where offsets[lane] == nil {
            throw QuestionError(
                .unknownPosition,
                "\(parameter) names no offset of lane \(lane)\(reason): "
                    + (needed == nil ? "name all \(lanes.value)" : "write \(lane):OFFSET")
                    + ", or an instant"
            )
        }
    }
}
