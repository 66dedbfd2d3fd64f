internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Subledger

extension LedgerRoutes {
    /// The media type of a signed document.
    private static let signedType = "application/jwt"

    /// `GET /.well-known/jwks.json`: the public keys of signed entitlements.
    func addKeys(to router: some RouterMethods<some RequestContext>) {
        on(.get, "/.well-known/jwks.json", of: router, for: nil) { _ in
            var response = Response.text(signer?.keySet ?? #"{"keys":[]}"#, "application/json")
            response.headers[.cacheControl] = "public, max-age=3600"
            return response
        }
    }

    /// The answer, which a client may keep and ask about again: 304 if it has not changed.
    ///
    /// A client that accepts `application/jwt` gets it signed.
    func response(
        of document: EntitlementsDocument,
        to call: Call,
        at now: Instant
    ) throws -> Response {
        let accepted = call.request.headers[values: .accept].joined(separator: ",")
        let isSigned = accepted.lowercased().contains(LedgerRoutes.signedType)
        var tag = try document.contentTag()
        var body = ""
        if isSigned {
            let signer = try signer(for: call)
            tag = signer.tag(of: tag, at: now)
            body = try signer.sign(document, at: now)
        }

        // Weak, because `asOf` and the signature differ each time.
        let etag = "W/\"\(tag)\""
        let known = call.request.headers[values: .ifNoneMatch].joined(separator: ",")
        var response: Response
        if known.split(separator: ",").contains(where: { LedgerRoutes.matches($0, tag) }) {
            response = Response(status: .notModified)
        } else {
            response = isSigned ? .text(body, LedgerRoutes.signedType) : try .json(document)
        }
        response.headers[.eTag] = etag
        response.headers[.cacheControl] = "private, no-cache"
        response.headers[.vary] = "Accept"
        return response
    }

    // Weak comparison (RFC 9110 §8.8.3.2).
    private static func matches(_ text: Substring, _ tag: String) -> Bool {
        let known = text.filter { !$0.isWhitespace }
        return known == "*" || known == "\"\(tag)\"" || known == "W/\"\(tag)\""
    }

    private func signer(for call: Call) throws -> EntitlementSigner {
        guard let signer else {
            throw Problem(
                .notAcceptable,
                "signing-off",
                "This service does not sign. Start it with --signing-key, or accept "
                    + "application/json."
            )
        }
        // A document about another time would be honoured as one about now.
        let names = [QueryParameter.at, .knownAt].map(\.rawValue)
        guard call.names.allSatisfy({ !names.contains($0) }) else {
            throw Problem(
                query: "a signed document is about now; leave out at and knownAt, or accept "
                    + "application/json."
            )
        }
        return signer
    }
}
