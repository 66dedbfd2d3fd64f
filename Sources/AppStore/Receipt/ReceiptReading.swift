import Events

/// Reads app receipts: opens one, checks its claims, translates it (Apple's data: app receipts).
struct ReceiptReading {
    let intake: Intake
    let opener: ReceiptOpener

    /// What a receipt proves.
    struct Proven {
        let group: Verified<[Fact]>
        let bundleId: String
        let environment: StoreEnvironment
        let receiptDate: Instant
        /// What the operator should know about purchases that were left out.
        let notices: [VerifiedPayload.Notice]
    }

    /// The transactions of a receipt, given as DER or base64.
    ///
    /// Its evidence is the DER, so it is the same for every channel.
    func read(_ bytes: ArraySlice<UInt8>) throws(Rejection) -> Proven {
        let message = try ReceiptEncoding.decoded(bytes)
        let digest = message.withUnsafeBytes { Digest.of($0) }
        let opened: OpenedReceipt
        if let root = intake.knownRoot(of: digest) {
            opened = try opener.reopen(message, verifiedUnder: root)
        } else {
            opened = try opener.open(message, receivedAt: intake.receivedAt)
        }

        let receipt = opened.receipt
        try intake.policy.checkBundleId(receipt.bundleId, of: "an app receipt")
        let named = try environment(of: receipt)
        let environment = named.environment
        try intake.policy.checkAccepted(environment, isLocal: opened.isLocal)
        guard let asOf = receipt.creationDate else {
            throw Rejection(
                .dateMissing,
                "The app receipt has no creation date, so it cannot be placed on Apple's clock."
            )
        }
        let provenance = Provenance(
            environment: environment,
            bundleId: receipt.bundleId,
            asOf: asOf
        )

        var facts: [Fact] = []
        facts.reserveCapacity(receipt.inApp.count)
        var unusable = receipt.unusable
        for (index, purchase) in receipt.inApp.enumerated() {
            do throws(Rejection) {
                facts.append(try Translation.purchase(purchase, provenance))
            } catch {
                unusable.append(UnusableRow(purchase: index, error))
            }
        }
        if facts.isEmpty, let first = unusable.first { throw first.refusal }
        let group = intake.verified(
            Continuations.stated(in: facts),
            by: Array(message),
            digest: digest,
            .appReceipt,
            .signed(root: opened.root),
            context: named.context
        )
        return Proven(
            group: group,
            bundleId: receipt.bundleId,
            environment: environment,
            receiptDate: asOf,
            notices: UnusableRow.notices(unusable)
        )
    }

    private func environment(
        of receipt: AppReceipt
    ) throws(Rejection) -> Intake.NamedEnvironment {
        let word: StoreEnvironment? =
            switch receipt.receiptType {
            case "Production", "ProductionVPP": .production
            case "ProductionSandbox", "ProductionVPPSandbox", "Sandbox": .sandbox
            case nil, "": nil
            case let type?: StoreEnvironment(type)
            }
        return try intake.environment(word)
    }
}

extension Translation {
    // Every purchase of every receipt has these, Apple has never documented them, and no other
    // format carries them: as content they would make a known purchase news. The evidence keeps
    // them.
    private static let attributesWithoutName: Set<Int64> = [
        1707, 1709, 1710, 1714, 1715, 1716, 1717, 1718, 1722,
    ]

    /// The fact of an in-app purchase of a receipt.
    static func purchase(
        _ purchase: InAppPurchase,
        _ provenance: Provenance
    ) throws(Rejection) -> Fact {
        guard let purchaseDate = purchase.purchaseDate else {
            throw Rejection(
                .dateMissing,
                "The transaction \(purchase.transactionId ?? "without id") of an app receipt has no"
                    + " purchase date, so its period is unknown."
            )
        }
        guard let id = purchase.originalTransactionId ?? purchase.transactionId else {
            throw Rejection(
                .idMissing,
                "A transaction of an app receipt has no id, so it belongs to no subscription."
            )
        }

        var content = ContentBuilder(format: .receiptTransaction)
        content.set(.transactionId, purchase.transactionId.map(FieldValue.text))
        // A purchase that is not a subscription has a zero here.
        if let id = purchase.webOrderLineItemId, id != "0" {
            content.set(.webOrderLineItemId, .text(id))
        }
        content.set(.productId, purchase.productId.map(FieldValue.text))
        content.set(.quantity, purchase.quantity.map(FieldValue.integer))
        content.set(.revocationDate, purchase.cancellationDate.map(FieldValue.instant))
        content.set(.revocationReason, purchase.cancellationReason.map(FieldValue.integer))
        content.take(
            ReceiptOffer(
                isTrial: purchase.isTrialPeriod == true,
                isIntroductory: purchase.isInIntroOfferPeriod == true
            )
        )
        for attribute in purchase.otherAttributes
        where !attributesWithoutName.contains(attribute.type) {
            content.keep(attribute)
        }

        return provenance.fact(
            .transaction,
            about: id,
            from: purchaseDate,
            to: purchase.expiresDate,
            try content.finished(byteCount: Content.byteCountMax)
        )
    }
}
