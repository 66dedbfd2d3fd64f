/// Who stands behind statements that are not signed (Concepts: trust).
public enum Voucher: Sendable {
    /// Nobody: only what a signature or the shared secret proves is taken.
    case nobody
    /// The operator, by `ingest --vouch`.
    case `operator`
    /// Our own client, which fetched the payload from Apple over TLS.
    case client
}
