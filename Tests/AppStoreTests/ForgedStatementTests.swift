import Crypto
import Events
import Foundation
import Testing
import X509

@testable import AppStore

/// What a forger without Apple's keys can do to a signed statement, wherever it appears.
///
/// Everything around the forged statement is genuine, so that the forgery is the only reason.
struct ForgedStatementTests {
    private let forge: StatementForge
    private let verifier: AppStoreVerifier

    init() throws {
        forge = try StatementForge()
        verifier = try forge.verifier()
    }

    @Test(arguments: StatementPlace.allCases)
    func `genuine statements are accepted, so that only the forgery is the reason`(
        place: StatementPlace
    ) throws {
        let jws = try forge.pki.sign(try forge.claims(at: place))
        #expect(verifier.rejection(try forge.payload(jws, at: place)) == nil)
    }

    private func expectRefused(_ forgeries: [Forgery], at place: StatementPlace) throws {
        for forgery in forgeries {
            let found = verifier.refusal(try forge.payload(forgery, at: place))
            #expect(found == forgery.code, "\(forgery.name), \(place)")
        }
    }

    @Test(arguments: StatementPlace.allCases)
    func `changing any claim breaks its signature`(place: StatementPlace) throws {
        let segments = try forge.pki.sign(try forge.claims(at: place)).split(separator: ".")
        let claims = try #require(Base64.decodeURLUnpadded(Array(segments[1].utf8)[...]))
        let root = try JSON(claims).root
        #expect(root.members.count > 4)
        var places: [Int] = []
        root.walk { name, value in
            places.append(name.bytes.startIndex)
            if value.byteCount > 0 { places.append(value.bytes.endIndex - 1) }
        }
        for index in places {
            var altered = claims
            altered[index] = ForgedStatementTests.neighbour(of: altered[index])
            let jws = "\(segments[0]).\(base64URL(altered)).\(segments[2])"
            let code = verifier.refusal(try forge.payload(jws, at: place))
            // Text that is no longer JSON is refused even earlier.
            let isJSON = ForgedStatementTests.isJSON(altered)
            #expect(code == (isJSON ? .signatureInvalid : .jsonMalformed), "byte \(index)")
        }
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        do {
            _ = try JSON(bytes)
            return true
        } catch {
            return false
        }
    }

