package import Events

/// The result of a payload: proven facts, grouped by the evidence for them, and what was left out.
public struct VerifiedPayload: Sendable {
    /// The facts by evidence, in the order in which to append them.
    ///
    /// Usually one group. An unsigned body that embeds a signed receipt yields two: what the
    /// receipt proves, then what is vouched for. Groups without facts are omitted.
    package let groups: [Verified<[Fact]>]
    /// What the operator should know about it; none of it prevented the facts.
    package let notices: [Notice]

    /// All facts, in order.
    package var facts: [Fact] { groups.flatMap(\.value) }

    init(_ groups: [Verified<[Fact]>], notices: [Notice] = []) {
        self.groups = groups.filter { !$0.value.isEmpty }
        let facts = groups.flatMap(\.value)
        self.notices = notices + EmptyPeriods.notices(facts) + PlaceholderIDs.notices(facts)
    }

    /// Whether something was left out that a voucher or a secret would have admitted.
    package var leavesOutUnproven: Bool {
        notices.contains { $0.code == .unprovenLeftOut || $0.code == .sharedSecretMismatch }
    }

    /// A part of a payload that was left out, or accepted with a reservation.
    public struct Notice: Hashable, Sendable {
        /// What scripts switch on.
        public let code: Code
        /// One or two sentences for people; safe to log.
        public let message: String
        /// How many statements were left out.
        public let leftOut: Int

        /// The kinds of notices; raw values are a contract: add cases, never rename them.
        public enum Code: String, CaseIterable, Sendable {
            /// Unproven statements were left out; `--vouch` would accept them.
            case unprovenLeftOut = "unproven-left-out"
            /// Statements of a version 1 notification were left out, because its password is none
            /// of the shared secrets; what its receipt proves was accepted.
            case sharedSecretMismatch = "shared-secret-mismatch"
            /// The body contradicts the receipt it embeds: only the receipt was accepted.
            case receiptContradicted = "receipt-contradicted"
            /// The embedded receipt could not be verified; the body was accepted on trust alone.
            case receiptUnverified = "receipt-unverified"
            /// Rows of a response or receipt that cannot be read were left out, the others
            /// accepted.
            case rowsLeftOut = "rows-left-out"
            /// Periods were accepted that give no access: the purchase is not before the expiry.
            case periodsEmpty = "periods-empty"
            /// Ids that identify nothing, such as the nil UUID, were kept and join nothing.
            case placeholderIds = "placeholder-ids"
        }
    }
}
