public import Events

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
