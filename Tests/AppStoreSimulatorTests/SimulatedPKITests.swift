import AppStoreSimulator
import Crypto
import Events
import Foundation
import SwiftASN1
import Testing
@_spi(FixedExpiryValidationTime) import X509

/// The chain and the JWS of a simulated store, judged by the libraries that a real verifier uses.
@Suite struct SimulatedPKITests {
    private struct Header: Decodable {
        var alg: String
        var x5c: [String]
    }

    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    private static let intermediateMarker: ASN1ObjectIdentifier = [
        1, 2, 840, 113_635, 100, 6, 2, 1,
    ]

    private func certificates(_ pki: SimulatedPKI) throws -> [Certificate] {
        try pki.chainDER.map { try Certificate(derEncoded: $0) }
    }

    private func isValid(_ pki: SimulatedPKI, at instant: Instant) async throws -> Bool {
        let chain = try certificates(pki)
        let root = try Certificate(derEncoded: pki.rootDER)
        let date = Date(timeIntervalSince1970: Double(instant.milliseconds / 1000))
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

    @Test func `a notification verifies at its signing date`() async throws {
        let simulator = AppStoreSimulator(seed: 3)
        let life = simulator.life(0)
        let delivery = try #require(life.notifications().first)
        let outer = try decode(NotificationBody.self, json: delivery.payload).signedPayload
        let notification = try ReadNotification(delivery).outer
        let inner = [
            notification.data.signedTransactionInfo,
            try #require(notification.data.signedRenewalInfo),
        ]
        #expect(try await isValid(simulator.store.pki, at: delivery.signedAt))
        for jws in [outer] + inner {
            let parts = try jwsParts(jws)
            let header = try JSONDecoder().decode(Header.self, from: parts.header)
            #expect(header.alg == "ES256")
            #expect(
                header.x5c == simulator.store.pki.chainDER.map { Data($0).base64EncodedString() }
            )
            let leaf = try Certificate(derEncoded: simulator.store.pki.chainDER[0])
            let key = try #require(P256.Signing.PublicKey(leaf.publicKey))
            let signed = Data(jws.utf8.prefix { $0 != UInt8(ascii: ".") })
            let text = Data(jws.utf8.dropLast(jws.utf8.reversed().prefix { $0 != 46 }.count + 1))
            #expect(text.starts(with: signed))
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: parts.signature)
            #expect(key.isValidSignature(signature, for: text))
            #expect(!key.isValidSignature(signature, for: text + Data([0])))
        }
    }

    @Test func `the chain is valid from 2008 to 2099 and not outside`() async throws {
        let pki = SimulatedPKI(seed: 1)
        for text in ["2008-01-02", "2026-03-03", "2060-01-01", "2099-12-31"] {
            #expect(try await isValid(pki, at: #require(Instant(text))), "\(text)")
        }
        #expect(try await !isValid(pki, at: #require(Instant("2007-12-31"))))
        #expect(try await !isValid(pki, at: #require(Instant("2100-01-01"))))
    }

    @Test func `leaf and intermediate carry Apple's markers`() throws {
        let chain = try certificates(SimulatedPKI(seed: 1))
        #expect(chain.count == 3)
        #expect(chain[0].extensions[oid: Self.leafMarker] != nil)
        #expect(chain[1].extensions[oid: Self.intermediateMarker] != nil)
        #expect(chain[1].extensions[oid: Self.leafMarker] == nil)
        #expect(chain[2].extensions[oid: Self.intermediateMarker] == nil)
    }

    @Test func `each flaw appears alone and under the same root`() async throws {
        let sound = SimulatedPKI(seed: 5)
        let now = try #require(Instant("2026-01-01"))
        let unmarked = try certificates(SimulatedPKI(seed: 5, flaws: .leafWithoutMarker))
        #expect(unmarked[0].extensions[oid: Self.leafMarker] == nil)
        #expect(unmarked[1].extensions[oid: Self.intermediateMarker] != nil)
        let foreign = try certificates(SimulatedPKI(seed: 5, flaws: .intermediateWithoutMarker))
        #expect(foreign[0].extensions[oid: Self.leafMarker] != nil)
        #expect(foreign[1].extensions[oid: Self.intermediateMarker] == nil)
        #expect(SimulatedPKI(seed: 5, flaws: .twoCertificates).chainDER.count == 2)
        #expect(try await isValid(sound, at: now))
        #expect(try await isValid(SimulatedPKI(seed: 5, flaws: .leafWithoutMarker), at: now))
        #expect(try await !isValid(SimulatedPKI(seed: 5, flaws: .expiredLeaf), at: now))
        #expect(
            try await !isValid(
                SimulatedPKI(seed: 5, flaws: .intermediateWithoutAuthority),
                at: now
            )
        )
        for flaw: SimulatedPKI.Flaws in [.leafWithoutMarker, .expiredLeaf, .twoCertificates] {
            #expect(SimulatedPKI(seed: 5, flaws: flaw).rootDER == sound.rootDER)
        }
    }

    @Test func `certificates and signatures are determined by the seed`() {
        let payload = Array(#"{"a":1}"#.utf8)
        let first = SimulatedPKI(seed: 9)
        let again = SimulatedPKI(seed: 9)
        let other = SimulatedPKI(seed: 10)
        #expect(first.chainDER == again.chainDER)
        #expect(first.sign(payloadJSON: payload) == again.sign(payloadJSON: payload))
        #expect(first.rootDER != other.rootDER)
        #expect(first.sign(payloadJSON: payload) != other.sign(payloadJSON: payload))
    }
}
