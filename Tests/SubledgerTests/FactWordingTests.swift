import Events
import Subledger
import Testing

/// Facts of 2026 as the short texts of `history`.
@Suite struct FactWordingTests {
    @Test(arguments: [
        (
            "UNCLAIM_SEATS", #"{"unclaimInfo":{"unclaimSeatIds":["6a0e","6a0f"]}}"#,
            "UNCLAIM_SEATS · 2 claims released"
        ),
        (
            "EXTERNAL_PURCHASE_TOKEN",
            #"{"externalPurchaseToken":{"tokenType":"ACQUISITION","tokenExpirationDate":0}}"#,
            "EXTERNAL_PURCHASE_TOKEN · token for acquisition · expires 1970-01-01 00:00:00"
        ),
        (
            "EXTERNAL_PURCHASE_TOKEN", #"{"externalPurchaseToken":{"tokenType":"LINK_OUT"}}"#,
            "EXTERNAL_PURCHASE_TOKEN · token for a purchase by link"
        ),
        (
            "EXTERNAL_PURCHASE_TOKEN", #"{"externalPurchaseToken":{"tokenType":"NEW_WORD"}}"#,
            "EXTERNAL_PURCHASE_TOKEN · token for NEW_WORD"
        ), ("TEST", #"{"other":1}"#, "TEST"),
    ])
    func `a notification states what its own section contains`(
        type: String,
        extra: String,
        expected: String
    ) {
        var content = Content(format: .signedNotification)
        content[.notificationType] = .text(type)
        content[.extra] = .text(extra)
        #expect(fact(.notification, content).summary == expected)
    }

    @Test func `a transaction of seats states their number and total, that of a member no price`() {
        var content = Content(format: .signedTransaction)
        content[.productId] = .text("pro")
        (content[.price], content[.currency]) = (.integer(2000), .text("USD"))
        content[.quantity] = .integer(3)
        content[.extra] = .text(
            """
            {"multiSeatInfo":{"priceTiers":[{"price":3000,"quantity":1},\
            {"price":1500,"quantity":2}],"revokedSeatQuantity":1}}
            """
        )
        #expect(fact(.transaction, content).summary == "pro · 3 seats for 6.00 USD, 1 taken back")
        content[.inAppOwnershipType] = .text("ASSIGNED")
        #expect(fact(.transaction, content).summary == "pro · assigned seat")
        var renewal = Content(format: .signedRenewalInfo)
        renewal[.autoRenewStatus] = .integer(1)
        renewal[.extra] = .text(#"{"renewalQuantity":1}"#)
        #expect(fact(.renewal, renewal).summary == "auto-renew on · renews with 1 seat")
    }

    private func fact(_ kind: Kind, _ content: Content) -> Fact {
        Fact(
            stream: StreamID(environment: .production, originalTransactionId: "1"),
            bundleId: "",
            kind: kind,
            purchaseDate: nil,
            expiresDate: nil,
            asOf: Instant(milliseconds: 0),
            content: content
        )
    }
}
