public import Events

/// A position in a document: a number if the ledger has one lane, otherwise `"lane:offset"`.
public struct PositionValue: Hashable, Sendable {
    /// The position.
    public let position: Position
    // Whether the ledger has one lane, so the lane is omitted.
    private let isBare: Bool

    /// A position of a ledger with this number of lanes.
    public init(_ position: Position, lanes: LaneCount) {
        self.position = position
        isBare = lanes == .one
    }
}

extension PositionValue: CustomStringConvertible {
    /// The position as questions accept it: `17`, or `3:17`.
    public var description: String {
        isBare ? "\(position.offset)" : "\(position.lane):\(position.offset)"
    }
}

extension PositionValue: Codable {
    /// Decodes a number, or `lane:offset`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            position = Position(lane: 0, offset: try container.decode(Int64.self))
            isBare = true
            return
        } catch DecodingError.typeMismatch {}
        let parts = try container.decode(String.self).split(separator: ":").map { Int64($0) }
        guard parts.count == 2, let lane = parts[0].flatMap({ Int(exactly: $0) }),
            let offset = parts[1]
        else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a position is an offset, or lane:offset"
            )
        }
        position = Position(lane: lane, offset: offset)
        isBare = false
    }

    /// Encodes a number, or `lane:offset`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if isBare {
            try container.encode(position.offset)
        } else {
            try container.encode(description)
        }
    }
}

extension [Position] {
    /// The positions as values of a document.
    package func values(lanes: LaneCount) -> [PositionValue] {
        map { PositionValue($0, lanes: lanes) }
    }
}

extension [PositionValue] {
    /// The cited events for tables.
    package var text: String { map { "#\($0)" }.joined(separator: " ") }
}
