public import Events

/// What a payload came to: proven facts, each group with the evidence for it, and what was left
/// out.
public struct VerifiedPayload: Sendable {
    /// The facts by evidence, in the order in which they are to be appended.
    ///
    /// Mostly one group. An unsigned body that embeds a signed receipt gives two: what the receipt
    /// proves, then what somebody vouches for. Groups without facts are left out.
    public let groups: [Verified<[Fact]>]
    /// What a person should know about it; nothing of it stopped the facts.
    public let notices: [Notice]

    /// All facts, in order.
    public var facts: [Fact] { groups.flatMap(\.value) }

    init(_ groups: [Verified<[Fact]>], notices: [Notice] = []) {
        self.groups = groups.filter { !$0.value.isEmpty }
        self.notices = notices + EmptyPeriods.notices(groups.flatMap(\.value))
    }

    /// Whether something was left out that a voucher or a secret would have taken.
    public var leavesOutUnproven: Bool { notices.contains { $0.code == .unprovenLeftOut } }

    /// A part of a payload that was not taken, or taken with a reservation.
    public struct Notice: Hashable, Sendable {
        /// What scripts switch on.
        public let code: Code
        /// One or two sentences for people; safe to log.
        public let message: String
        /// How many statements were left out.
        public let leftOut: Int

        /// The kinds of notices; raw values are a contract: added, never renamed.
        public enum Code: String, CaseIterable, Sendable {
            /// Statements that nothing proves were left out; `--vouch` would take them.
            case unprovenLeftOut = "unproven-left-out"
            /// The body contradicts the receipt it embeds: only the receipt was taken.
            case receiptContradicted = "receipt-contradicted"
            /// The embedded receipt could not be verified; the body was taken on trust alone.
            case receiptUnverified = "receipt-unverified"
            /// Rows of a response or receipt that cannot be read were left out, the others taken.
            case rowsLeftOut = "rows-left-out"
            /// Periods were taken that give no access: the purchase is not before the expiry.
            case periodsEmpty = "periods-empty"
        }
    }
}
