import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOSSL
import TestSupport
import Testing

/// HTTPS, and a certificate that is renewed while the service runs.
@Suite(.enabled { await TestServer.isAvailable && OpenSSL.isInstalled })
struct TLSTests {
    private func makeCertificate(_ name: String, in folder: TestFolder) async throws {
        let ending = try await OpenSSL.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", "/CN=\(name)", "-keyout", folder.path(of: "\(name).key"),
            "-out", folder.path(of: "\(name).pem"),
        ])
        #expect(ending.code == 0, "\(ending.errors)")
    }

    // Puts the file in place as renewal programs do.
    private func install(_ source: String, as name: String, in folder: TestFolder) throws {
        let part = folder.path(of: "part")
        try FileManager.default.copyItem(atPath: folder.path(of: source), toPath: part)
        #expect(rename(part, folder.path(of: name)) == 0)
    }

    // Whether the service presents that certificate.
    private func shows(_ name: String, _ port: Int, in folder: TestFolder) async throws -> Bool {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(folder.path(of: "\(name).pem"))
        tls.certificateVerification = .noHostnameVerification
        do {
            return try await TestClient.withClient(
                host: "127.0.0.1",
                port: port,
                configuration: TestClient.Configuration(
                    tlsConfiguration: tls,
                    timeout: .seconds(600),
                    serverName: "ledger.example"
                )
            ) { try await $0.get("/livez").status == .ok }
        } catch {
            return false
        }
    }

    @Test func `a renewed certificate takes effect at once, but never without its key`()
        async throws
    {
        let folder = try TestFolder()
        for name in ["one", "two"] { try await makeCertificate(name, in: folder) }
        try install("one.pem", as: "chain.pem", in: folder)
        try install("one.key", as: "key.pem", in: folder)
        let (chain, key) = (folder.path(of: "chain.pem"), folder.path(of: "key.pem"))
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let process = try await ServeProcess.start(
                settings,
                "--tls-certificate",
                chain,
                "--tls-key",
                key
            )
            #expect(try await shows("one", process.port, in: folder))
            #expect(try await !shows("two", process.port, in: folder))
            #expect(await process.get("/livez") == nil)
            try install("two.pem", as: "chain.pem", in: folder)
            #expect(try await shows("one", process.port, in: folder))
            try install("two.key", as: "key.pem", in: folder)
            #expect(try await shows("two", process.port, in: folder))
            #expect(try await !shows("one", process.port, in: folder))
            process.program.signal(SIGTERM)
            let ending = await process.program.ending()
            #expect(ending.code == 0)
            #expect(ending.errors.contains("listening at https://"), "\(ending.errors)")
        }
    }

    @Test func `a key that does not match or a missing file is an error at start that names it`()
        async throws
    {
        let folder = try TestFolder()
        for name in ["one", "two"] { try await makeCertificate(name, in: folder) }
        let ending = try await Program("subledger").run([
            "serve", "--tls-certificate", folder.path(of: "one.pem"), "--tls-key",
            folder.path(of: "two.key"),
        ])
        #expect(ending.code == 78)
        #expect(ending.errors.contains("two.key"), "\(ending.errors)")
        let missing = folder.path(of: "none.pem")
        let absent = try await Program("subledger").run([
            "serve", "--tls-certificate", missing, "--tls-key", folder.path(of: "two.key"),
        ])
        #expect(absent.code == 78)
        #expect(
            absent.errors.contains("\(missing) cannot be read: No such file"),
            "\(absent.errors)"
        )
    }
}
