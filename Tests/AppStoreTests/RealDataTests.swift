import Events
import Foundation
import Testing

@testable import AppStore

@Suite(.enabled(if: RealData.isPresent))
struct RealDataTests {
    private let apple = AppStoreVerifier(policy: VerificationPolicy())
    private static let session =
        "session-foundation__session-pro-backend/lineage-2000001024993299/"
    private static let mock = "apple__app-store-server-library-swift/mock_signed_data/"
    private static let xcode = "apple__app-store-server-library-swift/xcode/"

    private func mockVerifier(
        bundleIds: Set<String> = [],
        environments: Set<StoreEnvironment> = [.sandbox]
    ) throws -> AppStoreVerifier {
        let root = try RealData.bytes("certificates/apple-library-testCA-MOCK.der")
        return AppStoreVerifier(
            policy: VerificationPolicy(
                roots: try RootCertificate.read(root),
                bundleIds: bundleIds,
                environments: environments
            )
        )
    }

    @Test(arguments: [
        "01-DID_RENEW.json", "02-EXPIRED-VOLUNTARY.json", "03-SUBSCRIBED-RESUBSCRIBE.json",
        "04-DID_CHANGE_RENEWAL_STATUS-AUTO_RENEW_DISABLED.json", "05-EXPIRED-VOLUNTARY.json",
    ])
    func `Apple's notifications give the facts that an independent decoder found`(
        file: String
    ) throws {
        let path = RealDataTests.session + file
        let payload = try RealData.bytes(path)
        let verified = try apple.verify(
            payload: payload,
            source: "file",
            receivedAt: receivedAt
        )
        let facts = verified.facts
        let jws = try #require(try JSON(payload).root["signedPayload"]?.utf8)
        #expect(verified.groups[0].evidence.payload == Array(jws))
        #expect(verified.groups[0].evidence.kind == .signedNotification)
        #expect(
            verified.groups[0].evidence.verification.root?.hex
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
        )
        #expect(facts.map(\.kind) == [.transaction, .renewal, .notification])
        let expected = try Expectation(path)
        for fact in facts {
            #expect(fact.stream.environment == .sandbox)
            #expect(fact.stream.originalTransactionId == "2000001024993299")
            #expect(fact.bundleId == "com.loki-project.loki-messenger")
            #expect(fact.asOf.milliseconds == expected.outer["signedDate"] as? Int64)
        }
        expected.compare(facts[0], expected.transaction, Property.transaction)
        expected.compare(facts[1], expected.renewal, Property.renewal)
        expected.compare(facts[2], expected.outer, Property.notification)
        #expect(
            facts[0].purchaseDate.milliseconds == expected.transaction["purchaseDate"] as? Int64
        )
        #expect(facts[0].expiresDate.milliseconds == expected.transaction["expiresDate"] as? Int64)
        #expect(facts[2].purchaseDate == facts[0].purchaseDate)
        #expect(facts[2].content.integer(.status) == expected.status)
        #expect(facts[0].content[.extra] == nil)
        #expect(facts[1].content[.extra] == nil)
        #expect(facts[2].content.text(.extra) == "{\"data\":{\"appAppleId\":1470168868}}")
    }

    @Test func `a TEST notification belongs to no subscription`() throws {
        let facts = try apple.facts(try RealData.bytes("imdhemy__appstore-iap/v2-TEST.json"))
        #expect(facts.map(\.kind) == [.notification])
        #expect(facts[0].stream == StreamID(environment: .sandbox, originalTransactionId: ""))
        #expect(facts[0].bundleId == "com.Abilities")
        #expect(facts[0].content.text(.notificationType) == "TEST")
        #expect(facts[0].asOf.milliseconds == 1_662_122_492_884)
        let copy = try apple.facts(
            try RealData.bytes("aporat__store-receipt-validator/v2-TEST.json")
        )
        #expect(copy == facts)
    }

    @Test func `a renewal info JWS gives one renewal fact, and is refused as a notification`()
        throws
    {
        let payload = try RealData.bytes("awa__go-iap/renewalInfo.jws")
        let verified = try apple.verify(payload: payload, source: "file", receivedAt: receivedAt)
        #expect(verified.groups[0].evidence.kind == .signedRenewalInfo)
        #expect(verified.facts.map(\.kind) == [.renewal])
        #expect(verified.facts[0].stream.originalTransactionId == "2000000335310644")
        #expect(verified.facts[0].bundleId.isEmpty)
        #expect(
            verified.facts[0].content.instant(.recentSubscriptionStartDate)
                == Instant(milliseconds: 1_684_822_738_000)
        )
        let text = String(decoding: payload, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(apple.refusal("{\"signedPayload\":\"\(text)\"}") == .nestedMismatch)
    }

    @Test func `the signed bundle id of a response overrides the unsigned one`() throws {
        let payload = try RealData.bytes(
            "Omnimind-Ltd__app-store-server-sdk/get_all_subscription_statuses.json"
        )
        let policy = VerificationPolicy(bundleIds: ["club.omnichess.ios"])
        let facts = try AppStoreVerifier(policy: policy).facts(payload)
        #expect(facts.map(\.kind) == [.transaction, .renewal])
        #expect(facts.allSatisfy { $0.bundleId == "club.omnichess.ios" })
        #expect(facts.allSatisfy { $0.stream.environment == .sandbox })
        #expect(facts[1].content.integer(.expirationIntent) == 1)
        #expect(facts[1].content.boolean(.isInBillingRetryPeriod) == false)
        #expect(facts[0].asOf.milliseconds == 1_636_464_323_732)
        let other = AppStoreVerifier(policy: VerificationPolicy(bundleIds: ["com.test.app"]))
        #expect(other.refusal(payload) == .bundleIdMismatch)
    }

    @Test func `an edited notification under Apple's own certificates is refused`() throws {
        let payload = try RealData.bytes(
            "alexalok__AppStoreServerNotificationsV2/v2-tampered-Sandbox_Resubscription.json"
        )
        #expect(apple.refusal(payload) == .signatureInvalid)
    }

    @Test func `invalid payloads from other libraries' tests are refused for their own reasons`()
        throws
    {
        let folder = "getmimo__app-store-server-library-dotnet/"
        let broken = try RealData.bytes(folder + "InvalidSignature_Fails.jws")
        #expect(apple.refusal(broken) == .chainUntrusted)
        #expect(try mockVerifier().refusal(broken) == .signatureInvalid)
        #expect(
            apple.refusal(try RealData.bytes(folder + "Nox5cParameter_Fails.jws")) == .x5cMissing
        )
        #expect(
            apple.refusal(try RealData.bytes(folder + "JWSIsMissingAPart_Fails.jws"))
                == .jwsMalformed
        )
    }

    @Test func `Apple's mock payloads verify only under their mock root`() throws {
        let verifier = try mockVerifier(bundleIds: ["com.example"])
        let transaction = try RealData.bytes(RealDataTests.mock + "transactionInfo")
        #expect(try verifier.facts(transaction).map(\.kind) == [.transaction])
        #expect(apple.refusal(transaction) == .chainUntrusted)
        let renewal = try RealData.bytes(RealDataTests.mock + "renewalInfo")
        #expect(try verifier.facts(renewal).map(\.kind) == [.renewal])
        let test = try RealData.bytes(RealDataTests.mock + "testNotification")
        #expect(try verifier.facts(test)[0].content.text(.notificationType) == "TEST")
        let wrong = try RealData.bytes(RealDataTests.mock + "wrongBundleId")
        #expect(verifier.refusal(wrong) == .bundleIdMismatch)
        #expect(
            try mockVerifier(environments: [.production, .sandbox]).refusal(wrong)
                == .environmentUnknown
        )
        var policy = try mockVerifier().policy
        policy.assumedEnvironment = .sandbox
        #expect(AppStoreVerifier(policy: policy).refusal(wrong) == .dateMissing)
        #expect(
            verifier.refusal(try RealData.bytes(RealDataTests.mock + "missingX5CHeaderClaim"))
                == .x5cMissing
        )
    }

    @Test func `payloads signed by Xcode are refused unless its certificate is given as a root`()
        throws
    {
        let transaction = try RealData.bytes(RealDataTests.xcode + "xcode-signed-transaction")
        let renewal = try RealData.bytes(RealDataTests.xcode + "xcode-signed-renewal-info")
        let app = try RealData.bytes(RealDataTests.xcode + "xcode-signed-app-transaction")
        for payload in [transaction, renewal, app] {
            #expect(apple.refusal(payload) == .xcodeSigned)
        }
        let header = try JWSHeader(try JWS(transaction[...]).header)
        let root = try RootCertificate(der: header.certificates[0])
        let closed = AppStoreVerifier(policy: VerificationPolicy(roots: [root]))
        #expect(closed.refusal(transaction) == .xcodeSigned)
        let open = AppStoreVerifier(
            policy: VerificationPolicy(roots: [root], environments: [.xcode])
        )
        let fact = try open.facts(transaction)[0]
        #expect(fact.stream == StreamID(environment: .xcode, originalTransactionId: "0"))
        #expect(fact.asOf.milliseconds == 1_697_679_936_056)
        #expect(fact.purchaseDate.milliseconds == 1_697_679_936_000)
        #expect(fact.content[.isUpgraded] == nil)
        #expect(fact.content[.extra] == nil)
        #expect(try open.facts(renewal)[0].content.text(.autoRenewProductId) == "pass.premium")
        #expect(open.refusal(app) == .appTransaction)
    }

    @Test func `payloads of another library's test authority verify under its root`() throws {
        let folder = "emindeniz99__apple-purchase-receipt-verifier/generated/"
        let verifier = AppStoreVerifier(
            policy: VerificationPolicy(
                roots: try RootCertificate.read(try RealData.bytes(folder + "jws-root.der"))
            )
        )
        let fact = try verifier.facts(try RealData.bytes(folder + "transaction.jws"))[0]
        #expect(fact.content.text(.productId) == "com.example.app.pro")
        #expect(fact.expiresDate == Instant(milliseconds: 0))
        for name in ["app-transaction.jws", "app-transaction-production.jws"] {
            #expect(verifier.refusal(try RealData.bytes(folder + name)) == .appTransaction)
        }
    }

    @Test(arguments: [
        ("IdeasOnCanvas__AppReceiptValidator/not_a_receipt", "unknown form"),
        ("apphud__ApphudSDK/storekit/StoreKit.storekit", ".storekit"),
        ("voltrue2__in-app-purchase/latest_receipt_info-6.json", "JSON array"),
        (
            "apple__app-store-server-library-swift/models/appTransactionDoesNotExistError.json",
            "error response"
        ),
        ("apple__app-store-server-library-swift/models/signedNotification.json", "decoded data"),
    ])
    func `an unsupported form is named in the refusal`(path: String, words: String) throws {
        let rejection = try #require(apple.rejection(try RealData.bytes(path)))
        #expect(rejection.code == .unsupportedFormat)
        #expect(rejection.message.contains(words), "\(path): \(rejection.message)")
    }

    @Test func `the built-in roots are those that Apple publishes`() throws {
        #expect(
            RootCertificate.apple.map(\.digest.hex) == [
                "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
                "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
                "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
            ]
        )
        let files = ["AppleRootCA-G3.cer", "AppleRootCA-G2.cer", "AppleIncRootCertificate.cer"]
        for (root, file) in zip(RootCertificate.apple, files) {
            #expect(root.der == (try RealData.bytes("certificates/" + file)))
        }
    }
}

