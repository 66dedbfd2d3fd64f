import ArgumentParser
import EventLog
import Events
import Foundation
import Projections
import Subledger

/// A position as JSON: a number where there is one lane, else `"lane:offset"`.
struct PositionValue: Encodable, CustomStringConvertible {
    private let position: Position
    private let lanes: LaneCount

    var description: String { position.text(lanes: lanes) }

    init(_ position: Position, lanes: LaneCount) {
        self.position = position
        self.lanes = lanes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if lanes == .one {
            try container.encode(position.offset)
        } else {
            try container.encode(position.text(lanes: lanes))
        }
    }
}

/// A field's value as JSON.
struct JSONValue: Encodable {
    private let value: FieldValue

    init(_ value: FieldValue) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .instant(let instant): try container.encode(instant.milliseconds)
        }
    }
}
