import Foundation
import TestSupport
import Testing

/// `entitlements` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct EntitlementsTests {
    private struct Document: Decodable {
        struct Status: Decodable {
            let isActive: Bool
            let state: String
        }
        let customer: String
        let isKnown: Bool
        let entitlements: [String: Status]
    }

    @Test func `names are imported, listed, and answered for any customer`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            try await command.expect(0, "migrate")
            let folder = try TestFolder()
            let file = folder.path(of: "entitlements.json")
            let text = #"{"entitlements":{"pro":{"products":["com.example.pro"]}}}"#
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let none = try await command.run("entitlements", "anna")
            #expect(none.code == 0 && none.output.contains("no entitlements"))
            #expect(none.errors.contains("the catalog defines no entitlements"))

            let imported = try await command.expect(0, "catalog", "import", file)
            let change = "~ entitlement pro: nothing → com.example.pro"
            #expect(imported.contains(change), "\(imported)")
            let shown = try await command.expect(0, "catalog", "show")
            #expect(shown.contains("Entitlement  pro: com.example.pro"), "\(shown)")
            let again = try await command.expect(0, "catalog", "import", file)
            #expect(again.contains("nothing was added"))

            let json = try await command.expect(0, "entitlements", "anna", "--json")
            let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
            #expect(document.customer == "anna" && !document.isKnown)
            #expect(document.entitlements["pro"]?.isActive == false)
            #expect(document.entitlements["pro"]?.state == "notKnownYet")
            let known = try await command.run("entitlements", "anna")
            #expect(known.output.contains("notKnownYet"))
            #expect(known.errors.contains("nothing is known of anna in Production"))
        }
    }

    @Test(.enabled(if: OpenSSL.isInstalled))
    func `a signed answer is a compact JWS about now`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            try await command.expect(0, "migrate")
            let folder = try TestFolder()
            let key = try await OpenSSL.makeKey("key.pem", in: folder)
            let jws = try await command.expect(
                0,
                "entitlements",
                "anna",
                "--sign",
                key,
                "--signed-for",
                "1h"
            )
            let shape = /[\w-]+\.[\w-]+\.[\w-]{86}\n?/
            #expect(jws.wholeMatch(of: shape) != nil, "\(jws)")
            for wrong in [["--at", "today"], ["--known-at", "1"], ["--json"]] {
                let ending = try await command.run(["entitlements", "anna", "--sign", key] + wrong)
                #expect(ending.code == 64, "\(wrong)")
            }
            for wrong in [["--signed-for", "1h"], ["--sign", key, "--signed-for", "1s"]] {
                #expect(try await command.run(["entitlements", "anna"] + wrong).code == 64)
            }
            let absent = folder.path(of: "absent.pem")
            #expect(try await command.run(["entitlements", "anna", "--sign", absent]).code == 66)
        }
    }
}
