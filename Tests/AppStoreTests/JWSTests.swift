import Crypto
import Events
import Foundation
import SwiftASN1
import Testing
import X509

@testable import AppStore

struct JWSTests {
    private static let payload =
        "{\"transactionId\":\"7\",\"originalTransactionId\":\"7\",\"bundleId\":\"app.a\","
        + "\"environment\":\"Sandbox\",\"purchaseDate\":1700000000000,"
        + "\"signedDate\":1700000001234}"

    private func refusal(
        _ flaws: TestPKI.Flaws,
        payload: String = JWSTests.payload
    ) throws -> Rejection.Code? {
        let pki = try TestPKI(flaws)
        return AppStoreVerifier(policy: try pki.policy()).refusal(try pki.sign(payload))
    }

    @Test func `a flawless chain verifies`() throws {
        #expect(try refusal(TestPKI.Flaws()) == nil)
    }

    @Test func `each flaw in a chain has its own reason`() throws {
        let cases: [(WritableKeyPath<TestPKI.Flaws, Bool>, Bool, Rejection.Code)] = [
            (\.hasLeafMarker, false, .leafOIDMissing),
            (\.hasIntermediateMarker, false, .intermediateOIDMissing),
            (\.intermediateIsCA, false, .issuerNotCA),
            (\.intermediateMayIssue, false, .issuerNotCA),
            (\.leafIsCA, true, .certificateUnacceptable),
            (\.leafMaySign, false, .certificateUnacceptable),
            (\.leafHasUnknownCriticalExtension, true, .certificateUnacceptable),
            (\.isLeafSignedWithEd25519, true, .certificateUnacceptable),
            (\.leafNamesOtherIssuer, true, .chainBroken),
            (\.leafNamesOtherKey, true, .chainBroken),
            (\.isLeafSignedByStranger, true, .chainBroken),
            (\.leafIsOnP384, true, .leafKeyUnsupported),
        ]
        for (flaw, value, code) in cases {
            var flaws = TestPKI.Flaws()
            flaws[keyPath: flaw] = value
            #expect(try refusal(flaws) == code, "\(flaw)")
        }
    }

    @Test func `a chain of three is refused if its root allows no authorities below it`() throws {
        var flaws = TestPKI.Flaws()
        flaws.rootPathLength = 0
        #expect(try refusal(flaws) == .issuerNotCA)
        flaws.rootPathLength = 1
        #expect(try refusal(flaws) == nil)
    }

    @Test func `a chain must be valid in the second of signing, both ends included`() throws {
        var flaws = TestPKI.Flaws()
        flaws.leafNotBefore = "2023-11-14T22:13:21Z"
        flaws.leafNotAfter = "2023-11-14T22:13:21Z"
        #expect(try refusal(flaws) == nil)
        flaws.leafNotAfter = "2024-11-14T22:13:21Z"
        flaws.leafNotBefore = "2023-11-14T22:13:22Z"
        #expect(try refusal(flaws) == .certificateExpired)
        flaws.leafNotBefore = "2020-01-01T00:00:00Z"
        flaws.leafNotAfter = "2023-11-14T22:13:20Z"
        #expect(try refusal(flaws) == .certificateExpired)
    }

    @Test func `a remembered chain is still checked against each payload's date`() throws {
        var flaws = TestPKI.Flaws()
        flaws.leafNotAfter = "2024-01-01T00:00:00Z"
        let pki = try TestPKI(flaws)
        let verifier = AppStoreVerifier(policy: try pki.policy())
        #expect(verifier.opener.cache.count == 0)
        #expect(verifier.refusal(try pki.sign(JWSTests.payload)) == nil)
        #expect(verifier.opener.cache.count == 1)
        let later = JWSTests.payload.replacing("1700000001234", with: "1710000000000")
        #expect(verifier.refusal(try pki.sign(later)) == .certificateExpired)
        var stolen = try pki.sign(JWSTests.payload).split(separator: ".").map(String.init)
        stolen[1] = try pki.sign(later).split(separator: ".").map(String.init)[1]
        #expect(verifier.refusal(stolen.joined(separator: ".")) == .certificateExpired)
        stolen[1] = base64URL(Array(JWSTests.payload.replacing("app.a", with: "app.b").utf8))
        #expect(verifier.refusal(stolen.joined(separator: ".")) == .signatureInvalid)
        #expect(verifier.opener.cache.count == 1)
    }

