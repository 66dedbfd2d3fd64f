import Events
import Foundation
import Testing

@testable import AppStore

/// The app receipts of `../shared/real-data`, compared with the results of an independent decoder.
@Suite(.enabled(if: RealData.isPresent))
struct RealReceiptTests {
    private static let appleRoot =
        "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"
    private static let xcode = "apple__app-store-server-library-swift/xcode/"
    private static let fake = "emindeniz99__apple-purchase-receipt-verifier/generated/"
    static let signedByApple = [
        "Omnimind-Ltd__app-store-server-sdk/omnichess-receipt-38.b64",
        "IdeasOnCanvas__AppReceiptValidator/mac_mindnode_rebought_receipt",
        "IdeasOnCanvas__AppReceiptValidator/mindnode_ios_michaelsandbox_receipt1.b64",
        "IdeasOnCanvas__AppReceiptValidator/purchasing_experiments_sandbox_receipt.b64",
        "Cocoanetics__Kvitto/newReceipt",
        "Cocoanetics__Kvitto/receipt",
        "tikhop__TPInAppReceipt/receipt-sandbox-g5",
        "RevenueCat__purchases-ios/receipt-9.b64",
        "FTChinese__subscription-api/receipt-27.b64",
        "qonversion__qonversion-ios-sdk/receipt-1.b64",
    ]

    private let apple = ReceiptOpener(roots: RootCertificate.apple)

    @Test(arguments: signedByApple)
    func `Apple's receipts contain what an independent decoder found`(path: String) throws {
        let opened = try apple.open(try RealData.bytes(path)[...], receivedAt: receivedAt)
        #expect(opened.root.hex == RealReceiptTests.appleRoot)
        #expect(!opened.isLocal)
        let expected = try ExpectedReceipt(path)
        #expect(try expected.differences(from: opened.receipt) == [])
    }

    @Test func `every receipt with an expectation is tested`() throws {
        let all = try ExpectedReceipt.document().compactMap { path, value in
            (value as? [String: Any])?["receipt"] == nil ? nil : path
        }
        #expect(Set(all) == Set(RealReceiptTests.signedByApple))
    }

    @Test(arguments: signedByApple)
    func `a real receipt is recognised by its kind, and refused without its root`(
        path: String
    ) throws {
        let bytes = try RealData.bytes(path)
        #expect(ReceiptEncoding.looksLikeReceipt(bytes[...]))
        let others = ReceiptOpener(roots: Array(RootCertificate.apple.dropLast()))
        #expect(others.refusal(bytes) == .chainUntrusted)
        #expect(ReceiptOpener(roots: []).refusal(bytes) == .chainUntrusted)
    }

    // Signers of 2010, 2015, 2023 and 2024; only the last uses SHA-256 digests.
    @Test func `all receipts with the same Apple certificate share one judged chain`() throws {
        for path in RealReceiptTests.signedByApple {
            _ = try apple.open(try RealData.bytes(path)[...], receivedAt: receivedAt)
        }
        #expect(apple.cache.count == 4)
    }

    @Test(arguments: [
        "tikhop__TPInAppReceipt/receipt-xcode", xcode + "xcode-app-receipt-empty",
        xcode + "xcode-app-receipt-with-transaction",
    ])
    func `receipts signed by Xcode need Xcode's root`(path: String) throws {
        let bytes = try RealData.bytes(path)
        #expect(ReceiptEncoding.looksLikeReceipt(bytes[...]))
        #expect(apple.refusal(bytes) == .xcodeSigned)
        let root = try RealData.bytes(
            "certificates/StoreKitTestCertificate-Xcode-legacy-receipts.cer"
        )
        let opener = ReceiptOpener(roots: try RootCertificate.read(root))
        let opened = try opener.open(bytes[...], receivedAt: receivedAt)
        #expect(opened.isLocal)
        #expect(opened.receipt.receiptType == "Xcode")
        #expect(opened.receipt.expirationDate == nil)
    }

    @Test func `an Xcode receipt from 2020 is read although its time zones lack a colon`() throws {
        let root = try RealData.bytes(
            "certificates/StoreKitTestCertificate-Xcode-legacy-receipts.cer"
        )
        let opener = ReceiptOpener(roots: try RootCertificate.read(root))
        let bytes = try RealData.bytes("tikhop__TPInAppReceipt/receipt-xcode")
        let receipt = try opener.open(bytes[...], receivedAt: receivedAt).receipt
        #expect(receipt.creationDate == Instant("2020-07-22T17:33:15Z"))
        #expect(receipt.inApp.map(\.productId) == ["CYCLEMAPS_PREMIUM"])
        #expect(receipt.inApp.first?.purchaseDate == Instant("2020-07-22T17:33:14Z"))
        #expect(receipt.inApp.first?.expiresDate == Instant("2021-07-22T17:33:14Z"))
        #expect(receipt.inApp.first?.isInIntroOfferPeriod == false)
        #expect(receipt.inApp.first?.isTrialPeriod == nil)
    }