    // Another byte of the same class, so that the text stays JSON where possible.
    private static func neighbour(of byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "9"): UInt8(ascii: "8")
        case UInt8(ascii: "0")..<UInt8(ascii: "9"): byte + 1
        default: byte == UInt8(ascii: "x") ? UInt8(ascii: "y") : UInt8(ascii: "x")
        }
    }

    // The order of P-256 (SEC 2 §2.4.2): both parts of a signature must be below it.
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
        0x25, 0x51,
    ]
    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one = zero.dropLast() + [1]

    static let signatures: [Forgery] = [
        Forgery(.jwsMalformed, "signature stripped with its dot") {
            try $0.segments.dropLast().joined(separator: ".")
        },
        Forgery(.signatureMalformed, "signature stripped") { try $0.signed([]) },
        Forgery(.signatureMalformed, "signature truncated") { statement in
            let text = try statement.segments[2]
            let raw = try #require(Base64.decodeURLUnpadded(Array(text.utf8)[...]))
            return try statement.signed(Array(raw.dropLast()))
        },
        Forgery(.signatureMalformed, "signature with a byte more") {
            try $0.signed([UInt8](repeating: 1, count: 65))
        },
        Forgery(.signatureMalformed, "signature in the form of DER") { statement in
            let input = Array(try statement.segments.dropLast().joined(separator: ".").utf8)
            return try statement.signed(
                Array(try statement.pki.leafKey.signature(for: input).derRepresentation)
            )
        },
        Forgery(.signatureInvalid, "signature of another statement") { statement in
            let other = try statement.pki.sign(statement.other).split(separator: ".")
            return try statement.replacing(2, with: String(other[2]))
        },
        Forgery(.signatureInvalid, "claims of another statement") { statement in
            let other = try statement.pki.sign(statement.other).split(separator: ".")
            return try statement.replacing(1, with: String(other[1]))
        },
        Forgery(.signatureInvalid, "signature of zeros") { try $0.signed(zero + zero) },
        Forgery(.signatureInvalid, "r of zero") { try $0.signed(zero + one) },
        Forgery(.signatureInvalid, "s of zero") { try $0.signed(one + zero) },
        Forgery(.signatureInvalid, "r of the curve's order") { try $0.signed(order + one) },
        Forgery(.signatureInvalid, "s of the curve's order") { try $0.signed(one + order) },
        Forgery(.signatureInvalid, "r and s beyond the order") {
            try $0.signed([UInt8](repeating: 0xff, count: 64))
        },
        Forgery(.signatureInvalid, "a genuine r and s plus the order") { statement in
            let text = try statement.segments[2]
            let raw = try #require(Base64.decodeURLUnpadded(Array(text.utf8)[...]))
            return try statement.signed(Array(raw[..<32]) + order)
        },
        Forgery(.signatureInvalid, "signed by another key under the genuine chain") {
            try TestPKI().sign($0.claims, header: try $0.header)
        },
    ]

    @Test(arguments: StatementPlace.allCases)
    func `only the signature made for a statement fits it`(place: StatementPlace) throws {
        try expectRefused(ForgedStatementTests.signatures, at: place)
    }

    @Test func `base64 with padding is refused, as RFC 7515 requires`() throws {
        for segment in 0..<3 {
            var segments = try forge.pki.sign(forge.transaction).split(separator: ".")
            segments[segment] += "=="
            let jws = segments.joined(separator: ".")
            #expect(verifier.refusal(jws) == .unsupportedFormat, "not a letter of a bare JWS")
            let body = try forge.payload(jws, at: .response)
            #expect(verifier.refusal(body) == .jwsMalformed)
        }
    }

    static let algorithms: [Forgery] =
        ["none", "None", "HS256", "ES384", "ES512", "RS256", "PS256", "es256", "ES256 ", ""].map {
            algorithm in
            Forgery(.algorithmNotES256, "algorithm \"\(algorithm)\"") { statement in
                try statement.pki.sign(
                    statement.claims,
                    header: try TestPKI.header(statement.pki.chain, algorithm: algorithm)
                )
            }
        } + [
            Forgery(.algorithmNotES256, "no algorithm") { statement in
                let header = try statement.header.replacing("\"alg\":\"ES256\",", with: "")
                return try statement.pki.sign(statement.claims, header: header)
            },
            Forgery(.algorithmNotES256, "algorithm as a list") { statement in
                let header = try statement.header.replacing("\"ES256\"", with: "[\"ES256\"]")
                return try statement.pki.sign(statement.claims, header: header)
            },
            Forgery(.algorithmNotES256, "unsigned, as RFC 7519 §6 allows") { statement in
                base64URL(Array("{\"alg\":\"none\"}".utf8)) + "."
                    + base64URL(Array(statement.claims.utf8)) + "."
            },
            Forgery(.algorithmNotES256, "HMAC with the public key as the secret") { statement in
                let header = try TestPKI.header(statement.pki.chain, algorithm: "HS256")
                let input =
                    base64URL(Array(header.utf8)) + "." + base64URL(Array(statement.claims.utf8))
                let secret = SymmetricKey(data: statement.pki.leafKey.publicKey.x963Representation)
                let code = HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: secret)
                return input + "." + base64URL(Array(code))
            },
        ]

    @Test(arguments: StatementPlace.allCases)
    func `the header cannot choose a weaker algorithm`(place: StatementPlace) throws {
        try expectRefused(ForgedStatementTests.algorithms, at: place)
    }

    static let headers: [Forgery] = [
        Forgery(.jwsCriticalHeader, "a critical extension") {
            try $0.header(adding: "\"crit\":[\"exp\"],\"exp\":1")
        },
        Forgery(.jwsCriticalHeader, "no critical extension, said so") {
            try $0.header(adding: "\"crit\":[]")
        },
        Forgery(.signatureInvalid, "the forger's key as jwk") { statement in
            let forger = try TestPKI()
            let point = Array(forger.leafKey.publicKey.rawRepresentation)
            let key =
                "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"\(base64URL(Array(point[..<32])))\","
                + "\"y\":\"\(base64URL(Array(point[32...])))\"}"
            let header = try statement.header.dropLast() + ",\"jwk\":\(key)}"
            return try forger.sign(statement.claims, header: String(header))
        },
        Forgery(.x5cMissing, "the forger's keys behind jku, x5u and kid") { statement in
            try TestPKI().sign(
                statement.claims,
                header: "{\"alg\":\"ES256\",\"kid\":\"1\",\"jku\":\"https://example.com/keys\","
                    + "\"x5u\":\"https://example.com/chain\"}"
            )
        },
        Forgery(.jsonDuplicateName, "two algorithms") { try $0.header(adding: "\"alg\":\"none\"") },
        Forgery(.jsonDuplicateName, "two chains") { try $0.header(adding: "\"x5c\":[]") },
        Forgery(.jsonDuplicateName, "two algorithms, one of them escaped") {
            try $0.header(adding: "\"\\u0061lg\":\"none\"")
        },
        Forgery(.jwsMalformed, "a header that is a list") {
            try $0.pki.sign($0.claims, header: "[]")
        },
        Forgery(.jsonMalformed, "an empty header") { try $0.pki.sign($0.claims, header: "") },
        Forgery(.jsonMalformed, "a header after a byte order mark") {
            try $0.pki.sign($0.claims, header: "\u{feff}" + (try $0.header))
        },
        Forgery(.jsonTooDeep, "a header of brackets") {
            try $0.pki.sign($0.claims, header: String(repeating: "[", count: 100_000))
        },
        Forgery(.jwsMalformed, "four segments") { try $0.pki.sign($0.claims) + ".AAAA" },
        Forgery(.jwsMalformed, "the JSON form of a JWS in dots") { _ in "{}.{}.{}" },
    ]

    @Test(arguments: [
        StatementPlace.notification, .nestedTransaction, .nestedRenewalInfo, .response,
    ])
    func `no header member replaces the chain or hides a second meaning`(
        place: StatementPlace
    ) throws {
        // A body holds the text of a JWS in quotes, so that its braces do not matter.
        try expectRefused(ForgedStatementTests.headers, at: place)
    }

    @Test(arguments: [StatementPlace.transaction, .renewalInfo])
    func `the same holds for a bare JWS, which is recognised by its letters`(
        place: StatementPlace
    ) throws {
        try expectRefused(
            ForgedStatementTests.headers.filter { !$0.name.contains("in dots") },
            at: place
        )
        #expect(verifier.refusal("{}.{}.{}") == .jsonMalformed)
    }
}
