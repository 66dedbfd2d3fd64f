/// A turn that the life of a subscription can take; a life usually has several.
public enum LifeKind: String, CaseIterable, Hashable, Sendable {
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
    /// Billing failed without grace and was never recovered.
    case failedForGood
    /// Recovered inside the grace period: contiguous.
    case recoveredInGrace
    /// The grace period ran out.
    case graceRanOut
    /// Automatic renewal turned off in the grace period, which ended it.
    case cancelledInGrace
    /// Automatic renewal turned off while billing was retried.
    case cancelledInRetry
    /// An immediate change to a higher level.
    case upgraded
    /// An upgrade in the very second in which a renewal began.
    case upgradedInRenewalSecond
    /// An upgrade out of a free trial.
    case upgradedInTrial
    /// The period that an upgrade began was refunded; the old one does not come back.
    case upgradeRefunded
    /// An immediate change to a product of the same level and length.
    case crossgraded
    /// A change wanted from the next renewal on.
    case downgradeRequested
    /// Such a wish withdrawn.
    case downgradeWithdrawn
    /// A change to another length of the same level wanted from the next renewal on.
    case crossgradeRequested
    /// A change of plan by an offer.
    case changedByOffer
    /// A failed renewal recovered with another product.
    case recoveredWithAnotherProduct
    /// Bought again after everything ended, another product than before.
    case resubscribedToAnother
    /// A renewal with another product.
    case downgradeEffective
    /// Automatic renewal turned off.
    case autoRenewOff
    /// Automatic renewal turned on again in time.
    case autoRenewOnAgain
    /// Expired after automatic renewal was off.
    case expiredVoluntarily
    /// Expired as the customer did not agree to a higher price.
    case priceIncreaseRefused
    /// The customer agreed to a higher price.
    case priceIncreaseAccepted
    /// The current period refunded.
    case refundedCurrent
    /// An older period refunded while the current one is paid.
    case refundedOlder
    /// A period refunded after everything ended.
    case refundedAfterExpiry
    /// A refund undone.
    case refundReversed
    /// A refund undone without a word; only asking Apple tells (Apple's data: trap 31).
    case refundReversedSilently
    /// A refund asked for, and granted or declined later or not at all.
    case refundRequested
    /// A period refunded, reinstated and refunded again.
    case refundedAgain
    /// A refund of a part of the price.
    case refundedInPart
    /// A refund asked for and declined.
    case refundDeclined
    /// The end of a period moved by the developer.
    case extended
    /// A member of a family had access.
    case familyShared
    /// That access was withdrawn.
    case familyRevoked
    /// A promotional offer.
    case promotionalOffer
    /// An offer code.
    case offerCode
    /// A win-back offer.
    case winBackOffer
    /// Restored on another device under new transaction ids.
    case restored
    /// Over, and Apple lists offers to win the customer back.
    case winBackListed
    /// Paid monthly, with a commitment.
    case committed
    /// A consumable bought beside the subscription.
    case consumable
    /// A non-consumable bought beside the subscription.
    case nonConsumable
    /// A non-renewing subscription bought beside the subscription.
    case nonRenewing
    /// A one-time purchase refunded.
    case oneTimeRefunded
}
