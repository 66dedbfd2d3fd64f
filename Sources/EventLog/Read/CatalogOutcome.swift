package import Events

/// The outcome of adding a catalog.
package enum CatalogOutcome: Hashable, Sendable {
    /// It was added as this version.
    case added(CatalogVersion)
    /// The newest version, this one, has the same content; nothing was added.
    case unchanged(CatalogVersion)

    /// The version with this content.
    package var version: CatalogVersion {
        switch self {
        case .added(let version), .unchanged(let version): version
        }
    }
}

extension CatalogOutcome {
    /// The outcome of adding a catalog if that is the newest version: the only rule for adding.
    ///
    /// It is unchanged if its bytes are those of the newest version and it is to take effect at
    /// that version's instant, or at no particular instant.
    package static func expected(
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