    @Test(arguments: [
        ("IdeasOnCanvas__AppReceiptValidator/not_a_receipt", Rejection.Code.receiptMalformed),
        (
            "IdeasOnCanvas__AppReceiptValidator/deprecatedSinglesTypeExpiredAppleCert_receipt.b64",
            .ios6Receipt
        ),
        (
            "apple__app-store-server-library-swift/mock_signed_data/legacyTransaction",
            .ios6Receipt
        ),
    ])
    func `a payload that is not an app receipt is refused with what it is`(
        path: String,
        code: Rejection.Code
    ) throws {
        let bytes = try RealData.bytes(path)
        #expect(!ReceiptEncoding.looksLikeReceipt(bytes[...]))
        #expect(apple.refusal(bytes) == code)
        let verifier = AppStoreVerifier(policy: VerificationPolicy())
        #expect(code != .ios6Receipt || verifier.refusal(bytes) == code)
    }

    // The stand-in for Apple's authority lacks the intermediate's marker, which Apple's
    // certificates all have; its receipts show that signed attributes, indefinite lengths and split
    // strings are read.
    @Test(arguments: ["receipt.der", "receipt-type-production.der"])
    func `a receipt from another library's tests is intact, although its authority is not Apple's`(
        file: String
    ) throws {
        let bytes = try RealData.bytes(RealReceiptTests.fake + file)
        let root = try RealData.bytes(RealReceiptTests.fake + "receipt-root.der")
        #expect(apple.refusal(bytes) == .chainUntrusted)
        let opener = ReceiptOpener(roots: try RootCertificate.read(root))
        #expect(opener.refusal(bytes) == .intermediateOIDMissing)
        let message = try SignedData(bytes[...])
        let leaf = try RootCertificate(der: Array(try #require(message.certificates.first)))
        #expect(message.signer.names(leaf.certificate))
        #expect(message.signer.attributes != nil)
        // The same signature with the leaf as its own root: only the chain is missing.
        let alone = ReceiptOpener(roots: [leaf])
        #expect(alone.refusal(bytes) == .xcodeSigned)
        var altered = bytes
        altered[80] ^= 1
        #expect(alone.refusal(altered) == .receiptDigestMismatch)
    }

    @Test func `a receipt from another library's tests contains what its manifest lists`() throws {
        let bytes = try RealData.bytes(RealReceiptTests.fake + "receipt.der")
        let text = try RealData.bytes(RealReceiptTests.fake + "manifest.json")
        let manifest = try #require(
            try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        )
        let expected = try #require(manifest["receipt"] as? [String: Any])
        let receipt = try AppReceipt(content: try SignedData(bytes[...]).content)
        #expect(receipt.receiptType == expected["receiptType"] as? String)
        #expect(receipt.bundleId == expected["bundleId"] as? String)
        #expect(receipt.applicationVersion == expected["appVersion"] as? String)
        #expect(receipt.originalApplicationVersion == expected["originalAppVersion"] as? String)
        #expect(receipt.creationDate?.description == expected["creationDate"] as? String)
        #expect(receipt.inApp.compactMap(\.productId) == expected["inAppProductIds"] as? [String])
        #expect(
            receipt.inApp.last?.expiresDate?.description == expected["vipExpiresDate"] as? String
        )
        #expect(receipt.inApp.first?.webOrderLineItemId == "42")
        #expect(receipt.otherAttributes.map(\.type) == [4, 5, 9999])
        #expect(hexadecimal(receipt.otherAttributes[0].value) == expected["opaqueHex"] as? String)
        #expect(receipt.otherAttributes[2].value == [1, 2, 3])
    }
}

extension ReceiptOpener {
    /// The reason why a receipt is refused; nil if it is accepted.
    func refusal(_ bytes: [UInt8]) -> Rejection.Code? {
        do throws(Rejection) {
            _ = try open(bytes[...], receivedAt: receivedAt)
            return nil
        } catch {
            return error.code
        }
    }
}

/// One receipt of `expected.json`.
private struct ExpectedReceipt {
    private let fields: [String: Any]

