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

/// What became of a catalog that was to be added.
public enum CatalogOutcome: Hashable, Sendable {
    /// It is the version of that number now.
    case added(CatalogVersion)
    /// The newest version, this one, says the same; nothing was added.
    case unchanged(CatalogVersion)

    /// The version that says it.
    public var version: CatalogVersion {
        switch self {
        case .added(let version), .unchanged(let version): version
        }
    }
}

extension CatalogOutcome {
    /// What becomes of a catalog where that is the newest version: the one rule for adding.
    ///
    /// It is unchanged where its bytes are those of the newest version and it is to hold from that
    /// version's instant on, or from no instant in particular.
    public static func expected(
        of body: [UInt8],
        after newest: CatalogVersion?,
        effectiveFrom: Instant?,
        source: String,
        recordedAt: Instant
    ) -> CatalogOutcome {
        let digest = Digest.of(body)
        if let newest, newest.digest == digest,
            effectiveFrom == nil || effectiveFrom == newest.effectiveFrom
        {
            return .unchanged(newest)
        }
        return .added(
            CatalogVersion(
                version: (newest?.version ?? 0) + 1,
                effectiveFrom: effectiveFrom ?? recordedAt,
                recordedAt: recordedAt,
                source: String(
                    decoding: source.utf8.suffix(CatalogVersion.sourceByteCountMax),
                    as: UTF8.self
                ),
                digest: digest,
                body: body
            )
        )
    }
}
