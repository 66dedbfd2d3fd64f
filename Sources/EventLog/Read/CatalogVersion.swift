public import Events

/// A version of the product catalog as the log stores it: bytes that the log does not parse.
public struct CatalogVersion: Hashable, Sendable {
    /// From 1, without gaps, in the order of import.
    public let version: Int
    /// The first instant at which it is in force, as stated by the operator.
    public let effectiveFrom: Instant
    /// When it was imported, on our clock.
    public let recordedAt: Instant
    /// The file it was read from, as it was named then.
    public let source: String
    /// SHA-256 of the body.
    public let digest: Digest
    /// The catalog as normalised JSON, UTF-8.
    public let body: [UInt8]

    /// The most bytes of a body: a thousand products in all stores have a tenth of it.
    public static let bodyByteCountMax = 32 << 20

    /// The most bytes of a source: the longest path of common systems.
    public static let sourceByteCountMax = 4 << 10
}
