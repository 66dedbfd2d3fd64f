import Crypto
import Events
import Foundation
import SwiftASN1
import Testing
import X509

@testable import AppStore

/// Certificate chains that must not be trusted, wherever a statement appears.
struct UntrustedChainTests {
    private let forge: StatementForge

    init() throws { forge = try StatementForge() }

    /// A chain that a forger creates, with names like the genuine ones.
    @Sendable private static func selfMade(_ statement: StatementForge.Statement) throws -> String {
        try TestPKI().sign(statement.claims)
    }

    static let chains: [Forgery] = [
        Forgery(.chainUntrusted, "self-made from the root", selfMade),
        Forgery(.chainLength, "two certificates") {
            try $0.chained([$0.pki.leaf, $0.pki.intermediate])
        },
        Forgery(.chainLength, "four certificates") { try $0.chained($0.pki.chain + [$0.pki.root]) },
        Forgery(.chainLength, "a thousand certificates") {
            try $0.chained(Array(repeating: $0.pki.leaf, count: 300))
        },
        Forgery(.x5cMissing, "no certificates") { try $0.chained([]) },
        Forgery(.x5cMissing, "a text for a list") {
            try $0.pki.sign($0.claims, header: "{\"alg\":\"ES256\",\"x5c\":\"MIIB\"}")
        },
        Forgery(.x5cMissing, "an object for a list") {
            try $0.pki.sign($0.claims, header: "{\"alg\":\"ES256\",\"x5c\":{\"0\":\"MIIB\"}}")
        },
        Forgery(.certificateMalformed, "numbers for certificates") {
            try $0.pki.sign($0.claims, header: "{\"alg\":\"ES256\",\"x5c\":[1,2,3]}")
        },
        Forgery(.certificateMalformed, "no base64") {
            try $0.pki.sign($0.claims, header: "{\"alg\":\"ES256\",\"x5c\":[\"!\",\"!\",\"!\"]}")
        },
        Forgery(.certificateMalformed, "base64 of another alphabet") { statement in
            let header = try statement.header.replacing("+", with: "-").replacing("/", with: "_")
            return try statement.pki.sign(statement.claims, header: header)
        },
        Forgery(.certificateMalformed, "100 kB that are no certificate") { statement in
            let large = Data(repeating: 0x30, count: 100_000).base64EncodedString()
            let header = "{\"alg\":\"ES256\",\"x5c\":[\"\(large)\",\"\(large)\",\"\(large)\"]}"
            return try statement.pki.sign(statement.claims, header: header)
        },
        Forgery(.certificateMalformed, "the root cut short") { statement in
            let chain = try statement.pki.chain.map { Data(try $0.der.dropLast()) }
            let x5c = chain.map { "\"\($0.base64EncodedString())\"" }.joined(separator: ",")
            let header = "{\"alg\":\"ES256\",\"x5c\":[\(x5c)]}"
            return try statement.pki.sign(statement.claims, header: header)
        },
        Forgery(.chainUntrusted, "root, intermediate, leaf") {
            try $0.chained($0.pki.chain.reversed())
        },
        Forgery(.chainBroken, "intermediate before leaf") {
            try $0.chained([$0.pki.intermediate, $0.pki.leaf, $0.pki.root])
        },
        Forgery(.chainBroken, "a foreign intermediate") { statement in
            let other = try TestPKI()
            return try statement.chained(
                [statement.pki.leaf, other.intermediate, statement.pki.root]
            )
        },
        Forgery(.chainBroken, "a forger's leaf and intermediate under the genuine root") {
            let forger = try TestPKI()
            return try forger.sign(
                $0.claims,
                chain: [forger.leaf, forger.intermediate, $0.pki.root]
            )
        },
        Forgery(.chainBroken, "a forger's leaf of 100 kB under the genuine intermediate") {
            statement in
            let key = P256.Signing.PrivateKey()
            let leaf = try TestPKI.certificate(
                subject: statement.pki.leaf.subject,
                key: Certificate.PublicKey(key.publicKey),
                issuer: statement.pki.intermediate.subject,
                issuerKey: Certificate.PrivateKey(key),
                extensions: try Certificate.Extensions([
                    Certificate.Extension(
                        oid: SigningChain.leafMarker,
                        critical: false,
                        value: [UInt8](repeating: 5, count: 100_000)[...]
                    )
                ])
            )
            let chain = [leaf, statement.pki.intermediate, statement.pki.root]
            return try statement.chained(chain)
        },
        Forgery(.xcodeSigned, "the leaf alone, as Xcode sends it") {
            try $0.chained([$0.pki.leaf])
        },
        Forgery(.xcodeSigned, "a self-made chain with Xcode's key id") { statement in
            let forger = try TestPKI()
            let header = try TestPKI.header(forger.chain).dropLast()
            return try forger.sign(
                statement.claims,
                header: header + ",\"kid\":\"Apple_Xcode_Key\"}"
            )
        },
        Forgery(.signatureInvalid, "the root alone, signed by the leaf") {
            try $0.chained([$0.pki.root])
        },
        Forgery(.signatureInvalid, "the intermediate alone, signed by the leaf") {
            try $0.chained([$0.pki.intermediate])
        },
    ]

