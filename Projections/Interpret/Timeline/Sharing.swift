internal import Events

/// How a customer has access through a purchase that another customer or an organisation pays for.
///
/// Such a purchase gives access and brings no money, whatever price Apple repeats in it.
package enum Sharing: String, CaseIterable, Hashable, Sendable {
    /// Another family member pays (Apple's data: trap 33).
    case family
    /// A group purchaser or an organisation pays for the seat (Apple's data: seats).
    case assigned

    /// By Apple's `inAppOwnershipType`; nil if the owner pays.
    package init?(ownershipType: String) {
        guard let found = Sharing.ofOwnership[ownershipType] else { return nil }
        self = found
    }

    /// The sharing that ended, by Apple's `revocationType`; nil for a refund.
    package init?(revocationType: String) {
        guard let found = Sharing.ofRevocation[revocationType] else { return nil }
        self = found
    }

    private static let ofOwnership: [String: Sharing] = [
        "FAMILY_SHARED": .family, assignedOwnership: .assigned,
    ]

    /// The `inAppOwnershipType` of an assigned seat.
    static let assignedOwnership = "ASSIGNED"

    // The word for an assignment is not confirmed: it follows the pattern of the other.
    private static let ofRevocation: [String: Sharing] = [
        "FAMILY_REVOKE": .family, "ASSIGNMENT_REVOKE": .assigned,
    ]
}

extension Purchase {
    /// Who else pays for it; nil if its owner does.
    package var sharing: Sharing? {
        if case .value(.text(let type)) = state(of: .inAppOwnershipType) {
            Sharing(ownershipType: type)
        } else {
            nil
        }
    }

    /// The same, citing the event that decides it.
    func sharing(citing citations: inout Citations) -> Sharing? {
        text(.inAppOwnershipType, citing: &citations).flatMap(Sharing.init(ownershipType:))
    }

    /// The sharing that its revocation ended; nil if money was refunded.
    func endedSharing(citing citations: inout Citations) -> Sharing? {
        sharing(citing: &citations)
            ?? text(.revocationType, citing: &citations).flatMap(Sharing.init(revocationType:))
    }
}
