import AppStore
import AppStoreSimulator
import Events

extension AppStoreSimulator {
    /// A verifier that trusts this store, for these apps; for all if none are named.
    func verifier(bundleIds: Set<String> = []) throws -> AppStoreVerifier {
        let policy = VerificationPolicy(
            roots: [try RootCertificate(der: store.pki.rootDER)],
            bundleIds: bundleIds,
            environments: [.production, .sandbox, store.environment]
        )
        return AppStoreVerifier(policy: policy)
    }
}