    @Test(arguments: StatementPlace.allCases)
    func `only leaf, intermediate and pinned root in that order are trusted`(
        place: StatementPlace
    ) throws {
        let verifier = try forge.verifier()
        for forgery in UntrustedChainTests.chains {
            let found = verifier.refusal(try forge.payload(forgery, at: place))
            #expect(found == forgery.code, "\(forgery.name), \(place)")
        }
    }

    static let flaws: [(Rejection.Code, String, @Sendable (inout TestPKI.Flaws) -> Void)] = [
        (.leafOIDMissing, "leaf without Apple's marker", { $0.hasLeafMarker = false }),
        (
            .intermediateOIDMissing, "intermediate without Apple's marker",
            { $0.hasIntermediateMarker = false }
        ),
        (.issuerNotCA, "intermediate that is no authority", { $0.intermediateIsCA = false }),
        (.issuerNotCA, "intermediate that may not sign", { $0.intermediateMayIssue = false }),
        (.certificateUnacceptable, "leaf that is an authority", { $0.leafIsCA = true }),
        (
            .certificateUnacceptable, "leaf signed with Ed25519",
            { $0.isLeafSignedWithEd25519 = true }
        ),
        (.leafKeyUnsupported, "leaf on P-384", { $0.leafIsOnP384 = true }),
        (.chainBroken, "leaf signed by a stranger", { $0.isLeafSignedByStranger = true }),
        (
            .certificateExpired, "leaf expired when it signed",
            { $0.leafNotAfter = "2020-01-02T00:00:00Z" }
        ),
        (
            .certificateExpired, "leaf not yet valid when it signed",
            { $0.leafNotBefore = "2029-12-31T00:00:00Z" }
        ),
    ]

    // The flawed authority is trusted, so that the flaw is the only reason.
    @Test(arguments: StatementPlace.allCases)
    func `a pinned root does not excuse flaws below it`(place: StatementPlace) throws {
        for (code, name, change) in UntrustedChainTests.flaws {
            var flaws = TestPKI.Flaws()
            change(&flaws)
            let flawed = try TestPKI(flaws)
            let jws = try flawed.sign(try forge.claims(at: place))
            let verifier = try forge.verifier(alsoTrusting: [flawed])
            let found = verifier.refusal(try forge.payload(jws, at: place))
            #expect(found == code, "\(name), \(place)")
        }
    }

    @Test(.enabled(if: RealData.isPresent), arguments: StatementPlace.allCases)
    func `Apple's own leaf and intermediate do not validate another key's signature`(
        place: StatementPlace
    ) throws {
        let file = try RealData.bytes("imdhemy__laravel-in-app-purchases/x5c-chain.json")
        let chain = try JSON(file).root.elements.map { try #require($0.text) }
        let foreign = try forge.pki.chain.map { Data(try $0.der).base64EncodedString() }
        let verifier = AppStoreVerifier(
            policy: VerificationPolicy(
                roots: try forge.verifier().policy.roots + RootCertificate.apple
            )
        )
        // The leaf in the file expired in 2023; simulated statements are later.
        let date = #/"signedDate":\d+/#
        let claims = try forge.claims(at: place)
            .replacing(date, with: "\"signedDate\":1680000000000")
        func refusal(_ x5c: [String]) throws -> Rejection.Code? {
            let list = x5c.map { "\"\($0)\"" }.joined(separator: ",")
            let jws = try forge.pki.sign(claims, header: "{\"alg\":\"ES256\",\"x5c\":[\(list)]}")
            return verifier.refusal(try forge.payload(jws, at: place))
        }
        #expect(try refusal(chain) == .signatureInvalid)
        #expect(try refusal([chain[0], foreign[1], foreign[2]]) == .chainBroken)
        #expect(try refusal([chain[0], foreign[1], chain[2]]) == .chainBroken)
        #expect(try refusal([foreign[0], chain[1], chain[2]]) == .chainBroken)
        #expect(try refusal([chain[0], chain[1], foreign[2]]) == .chainBroken)
        #expect(try refusal([chain[2]]) == .leafKeyUnsupported)
    }
}