/// The expectation in `expected.json` for one notification.
private struct Expectation {
    let outer: [String: Any]
    let transaction: [String: Any]
    let renewal: [String: Any]

    init(_ path: String) throws {
        let all = try JSONSerialization.jsonObject(with: Data(try RealData.bytes("expected.json")))
        let file = try #require((all as? [String: Any])?[path] as? [String: Any])
        let jws = try #require((file["jws"] as? [[String: Any]])?.first)
        outer = try #require(jws["payload"] as? [String: Any])
        let inner = try #require(jws["signedTransactionInfo"] as? [String: Any])
        transaction = try #require(inner["payload"] as? [String: Any])
        let info = try #require(jws["signedRenewalInfo"] as? [String: Any])
        renewal = try #require(info["payload"] as? [String: Any])
    }

    var status: Int64? { (outer["data"] as? [String: Any])?["status"] as? Int64 }

    func compare(_ fact: Fact, _ expected: [String: Any], _ properties: [Property]) {
        for property in properties {
            let value = expected[property.name.description]
            let found = fact.content[property.field]
            switch property.shape {
            case .identifier, .word:
                #expect(found == (value as? String).map { .text($0) }, "\(property.name)")
            case .integer:
                #expect(found == (value as? Int64).map { .integer($0) }, "\(property.name)")
            case .boolean, .mark:
                #expect(found == (value as? Bool).map { .boolean($0) }, "\(property.name)")
            case .document:
                #expect((found == nil) == (value == nil), "\(property.name)")
            case .instant:
                #expect(
                    found == (value as? Int64).map { .instant(Instant(milliseconds: $0)) },
                    "\(property.name)"
                )
            }
        }
    }
}