    static func document() throws -> [String: Any] {
        let data = Data(try RealData.bytes("expected.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    init(_ path: String) throws {
        let entry = try #require(try ExpectedReceipt.document()[path] as? [String: Any])
        fields = try #require(entry["receipt"] as? [String: Any])
    }

    func differences(from receipt: AppReceipt) throws -> [String] {
        var seen: [String: String] = [:]
        seen["receipt_type"] = receipt.receiptType
        seen["app_item_id"] = receipt.appItemId
        seen["bundle_id"] = receipt.bundleId
        seen["application_version"] = receipt.applicationVersion
        seen["receipt_creation_date_ms"] = text(receipt.creationDate)
        seen["original_purchase_date_ms"] = text(receipt.originalPurchaseDate)
        seen["original_application_version"] = receipt.originalApplicationVersion
        seen["expiration_date_ms"] = text(receipt.expirationDate)
        // The other decoder has names for these; here they are kept as they arrived.
        let kept = Dictionary(uniqueKeysWithValues: receipt.otherAttributes.map { ($0.type, $0) })
        seen["opaque_value"] = kept[4].map { base64(Array($0.value)) }
        seen["sha1_hash"] = kept[5].map { base64(Array($0.value)) }
        seen["download_id"] = try kept[15].map(decimal)
        seen["version_external_identifier"] = try kept[16].map(decimal)
        var expected = fields
        let rows = try #require(expected.removeValue(forKey: "in_app") as? [[String: Any]])
        let unknown = try #require(
            expected.removeValue(forKey: "unknown_attributes") as? [String: [String]]
        )
        expected["bundle_id_bytes"] = nil
        var found = compare(expected, seen, "receipt")
        let others = receipt.otherAttributes.filter { ![4, 5, 15, 16].contains($0.type) }
        if unknown != keptTexts(others) { found.append("receipt: other attributes") }
        if rows.count != receipt.inApp.count { found.append("\(receipt.inApp.count) rows") }
        for (index, (row, purchase)) in zip(rows, receipt.inApp).enumerated() {
            found += differences(row, purchase, "row \(index)")
        }
        return found
    }

    private func differences(
        _ row: [String: Any],
        _ purchase: InAppPurchase,
        _ place: String
    ) -> [String] {
        var seen: [String: String] = [:]
        seen["quantity"] = purchase.quantity.map(String.init)
        seen["product_id"] = purchase.productId
        seen["transaction_id"] = purchase.transactionId
        seen["purchase_date_ms"] = text(purchase.purchaseDate)
        seen["original_transaction_id"] = purchase.originalTransactionId
        seen["original_purchase_date_ms"] = text(purchase.originalPurchaseDate)
        seen["expires_date_ms"] = text(purchase.expiresDate)
        seen["web_order_line_item_id"] = purchase.webOrderLineItemId
        seen["cancellation_date_ms"] = text(purchase.cancellationDate)
        seen["cancellation_reason"] = purchase.cancellationReason.map(String.init)
        seen["is_trial_period"] = purchase.isTrialPeriod.map { $0 ? "1" : "0" }
        seen["is_in_intro_offer_period"] = purchase.isInIntroOfferPeriod.map { $0 ? "1" : "0" }
        var expected = row
        let unknown = expected.removeValue(forKey: "unknown_attributes") as? [String: [String]]
        let others = unknown ?? [:] == keptTexts(purchase.otherAttributes)
        return compare(expected, seen, place) + (others ? [] : ["\(place): other attributes"])
    }

    private func compare(
        _ expected: [String: Any],
        _ seen: [String: String],
        _ place: String
    ) -> [String] {
        Set(expected.keys).union(seen.keys).sorted().compactMap { name in
            let value: String? =
                switch expected[name] {
                case let text as String: text
                case let number as NSNumber: number.stringValue
                default: nil
                }
            let isEqual = value == seen[name]
            return isEqual ? nil : "\(place): \(name) \(value ?? "-") \(seen[name] ?? "-")"
        }
    }

    private func keptTexts(_ attributes: [ReceiptAttribute]) -> [String: [String]] {
        Dictionary(
            uniqueKeysWithValues: attributes.map { (String($0.type), [base64(Array($0.value))]) }
        )
    }

    private func decimal(_ attribute: ReceiptAttribute) throws -> String {
        try #require(attribute.value.first == 2)
        return String(attribute.value.dropFirst(2).reduce(0) { $0 << 8 | Int64($1) })
    }

    private func text(_ instant: Instant?) -> String? { instant.map { String($0.milliseconds) } }
    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
