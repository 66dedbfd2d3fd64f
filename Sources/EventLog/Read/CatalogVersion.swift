public import Events

/// A version of the product catalog as the log keeps it: bytes that it does not look into.
public struct CatalogVersion: Hashable, Sendable {
    /// From 1, without holes, in the order of import.
    public let version: Int
    /// The first instant it holds for, as the operator said.
    public let effectiveFrom: Instant
    /// When it was imported, on our clock.
    public let recordedAt: Instant
    /// The file it was read from, as it was named then.
    public let source: String
    /// SHA-256 of the body.
    public let digest: Digest
    /// The catalog as normalised JSON, UTF-8.
    public let body: [UInt8]

    /// Most bytes of a body: a thousand products in all stores have a tenth of it.
    public static let bodyByteCountMax = 32 << 20

    /// Most bytes of a source: the longest path of common systems.
    public static let sourceByteCountMax = 4 << 10
}
