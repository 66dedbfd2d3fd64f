package import Events

/// The operator's statement that a file is a version of the product catalog.
///
/// It decides which change of plan is an upgrade, so the log stores it like a payload from Apple:
/// chained, kept as evidence, and counted only if the operator vouches for it. The body is stored
/// separately, under its digest.
package struct CatalogStatement: Hashable, Sendable {
    /// The number of the version, from 1.
    package let version: Int
    /// The first instant at which it applies.
    package let effectiveFrom: Instant
    /// SHA-256 of the body.
    package let bodyDigest: Digest
    /// The file it was read from; empty if there was none.
    package let fileName: String
    /// When the operator imported it: the as-of of the event.
    package let importedAt: Instant

    /// Longest file name, in UTF-8 bytes: twice the longest path of common systems.
    package static let fileNameByteCountMax = 8192
    /// The name and version of the form, as `subledger` in the payload.
    package static let form = "catalog-version/1"

    /// A statement whose limits are not checked yet: the verifier checks them.
    package init(
        version: Int,
        effectiveFrom: Instant,
        bodyDigest: Digest,
        fileName: String,
        importedAt: Instant
    ) {
        self.version = version
        self.effectiveFrom = effectiveFrom
        self.bodyDigest = bodyDigest
        self.fileName = fileName
        self.importedAt = importedAt
    }

    /// The statement as a payload for `AppStoreVerifier`: one JSON object, names sorted, so the
    /// same statement always has the same bytes.
    package var payload: [UInt8] {
        JSON.CanonicalObject([
            "subledger": .text(CatalogStatement.form),
            "catalogVersion": .number(Int64(version)),
            "effectiveFrom": .number(effectiveFrom.milliseconds),
            "bodyDigest": .text(bodyDigest.hex),
            "fileName": .text(fileName),
            "importedAt": .number(importedAt.milliseconds),
        ]).canonicalText
    }
}

extension CatalogStatement {
    /// Reads a statement: exactly the bytes that `payload` returns.
    ///
    /// Nothing else produces statements, so nothing else is accepted.
    init(_ body: JSON.Value, in payload: ArraySlice<UInt8>) throws(Rejection) {
        guard let version = body["catalogVersion"]?.integer,
            (1...Int64(Int32.max)).contains(version),
            let effectiveFrom = body["effectiveFrom"]?.integer,
            let digest = body["bodyDigest"]?.text.flatMap({ Digest(hex: $0) }),
            let fileName = body["fileName"]?.text,
            fileName.utf8.count <= CatalogStatement.fileNameByteCountMax,
            let importedAt = body["importedAt"]?.integer
        else { throw CatalogStatement.malformed }
        self.init(
            version: Int(version),
            effectiveFrom: Instant(milliseconds: effectiveFrom),
            bodyDigest: digest,
            fileName: fileName,
            importedAt: Instant(milliseconds: importedAt)
        )
        guard self.payload.elementsEqual(payload) else { throw CatalogStatement.malformed }
    }

    private static let malformed = Rejection(
        .claimMalformed,
        "The payload is not a statement of this form about a version of the catalog; import the file"
            + " with `subledger catalog import`."
    )

    /// The fact that it states.
    var fact: Fact {
        var content = Content(format: .catalogVersion)
        content[.catalogVersion] = .integer(Int64(version))
        content[.effectiveFrom] = .instant(effectiveFrom)
        content[.bodyDigest] = .text(bodyDigest.hex)
        content[.fileName] = fileName.isEmpty ? nil : .text(fileName)
        let stream = StreamID.catalog
        let origin = Provenance(environment: stream.environment, bundleId: "", asOf: importedAt)
        return origin.fact(.catalog, about: stream.originalTransactionId, content)
    }

    /// The fact with the payload as its evidence: for `CatalogStore`, which keeps the body with it.
    ///
    /// `ingest` does not accept such payloads: without its body a version decides nothing.
    package func verified(source: String, receivedAt: Instant) -> Verified<[Fact]> {
        Verified(
            [fact],
            evidence: Evidence(
                payload: payload,
                kind: .catalogVersion,
                source: source,
                verification: Verification(trust: .vouched, root: nil),
                receivedAt: receivedAt
            )
        )
    }

    /// The fact of a stored statement, for re-verification of the log.
    package static func fact(ofStored payload: [UInt8]) throws(Rejection) -> Fact {
        let root = JSON.root(of: payload)
        guard let root, root["subledger"]?.equals("catalog-version/1") == true else {
            throw malformed
        }
        return try CatalogStatement(root, in: payload[...]).fact
    }
}
