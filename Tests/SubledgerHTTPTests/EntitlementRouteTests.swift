import Catalog
import Events
import Foundation
import SubledgerHTTP
import HTTPTypes
import Subledger
import TestSupport
import Testing

/// Entitlements over HTTP: a document to keep, and a signed one to honour offline.
@Suite(.enabled { await TestServer.isAvailable })
struct EntitlementRouteTests {
    private static let start = Instant(milliseconds: 1_760_000_000_000)
    private static let path = "/v1/customers/1000/entitlements"

    private static func run(
        signer: EntitlementSigner? = nil,
        clock: SetClock = SetClock(start),
        _ body: @escaping @Sendable (TestService, _ token: String, SetClock) async throws -> Void
    ) async throws {
        try await TestService.run(signer: signer, clock: { clock.now }) { service in
            let jws = TestService.purchase("1000", "Production", "pro", at: start)
            _ = try await service.ledger.ingest(Array(jws.utf8), source: "test")
            _ = try await CatalogStore(log: service.ledger.log).add(
                try CatalogFile.read(Array(#"{"entitlements":{"pro":{"groups":["20"]}}}"#.utf8)),
                effectiveFrom: .epoch,
                source: "test",
                recordedAt: .systemClock()
            )
            try await body(service, try await service.token(.support), clock)
        }
    }

    @Test func `a client that has the document is told so until an entitlement changes`()
        async throws
    {
        try await Self.run { service, token, clock in
            let first = try await service.get(Self.path, token: token)
            let tag = try #require(first.headers[.eTag])
            #expect(first.status == 200 && tag.hasPrefix("W/\""))
            #expect(first.headers[.cacheControl] == "private, no-cache")
            let all = try first.json["entitlements"] as? [String: [String: Any]]
            #expect(all?["pro"]?["isActive"] as? Bool == true)

            clock.advance(milliseconds: 1000)
            for known in [tag, "\"x\", \(tag.dropFirst(2))", "*"] {
                let same = try await service.get(
                    Self.path,
                    token: token,
                    headers: [.ifNoneMatch: known]
                )
                #expect(same.status == 304 && same.body.isEmpty, "\(known)")
                #expect(same.headers[.eTag] == tag)
            }
            clock.advance(milliseconds: 299_000)
            let ended = try await service.get(
                Self.path,
                token: token,
                headers: [.ifNoneMatch: tag]
            )
            #expect(ended.status == 200 && ended.headers[.eTag] != tag)
            let stranger = try await service.get("/v1/customers/anna/entitlements", token: token)
            #expect(try stranger.status == 200 && stranger.json["isKnown"] as? Bool == false)
        }
    }

    @Test(.enabled(if: OpenSSL.isInstalled))
    func `a signed document is verified with the published key by another program`() async throws {
        let folder = try TestFolder()
        let pem = try String(
            contentsOfFile: try await OpenSSL.makeKey("key.pem", in: folder),
            encoding: .utf8
        )
        let older = try String(
            contentsOfFile: try await OpenSSL.makeKey("older.pem", in: folder),
            encoding: .utf8
        )
        let signer = EntitlementSigner(
            try #require(CheckpointPrivateKey(pem: pem)),
            older: [try #require(CheckpointPrivateKey(pem: older))],
            validFor: 86_400
        )
        try await Self.run(signer: signer) { service, token, clock in
            let jwt: HTTPFields = [.accept: "application/jwt"]
            let answer = try await service.get(Self.path, token: token, headers: jwt)
            #expect(answer.status == 200 && answer.headers[.contentType] == "application/jwt")
            let parts = String(decoding: answer.body, as: UTF8.self).split(separator: ".")
            let header = try Self.json(parts[0])
            let claims = try Self.json(parts[1])
            #expect(header["alg"] as? String == "ES256")
            #expect(header["typ"] as? String == "entitlements+jwt")
            #expect(claims["iat"] as? Int64 == Self.start.milliseconds / 1000)
            #expect(claims["exp"] as? Int64 == Self.start.milliseconds / 1000 + 86_400)
            #expect(claims["customer"] as? String == "1000")

            let set = try await service.get("/.well-known/jwks.json").json
            let keys = try #require(set["keys"] as? [[String: String]])
            let key = try #require(keys.first { $0["kid"] == header["kid"] as? String })
            #expect(keys.count == 2)
            for (name, bytes, isRight) in [
                ("right", Array("\(parts[0]).\(parts[1])".utf8), true),
                ("wrong", Array("\(parts[0]).\(parts[1])A".utf8), false),
            ] {
                let isVerified = try await Self.verifies(bytes, String(parts[2]), key, folder)
                #expect(isVerified == isRight, "\(name)")
            }

            // It is renewed long before it expires, although nothing changed.
            let tag = try #require(answer.headers[.eTag])
            var known = jwt
            known[.ifNoneMatch] = tag
            let same = try await service.get(Self.path, token: token, headers: known)
            #expect(same.status == 304)
            clock.advance(milliseconds: 43_200_000)
            let renewed = try await service.get(Self.path, token: token, headers: known)
            #expect(renewed.status == 200 && renewed.headers[.eTag] != tag)
            // One about another time would be honoured as one about now.
            let past = try await service.get(Self.path + "?at=today", token: token, headers: jwt)
            #expect(past.status == 400)
        }
    }

    @Test func `a service without a key signs nothing and publishes no key`() async throws {
        try await Self.run { service, token, _ in
            let answer = try await service.get(
                Self.path,
                token: token,
                headers: [.accept: "application/jwt"]
            )
            #expect(try answer.status == 406 && answer.json["code"] as? String == "signing-off")
            let keys = try await service.get("/.well-known/jwks.json")
            #expect(keys.body == Array(#"{"keys":[]}"#.utf8))
        }
    }

    private static func json(_ part: Substring) throws -> [String: Any] {
        let data = try #require(bytes(String(part)))
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    private static func bytes(_ base64URL: String) -> Data? {
        let text = base64URL.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }

    // OpenSSL reads a signature and a key only in DER.
    private static func verifies(
        _ signed: [UInt8],
        _ signature: String,
        _ key: [String: String],
        _ folder: TestFolder
    ) async throws -> Bool {
        let raw = try #require(bytes(signature))
        func number(_ bytes: Data) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let numbers = number(raw.prefix(32)) + number(raw.suffix(32))
        let (x, y) = (
            try #require(bytes(key["x"] ?? "")), try #require(bytes(key["y"] ?? ""))
        )
        // SubjectPublicKeyInfo of P-256 up to the coordinates (RFC 5480).
        let prefix = try #require(
            Data(base64Encoded: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE")
        )
        let files: [(String, Data)] = [
            ("signed", Data(signed)), ("key.der", prefix + x + y),
            ("signature", Data([0x30, UInt8(numbers.count)] + numbers)),
        ]
        for (name, data) in files {
            try data.write(to: URL(fileURLWithPath: folder.path(of: name)))
        }
        let ending = try await OpenSSL.run([
            "dgst", "-sha256", "-keyform", "DER", "-verify", folder.path(of: "key.der"),
            "-signature", folder.path(of: "signature"), folder.path(of: "signed"),
        ])
        return ending.code == 0
    }
}
