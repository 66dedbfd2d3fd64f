extension Sharing {
    /// Why access ended, if the payer ended the sharing.
    var endReason: ActivePeriod.EndReason {
        switch self {
        case .family: .revoked
        case .assigned: .assignmentEnded
        }
    }

    /// The kind of access.
    var periodKind: ActivePeriod.Kind {
        switch self {
        case .family: .family
        case .assigned: .assigned
        }
    }

    /// The kind of the case in `refunds`.
    var refundKind: RefundCase.Kind {
        switch self {
        case .family: .familyRevoke
        case .assigned: .assignmentEnded
        }
    }
}
