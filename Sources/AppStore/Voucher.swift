/// Who vouches for statements that are not signed (Concepts: trust).
public enum Voucher: Sendable {
    /// Without a voucher, only what a signature or a shared secret proves is accepted.
    case unvouched
    /// The operator, by `ingest --vouch`.
    case `operator`
    /// Our own client, which fetched the payload from Apple over TLS.
    case client
}