    @Test func `the verifier remembers a chain only after checking a signature`() throws {
        let pki = try TestPKI()
        let verifier = AppStoreVerifier(policy: try pki.policy())
        var segments = try pki.sign(JWSTests.payload).split(separator: ".").map(String.init)
        segments[1] = base64URL(Array(JWSTests.payload.replacing("app.a", with: "app.b").utf8))
        #expect(verifier.refusal(segments.joined(separator: ".")) == .signatureInvalid)
        #expect(verifier.opener.cache.count == 0)
    }

    @Test
    func `remembered chains are not confused, and each is found by the hash of its own header`()
        throws
    {
        let signers = [try TestPKI(), try TestPKI()]
        let roots = try signers.flatMap { try $0.policy().roots }
        let verifier = AppStoreVerifier(policy: VerificationPolicy(roots: roots))
        for _ in 0..<3 {
            for pki in signers { #expect(verifier.refusal(try pki.sign(JWSTests.payload)) == nil) }
        }
        #expect(verifier.opener.cache.count == 2)
        var segments = try signers[0].sign(JWSTests.payload).split(separator: ".")
        segments[0] = try signers[1].sign(JWSTests.payload).split(separator: ".")[0]
        #expect(verifier.refusal(segments.joined(separator: ".")) == .signatureInvalid)
    }

    @Test func `a full cache forgets the oldest chain`() throws {
        let cache = ChainCache<Int>()
        for number in 0...ChainCache<Int>.chainCountMax {
            for _ in 0..<2 { cache.remember(number, of: [UInt8(number)]) }
        }
        #expect(cache.count == ChainCache<Int>.chainCountMax)
        #expect(cache.chain(of: [0]) == nil)
        #expect(cache.chain(of: [1]) == 1)
        #expect(cache.chain(of: []) == nil)
    }

    @Test func `a chain has three certificates and ends at a pinned root`() throws {
        let pki = try TestPKI()
        let other = try TestPKI()
        let verifier = AppStoreVerifier(policy: try pki.policy())
        func refusal(_ chain: [Certificate]) throws -> Rejection.Code? {
            verifier.refusal(try pki.sign(JWSTests.payload, chain: chain))
        }
        #expect(try refusal([pki.leaf, pki.intermediate]) == .chainLength)
        #expect(try refusal(pki.chain + [pki.root]) == .chainLength)
        #expect(try refusal(Array(repeating: pki.leaf, count: 9)) == .chainLength)
        #expect(try refusal([]) == .x5cMissing)
        #expect(try refusal([pki.leaf]) == .xcodeSigned)
        #expect(try refusal([pki.leaf, pki.intermediate, other.root]) == .chainUntrusted)
        #expect(try refusal([pki.leaf, other.intermediate, pki.root]) == .chainBroken)
        #expect(try refusal([pki.intermediate, pki.leaf, pki.root]) == .chainBroken)
        #expect(try other.policy().roots.count == 1)
        #expect(
            AppStoreVerifier(policy: try other.policy()).refusal(try pki.sign(JWSTests.payload))
                == .chainUntrusted
        )
    }

