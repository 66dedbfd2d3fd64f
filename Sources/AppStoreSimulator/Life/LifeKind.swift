/// Something that can happen in the life of a subscription; a life usually has several.
package enum LifeKind: String, CaseIterable, Hashable, Sendable {
    /// A free trial that became a paid subscription.
    case trialThenPaid
    /// A paid introductory offer.
    case introductoryOffer
    /// A renewal at the full price.
    case renewed
    /// A renewal charged before its period began.
    case chargedEarly
    /// Bought again after a lapse, under the same original id.
    case resubscribed
    /// Bought again while a refunded period would still have run.
    case resubscribedAfterRefund
    /// Billing failed without grace and was recovered: a gap, and a new billing day.
    case recoveredWithGap
    /// Billing failed without grace and was not recovered.
    case failedForGood
    /// Recovered inside the grace period: contiguous.
    case recoveredInGrace
    /// The grace period ran out.
    case graceRanOut
    /// Automatic renewal turned off in the grace period, which ended it.
    case cancelledInGrace
    /// Automatic renewal turned off while billing was retried.
    case cancelledInRetry
    /// Upgraded at once to a higher level.
    case upgraded
    /// An upgrade in the same second in which a renewal began.
    case upgradedInRenewalSecond
    /// An upgrade out of a free trial.
    case upgradedInTrial
    /// The period that an upgrade started was refunded; the old period does not come back.
    case upgradeRefunded
    /// An immediate change to a product of the same level and length.
    case crossgraded
    /// A change requested for the next renewal.
    case downgradeRequested
    /// A requested change was withdrawn.
    case downgradeWithdrawn
    /// A change to another duration of the same level requested for the next renewal.
    case crossgradeRequested
    /// A change of plan through an offer.
    case changedByOffer
    /// A failed renewal recovered with another product.
    case recoveredWithAnotherProduct
    /// Resubscribed after everything ended, to another product than before.
    case resubscribedToAnother
    /// A renewal with another product.
    case downgradeEffective
    /// Automatic renewal turned off.
    case autoRenewOff
    /// Automatic renewal turned on again before the end.
    case autoRenewOnAgain
    /// Expired after automatic renewal was off.
    case expiredVoluntarily
    /// Expired because the customer did not agree to a higher price.
    case priceIncreaseRefused
    /// The customer agreed to a higher price.
    case priceIncreaseAccepted
    /// The current period refunded.
    case refundedCurrent
    /// An older period refunded while the current one is paid.
    case refundedOlder
    /// A period refunded after everything ended.
    case refundedAfterExpiry
    /// A refund reversed.
    case refundReversed
    /// A refund reversed without a notification; only polling Apple shows it (Apple's data: trap
    /// 31).
    case refundReversedSilently
    /// A refund requested, and granted or declined later or not at all.
    case refundRequested
    /// A period refunded, reversed and refunded again.
    case refundedAgain
    /// A refund of part of the price.
    case refundedInPart
    /// A refund requested and declined.
    case refundDeclined
    /// The end of a period extended by the developer.
    case extended
    /// A member of a family had access.
    case familyShared
    /// A family member's access was withdrawn.
    case familyRevoked
    /// A promotional offer.
    case promotionalOffer
    /// An offer code.
    case offerCode
    /// A win-back offer.
    case winBackOffer
    /// A retention offer.
    case retentionOffer
    /// Seats bought for a group.
    case seatsBought
    /// Seats added while a period ran.
    case seatsAdded
    /// Fewer seats requested for the next renewal.
    case seatsReduced
    /// More seats requested for the next renewal.
    case seatsRaised
    /// Seats refunded one by one.
    case seatsRefunded
    /// All seats of an addition refunded.
    case additionRefunded
    /// Apple released claims of seats.
    case seatsUnclaimed
    /// A member had a seat.
    case assigned
    /// A seat was taken from its member.
    case assignmentEnded
    /// Replaced by a bundle.
    case movedToBundle
    /// A part of a bundle or suite.
    case inBundle
    /// Set to leave the bundle.
    case leftBundle
    /// Expired because the customer left the bundle.
    case unbundled
    /// Restored on another device under new transaction ids.
    case restored
    /// Over, and Apple lists win-back offers.
    case winBackListed
    /// Paid monthly, with a commitment.
    case committed
    /// A consumable bought next to the subscription.
    case consumable
    /// A non-consumable bought next to the subscription.
    case nonConsumable
    /// A non-renewing subscription bought next to the subscription.
    case nonRenewing
    /// A one-time purchase refunded.
    case oneTimeRefunded
}
