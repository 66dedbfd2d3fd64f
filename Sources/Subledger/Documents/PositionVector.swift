package import EventLog
package import Events

// Positions are written and read as `offset` if the ledger has one lane, otherwise as
// `lane:offset`.
extension Position {
    /// The position as questions accept it.
    package func text(lanes: LaneCount) -> String {
        lanes == .one ? "\(offset)" : "\(lane):\(offset)"
    }

    /// The position as tables cite it.
    package func mark(lanes: LaneCount) -> String { "#" + text(lanes: lanes) }
}

extension [Position] {
    /// The cited events for tables.
    package func marks(lanes: LaneCount, separator: String = " ") -> String {
        map { $0.mark(lanes: lanes) }.joined(separator: separator)
    }
}

extension KnownAt {
    /// The bound as questions accept it.
    package func text(lanes: LaneCount) -> String {
        if case .offsets(let offsets) = self { return PositionVector(offsets).text(lanes: lanes) }
        return description
    }
}

/// An offset in each of several lanes.
package struct PositionVector: Sendable {
    /// By lane.
    package let offsets: [Int: Int64]

    package init(_ offsets: [Int: Int64]) {
        self.offsets = offsets
    }

    /// The offsets as questions accept them, by ascending lane.
    package func text(lanes: LaneCount) -> String {
        offsets.sorted { $0.key < $1.key }
            .map { Position(lane: $0.key, offset: $0.value).text(lanes: lanes) }
            .joined(separator: ",")
    }

    /// The same as JSON: one member per lane, named by its number.
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
