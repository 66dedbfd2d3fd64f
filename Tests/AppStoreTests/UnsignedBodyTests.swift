import AppStoreSimulator
import Events
import Foundation
import Testing

@testable import AppStore

/// Unsigned data: a body may contain anything, but only what its embedded receipt
/// proves enters as signed, and other data enters only if someone vouches for it.
struct UnsignedBodyTests {
    private let life: SubscriptionLife
    private let verifier: AppStoreVerifier
    private let instant: Instant
    /// A verifyReceipt response and a version 1 notification about the life, each with a receipt.
    private let bodies: [String]

    private static let seed: UInt64 = 20_261_122

    private static func life(
        _ index: Int,
        seed: UInt64 = seed,
        environment: StoreEnvironment = .production,
        bundleId: String = "example.subledger"
    ) -> SubscriptionLife {
        let store = SimulatedStore(
            pki: SimulatedPKI(seed: seed),
            environment: environment,
            bundleId: bundleId
        )
        return AppStoreSimulator(seed: UnsignedBodyTests.seed, store: store).life(index)
    }

    init() throws {
        life = UnsignedBodyTests.life(0)
        let horizon = try #require(life.horizon)
        instant = horizon
        verifier = AppStoreVerifier(
            policy: VerificationPolicy(
                roots: [try RootCertificate(der: life.store.pki.rootDER)],
                bundleIds: [life.store.bundleId],
                environments: [.production],
                sharedSecrets: [SubscriptionLife.sharedSecret]
            )
        )
        let notification = try #require(
            life.statusUpdateNotifications(password: "").last { $0.signedAt <= horizon }
        )
        bodies = [life.verifyReceiptResponse(asOf: horizon), notification.payload].map {
            String(decoding: $0, as: UTF8.self)
                .replacing("\"password\":\"\"", with: "\"pass\":\"\"")
        }
    }

    /// The base64 of the receipt that a body embeds.
    private func receipt(in body: String) throws -> String {
        let match = try #require(body.firstMatch(of: #/"latest_receipt":"([^"]*)"/#))
        return String(match.1)
    }

    private func verified(_ body: String, _ voucher: Voucher) throws -> VerifiedPayload {
        try verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: voucher
        )
    }

    private func refusal(_ body: String, _ voucher: Voucher) -> Rejection.Code? {
        do {
            _ = try verified(body, voucher)
            return nil
        } catch {
            return (error as? Rejection)?.code
        }
    }

    /// The facts that count as signed.
    private func signed(_ verified: VerifiedPayload) -> [Fact] {
        verified.groups.filter { $0.evidence.verification.trust == .signed }.flatMap(\.value)
    }

    @Test func `without a voucher a genuine body gives only its receipt`() throws {
        for body in bodies {
            let proven = try verifier.facts(try receipt(in: body))
            #expect(!proven.isEmpty)
            #expect(try verified(body, .unvouched).facts == proven)
            let vouched = try verified(body, .operator)
            #expect(signed(vouched) == proven)
            #expect(vouched.notices.isEmpty, "\(vouched.notices)")
        }
    }

    // Altered data must never appear as signed and, where it contradicts the receipt, not at all.
    @Test(
        arguments: [
            ("\"product_id\"", "\"product_id\":\"example.free\""),
            ("\"original_transaction_id\"", "\"original_transaction_id\":\"666\""),
            ("\"purchase_date_ms\"", "\"purchase_date_ms\":\"1500000000000\""),
            ("\"expires_date_ms\"", "\"expires_date_ms\":\"4000000000000\""),
            ("\"web_order_line_item_id\"", "\"web_order_line_item_id\":\"666\""),
            ("\"(bundle_id|bid)\"", "\"bundle_id\":\"example.other\",\"bid\":\"example.other\""),
            ("\"(environment|receipt_type)\"", "\"environment\":\"Sandbox\""),
        ]
    )
    func `a body that contradicts its receipt is not trusted, even if vouched for`(
        name: String,
        forged: String
    ) throws {
        let pattern = try Regex(name + ":\"[^\"]*\"")
        for body in bodies {
            let proven = try verifier.facts(try receipt(in: body))
            let altered = body.replacing(pattern, with: forged)
            #expect(altered != body)
            #expect(try verified(altered, .unvouched).facts == proven, "\(forged)")
            let vouched = try verified(altered, .operator)
            #expect(vouched.facts == proven, "\(forged)")
            #expect(vouched.notices.map(\.code) == [.receiptContradicted])
        }
    }

    @Test(arguments: ["\"latest_receipt_info\":\\[[^\\]]*\\],?", "\"transaction_id\":\"[^\"]*\",?"])
    func `a longer period is refused from the sent receipt and from rows without an id`(
        removed: String
    ) throws {
        let proven = try verifier.facts(try receipt(in: bodies[0]))
        let altered = bodies[0].replacing(try Regex(removed), with: "")
            .replacing(#/"expires_date_ms":"[^"]*"/#, with: "\"expires_date_ms\":\"4000000000000\"")
        let vouched = try verified(altered, .operator)
        #expect(vouched.facts == proven)
        #expect(vouched.notices.map(\.code) == [.receiptContradicted])
    }

    @Test func `an invented row is left out, or kept separate as vouched for`() throws {
        let row = """
            {"product_id":"example.gold","transaction_id":"666","original_transaction_id":"666",\
            "purchase_date_ms":"1700000000000","expires_date_ms":"4000000000000"}
            """
        for body in bodies {
            let proven = try verifier.facts(try receipt(in: body))
            let added = body.replacing(
                "\"latest_receipt_info\":[",
                with: "\"latest_receipt_info\":[\(row),"
            )
            #expect(added != body)
            let strict = try verified(added, .unvouched)
            #expect(strict.facts == proven)
            #expect(strict.notices.map(\.code) == [.unprovenLeftOut])
            let vouched = try verified(added, .operator)
            #expect(signed(vouched) == proven)
            #expect(vouched.facts.contains { $0.stream.originalTransactionId == "666" })
        }
    }

    @Test func `a receipt of another app or environment refuses the body around it`() throws {
        let foreign = [
            (UnsignedBodyTests.life(0, bundleId: "example.other"), Rejection.Code.bundleIdMismatch),
            (UnsignedBodyTests.life(0, environment: .sandbox), .environmentNotAccepted),
        ]
        for body in bodies {
            let own = try receipt(in: body)
            for (other, code) in foreign {
                let text = String(decoding: other.appReceiptBase64(asOf: instant), as: UTF8.self)
                let swapped = body.replacing(own, with: text)
                #expect(refusal(swapped, .unvouched) == code)
                #expect(refusal(swapped, .operator) == code)
                #expect(verifier.refusal(text) == code, "the receipt alone")
            }
        }
    }

    @Test func `with a receipt that proves nothing, nothing counts as signed`() throws {
        let stranger = UnsignedBodyTests.life(0, seed: 666)
        let strange = String(decoding: stranger.appReceiptBase64(asOf: instant), as: UTF8.self)
        #expect(verifier.refusal(strange) == .chainBroken, "a root of the same name, another key")
        for body in bodies {
            let own = try receipt(in: body)
            let middle = own.index(own.startIndex, offsetBy: own.count / 2)
            let flipped =
                own[..<middle] + (own[middle] == "A" ? "B" : "A") + own[middle...].dropFirst()
            for forged in [
                strange, String(own.prefix(own.count / 8 * 4)), String(flipped), "AAAA",
                String(own.reversed()),
            ] {
                let swapped = body.replacing(own, with: forged)
                #expect(refusal(swapped, .unvouched) == .unproven, "\(forged.prefix(20))")
                let vouched = try verified(swapped, .operator)
                #expect(signed(vouched).isEmpty)
                #expect(vouched.notices.first?.code == .receiptUnverified)
            }
        }
    }

    @Test func `another customer's receipt proves only that customer's purchases`() throws {
        let other = UnsignedBodyTests.life(1)
        let when = try #require(other.horizon)
        let text = String(decoding: other.appReceiptBase64(asOf: when), as: UTF8.self)
        let proven = try verifier.facts(text)
        for body in bodies {
            let swapped = body.replacing(try receipt(in: body), with: text)
            #expect(try verified(swapped, .unvouched).facts == proven)
            #expect(try signed(verified(swapped, .operator)) == proven)
        }
    }

    @Test func `a wrong password leaves a notification what its genuine receipt proves`() throws {
        let body = try #require(bodies.last)
        let forged = body.replacing("\"pass\":\"\"", with: "\"password\":\"guess\"")
        #expect(forged != body)
        let proven = try verifier.facts(try receipt(in: body))
        for voucher in [Voucher.unvouched, .operator] {
            let verified = try verified(forged, voucher)
            #expect(verified.facts == proven && signed(verified) == proven)
            #expect(verified.notices.map(\.code) == [.sharedSecretMismatch])
            #expect(verified.leavesOutUnproven)
        }
        let bare = forged.replacing(try receipt(in: body), with: "")
        let damaged = forged.replacing(try receipt(in: body), with: "MIIB")
        for body in [bare, damaged] {
            #expect(refusal(body, .unvouched) == .sharedSecretMismatch)
            #expect(refusal(body, .operator) == .sharedSecretMismatch)
        }
        let twice = body.dropLast() + ",\"password\":\"a\",\"password\":\"b\"}"
        #expect(refusal(String(twice), .unvouched) == .jsonDuplicateName)
    }

    @Test func `an empty secret proves nothing`() throws {
        var policy = verifier.policy
        policy.sharedSecrets = [""]
        let careless = AppStoreVerifier(policy: policy)
        let body = try #require(bodies.last)
        let forged = body.replacing("\"pass\":\"\"", with: "\"password\":\"\"")
            .replacing(try receipt(in: body), with: "")
        #expect(careless.refusal(forged) == .unproven)
    }
}
