internal import EventLog
package import Events

/// A payload that is not kept: what it proved cannot be proven again.
struct UnkeptPayload: Sendable {
    /// Why a payload is not kept.
    enum Reason: CaseIterable, Sendable {
        /// It was erased, as an event of kind `erasure` records.
        case erased
        /// It arrived after an erasure of its subscription, or of one that it shared payloads with.
        case arrivedAfterErasure
        /// It arrived after the erasure of another subscription, which an earlier version did not
        /// record.
        case byEarlierVersion
    }

    let reason: Reason
    let lane: Lane
    /// The offsets of the events that cite it, and of those that its confirmations repeat.
    let offsets: [Int64]

    init(_ cited: CitedPayload, _ reason: Reason) {
        self.reason = reason
        let positions =
            cited.events.map(\.position) + cited.confirmations.map(\.confirmation.position)
        lane = positions.first?.lane ?? .only
        offsets = positions.map(\.offset)
    }
}

/// The events of a lane whose payloads are not kept.
package struct UnkeptEvents: Hashable, Sendable {
    /// The lane.
    package let lane: Lane
    /// Those whose payloads were erased.
    package internal(set) var erased = NumberRanges([])
    /// Those whose payloads arrived after an erasure of their subscription, or of one that they
    /// shared payloads with, and were verified on arrival only.
    package internal(set) var arrivedAfterErasure = NumberRanges([])
    /// The same after the erasure of another subscription, which an earlier version did not record.
    package internal(set) var byEarlierVersion = NumberRanges([])

    init(lane: Lane) { self.lane = lane }

    mutating func insert(_ offsets: [Int64], _ reason: UnkeptPayload.Reason) {
        switch reason {
        case .erased: erased = erased.union(NumberRanges(offsets))
        case .arrivedAfterErasure:
            arrivedAfterErasure = arrivedAfterErasure.union(NumberRanges(offsets))
        case .byEarlierVersion: byEarlierVersion = byEarlierVersion.union(NumberRanges(offsets))
        }
    }
}

extension UnkeptEvents: Encodable {
    private enum CodingKeys: CodingKey { case lane, erased, arrivedAfterErasure, byEarlierVersion }

    /// Writes the offsets as ranges, for example `3,7-9`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lane.number, forKey: .lane)
        try container.encode(erased.description, forKey: .erased)
        try container.encode(arrivedAfterErasure.description, forKey: .arrivedAfterErasure)
        try container.encode(byEarlierVersion.description, forKey: .byEarlierVersion)
    }
}