    @Test func `Xcode's certificate cannot sign for the App Store`() throws {
        let pki = try TestPKI()
        let policy = VerificationPolicy(
            roots: [try RootCertificate(der: try pki.leaf.der)],
            environments: [.sandbox, .xcode]
        )
        let verifier = AppStoreVerifier(policy: policy)
        let xcode = JWSTests.payload.replacing("Sandbox", with: "Xcode")
        #expect(verifier.refusal(try pki.sign(xcode, chain: [pki.leaf])) == nil)
        #expect(
            verifier.refusal(try pki.sign(JWSTests.payload, chain: [pki.leaf])) == .xcodeSigned
        )
        let issuer = AppStoreVerifier(
            policy: VerificationPolicy(
                roots: [try RootCertificate(der: try pki.intermediate.der)],
                environments: [.xcode]
            )
        )
        #expect(issuer.refusal(try pki.sign(xcode, chain: [pki.leaf])) == nil)
        let untrusted = AppStoreVerifier(policy: try TestPKI().policy())
        #expect(untrusted.refusal(try pki.sign(xcode)) == .xcodeSigned)
    }

    @Test(arguments: ["none", "HS256", "ES384", "es256", "RS256", ""])
    func `only ES256 is accepted as the algorithm`(algorithm: String) throws {
        let pki = try TestPKI()
        let header = try TestPKI.header(pki.chain, algorithm: algorithm)
        let jws = try pki.sign(JWSTests.payload, header: header)
        #expect(
            AppStoreVerifier(policy: try pki.policy()).refusal(jws) == .algorithmNotES256
        )
    }

    @Test func `a signature is 64 raw bytes over exactly these segments`() throws {
        let pki = try TestPKI()
        let verifier = AppStoreVerifier(policy: try pki.policy())
        let jws = try pki.sign(JWSTests.payload)
        let segments = jws.split(separator: ".").map(String.init)
        let der = try pki.leafKey.signature(for: Array((segments[0] + "." + segments[1]).utf8))
            .derRepresentation
        let withDER = segments[0] + "." + segments[1] + "." + base64URL(Array(der))
        #expect(verifier.refusal(withDER) == .signatureMalformed)
        let swapped = segments[0] + "." + segments[2] + "." + segments[1]
        #expect(verifier.refusal(swapped) == .jsonMalformed)
        let other = try pki.sign(JWSTests.payload.replacing("app.a", with: "app.c"))
            .split(separator: ".").map(String.init)
        #expect(
            verifier.refusal(segments[0] + "." + other[1] + "." + segments[2])
                == .signatureInvalid
        )
        #expect(verifier.refusal(segments[0] + "." + segments[1] + ".") == .signatureMalformed)
        #expect(verifier.refusal(jws + ".x") == .jwsMalformed)
        #expect(verifier.refusal(segments[0] + "." + segments[1] + ".a") == .jwsMalformed)
    }

    @Test func `a header must follow RFC 7515`() throws {
        let pki = try TestPKI()
        let verifier = AppStoreVerifier(policy: try pki.policy())
        func refusal(_ header: String) throws -> Rejection.Code? {
            verifier.refusal(try pki.sign(JWSTests.payload, header: header))
        }
        let good = try TestPKI.header(pki.chain)
        #expect(try refusal(good.dropLast() + ",\"typ\":\"JWT\"}") == nil)
        #expect(try refusal(good.dropLast() + ",\"crit\":[\"b64\"]}") == .jwsCriticalHeader)
        #expect(try refusal(good.dropLast() + ",\"alg\":\"none\"}") == .jsonDuplicateName)
        #expect(try refusal("[]") == .jwsMalformed)
        #expect(try refusal("{\"alg\":\"ES256\"}") == .x5cMissing)
        #expect(try refusal("{\"alg\":\"ES256\",\"x5c\":\"MIIB\"}") == .x5cMissing)
        #expect(
            try refusal("{\"alg\":\"ES256\",\"x5c\":[1,2,3]}") == .certificateMalformed
        )
        #expect(
            try refusal("{\"alg\":\"ES256\",\"x5c\":[\"MIIB\",\"MIIB\",\"MIIB\"]}")
                == .certificateMalformed
        )
    }

    @Test func `changing any byte of a JWS makes it refused`() throws {
        let pki = try TestPKI()
        let verifier = AppStoreVerifier(policy: try pki.policy())
        let jws = Array(try pki.sign(JWSTests.payload).utf8)
        let seed: UInt64 = 20_261_121
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            var changed = jws
            let position = Int.random(in: 0..<jws.count, using: &generator)
            changed[position] = UInt8.random(in: 33...126, using: &generator)
            if changed == jws { continue }
            #expect(verifier.refusal(changed) != nil, "byte \(position), seed \(seed)")
        }
    }

    @Test func `roots are read from DER and PEM, and anything else is refused as a root`() throws {
        let pki = try TestPKI()
        let der = try pki.root.der
        let pem = try pki.root.serializeAsPEM().pemString
        #expect(try RootCertificate.read(der).map(\.der) == [der])
        let both = try RootCertificate.read(Array((pem + "\n" + pem + "\n").utf8))
        #expect(both.map(\.der) == [der, der])
        for file in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA"] {
            #expect(throws: Rejection(.rootCertificateMalformed, "")) {
                try RootCertificate.read(Array(file.utf8))
            }
        }
        let key = pki.leafKey.pemRepresentation
        #expect(throws: Rejection(.rootCertificateMalformed, "")) {
            try RootCertificate.read(Array(key.utf8))
        }
    }
}
