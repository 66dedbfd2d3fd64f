package import Events

/// A version of the product catalog as the log stores it: bytes that the log does not parse.
package struct CatalogVersion: Hashable, Sendable {
    /// From 1, without gaps, in the order of import.
    package let version: Int
    /// The first instant at which it is in force, as stated by the operator.
    package let effectiveFrom: Instant
    /// When it was imported, on our clock.
    package let recordedAt: Instant
    /// The file it was read from, as it was named then.
    package let source: String
    /// SHA-256 of the body.
    package let digest: Digest
    /// The catalog as normalised JSON, UTF-8.
    package let body: [UInt8]

    /// The most bytes of a body: a thousand products in all stores have a tenth of it.
    package static let bodyByteCountMax = 32 << 20

    /// The most bytes of a source: the longest path of common systems.
    package static let sourceByteCountMax = 4 << 10
}
