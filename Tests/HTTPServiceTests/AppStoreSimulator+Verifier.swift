import AppStore
import AppStoreSimulator
import Events

extension AppStoreSimulator {
    /// A verifier that trusts this store.
    func verifier() throws -> AppStoreVerifier {
        AppStoreVerifier(
            policy: VerificationPolicy(
                roots: [try RootCertificate(der: store.pki.rootDER)],
                environments: [.production, .sandbox, store.environment]
            )
        )
    }
}
