import AppStoreSimulator
import Events
import Foundation
import TestSupport
import Testing

/// OpenSSL, if it is installed, accepts the receipts as genuine.
@Suite(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"))
struct OpenSSLTests {
    @Test(arguments: [
        AppReceiptForm(), .sha1, .indefiniteLengths, .wrappedTwice,
        [.sha1, .indefiniteLengths, .wrappedTwice],
    ])
    func `openssl verifies every form with only root.der`(form: AppReceiptForm) async throws {
        let folder = try TestFolder()
        let life = AppStoreSimulator(seed: 8).life(1)
        let moment = try #require(life.moments.last)
        let bytes = life.appReceipt(asOf: moment, form: form)
        let content = try ReadReceipt(bytes).content
        try await write(root: life.store.pki.rootDER, to: folder)
        try folder.write("receipt", bytes)
        let ending = try await verify("receipt", in: folder)
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: folder.path(of: "payload")))
                == Data(content)
        )
        var tampered = bytes
        let product = try #require(Data(bytes).range(of: Data("example.subledger".utf8)))
        tampered[product.lowerBound] ^= 1
        try folder.write("tampered", tampered)
        #expect(try await verify("tampered", in: folder).code != 0)
        try await write(root: SimulatedPKI(seed: 9).rootDER, to: folder)
        #expect(try await verify("receipt", in: folder).code != 0)
    }

    private func write(root: [UInt8], to folder: TestFolder) async throws {
        try folder.write("root.der", root)
        let ending = try await run([
            "x509", "-inform", "DER", "-in", folder.path(of: "root.der"), "-out",
            folder.path(of: "root.pem"),
        ])
        #expect(ending.code == 0, "\(ending.errors)")
    }

    private func verify(_ name: String, in folder: TestFolder) async throws -> Program.Ending {
        try await run([
            "cms", "-verify", "-binary", "-inform", "DER", "-in", folder.path(of: name),
            "-CAfile", folder.path(of: "root.pem"), "-no-CApath", "-purpose", "any",
            "-out", folder.path(of: "payload"),
        ])
    }

    private func run(_ arguments: [String]) async throws -> Program.Ending {
        try await OpenSSL.run(arguments)
    }
}
