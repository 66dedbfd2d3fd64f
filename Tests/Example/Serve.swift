import Foundation
import Hummingbird
import NIOCore
import Subledger
import SubledgerHTTP

/// The example of `LedgerRoutes` with a route of the app's, on any free port.
func serve(root: String) async throws {
    var policy = VerificationPolicy()
    policy.roots += try RootCertificate.read([UInt8](Data(contentsOf: URL(fileURLWithPath: root))))
    let ledger = try await Ledger.open(.environment, policy: policy)
    let router = Router()
    LedgerRoutes(ledger).add(to: router)
    router.get("hello") { _, _ in "hello" }
    try await Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            let port = channel.localAddress?.port ?? 0
            FileHandle.standardError.write(Data("port \(port)\n".utf8))
        }
    ).runService()
    await ledger.close()
}
