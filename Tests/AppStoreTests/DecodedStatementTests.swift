import Events
import Testing

@testable import AppStore

/// Transactions and renewal info that a server kept without their signature.
struct DecodedStatementTests {
    private let pki: TestPKI
    private let verifier: AppStoreVerifier

    init() throws {
        pki = try TestPKI()
        verifier = AppStoreVerifier(policy: try pki.policy())
    }

    private static let transaction = """
        {"transactionId":"9100000016000","originalTransactionId":"9100000016000",\
        "webOrderLineItemId":"99100000016000","bundleId":"app.a","productId":"pro.monthly",\
        "subscriptionGroupIdentifier":"GA","purchaseDate":1740787200000,\
        "originalPurchaseDate":1740787200000,"expiresDate":1743465600000,"quantity":1,\
        "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
        "signedDate":1740787205000,"environment":"Production","transactionReason":"PURCHASE",\
        "storefront":"USA","storefrontId":"143441","price":9990,"currency":"USD"}
        """

    private static let renewal = """
        {"originalTransactionId":"9100000016000","autoRenewProductId":"pro.monthly",\
        "productId":"pro.monthly","autoRenewStatus":1,"signedDate":1740787205000,\
        "environment":"Production","renewalDate":1743465600000}
        """

    private func verified(
        _ payload: String,
        voucher: Voucher = .operator
    ) throws(Rejection) -> VerifiedPayload {
        try verifier.verify(
            payload: Array(payload.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: voucher
        )
    }

    private func refusal(_ payload: String, voucher: Voucher = .operator) -> Rejection? {
        #expect(throws: Rejection.self) { try verified(payload, voucher: voucher) }
    }

    private func pieces(_ input: String) -> [String] {
        PayloadSplitter.split(Array(input.utf8)).compactMap { piece in
            (try? piece.get()).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test(arguments: [transaction, renewal])
    func `a decoded statement counts only if the operator vouches for it`(text: String) throws {
        for voucher in [Voucher.unvouched, .client] {
            let rejection = refusal(text, voucher: voucher)
            #expect(rejection?.code == .unproven)
            #expect(rejection?.message.contains("vouch") == true)
        }
        let group = try #require(try verified("  \(text)\n").groups.first)
        #expect(group.evidence.verification == Verification(trust: .vouched, root: nil))
        #expect(group.evidence.payload == Array(text.utf8))
        let isTransaction = text == Self.transaction
        #expect(
            group.evidence.kind == (isTransaction ? .decodedTransaction : .decodedRenewalInfo)
        )
    }

    @Test(arguments: [transaction, renewal])
    func `a decoded statement gives the fact of the JWS it came from`(text: String) throws {
        #expect(try verified(text).facts == verifier.facts(try pki.sign(text)))
    }

    @Test func `what a decoded statement lacks is not guessed`() throws {
        let cases: [(String, Rejection.Code)] = [
            (Self.transaction.replacing("app.a", with: "app.b"), .bundleIdMismatch),
            (Self.transaction.replacing("Production", with: "Xcode"), .environmentNotAccepted),
            (
                Self.transaction.replacing("\"environment\":\"Production\",", with: ""),
                .environmentUnknown
            ),
            (Self.renewal.replacing("\"signedDate\":1740787205000,", with: ""), .dateMissing),
            (Self.transaction.replacing("}", with: ",\"password\":\"hush\"}"), .secretMisplaced),
            ("{\"transactionId\":\"1\",\"productId\":\"p\"}", .unsupportedFormat),
            ("{\"notificationType\":\"TEST\",\"transactionId\":\"1\"}", .unsupportedFormat),
        ]
        var policy = verifier.policy
        policy.bundleIds = ["app.a"]
        for (text, code) in cases {
            let rejection = #expect(throws: Rejection.self) {
                try AppStoreVerifier(policy: policy).verify(
                    payload: Array(text.utf8),
                    source: "test",
                    receivedAt: receivedAt,
                    voucher: .operator
                )
            }
            #expect(rejection?.code == code, "\(text)")
        }
    }

    @Test func `floating point ids are read in decoded data, and kept as written in signed data`()
        throws
    {
        let text = Self.transaction.replacing(
            "\"99100000016000\"",
            with: "99100000016000.0"
        )
        let decoded = try #require(try verified(text).facts.first)
        #expect(decoded.content.text(.webOrderLineItemId) == "99100000016000")
        let signed = try #require(try verifier.facts(try pki.sign(text)).first)
        #expect(signed.content.text(.webOrderLineItemId) == nil)
        #expect(signed.content.text(.extra) == "{\"webOrderLineItemId\":99100000016000.0}")
    }

    @Test func `every decoded statement of a store is found`() throws {
        let second = Self.transaction.replacing("9100000016000", with: "9100000016001")
        let texts = [Self.transaction, second, Self.renewal]
        let escaped = texts.map { $0.replacing("\"", with: "\\\"") }
        for input in [
            texts.joined(separator: "\n"), "[\(texts.joined(separator: ","))]",
            "{\"transactions\":[\(texts.joined(separator: ","))]}",
            escaped.map { "{\"platform\":\"ios\",\"extra\":\"\($0)\"}" }.joined(separator: "\n"),
            texts.map { "{\"note\":\"a word\",\"extra\":\($0)}" }.joined(separator: "\n"),
            "id,extra\n"
                + texts.map { "1,\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: "\n"),
        ] {
            #expect(pieces(input) == texts, "\(input)")
        }
    }

    @Test func `decoded data is not taken where its JWS is, nor from the record of a log`() throws {
        let jws = try pki.sign(Self.transaction)
        let both = Self.transaction.replacing("}", with: ",\"jwsRepresentation\":\"\(jws)\"}")
        #expect(pieces(both) == [jws])
        let record = "{\"level\":\"info\",\"time\":1,\"msg\":\"m\",\"extra\":\(Self.transaction)}"
        #expect(pieces("\(jws)\n\(record)") == [jws])
        #expect(pieces("\(jws)\n2026-11-01 INFO verified \(Self.transaction)") == [jws])
    }
}
