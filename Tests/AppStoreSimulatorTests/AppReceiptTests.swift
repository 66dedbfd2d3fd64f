import AppStoreSimulator
import Events
import Foundation
import SwiftASN1
import Testing
@_spi(FixedExpiryValidationTime) import X509

/// App receipts contain the purchases so far, and verify as Apple's do.
@Suite struct AppReceiptTests {
    private static let forms: [AppReceiptForm] = [
        [], .sha1, .indefiniteLengths, .wrappedTwice, .onlyKnownAttributes,
        [.sha1, .indefiniteLengths, .wrappedTwice, .onlyKnownAttributes],
    ]

    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]

    // Apple's data: app receipts; 0 to 32 of the receipt, 1701 to 1720 of a purchase.
    private static let known: Set<Int> = [0, 1, 2, 3, 4, 5, 12, 15, 16, 17, 18, 19, 32]
    private static let knownOfPurchase: Set<Int> = [
        1701, 1702, 1703, 1704, 1705, 1706, 1708, 1711, 1712, 1713, 1719, 1720,
    ]

    @Test func `at every moment the receipt's purchases are those of the history`() throws {
        let seed: UInt64 = 71
        for life in AppStoreSimulator(seed: seed).lives(25) {
            for moment in life.moments {
                let receipt = try ReadReceipt(life.appReceipt(asOf: moment))
                let history = try life.historyTransactions(asOf: moment)
                    .filter { $0.value.expiresDate != nil }
                let purchases = try receipt.purchases.filter {
                    try ReadReceipt.date($0, 1708) != nil
                }
                #expect(purchases.count == history.count, "seed \(seed) at \(moment)")
                for purchase in purchases {
                    let id = try #require(try ReadReceipt.text(purchase, 1703))
                    try expect(purchase, equals: #require(history[id]))
                }
            }
        }
    }

    private func expect(
        _ purchase: ReadReceipt.Attributes,
        equals transaction: TransactionJSON
    ) throws {
        let name = "transaction \(transaction.transactionId)"
        #expect(try ReadReceipt.number(purchase, 1701) == 1)
        #expect(try ReadReceipt.text(purchase, 1702) == transaction.productId, "\(name)")
        #expect(try ReadReceipt.date(purchase, 1704) == transaction.purchaseDate, "\(name)")
        #expect(
            try ReadReceipt.text(purchase, 1705) == transaction.originalTransactionId,
            "\(name)"
        )
        #expect(try ReadReceipt.date(purchase, 1708) == transaction.expiresDate, "\(name)")
        #expect(
            try ReadReceipt.number(purchase, 1711).map { String($0) }
                == transaction.webOrderLineItemId,
            "\(name)"
        )
        #expect(try ReadReceipt.date(purchase, 1712) == transaction.revocationDate, "\(name)")
        let isIntroductory = transaction.offerType == 1
        let isFree = transaction.offerDiscountType == "FREE_TRIAL"
        #expect(
            try ReadReceipt.number(purchase, 1713) == (isIntroductory && isFree ? 1 : 0),
            "\(name)"
        )
        #expect(
            try ReadReceipt.number(purchase, 1719) == (isIntroductory && !isFree ? 1 : 0),
            "\(name)"
        )
        #expect(
            (try ReadReceipt.number(purchase, 1720) != nil) == (transaction.revocationDate != nil),
            "\(name)"
        )
    }

    @Test func `every form holds the same facts under a good signature`() throws {
        for life in AppStoreSimulator(seed: 5).lives(6) {
            let moment = try #require(life.moments.last)
            let plain = try ReadReceipt(life.appReceipt(asOf: moment))
            for form in Self.forms {
                let bytes = life.appReceipt(asOf: moment, form: form)
                let receipt = try ReadReceipt(bytes)
                #expect(try receipt.isSignatureValid(), "\(form)")
                #expect(receipt.isSHA1 == form.contains(.sha1))
                #expect((bytes[1] == 0x80) == form.contains(.indefiniteLengths))
                #expect((receipt.content[0] == 0x04) == form.contains(.wrappedTwice))
                if form.contains(.onlyKnownAttributes) {
                    #expect(Self.known.isSuperset(of: receipt.attributes.keys))
                    for purchase in receipt.purchases {
                        #expect(Self.knownOfPurchase.isSuperset(of: purchase.keys))
                    }
                    #expect(receipt.purchases.count == plain.purchases.count)
                } else {
                    #expect(receipt.payload == plain.payload, "\(form)")
                }
            }
        }
    }

    @Test func `every documented attribute appears somewhere`() throws {
        var seen: Set<Int> = []
        var seenOfPurchases: Set<Int> = []
        for life in AppStoreSimulator(seed: 1).lives(60) {
            let moment = try #require(life.moments.last)
            let receipt = try ReadReceipt(life.appReceipt(asOf: moment))
            seen.formUnion(receipt.attributes.keys)
            for purchase in receipt.purchases { seenOfPurchases.formUnion(purchase.keys) }
        }
        #expect(seen.isSuperset(of: Self.known))
        #expect(seenOfPurchases.isSuperset(of: Self.knownOfPurchase))
    }

    @Test func `the receipt names the app and hashes the device`() throws {
        for environment in [StoreEnvironment.production, .sandbox] {
            let life = AppStoreSimulator(seed: 2, environment: environment).life(3)
            let moment = try #require(life.moments.first)
            let receipt = try ReadReceipt(life.appReceipt(asOf: moment))
            let isSandbox = environment == .sandbox
            #expect(
                try ReadReceipt.text(receipt.attributes, 0)
                    == (isSandbox ? "ProductionSandbox" : "Production")
            )
            #expect(try ReadReceipt.text(receipt.attributes, 2) == life.store.bundleId)
            #expect(
                try ReadReceipt.date(receipt.attributes, 12)
                    == moment.flooredToSecond.milliseconds
            )
            #expect(try ReadReceipt.text(receipt.attributes, 19) == (isSandbox ? "1.0" : "30"))
            let opaque = try #require(receipt.attributes[4]?.first)
            let bundle = try #require(receipt.attributes[2]?.first)
            #expect(
                receipt.attributes[5]?.first == sha1(life.deviceIdentifier + opaque + bundle)
            )
        }
    }

    @Test func `before the first purchase the receipt is empty, not malformed`() throws {
        let life = AppStoreSimulator(seed: 2).life(0)
        let receipt = try ReadReceipt(life.appReceipt(asOf: at("2020-01-01")))
        #expect(receipt.purchases.isEmpty)
        #expect(try receipt.isSignatureValid())
    }

    @Test func `a finished consumable is gone from the receipt`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .buyConsumable(productId: "coins", quantity: 200, at: at("2026-01-02T12:00Z")),
        ]).life
        let fresh = try ReadReceipt(life.appReceipt(asOf: at("2026-01-02T12:30Z")))
        let coins = try #require(
            fresh.purchases.first { try ReadReceipt.text($0, 1702) == "coins" }
        )
        // A number whose first bit is set needs a leading zero byte, otherwise it is negative.
        #expect(try ReadReceipt.number(coins, 1701) == 200)
        #expect(try ReadReceipt.date(coins, 1708) == nil)
        let finished = try ReadReceipt(life.appReceipt(asOf: at("2026-01-02T13:00Z")))
        #expect(finished.purchases.count == 1)
    }

    @Test func `a restored device's receipt has other transaction ids for the same purchases`()
        throws
    {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .restore(at: at("2026-01-10")), .renew(at: at("2026-01-31T20:00Z")),
        ]).life
        let receipts = try life.appReceipts().map { try ReadReceipt($0.payload) }
        let ids = try receipts.map { try $0.purchases.map { try ReadReceipt.text($0, 1703) } }
        #expect(ids.map(\.count) == [1, 1, 2])
        #expect(ids[0] != ids[1])
        #expect(ids[2].contains(ids[1][0]))
        #expect(Set(ids.joined()).count == 3)
        let originals = try receipts.flatMap {
            try $0.purchases.map { try ReadReceipt.text($0, 1705) }
        }
        #expect(Set(originals) == [life.originalTransactionId])
    }

    @Test func `base64 has one line or lines of 76`() throws {
        let life = AppStoreSimulator(seed: 2).life(0)
        let moment = try #require(life.moments.first)
        let receipt = Data(life.appReceipt(asOf: moment))
        let plain = Data(life.appReceiptBase64(asOf: moment))
        #expect(Data(base64Encoded: plain) == receipt)
        let lines = Data(life.appReceiptBase64(asOf: moment, inLines: true))
        #expect(lines.split(separator: 0x0a).allSatisfy { $0.count <= 76 })
        #expect(lines.contains(0x0a))
        #expect(Data(base64Encoded: lines, options: .ignoreUnknownCharacters) == receipt)
    }

    @Test func `the same seed gives the same receipts, another seed gives other certificates`()
        throws
    {
        let moment = try at("2026-01-01")
        for form in Self.forms {
            let receipts = [9, 9, 10].map {
                AppStoreSimulator(seed: $0).life(1).appReceipt(asOf: moment, form: form)
            }
            #expect(receipts[0] == receipts[1])
            #expect(receipts[0] != receipts[2])
        }
    }

    @Test func `the receipt chain ends in the root of the JWS chain, also when flawed`()
        async throws
    {
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        let sound = SimulatedPKI(seed: 5)
        #expect(sound.receipts.chainDER.last == sound.rootDER)
        #expect(sound.receipts.chainDER.prefix(2) != sound.chainDER.prefix(2))
        #expect(try await isValid(sound, at: now))
        for flaw: SimulatedPKI.Flaws in [.expiredLeaf, .intermediateWithoutAuthority] {
            #expect(try await !isValid(SimulatedPKI(seed: 5, flaws: flaw), at: now))
        }
        let unmarked = try SimulatedPKI(seed: 5, flaws: .leafWithoutMarker).receipts.chainDER.map {
            try Certificate(derEncoded: $0)
        }
        let leaf = try Certificate(derEncoded: sound.receipts.chainDER[0])
        #expect(leaf.extensions[oid: Self.leafMarker] != nil)
        #expect(unmarked[0].extensions[oid: Self.leafMarker] == nil)
        #expect(SimulatedPKI(seed: 5, flaws: .twoCertificates).receipts.chainDER.count == 2)
    }

    private func isValid(_ pki: SimulatedPKI, at date: Date) async throws -> Bool {
        let chain = try pki.receipts.chainDER.map { try Certificate(derEncoded: $0) }
        let root = try Certificate(derEncoded: pki.rootDER)
        var verifier = Verifier(rootCertificates: CertificateStore([root])) {
            RFC5280Policy(fixedExpiryValidationTime: date)
        }
        let result = await verifier.validate(
            leaf: chain[0],
            intermediates: CertificateStore(chain.dropFirst())
        )
        if case .validCertificate = result { return true }
        return false
    }
}
