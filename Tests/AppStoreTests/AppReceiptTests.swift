import Events
import Testing

@testable import AppStore

/// Only the signed content of a receipt, whoever signed it.
struct AppReceiptTests {
    private typealias Forge = ReceiptForge

    private func refusal(_ content: [UInt8]) -> Rejection.Code? {
        do throws(Rejection) {
            // Keeps the other purchases if a fault refuses only one.
            return try AppReceipt(content: content[...]).unusable.first?.rejection.code
        } catch {
            return error.code
        }
    }

    private func refusal(extra: [UInt8]) -> Rejection.Code? {
        refusal(Forge.payload(extra: [extra]))
    }

    private func refusal(inPurchase attributes: [UInt8]...) -> Rejection.Code? {
        refusal(extra: Forge.attribute(17, Forge.set(attributes)))
    }

    @Test func `every field of receipt and purchase is read`() throws {
        let content = Forge.payload(extra: [
            Forge.attribute(1, Forge.integer(992_076_693)),
            Forge.attribute(18, Forge.ia5("2013-08-01T07:00:00Z")),
            Forge.attribute(19, Forge.utf8("1.0")),
            Forge.attribute(21, Forge.ia5("2030-02-01T09:30:00.25+01:30")),
            Forge.attribute(
                17,
                Forge.set([
                    Forge.attribute(1706, Forge.ia5("2023-11-14T22:13:19Z")),
                    Forge.attribute(1712, Forge.ia5("2023-11-20T00:00:00Z")),
                    Forge.attribute(1720, Forge.integer(1)),
                ])
            ),
        ])
        let receipt = try AppReceipt(content: content[...])
        #expect(
            receipt
                == AppReceipt(
                    receiptType: "ProductionSandbox",
                    appItemId: "992076693",
                    bundleId: "app.a",
                    applicationVersion: "1.2",
                    creationDate: Instant("2023-11-14T22:13:21Z"),
                    originalPurchaseDate: Instant("2013-08-01T07:00:00Z"),
                    originalApplicationVersion: "1.0",
                    expirationDate: Instant("2030-02-01T08:00:00.250Z"),
                    inApp: receipt.inApp
                )
        )
        #expect(
            receipt.inApp == [
                InAppPurchase(
                    quantity: 1,
                    productId: "product.a",
                    transactionId: "7",
                    purchaseDate: Instant("2023-11-14T22:13:20Z"),
                    originalTransactionId: "7",
                    expiresDate: Instant("2023-12-14T22:13:20Z"),
                    webOrderLineItemId: "1000000000007",
                    isTrialPeriod: true,
                    isInIntroOfferPeriod: false
                ),
                InAppPurchase(
                    originalPurchaseDate: Instant("2023-11-14T22:13:19Z"),
                    cancellationDate: Instant("2023-11-20T00:00:00Z"),
                    cancellationReason: 1
                ),
            ]
        )
    }

    @Test(arguments: [
        "Production", "ProductionSandbox", "ProductionVPP", "ProductionVPPSandbox", "Xcode", "New",
    ])
    func `a receipt type is kept as Apple wrote it, known or not`(type: String) throws {
        let content = ReceiptForge.payload(type: type)
        #expect(try AppReceipt(content: content[...]).receiptType == type)
    }

    @Test func `purchases keep the payload's order`() throws {
        let numbers = ["3", "1", "2", "10"]
        let content = Forge.payload(
            extra: numbers.map {
                Forge.attribute(17, Forge.set([Forge.attribute(1703, Forge.utf8($0))]))
            }
        )
        let receipt = try AppReceipt(content: content[...])
        #expect(receipt.inApp.compactMap(\.transactionId) == ["7"] + numbers)
    }

    @Test func `unknown attributes are kept as they arrived`() throws {
        let content = Forge.payload(extra: [
            Forge.attribute(9999, [1, 2, 3]), Forge.attribute(4, []),
            Forge.attribute(
                17,
                Forge.set([
                    Forge.attribute(1722, Forge.integer(5)), Forge.attribute(1709, Forge.utf8("")),
                    Forge.attribute(1713, Forge.integer(2)),
                ])
            ),
        ])
        let receipt = try AppReceipt(content: content[...])
        #expect(
            receipt.otherAttributes == [
                ReceiptAttribute(type: 4, value: []),
                ReceiptAttribute(type: 9999, value: [1, 2, 3]),
            ]
        )
        #expect(
            receipt.inApp.last?.otherAttributes == [
                ReceiptAttribute(type: 1709, value: [0x0c, 0]),
                ReceiptAttribute(type: 1713, value: [2, 1, 2]),
                ReceiptAttribute(type: 1722, value: [2, 1, 5]),
            ]
        )
        #expect(receipt.inApp.last?.isTrialPeriod == nil)
    }

    @Test func `numbers have eight bytes, and ids may use them all`() throws {
        func identifier(_ bytes: [UInt8]) throws -> String? {
            let row = Forge.set([Forge.attribute(1711, der(2, bytes))])
            let content = Forge.payload(extra: [Forge.attribute(17, row)])
            return try AppReceipt(content: content[...]).inApp.last?.webOrderLineItemId
        }
        let most = [UInt8](repeating: 0xff, count: 7)
        #expect(try identifier([0x7f] + most) == "9223372036854775807")
        #expect(try identifier([0, 0xff] + most) == "18446744073709551615")
        #expect(try identifier([0]) == "0")
        #expect(
            refusal(inPurchase: Forge.attribute(1711, der(2, [1, 0xff] + most)))
                == .receiptAttributeMalformed
        )
        #expect(
            refusal(inPurchase: Forge.attribute(1701, der(2, [0, 0xff] + most)))
                == .receiptAttributeMalformed
        )
        #expect(refusal(inPurchase: Forge.attribute(1701, der(2))) == .receiptAttributeMalformed)
    }

    @Test func `a date is RFC 3339 with time and zone, or empty`() throws {
        func date(_ text: String) -> Rejection.Code? {
            refusal(inPurchase: Forge.attribute(1704, Forge.ia5(text)))
        }
        for good in [
            "", "2023-11-14T22:13:20Z", "2023-11-14T22:13:20.612Z", "2023-11-14T22:13:20+01:00",
            "2023-11-14T22:13:20-0800",
        ] {
            #expect(date(good) == nil, "\(good)")
        }
        for bad in [
            "2023-11-14", "2023-11-14T22:13:20", "2023-11-14 22:13:20Z", "2023-11-31T22:13:20Z",
            "1700000000000", "2023-11-14T22:13:20+1", "2023-11-14T22:13:20 Etc/GMT",
        ] {
            #expect(date(bad) == .receiptAttributeMalformed, "\(bad)")
        }
        #expect(date("2007-12-31T23:59:59Z") == .dateImplausible)
        #expect(date("2200-01-01T00:00:00Z") == .dateImplausible)
        #expect(date("4001-01-01T00:00:00Z") == .dateImplausible)
        let never = Forge.attribute(21, Forge.ia5("4001-01-01T00:00:00Z"))
        #expect(refusal(extra: never) == nil)
    }

    @Test func `an id is short and has no control characters, in every attribute`() {
        let long = String(repeating: "9", count: StreamID.idByteCountMax + 1)
        for (type, text) in [
            (1703, "7\u{0}"), (1703, long), (1705, "7\n"), (1705, long), (1702, "a\u{7f}"),
            (1702, long + long),
        ] as [(Int64, String)] {
            let attribute = Forge.attribute(type, Forge.utf8(text))
            #expect(refusal(inPurchase: attribute) == .idMalformed, "\(type)")
        }
        let fitting = Forge.utf8(String(long.dropLast()))
        #expect(refusal(inPurchase: Forge.attribute(1705, fitting)) == nil)
        for type in [0, 2] as [Int64] {
            let attribute = Forge.attribute(type, Forge.utf8("\u{1b}[2J"))
            #expect(refusal(Forge.set([attribute])) == .idMalformed, "\(type)")
        }
    }

    @Test func `a value whose type does not fit its attribute is refused`() {
        #expect(
            refusal(inPurchase: Forge.attribute(1702, Forge.integer(1)))
                == .receiptAttributeMalformed
        )
        #expect(
            refusal(inPurchase: Forge.attribute(1702, der(0x0c, [0xff])))
                == .receiptAttributeMalformed
        )
        #expect(refusal(inPurchase: Forge.attribute(1702, [])) == .receiptAttributeMalformed)
        #expect(
            refusal(inPurchase: Forge.attribute(1713, Forge.utf8("true")))
                == .receiptAttributeMalformed
        )
        #expect(
            refusal(inPurchase: Forge.attribute(1702, Forge.utf8("a") + [0]))
                == .receiptAttributeMalformed
        )
        #expect(refusal(extra: Forge.attribute(17, Forge.utf8("a"))) == .receiptMalformed)
    }

    @Test func `only the receipt's purchase attribute may occur more than once`() {
        #expect(refusal(extra: Forge.attribute(3, Forge.utf8("1"))) == .receiptAttributeDuplicate)
        #expect(refusal(extra: Forge.attribute(2, Forge.utf8("b"))) == .receiptAttributeDuplicate)
        let twice = [Forge.attribute(77, [1]), Forge.attribute(77, [1])]
        #expect(refusal(Forge.payload(extra: twice)) == .receiptAttributeDuplicate)
        let code = Forge.attribute(1703, Forge.utf8("8"))
        #expect(refusal(inPurchase: code, code) == .receiptAttributeDuplicate)
        let seventeen = Forge.attribute(17, [])
        #expect(refusal(inPurchase: seventeen, seventeen) == .receiptAttributeDuplicate)
    }

    @Test func `a receipt without an app is refused`() {
        #expect(refusal(Forge.set([])) == .receiptBundleMissing)
        #expect(refusal(Forge.set([Forge.attribute(2, Forge.utf8(""))])) == .receiptBundleMissing)
    }

    @Test func `the payload may be wrapped a second time and arrive in pieces`() throws {
        let content = Forge.payload()
        let plain = try AppReceipt(content: content[...])
        #expect(try AppReceipt(content: der(4, content)[...]) == plain)
        let pieces = indefinite(
            0x24,
            der(4, Array(content.prefix(9))),
            der(0x24, der(4, Array(content.dropFirst(9))))
        )
        #expect(try AppReceipt(content: pieces[...]) == plain)
        #expect(refusal(der(4, der(4, content))) == .receiptMalformed)
        let bundle = indefinite(0x24, der(4, [0x0c, 3]), der(4, Array("a.b".utf8)))
        let inPieces = der(0x30, Forge.integer(2), Forge.integer(1), bundle)
        let set = indefinite(0x31, inPieces)
        #expect(try AppReceipt(content: set[...]).bundleId == "a.b")
    }

    @Test func `a length is trusted only as far as there are bytes`() {
        for length: [UInt8] in [
            [0x84, 0xff, 0xff, 0xff, 0xff], [0x84, 0x7f, 0xff, 0xff, 0xff], [0x83, 1, 0, 0], [0x7f],
            [0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0xff], [0x84], [0x80],
        ] {
            #expect(refusal([0x31] + length) == .receiptMalformed, "\(length)")
            let attribute = [0x30] + length + Forge.integer(2)
            #expect(refusal(der(0x31, attribute)) == .receiptMalformed, "\(length)")
            let value = Forge.integer(2) + Forge.integer(1) + [4] + length
            #expect(refusal(der(0x31, der(0x30, value))) == .receiptMalformed, "\(length)")
            #expect(
                refusal(inPurchase: Forge.attribute(1702, [0x0c] + length))
                    == .receiptAttributeMalformed,
                "\(length)"
            )
        }
    }

    @Test func `nesting has a limit, for both kinds of length`() {
        var definite = Forge.integer(1)
        var unended = Forge.integer(1)
        for _ in 0..<40 { definite = der(0x30, definite) }
        for _ in 0..<40 { unended = indefinite(0x30, unended) }
        #expect(refusal(der(0x31, definite)) == .receiptTooDeep)
        #expect(refusal(der(0x31, unended)) == .receiptTooDeep)
        let million = [UInt8](repeating: 0x30, count: 1) + [0x80]
        #expect(
            refusal([[UInt8]](repeating: million, count: 1 << 20).flatMap { $0 })
                == .receiptTooDeep
        )
    }

    @Test func `the numbers of elements, attributes and purchases are limited`() {
        let nulls = [[UInt8]](repeating: [5, 0], count: BERReader.elementCountMax)
        #expect(refusal(der(0x31, nulls.flatMap { $0 })) == .receiptTooLarge)
        let types = (0..<Int64(ReceiptAttributes.typeCountMax)).map {
            Forge.attribute(10_000 + $0, [])
        }
        #expect(refusal(Forge.payload(extra: types)) == .receiptTooLarge)
        let purchase = Forge.attribute(17, Forge.set([]))
        let most = [[UInt8]](repeating: purchase, count: AppReceipt.inAppCountMax)
        #expect(refusal(Forge.payload(extra: most)) == .receiptTooLarge)
        #expect(refusal(Forge.payload(extra: Array(most.dropLast()))) == nil)
    }
}
